// Isotonic regression of two classes on a score: the non-decreasing probability of least squares.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/radix_sort.hpp"
#include "core/views.hpp"

namespace mercer::calibration {

// What a fit found and how near it is to the best.
struct IsotonicFit {
    std::size_t n_corners = 0;
    double objective = 0;  // half the weighted sum of squares, within which equal scores count once, by their mean
    double violation = 0;  // the largest, of the optimality conditions
};

namespace detail {

// Rows of about the same score.
struct Group {
    double score;  // the least of them
    double weight;
    double positive;  // weight

    double share() const { return positive / weight; }
};

// Neighbouring groups that share one level.
struct Pool {
    double first, last;  // scores of its groups
    double weight, positive, level;
    std::size_t n_groups = 1;

    explicit Pool(const Group& group)
        : first(group.score), last(group.score), weight(group.weight), positive(group.positive), level(group.share()) {}

    void add(const Pool& next) {
        last = next.last;
        weight += next.weight;
        positive += next.positive;
        level = positive / weight;
        n_groups += next.n_groups;
    }
};

// The rows in the order of their scores.
template <Real T>
class SortedRows {
   public:
    // Rows of no positive weight are as if absent. Scores are equal that exceed the least of their group by less than `resolution`.
    SortedRows(std::span<const T> scores, std::span<const std::uint8_t> is_positive, std::span<const double> weights,
               double resolution)
        : resolution_(resolution) {
        rows_.reserve(scores.size());
        for (std::size_t i = 0; i < scores.size(); ++i)
            if (weights[i] > 0) rows_.push_back({sort_key(scores[i]), is_positive[i] != 0 ? weights[i] : -weights[i]});
        std::vector<Row> scratch;
        radix_sort(rows_, scratch, [](const Row& row) { return row.key; });
    }

    // Calls visit(group) in rising order of the scores.
    template <class Visit>
    void for_each_group(Visit&& visit) const {
        for (std::size_t i = 0; i < rows_.size();) {
            Group group{score(i), 0, 0};
            do {
                group.weight += std::abs(rows_[i].signed_weight);
                group.positive += std::max(rows_[i].signed_weight, 0.0);
            } while (++i < rows_.size() && score(i) - group.score < resolution_);
            visit(group);
        }
    }

   private:
    struct Row {
        SortKey<T> key;
        double signed_weight;  // below zero: of the negative class
    };

    double score(std::size_t i) const { return static_cast<double>(from_sort_key<T>(rows_[i].key)); }

    std::vector<Row> rows_;
    double resolution_;
};

// The pools of least squares under rising levels: a group that is not above the pool before joins it. O(groups).
template <Real T>
std::vector<Pool> pool_violators(const SortedRows<T>& rows) {
    std::vector<Pool> pools;
    rows.for_each_group([&](const Group& group) {
        Pool pool(group);
        while (!pools.empty() && pools.back().level >= pool.level) {
            pools.back().add(pool);
            pool = pools.back();
            pools.pop_back();
        }
        pools.push_back(pool);
    });
    return pools;
}

// The multipliers of level_i <= level_{i+1} are the running sums of w (share - level) over the groups, divided by the whole
// weight: none may be below zero, and they must be zero where the level rises. The last is that of all rows.
template <Real T>
IsotonicFit assess(const SortedRows<T>& rows, std::span<const Pool> pools) {
    IsotonicFit fit;
    double total = 0, running = 0;
    for (const Pool& pool : pools) total += pool.weight;
    std::size_t p = 0, n_seen = 0;
    rows.for_each_group([&](const Group& group) {
        const double level = pools[p].level, miss = group.share() - level;
        fit.objective += group.weight * miss * miss / 2;
        running += group.weight * miss;
        const double multiplier = running / total;
        fit.violation = std::max(fit.violation, -multiplier);
        if (++n_seen < pools[p].n_groups) return;
        const double rise = p + 1 < pools.size() ? pools[p + 1].level - level : 1;
        fit.violation = std::max({fit.violation, std::min(std::abs(multiplier), rise), -rise});
        n_seen = 0;
        ++p;
    });
    return fit;
}

inline constexpr std::size_t kSearches = 8;

// The values at kSearches scores of the function with corners (x, y). The searches for the corner before each score go on side by
// side and without branches: none waits for what another reads, and nothing is guessed.
inline void interpolate(const double (&scores)[kSearches], std::span<const double> x, std::span<const double> y,
                        double (&values)[kSearches]) {
    std::size_t corners[kSearches] = {};
    for (std::size_t left = x.size(); left > 1;) {
        const std::size_t half = left / 2;
#pragma GCC unroll 8
        for (std::size_t b = 0; b < kSearches; ++b) corners[b] += x[corners[b] + half] <= scores[b] ? half : 0;
        left -= half;
    }
    for (std::size_t b = 0; b < kSearches; ++b) {
        const std::size_t corner = corners[b], next = std::min(corner + 1, x.size() - 1);
        const double part = (scores[b] - x[corner]) / (x[next] - x[corner]);  // of the way: a slope could overflow
        const bool is_beyond = next == corner || scores[b] < x[corner];
        values[b] = is_beyond ? y[corner] : y[corner] + part * (y[next] - y[corner]);
    }
}

}  // namespace detail

// Pools adjacent violators. Writes the corners of the function, which is linear between them and constant beyond, to x (rising)
// and y (not falling), both at least as long as there are scores. O(n).
template <Real T>
IsotonicFit fit_isotonic(std::span<const T> scores, std::span<const std::uint8_t> is_positive, std::span<const double> weights,
                         double resolution, std::span<double> x, std::span<double> y) {
    const detail::SortedRows<T> rows(scores, is_positive, weights, resolution);
    checkpoint();
    const std::vector<detail::Pool> pools = detail::pool_violators(rows);
    checkpoint();
    IsotonicFit fit = detail::assess<T>(rows, pools);
    for (const detail::Pool& pool : pools) {
        x[fit.n_corners] = pool.first;
        y[fit.n_corners++] = pool.level;
        if (pool.n_groups == 1) continue;
        x[fit.n_corners] = pool.last;
        y[fit.n_corners++] = pool.level;
    }
    return fit;
}

// Writes the values at the scores of the function with corners (x, y), at least one: linear between them, constant beyond.
// O(n log corners).
template <Real T>
void isotonic_values(std::span<const T> scores, std::span<const double> x, std::span<const double> y,
                     std::span<double> probabilities, Threads threads) {
    constexpr std::size_t kBlock = detail::kSearches;
    const Chunks chunks = Chunks::of(scores.size(), 1 << 12, 256);
    parallel_for(chunks.count, threads.for_work(8 * static_cast<double>(scores.size())), [&](std::size_t c) {
        for (std::size_t i = chunks.begin(c), end = chunks.end(c); i < end; i += kBlock) {
            const std::size_t n = std::min(kBlock, end - i);
            double here[kBlock] = {}, values[kBlock];
            for (std::size_t b = 0; b < n; ++b) here[b] = static_cast<double>(scores[i + b]);
            detail::interpolate(here, x, y, values);
            std::copy_n(values, n, probabilities.data() + i);
        }
    });
}

}  // namespace mercer::calibration
