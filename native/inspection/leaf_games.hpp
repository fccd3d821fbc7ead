// The games of leaves, solved for all rows at once.
//
// What a leaf with value 1 and d distinct features on its path is worth to a coalition S is B(F \ S) if the row satisfies the
// splits on all features in S, and 0 otherwise, where B(A) is the share of rows that satisfy those on all features in A:
// path-dependent the product of the shares c_j, interventional a count in the background (Woodelf's form, arXiv 2511.09376). So the
// values depend on the row by the set p of features that it satisfies alone, and sums over the subsets of p of
//
//   a(S) = |S|! (d - |S| - 1)! / d! B(F \ S),  c(S) = (|S| - 1)! (d - |S|)! / d! B(F \ S),
//
// A and C, give all of them: phi_j(p) = -A(p) where j is not in p, C(p) - C(p \ j) - A(p \ j) where it is. In the same way pairs
// are sums over subsets of (|S| - m)! (d - 2 - |S| + m)! / (d - 1)! B(F \ S), m = 0, 1, 2. All terms are positive and at most 1.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "inspection/beta_weights.hpp"

namespace mercer::inspection {

// In place, the sums over all subsets: O(d 2^d).
inline void sum_subsets(std::span<double> of_sets) {
    for (std::size_t bit = 1; bit < of_sets.size(); bit *= 2)
        for (std::size_t begin = 0; begin < of_sets.size(); begin += 2 * bit)
            for (std::size_t p = begin; p < begin + bit; ++p) of_sets[p + bit] += of_sets[p];
}

// The same over all supersets.
inline void sum_supersets(std::span<double> of_sets) {
    for (std::size_t bit = 1; bit < of_sets.size(); bit *= 2)
        for (std::size_t begin = 0; begin < of_sets.size(); begin += 2 * bit)
            for (std::size_t p = begin; p < begin + bit; ++p) of_sets[p] += of_sets[p + bit];
}

// Solves games of leaves, one after another, in memory of its own.
class LeafGames {
   public:
    explicit LeafGames(const BetaWeights& beta) : beta_(beta) {}

    // Calls give(p, j, value) for every set p of features that a row may satisfy and every feature. `shares` has B. O(d 2^d).
    template <class Give>
    void solve(std::span<const double> shares, Give&& give) {
        const auto d = static_cast<std::size_t>(std::countr_zero(shares.size()));
        if (d == 0) return;
        const std::span<const double> a = summed(0, shares, [&](std::size_t s) { return s < d ? beta_(s, d - 1 - s) : 0.0; });
        const std::span<const double> c = summed(1, shares, [&](std::size_t s) { return s > 0 ? beta_(s - 1, d - s) : 0.0; });
        for (std::size_t p = 0; p < shares.size(); ++p) {
            for (std::size_t j = 0; j < d; ++j) {
                const std::size_t without = p & ~(std::size_t{1} << j);
                give(p, j, without == p ? -a[p] : c[p] - c[without] - a[without]);
            }
        }
    }

    // Calls give(p, i, j, value) for every pair i < j: half of what they give together. O(d^2 2^d).
    template <class Give>
    void solve_pairs(std::span<const double> shares, Give&& give) {
        const auto d = static_cast<std::size_t>(std::countr_zero(shares.size()));
        if (d < 2) return;
        std::span<const double> e[3];
        for (std::size_t m = 0; m < 3; ++m)
            e[m] = summed(m, shares, [&](std::size_t s) { return s >= m && s <= d - 2 + m ? beta_(s - m, d - 2 - s + m) : 0.0; });
        for (std::size_t p = 0; p < shares.size(); ++p)
            for (std::size_t j = 1; j < d; ++j)
                for (std::size_t i = 0; i < j; ++i) give(p, i, j, pair(e, p, std::size_t{1} << i, std::size_t{1} << j) / 2);
    }

   private:
    template <class Weight>
    std::span<const double> summed(std::size_t which, std::span<const double> shares, Weight&& weight_of_size) {
        auto& sums = sums_[which];
        sums.resize(shares.size());
        double weights[65];
        const auto d = static_cast<std::size_t>(std::countr_zero(shares.size()));
        for (std::size_t size = 0; size <= d; ++size) weights[size] = weight_of_size(size);
        for (std::size_t set = 0; set < shares.size(); ++set)
            sums[set] = weights[std::popcount(set)] * shares[shares.size() - 1 - set];
        sum_subsets(sums);
        return sums;
    }

    static double pair(const std::span<const double> (&e)[3], std::size_t p, std::size_t i, std::size_t j) {
        const bool has_i = (p & i) != 0, has_j = (p & j) != 0;
        const std::size_t neither = p & ~(i | j);
        if (!has_i && !has_j) return e[0][p];
        if (has_i != has_j) return e[0][neither] - (e[1][p] - e[1][neither]);
        const std::size_t no_i = p & ~i, no_j = p & ~j;
        const double both = (e[2][p] - e[2][no_i]) - (e[2][no_j] - e[2][neither]);
        return both - (e[1][no_j] - e[1][neither]) - (e[1][no_i] - e[1][neither]) + e[0][neither];
    }

    const BetaWeights& beta_;
    std::vector<double> sums_[3];
};

}  // namespace mercer::inspection
