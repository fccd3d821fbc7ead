// Locality-sensitive hashing by random hyperplanes: in each of several tables a point is in the bucket of the sides of the planes
// that it lies on. A query is compared with the points of its buckets, and of those that it nearly lies in: the ones that differ
// in the planes it is nearest to.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <span>
#include <vector>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "neighbors/blocks.hpp"
#include "neighbors/collectors.hpp"
#include "neighbors/metric.hpp"
#include "neighbors/queries.hpp"
#include "neighbors/shape.hpp"

namespace mercer::neighbors {

template <Real T>
class LshTables {
   public:
    static constexpr std::size_t kMostBits = 24;

    // Planes are the rows of `planes`, table after table, each with its offset. O(n d planes).
    LshTables(Matrix<const T> x, RowMajor<const double> planes, std::span<const double> offsets, std::size_t n_tables,
              Threads threads)
        : n_(x.rows),
          d_(x.cols),
          n_tables_(n_tables),
          planes_(planes.data, planes.data + planes.size()),
          offsets_(offsets.begin(), offsets.end()) {
        require(x.rows >= 1 && x.rows <= TreeShape::kMostPoints && x.cols >= 1, "there must be a row and a column");
        require(n_tables >= 1 && planes.rows >= n_tables && planes.rows % n_tables == 0, "tables have the same number of planes");
        n_bits_ = planes.rows / n_tables;
        require(n_bits_ <= kMostBits, "a table has 24 planes at most");
        require(planes.cols == x.cols && offsets.size() == planes.rows, "planes have as many features as points, and an offset");
        points_.resize(n_ * d_);
        starts_.resize(n_tables);
        rows_.resize(n_tables);
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j < d_; ++j) points_[i * d_ + j] = x(i, j);
        parallel_for(n_tables, threads, [&](std::size_t table) { fill_table(table); });
    }

    std::size_t n_points() const { return n_; }
    std::size_t n_features() const { return d_; }

    // Which points were found by a query: marks of earlier queries are never wiped.
    struct Marks {
        std::vector<std::uint32_t> last;  // query that found each point
        std::uint32_t query = 0;
        std::vector<Row> found;

        explicit Marks(std::size_t n) : last(n) {}
        void start() {
            ++query;
            found.clear();
        }
        void add(Row row) {
            std::uint32_t& mark = last[static_cast<std::size_t>(row)];
            if (mark != query) found.push_back(row);
            mark = query;
        }
    };

    // Offers the points of the query's buckets, `n_probes` of each table, to a collector; all points where these are fewer than
    // `least`.
    void search(const Euclidean& metric, const double* query, std::size_t n_probes, std::size_t least, Marks& marks,
                NearestFew& collector) const {
        marks.start();
        for (std::size_t table = 0; table < n_tables_; ++table) add_buckets(table, query, n_probes, marks);
        if (marks.found.size() < least)
            for (std::size_t i = 0; i < n_; ++i) marks.add(static_cast<Row>(i));
        offer(metric, query, marks.found, collector);
    }

   private:
    struct Bucket {
        std::uint32_t code = 0;
        double margins[kMostBits] = {};  // how far the planes are
    };
    // Planes to be crossed, as bits of their order by margin, of which `last` is the farthest.
    struct Crossing {
        double cost;
        std::uint32_t planes;
        std::uint32_t last;

        friend bool operator>(const Crossing& a, const Crossing& b) { return a.cost > b.cost; }
    };

    template <class Value>
    Bucket bucket_of(std::size_t table, const Value* point) const {
        Bucket bucket;
        for (std::size_t bit = 0; bit < n_bits_; ++bit) {
            const double* const plane = planes_.data() + (table * n_bits_ + bit) * d_;
            const double height = lane_sum(d_, [&](std::size_t j) { return plane[j] * static_cast<double>(point[j]); }) -
                                  offsets_[table * n_bits_ + bit];
            bucket.code |= (height > 0 ? 1U : 0U) << bit;
            bucket.margins[bit] = std::abs(height);
        }
        return bucket;
    }

    void fill_table(std::size_t table) {
        std::vector<std::uint32_t> codes(n_);
        auto& starts = starts_[table];
        starts.assign((std::size_t{1} << n_bits_) + 1, 0);
        for (std::size_t i = 0; i < n_; ++i) {
            codes[i] = bucket_of(table, points_.data() + i * d_).code;
            ++starts[codes[i] + 1];
        }
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
        rows_[table].resize(n_);
        for (std::size_t i = 0; i < n_; ++i) rows_[table][next[codes[i]]++] = static_cast<Row>(i);
    }

    // The buckets of a table in the order of the squared margins that are crossed to them (Lv et al., multi-probe).
    void add_buckets(std::size_t table, const double* query, std::size_t n_probes, Marks& marks) const {
        const Bucket bucket = bucket_of(table, query);
        std::uint32_t order[kMostBits];
        std::iota(order, order + n_bits_, 0U);
        std::sort(order, order + n_bits_, [&](std::uint32_t a, std::uint32_t b) { return bucket.margins[a] < bucket.margins[b]; });
        const auto cost = [&](std::size_t place) { return bucket.margins[order[place]] * bucket.margins[order[place]]; };
        add_bucket(table, bucket.code, marks);
        std::priority_queue<Crossing, std::vector<Crossing>, std::greater<>> next;
        next.push({cost(0), 1, 0});
        for (std::size_t probe = 1; probe < n_probes && !next.empty(); ++probe) {
            const Crossing nearest = next.top();
            next.pop();
            std::uint32_t code = bucket.code;
            for (std::size_t place = 0; place <= nearest.last; ++place)
                if (nearest.planes >> place & 1U) code ^= 1U << order[place];
            add_bucket(table, code, marks);
            const std::uint32_t after = nearest.last + 1;
            if (after == n_bits_) continue;
            next.push({nearest.cost + cost(after), nearest.planes | 1U << after, after});
            next.push(
                {nearest.cost + cost(after) - cost(nearest.last), (nearest.planes ^ 1U << nearest.last) | 1U << after, after});
        }
    }
    void add_bucket(std::size_t table, std::uint32_t code, Marks& marks) const {
        const Row* const rows = rows_[table].data();
        for (std::size_t i = starts_[table][code]; i < starts_[table][code + 1]; ++i) marks.add(rows[i]);
    }

    // Measures points as all searches do, eight at a time, so that distances have the same bits.
    void offer(const Euclidean& metric, const double* query, const std::vector<Row>& found, NearestFew& collector) const {
        std::vector<T> block(kBlock * d_);
        for (std::size_t first = 0; first < found.size(); first += kBlock) {
            const std::size_t n_lanes = std::min(kBlock, found.size() - first);
            for (std::size_t lane = 0; lane < n_lanes; ++lane) {
                const T* const point = points_.data() + static_cast<std::size_t>(found[first + lane]) * d_;
                for (std::size_t j = 0; j < d_; ++j) block[j * kBlock + lane] = point[j];
            }
            const BlockValues ranks = measure_block<0>(metric, query, block.data(), d_);
            for (std::size_t lane = 0; lane < n_lanes; ++lane) collector.offer(ranks[lane], found[first + lane]);
        }
    }

    std::size_t n_, d_, n_tables_, n_bits_ = 0;
    std::vector<double> planes_, offsets_;
    std::vector<T> points_;                           // row after row
    std::vector<std::vector<std::uint32_t>> starts_;  // of each bucket among the rows of a table
    std::vector<std::vector<Row>> rows_;
};

// The nearest points that are found, as `nearest_points` writes them. `left_out` (empty, or one a query) names rows that do not
// count.
template <Real T>
void nearest_hashed(const LshTables<T>& tables, const Euclidean& metric, const GivenQueries& queries, std::size_t n_probes,
                    std::span<const std::int64_t> left_out, RowMajor<double> distances, RowMajor<std::int64_t> rows,
                    Threads threads) {
    constexpr std::size_t kTask = 64;
    const std::size_t n = queries.rows(), k = distances.cols;
    parallel_for((n + kTask - 1) / kTask, threads.for_work(static_cast<double>(n) * 10000), [&](std::size_t task) {
        std::vector<double> query(tables.n_features());
        NearestFew collector(k);
        typename LshTables<T>::Marks marks(tables.n_points());
        for (std::size_t i = task * kTask; i < std::min(task * kTask + kTask, n); ++i) {
            queries.copy_row(i, query.data());
            const bool is_left_out = !left_out.empty() && left_out[i] >= 0;
            collector.start(is_left_out ? static_cast<Row>(left_out[i]) : kNoRow);
            tables.search(metric, query.data(), n_probes, k + (is_left_out ? 1 : 0), marks, collector);
            const auto& found = collector.finish();
            for (std::size_t r = 0; r < k; ++r) {
                const bool is_there = r < found.size();
                distances(i, r) = is_there ? metric.distance(found[r].rank) : std::numeric_limits<double>::infinity();
                rows(i, r) = is_there ? found[r].row : kNoRow;
            }
        }
    });
}

}  // namespace mercer::neighbors
