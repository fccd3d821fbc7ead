// Locality-sensitive hashing by random hyperplanes: in each of several tables a point is in the bucket of the sides of the planes
// that it lies on. A query is compared with the points of its buckets, and of those that it nearly lies in: the ones that differ
// in the planes it is nearest to.
//
// Points are kept in the order of the first table's buckets, where neighbours mostly lie together: rough distances then read memory
// that is near, and few points are left to be measured exactly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/product.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "neighbors/batch.hpp"
#include "neighbors/collectors.hpp"
#include "neighbors/metric.hpp"
#include "neighbors/queries.hpp"
#include "neighbors/rough_rows.hpp"
#include "neighbors/screen.hpp"
#include "neighbors/shape.hpp"

namespace mercer::neighbors {

// How far rows are from planes, on which side: the products of both less the planes' offsets.
class Planes {
   public:
    Planes(RowMajor<const double> planes, std::span<const double> offsets)
        : n_(planes.rows),
          d_(planes.cols),
          normals_(planes.data, planes.data + planes.size()),
          offsets_(offsets.begin(), offsets.end()) {}

    std::size_t size() const { return n_; }
    std::size_t n_features() const { return d_; }
    // Of some rows: heights(i, p). O(rows planes d).
    void measure(RowMajor<const double> rows, RowMajor<double> heights) const {
        const auto stride = static_cast<std::ptrdiff_t>(d_);
        multiply<double>(1, {rows.data, rows.rows, d_, stride, 1}, {normals_.data(), d_, n_, 1, stride}, 0,
                         {heights.data, heights.rows, n_, static_cast<std::ptrdiff_t>(n_), 1}, Threads{1});
        for (std::size_t i = 0; i < heights.rows; ++i)
            for (std::size_t p = 0; p < n_; ++p) heights(i, p) -= offsets_[p];
    }

   private:
    std::size_t n_, d_;
    std::vector<double> normals_, offsets_;
};

template <Real T>
class LshTables {
   public:
    static constexpr std::size_t kMostBits = 24;
    static constexpr std::size_t kQueriesOfTask = 64;

    // Planes are the rows of `planes`, table after table, each with its offset. O(n d planes).
    LshTables(Matrix<const T> x, RowMajor<const double> planes, std::span<const double> offsets, std::size_t n_tables,
              Threads threads)
        : n_(checked_rows(x, planes, offsets, n_tables)),
          d_(x.cols),
          n_bits_(planes.rows / n_tables),
          planes_(planes, offsets),
          points_(copy(x, threads)),
          tables_(n_tables),
          rows_(hash(threads)),
          rough_(RowMajor<const T>{points_.data(), n_, d_}, rows_, threads) {}

    std::size_t n_points() const { return n_; }
    std::size_t n_features() const { return d_; }
    const std::vector<T>& points() const { return points_; }  // row after row

    // What a run of queries needs besides the tables.
    struct Scratch {
        std::vector<std::uint64_t> is_found;  // a bit a slot
        std::vector<Row> slots;               // that were found
        std::vector<float> ranks, nearest;
        std::vector<Row> rows;
        Aligned<float> rough_query;
        GatheredBlocks<T> exact;

        struct Crossing {  // planes to be crossed, as bits of their order by margin, of which `last` is the farthest
            double cost;
            std::uint32_t planes, last;

            friend bool operator>(const Crossing& a, const Crossing& b) { return a.cost > b.cost; }
        };
        std::vector<Crossing> crossings;  // a heap, the nearest on top

        explicit Scratch(const LshTables& of)
            : is_found((of.n_ + 63) / 64), rough_query(of.rough_.width()), exact({of.points_.data(), of.n_, of.d_}) {}
        void add(Row slot) {
            std::uint64_t& word = is_found[static_cast<std::size_t>(slot) / 64];
            const std::uint64_t bit = std::uint64_t{1} << (static_cast<std::size_t>(slot) % 64);
            if ((word & bit) == 0) slots.push_back(slot);
            word |= bit;
        }
        void clear() {
            for (const Row slot : slots) is_found[static_cast<std::size_t>(slot) / 64] = 0;
            slots.clear();
        }
    };

    // Offers the nearest points of the query's buckets, `n_probes` of each table, to a collector; of all points where these are
    // fewer than `least`. `heights` are those of the query above the planes. Returns with how many points it was compared.
    std::size_t search(const Euclidean& metric, const double* query, const double* heights, std::size_t n_probes, std::size_t least,
                       Scratch& scratch, NearestFew& collector) const {
        for (std::size_t table = 0; table < tables_.size(); ++table)
            add_buckets(tables_[table], heights + table * n_bits_, n_probes, scratch);
        if (scratch.slots.size() < least)
            for (std::size_t slot = 0; slot < n_; ++slot) scratch.add(static_cast<Row>(slot));
        const std::size_t n_compared = scratch.slots.size();
        offer(metric, query, least, scratch, collector);
        scratch.clear();
        return n_compared;
    }

    const Planes& planes() const { return planes_; }

   private:
    struct Table {
        std::vector<std::uint32_t> starts;  // of each bucket among the slots
        std::vector<Row> slots;
    };

    static std::size_t checked_rows(Matrix<const T> x, RowMajor<const double> planes, std::span<const double> offsets,
                                    std::size_t n_tables) {
        require(x.rows >= 1 && x.rows <= TreeShape::kMostPoints && x.cols >= 1, "there must be a row and a column");
        require(n_tables >= 1 && planes.rows >= n_tables && planes.rows % n_tables == 0, "tables have the same number of planes");
        require(planes.rows / n_tables <= kMostBits, "a table has 24 planes at most");
        require(planes.cols == x.cols && offsets.size() == planes.rows, "planes have as many features as points, and an offset");
        return x.rows;
    }

    static std::vector<T> copy(Matrix<const T> x, Threads threads) {
        std::vector<T> values(x.rows * x.cols);
        parallel_for((x.rows + 1023) / 1024, threads.for_work(static_cast<double>(values.size())), [&](std::size_t task) {
            for (std::size_t i = task * 1024; i < std::min(task * 1024 + 1024, x.rows); ++i)
                for (std::size_t j = 0; j < x.cols; ++j) values[i * x.cols + j] = x(i, j);
        });
        return values;
    }

    // Fills the tables and returns the row of each slot: the order of the first table's buckets.
    std::vector<Row> hash(Threads threads) {
        constexpr std::size_t kTask = 256;
        const std::size_t n_planes = planes_.size();
        std::vector<std::uint32_t> codes(tables_.size() * n_);
        parallel_for((n_ + kTask - 1) / kTask, threads, [&](std::size_t task) {
            const std::size_t first = task * kTask, n = std::min(kTask, n_ - first);
            std::vector<double> rows(points_.data() + first * d_, points_.data() + (first + n) * d_), heights(n * n_planes);
            planes_.measure({rows.data(), n, d_}, {heights.data(), n, n_planes});
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t table = 0; table < tables_.size(); ++table)
                    codes[table * n_ + first + i] = code_of(heights.data() + i * n_planes + table * n_bits_);
        });
        std::vector<Row> by_row(n_), rows(n_);
        std::iota(by_row.begin(), by_row.end(), Row{0});
        fill(tables_[0], codes.data(), by_row);
        rows.swap(tables_[0].slots);
        for (std::size_t slot = 0; slot < n_; ++slot) by_row[static_cast<std::size_t>(rows[slot])] = static_cast<Row>(slot);
        tables_[0].slots.resize(n_);
        std::iota(tables_[0].slots.begin(), tables_[0].slots.end(), Row{0});
        parallel_for(tables_.size() - 1, threads,
                     [&](std::size_t table) { fill(tables_[table + 1], codes.data() + (table + 1) * n_, by_row); });
        return rows;
    }

    // A table of the rows' codes, which lists `slots[row]` bucket after bucket. O(n + buckets).
    void fill(Table& table, const std::uint32_t* codes, std::span<const Row> slots) const {
        table.starts.assign((std::size_t{1} << n_bits_) + 1, 0);
        for (std::size_t i = 0; i < n_; ++i) ++table.starts[codes[i] + 1];
        std::partial_sum(table.starts.begin(), table.starts.end(), table.starts.begin());
        std::vector<std::uint32_t> next(table.starts.begin(), table.starts.end() - 1);
        table.slots.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) table.slots[next[codes[i]]++] = slots[i];
    }

    std::uint32_t code_of(const double* heights) const {
        std::uint32_t code = 0;
        for (std::size_t bit = 0; bit < n_bits_; ++bit) code |= (heights[bit] > 0 ? 1U : 0U) << bit;
        return code;
    }

    // The buckets of a table in the order of the squared margins that are crossed to them (Lv et al., multi-probe).
    void add_buckets(const Table& table, const double* heights, std::size_t n_probes, Scratch& scratch) const {
        const std::uint32_t own = code_of(heights);
        add_bucket(table, own, scratch);
        if (n_probes <= 1) return;
        std::uint32_t order[kMostBits];
        double costs[kMostBits];  // squared margins; what is no number is far
        std::iota(order, order + n_bits_, 0U);
        for (std::size_t bit = 0; bit < n_bits_; ++bit) costs[bit] = std::fmin(heights[bit] * heights[bit], 1e300);
        std::sort(order, order + n_bits_, [&](std::uint32_t a, std::uint32_t b) { return costs[a] < costs[b]; });
        auto& heap = scratch.crossings;
        const auto push = [&](double cost, std::uint32_t planes, std::uint32_t last) {
            heap.push_back({cost, planes, last});
            std::push_heap(heap.begin(), heap.end(), std::greater<>());
        };
        heap.clear();
        push(costs[order[0]], 1, 0);
        for (std::size_t probe = 1; probe < n_probes && !heap.empty(); ++probe) {
            const auto [cost, planes, last] = heap.front();
            std::pop_heap(heap.begin(), heap.end(), std::greater<>());
            heap.pop_back();
            std::uint32_t code = own;
            for (std::uint32_t left = planes; left != 0; left &= left - 1) code ^= 1U << order[__builtin_ctz(left)];
            add_bucket(table, code, scratch);
            const std::uint32_t after = last + 1;
            if (after == n_bits_) continue;
            push(cost + costs[order[after]], planes | 1U << after, after);
            push(cost + costs[order[after]] - costs[order[last]], (planes ^ 1U << last) | 1U << after, after);
        }
    }
    void add_bucket(const Table& table, std::uint32_t code, Scratch& scratch) const {
        for (std::size_t i = table.starts[code]; i < table.starts[code + 1]; ++i) scratch.add(table.slots[i]);
    }

    // Measures whoever may be among the nearest that are wanted, of those found, as all searches do: distances have the same bits.
    void offer(const Euclidean& metric, const double* query, std::size_t n_wanted, Scratch& scratch, NearestFew& collector) const {
        const std::size_t n = scratch.slots.size();
        const double roughness = rough_.place_query(query, scratch.rough_query.data());
        scratch.rows.clear();
        if (n <= n_wanted || n_wanted == 0 || !(roughness < std::numeric_limits<double>::infinity())) {
            for (const Row slot : scratch.slots) scratch.rows.push_back(rows_[static_cast<std::size_t>(slot)]);
        } else {
            scratch.ranks.resize(n);
            rough_.measure(scratch.rough_query.data(), scratch.slots, scratch.ranks.data());
            scratch.nearest.assign(scratch.ranks.begin(), scratch.ranks.end());
            const auto last = scratch.nearest.begin() + static_cast<std::ptrdiff_t>(n_wanted - 1);
            std::nth_element(scratch.nearest.begin(), last, scratch.nearest.end());
            const float limit = RoughRows::limit(*last, roughness);
            for (std::size_t i = 0; i < n; ++i)
                if (!(scratch.ranks[i] > limit)) scratch.rows.push_back(rows_[static_cast<std::size_t>(scratch.slots[i])]);
        }
        scratch.exact.measure(metric, query, scratch.rows.data(), scratch.rows.size(), collector);
    }

    std::size_t n_, d_, n_bits_;
    Planes planes_;
    std::vector<T> points_;  // row after row
    std::vector<Table> tables_;
    std::vector<Row> rows_;  // of each slot
    RoughRows rough_;        // by slot
};

// The nearest points that are found, as `nearest_points` writes them, and with how many each query was compared. `left_out` (empty,
// or one a query) names rows that do not count.
template <Real T>
void nearest_hashed(const LshTables<T>& tables, const Euclidean& metric, const GivenQueries& queries, std::size_t n_probes,
                    std::span<const std::int64_t> left_out, std::span<std::int64_t> n_compared, RowMajor<double> distances,
                    RowMajor<std::int64_t> rows, Threads threads) {
    const std::size_t n = queries.rows(), k = distances.cols, d = tables.n_features(), n_planes = tables.planes().size();
    const std::size_t n_together = LshTables<T>::kQueriesOfTask;
    parallel_for((n + n_together - 1) / n_together, threads.for_work(static_cast<double>(n) * 10000), [&](std::size_t task) {
        const std::size_t first = task * n_together, n_here = std::min(n_together, n - first);
        std::vector<double> asked(n_here * d), heights(n_here * n_planes);
        for (std::size_t i = 0; i < n_here; ++i) queries.copy_row(first + i, asked.data() + i * d);
        tables.planes().measure({asked.data(), n_here, d}, {heights.data(), n_here, n_planes});
        NearestFew collector(k);
        typename LshTables<T>::Scratch scratch(tables);
        for (std::size_t i = 0; i < n_here; ++i) {
            const std::size_t place = first + i;
            const bool is_left_out = !left_out.empty() && left_out[place] >= 0;
            collector.start(is_left_out ? static_cast<Row>(left_out[place]) : kNoRow);
            n_compared[place] = static_cast<std::int64_t>(tables.search(metric, asked.data() + i * d, heights.data() + i * n_planes,
                                                                        n_probes, k + is_left_out, scratch, collector));
            write_nearest(collector.finish(), [&](double rank) { return metric.distance(rank); }, place, distances, rows);
            checkpoint();
        }
    });
}

}  // namespace mercer::neighbors
