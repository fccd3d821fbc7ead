// Trees side by side on the same columns, each on rows of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/rng.hpp"
#include "tree/grown.hpp"

namespace mercer::tree {

std::vector<double> running_sums(std::span<const double> weights);

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
void bootstrap_counts(std::uint64_t seed, std::size_t n_draws, std::span<const double> cumulative, std::span<double> counts);

// The trees of a forest one after another, joined as they come: no tree is held twice.
class JoinedTrees {
   public:
    explicit JoinedTrees(std::size_t n_trees) : waiting_(n_trees) {}

    // Takes the tree of this number. Threads may call this at the same time.
    void put(std::size_t number, Grown tree);

    std::vector<std::int64_t> node_counts;
    std::vector<std::int64_t> word_counts;
    Grown all;

   private:
    void append(const Grown& tree);
    template <class T>
    void extend(std::vector<T>& to, const std::vector<T>& from) const;

    Turns turns_;
    std::vector<std::optional<Grown>> waiting_;
};

// Grows a tree for each seed: grow(seed, weights, threads) gives it. Where n_draws is 0, `weights` are those of the rows (empty:
// all one), the same for all trees or a line for each; else a tree's weights are the counts of a bootstrap, drawn in proportion to
// `weights`. Threads share the trees, or a tree that is alone.
template <class Grow>
void grow_forest(std::span<const std::uint64_t> seeds, std::size_t n_rows, std::span<const double> weights, std::size_t n_draws,
                 JoinedTrees& out, Threads threads, Grow&& grow) {
    const Threads inner{seeds.size() == 1 ? threads.count : 1};
    const std::vector<double> cumulative = n_draws > 0 ? running_sums(weights) : std::vector<double>{};
    parallel_for(seeds.size(), threads, [&](std::size_t t) {
        if (n_draws == 0) {
            const bool has_lines = weights.size() > n_rows;
            out.put(t, grow(seeds[t], has_lines ? weights.subspan(t * n_rows, n_rows) : weights, inner));
            return;
        }
        std::vector<double> counts(n_rows);
        bootstrap_counts(seeds[t], n_draws, cumulative, counts);
        out.put(t, grow(seeds[t], std::span<const double>(counts), inner));
    });
}

}  // namespace mercer::tree
