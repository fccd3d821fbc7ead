// Trees side by side on the same ranked columns, each on rows of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/rng.hpp"
#include "tree/grown.hpp"

namespace mercer::tree {

// How many times each row is drawn, in n_draws draws with replacement. The draws of a tree are named by its seed alone.
inline void bootstrap_counts(std::uint64_t seed, std::size_t n_draws, std::span<double> counts) {
    std::fill(counts.begin(), counts.end(), 0.0);
    Philox random(seed, ~std::uint64_t{0});
    for (std::size_t i = 0; i < n_draws; ++i) counts[random.below(static_cast<std::uint32_t>(counts.size()))] += 1;
}

// A tree for each seed: grow(seed, weights, threads) gives it, where weights (empty: all one) are those of the rows, times the
// counts of a bootstrap where n_draws is not 0. Threads share the trees, or a tree that is alone.
template <class Grow>
std::vector<Grown> grow_forest(std::span<const std::uint64_t> seeds, std::size_t n_rows, std::span<const double> weights,
                               std::size_t n_draws, Threads threads, Grow&& grow) {
    std::vector<Grown> out(seeds.size());
    const Threads inner{seeds.size() == 1 ? threads.count : 1};
    parallel_for(seeds.size(), threads, [&](std::size_t t) {
        if (n_draws == 0) {
            out[t] = grow(seeds[t], weights, inner);
            return;
        }
        std::vector<double> counts(n_rows);
        bootstrap_counts(seeds[t], n_draws, counts);
        if (!weights.empty())
            for (std::size_t i = 0; i < n_rows; ++i) counts[i] *= weights[i];
        out[t] = grow(seeds[t], std::span<const double>(counts), inner);
    });
    return out;
}

}  // namespace mercer::tree
