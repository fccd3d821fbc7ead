// Sparse rows searched among sparse rows, without a tree and without making them dense.
//
// The entries of the points lie column by column too, so that a query meets the entries of its own columns alone: what they change
// of the rank that a point would have if it shared no column with the query. That is a rough rank: it is off by no more than a
// known bound, and whoever may be wanted is measured exactly, by merging its entries with the query's. A feature that neither of
// two rows has adds nothing to their rank (`passes_over_zeros`), so that the bits are those of the dense rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "neighbors/batch.hpp"
#include "neighbors/blocks.hpp"
#include "neighbors/collectors.hpp"
#include "neighbors/given.hpp"
#include "neighbors/metric.hpp"
#include "neighbors/other_metrics.hpp"
#include "neighbors/surroundings.hpp"

namespace mercer::neighbors {

// Whether a feature that is zero in both rows adds nothing: not where features are counted that neither row lacks.
template <class M>
bool passes_over_zeros(const M& metric) {
    if constexpr (ChosenMetric<M>) {
        return metric.choose([](const auto& formula) { return passes_over_zeros(formula); });
    } else {
        return !std::same_as<M, GappedEuclidean>;
    }
}

// The features that one or the other of two sparse rows has, whose columns rise.
class JoinedEntries {
   public:
    // O(entries).
    void fill(const Csr<double>& x, std::size_t i, const Csr<double>& y, std::size_t k) {
        constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
        std::size_t a = x.begin(i), b = y.begin(k);
        const std::size_t a_end = x.end(i), b_end = y.end(k);
        const std::size_t most = a_end - a + b_end - b + Doubles::kLanes;
        queries_.resize(most);
        points_.resize(most);
        columns_.resize(most);
        n_ = 0;
        while (a < a_end || b < b_end) {
            const std::int32_t a_column = a < a_end ? x.columns[a] : kNone, b_column = b < b_end ? y.columns[b] : kNone;
            queries_[n_] = a_column <= b_column ? x.values[a++] : 0;
            points_[n_] = b_column <= a_column ? y.values[b++] : 0;
            columns_[n_++] = static_cast<std::size_t>(std::min(a_column, b_column));
        }
    }
    // In vectors, of which the first lane counts, so that it is compiled to the operations of dense rows: a multiply-add is rounded
    // once, and twice where the compiler takes it apart.
    template <class M>
    double rank(const M& metric) const {
        if constexpr (ChosenMetric<M>) {
            return metric.choose([this](const auto& formula) { return rank(formula); });
        } else {
            auto sums = metric.template start<Vector>();
            for (std::size_t e = 0; e < n_; ++e)
                metric.add(sums, Doubles::load(queries_.data() + e), Doubles::load(points_.data() + e), columns_[e]);
            return metric.rank(sums)[0];
        }
    }

   private:
    std::vector<double> queries_, points_;
    std::vector<std::size_t> columns_;
    std::size_t n_ = 0;
};

// Rough ranks, for metrics that have them: size(query) + size(point) + the sum of change(query, point) over the columns that both
// have. With u the unit roundoff, a sum of m terms is off by (m + 2) u times the sum of their absolute values at most, which is
// that of the two sizes twice at most, and so is the exact rank, which is rounded too: (4 m + 32) u (size of query + size of
// point).
template <class M>
struct RoughRank {
    static constexpr bool kExists = false;
};

// |q - p|^2 = |q|^2 + |p|^2 - 2 q.p, and 2 |q.p| <= |q|^2 + |p|^2.
template <>
struct RoughRank<Euclidean> {
    static constexpr bool kExists = true;
    static double size_of(double value) { return value * value; }
    static double change(double query, double point) { return -2 * query * point; }
};

// |q - p|_1 = |q|_1 + |p|_1 + the sum of |q_j - p_j| - |q_j| - |p_j|.
template <>
struct RoughRank<Manhattan> {
    static constexpr bool kExists = true;
    static double size_of(double value) { return std::abs(value); }
    static double change(double query, double point) { return std::abs(query - point) - std::abs(query) - std::abs(point); }
};

// The entries of sparse rows, column by column.
class EntriesByColumn {
   public:
    struct Entry {
        double value;
        Row row;
    };

    // O(entries + columns).
    explicit EntriesByColumn(const Csr<double>& x) : starts_(x.cols + 1), entries_(static_cast<std::size_t>(x.row_starts.back())) {
        for (std::size_t e = 0; e < entries_.size(); ++e) ++starts_[static_cast<std::size_t>(x.columns[e]) + 1];
        for (std::size_t j = 0; j < x.cols; ++j) starts_[j + 1] += starts_[j];
        std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
        for (std::size_t i = 0; i < x.rows; ++i)
            for (std::size_t e = x.begin(i); e < x.end(i); ++e)
                entries_[next[static_cast<std::size_t>(x.columns[e])]++] = {x.values[e], static_cast<Row>(i)};
    }
    std::span<const Entry> column(std::size_t j) const { return {entries_.data() + starts_[j], starts_[j + 1] - starts_[j]}; }

   private:
    std::vector<std::size_t> starts_;
    std::vector<Entry> entries_;
};

// What sparse queries ask of sparse points.
template <class M>
class SparseSearch {
   public:
    SparseSearch(const M& metric, const Csr<double>& points, const Csr<double>& queries, LeftOut left_out, Threads threads)
        : metric_(metric), points_(points), queries_(queries), left_out_(left_out), threads_(threads) {
        if constexpr (RoughRank<M>::kExists) {
            columns_.emplace(points);
            const double u = std::numeric_limits<double>::epsilon() / 2;
            share_ = (4 * static_cast<double>(std::max(longest(points), longest(queries))) + 32) * u;
            least_ = sizes(points);
            for (double& size : least_) {
                largest_ = std::max(largest_, size);
                size -= share_ * size;
            }
        }
    }

    std::size_t n_queries() const { return queries_.rows; }
    Row left_out(std::size_t query) const { return left_out_.of(query); }
    double distance(double rank) const { return metric_.distance(rank); }

    // Calls `start(query)`, which makes a collector, and `finish(run, query, collector)` for every query, side by side.
    // O(points + entries that share a column with the query) each, where there are rough ranks, else O(entries).
    template <class Start, class Finish>
    void run(Start&& start, Finish&& finish) const {
        const double work = static_cast<double>(queries_.rows) * static_cast<double>(points_.rows + 1) * 4;
        parallel_for(n_runs(), threads_.for_work(work), [&](std::size_t run) {
            Scratch scratch;
            for (std::size_t i = run * kRun; i < std::min((run + 1) * kRun, queries_.rows); ++i) {
                auto collector = start(i);
                ask(i, scratch, collector);
                finish(run, i, collector);
                checkpoint();
            }
        });
    }
    std::size_t n_runs() const { return (queries_.rows + kRun - 1) / kRun; }

   private:
    static constexpr std::size_t kRun = 16;
    static constexpr double kLost = 1e-290;  // more than what underflow can take from any sum

    struct Scratch {
        JoinedEntries entries;
        std::vector<double> ranks;
    };

    static std::size_t longest(const Csr<double>& x) {
        std::size_t most = 0;
        for (std::size_t i = 0; i < x.rows; ++i) most = std::max(most, x.end(i) - x.begin(i));
        return most;
    }
    static double size(const Csr<double>& x, std::size_t i) {
        double sum = 0;
        for (std::size_t e = x.begin(i); e < x.end(i); ++e) sum += RoughRank<M>::size_of(x.values[e]);
        return sum;
    }
    static std::vector<double> sizes(const Csr<double>& x) {
        std::vector<double> all(x.rows);
        for (std::size_t i = 0; i < x.rows; ++i) all[i] = size(x, i);
        return all;
    }

    template <class Collector>
    void ask(std::size_t query, Scratch& scratch, Collector& collector) const {
        if constexpr (RoughRank<M>::kExists) {
            fill_ranks(query, scratch.ranks);
            screen(query, scratch, collector);
        } else {
            for (std::size_t p = 0; p < points_.rows; ++p) measure(query, p, scratch, collector);
        }
    }

    template <class Collector>
    void measure(std::size_t query, std::size_t point, Scratch& scratch, Collector& collector) const {
        scratch.entries.fill(queries_, query, points_, point);
        const double rank = scratch.entries.rank(metric_);
        if (rank <= collector.limit()) collector.offer(rank, static_cast<Row>(point));
    }

    // The least rank of each point, but for the query's part; what fills the last vector is above all limits.
    void fill_ranks(std::size_t query, std::vector<double>& ranks) const {
        ranks.assign(Doubles::round_up(points_.rows), std::numeric_limits<double>::infinity());
        std::copy(least_.begin(), least_.end(), ranks.begin());
        for (std::size_t e = queries_.begin(query); e < queries_.end(query); ++e) {
            const double value = queries_.values[e];
            for (const auto& entry : columns_->column(static_cast<std::size_t>(queries_.columns[e])))
                ranks[static_cast<std::size_t>(entry.row)] += RoughRank<M>::change(value, entry.value);
        }
    }

    // Measures the points whose least rank is not above the collector's limit, and those of which it is no number.
    template <class Collector>
    void screen(std::size_t query, Scratch& scratch, Collector& collector) const {
        const double own_size = size(queries_, query);
        const auto limit = [&] { return collector.limit() - own_size + share_ * own_size + kLost; };
        double most = limit();
        if constexpr (Collector::kIsOrdered) most = std::min(most, highest_wanted(scratch.ranks, own_size, collector));
        for (std::size_t first = 0; first < points_.rows; first += Doubles::kLanes) {
            const Vector ranks = Doubles::load(scratch.ranks.data() + first);
            unsigned wanted =
                ~lane_bits(ranks > Doubles::broadcast(most)) & first_lanes(std::min(Doubles::kLanes, points_.rows - first));
            if (wanted == 0) continue;
            for (; wanted != 0; wanted &= wanted - 1)
                measure(query, first + static_cast<std::size_t>(__builtin_ctz(wanted)), scratch, collector);
            most = std::min(most, limit());
        }
    }

    // Above this least rank k others are nearer for certain.
    double highest_wanted(const std::vector<double>& ranks, double own_size, const NearestFew& wanted) const {
        NearestFew least(wanted.n_wanted());
        least.start(wanted.left_out());
        for (std::size_t first = 0; first < points_.rows; first += Doubles::kLanes) {
            const Vector some = Doubles::load(ranks.data() + first);
            unsigned open = lane_bits(some <= Doubles::broadcast(least.limit()));
            open &= first_lanes(std::min(Doubles::kLanes, points_.rows - first));
            for (; open != 0; open &= open - 1) {
                const std::size_t point = first + static_cast<std::size_t>(__builtin_ctz(open));
                least.offer(ranks[point], static_cast<Row>(point));
            }
        }
        const std::vector<Neighbor>& found = least.finish();
        const double highest =
            found.size() < wanted.n_wanted() || found.empty() ? std::numeric_limits<double>::infinity() : found.back().rank;
        const double bound = highest + 2 * share_ * (largest_ + own_size) + 2 * kLost;
        return bound < std::numeric_limits<double>::infinity() ? bound : std::numeric_limits<double>::infinity();
    }

    const M& metric_;
    const Csr<double>& points_;
    const Csr<double>& queries_;
    LeftOut left_out_;
    Threads threads_;
    std::optional<EntriesByColumn> columns_;
    std::vector<double> least_;  // the size of each point less its part of the bound
    double largest_ = 0;         // of the sizes
    double share_ = 0;           // of the sizes, that a rough rank may be off by
};

// As their namesakes for dense points (neighbors/batch.hpp).
template <class M>
void nearest_points(const SparseSearch<M>& search, RowMajor<double> distances, RowMajor<std::int64_t> rows) {
    const auto start = [&](std::size_t query) {
        NearestFew collector(distances.cols);
        collector.start(search.left_out(query));
        return collector;
    };
    search.run(start, [&](std::size_t, std::size_t query, NearestFew& collector) {
        write_nearest(collector.finish(), [&](double rank) { return search.distance(rank); }, query, distances, rows);
    });
}

template <class M>
Surroundings points_within(const SparseSearch<M>& search, const M& metric, double radius, bool sorted) {
    const double rank = rank_within(metric, radius);
    SurroundingsOfRuns all(search.n_queries(), search.n_runs());
    std::vector<std::vector<Neighbor>> found(search.n_queries());
    const auto start = [&](std::size_t query) { return AllWithin{rank, search.left_out(query), &found[query]}; };
    search.run(start, [&](std::size_t run, std::size_t query, AllWithin&) {
        all.add(run, query, found[query], sorted);
        std::vector<Neighbor>().swap(found[query]);
    });
    return all.join([&](double value) { return search.distance(value); });
}

template <class M>
void count_points_within(const SparseSearch<M>& search, const M& metric, double radius, std::span<std::int64_t> counts) {
    const CountOfWithin none{rank_within(metric, radius)};
    search.run([&](std::size_t) { return none; },
               [&](std::size_t, std::size_t query, const CountOfWithin& collector) { counts[query] = collector.count; });
}

}  // namespace mercer::neighbors
