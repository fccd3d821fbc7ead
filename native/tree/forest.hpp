// Trees side by side on the same ranked columns, each on rows of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/rng.hpp"
#include "tree/grown.hpp"

namespace mercer::tree {

inline std::vector<double> running_sums(std::span<const double> weights) {
    std::vector<double> out(weights.begin(), weights.end());
    for (std::size_t i = 1; i < out.size(); ++i) out[i] += out[i - 1];
    return out;
}

// A row, drawn in proportion to the weights whose running sums are given. A sum that is not above the target is passed over, and so
// is a row of weight 0, which adds nothing to it. O(log n).
inline std::size_t draw_row(Philox& random, std::span<const double> cumulative) {
    const double target = random.uniform() * cumulative.back();
    return static_cast<std::size_t>(std::upper_bound(cumulative.begin(), cumulative.end() - 1, target) - cumulative.begin());
}

// Calls take(row) for each of n_draws draws with replacement. The draws of a tree are named by its seed alone. With `cumulative`,
// the running sums of the rows' weights, a row is drawn in proportion to its weight; else all rows alike.
template <class Take>
void for_each_draw(std::uint64_t seed, std::size_t n_draws, std::span<const double> cumulative, std::size_t n_rows, Take&& take) {
    Philox random(seed, ~std::uint64_t{0});
    if (cumulative.empty()) {
        for (std::size_t i = 0; i < n_draws; ++i) take(random.below(static_cast<std::uint32_t>(n_rows)));
        return;
    }
    for (std::size_t i = 0; i < n_draws; ++i) take(draw_row(random, cumulative));
}

// How many times each row is drawn; see `for_each_draw`.
inline void bootstrap_counts(std::uint64_t seed, std::size_t n_draws, std::span<const double> cumulative,
                             std::span<double> counts) {
    std::fill(counts.begin(), counts.end(), 0.0);
    for_each_draw(seed, n_draws, cumulative, counts.size(), [&](std::size_t row) { counts[row] += 1; });
}

// A tree for each seed: grow(seed, weights, threads) gives it. Where n_draws is 0, `weights` are those of the rows (empty: all
// one), the same for all trees or a line for each; else a tree's weights are the counts of a bootstrap, drawn in proportion to
// `weights`. Threads share the trees, or a tree that is alone.
template <class Grow>
std::vector<Grown> grow_forest(std::span<const std::uint64_t> seeds, std::size_t n_rows, std::span<const double> weights,
                               std::size_t n_draws, Threads threads, Grow&& grow) {
    std::vector<Grown> out(seeds.size());
    const Threads inner{seeds.size() == 1 ? threads.count : 1};
    const std::vector<double> cumulative = n_draws > 0 ? running_sums(weights) : std::vector<double>{};
    parallel_for(seeds.size(), threads, [&](std::size_t t) {
        if (n_draws == 0) {
            const bool has_lines = weights.size() > n_rows;
            out[t] = grow(seeds[t], has_lines ? weights.subspan(t * n_rows, n_rows) : weights, inner);
            return;
        }
        std::vector<double> counts(n_rows);
        bootstrap_counts(seeds[t], n_draws, cumulative, counts);
        out[t] = grow(seeds[t], std::span<const double>(counts), inner);
    });
    return out;
}

}  // namespace mercer::tree
