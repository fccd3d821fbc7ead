// Shapley values and interaction values of games of which the value of every coalition is known. Coalition S is the number whose
// bit i says whether player i is in it.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::inspection {

inline constexpr std::size_t kMostPlayers = 25;

// The share of orders of m players in which those of a coalition of size s come first, then one given player, then all others:
// s! (m - s - 1)! / m!.
inline std::vector<double> order_shares(std::size_t m) {
    std::vector<double> shares(m);
    double n_coalitions = 1;  // of m - 1 players, of size s
    for (std::size_t s = 0; s < m; ++s) {
        shares[s] = 1 / (static_cast<double>(m) * n_coalitions);
        n_coalitions *= static_cast<double>(m - 1 - s) / static_cast<double>(s + 1);
    }
    return shares;
}

// The share of every coalition by its size; those that are too large for one more player have none.
inline Aligned<double> shares_of_coalitions(std::size_t n_players, const std::vector<double>& shares) {
    Aligned<double> all(std::size_t{1} << n_players);
    for (std::size_t s = 0; s < all.size(); ++s) {
        const auto size = static_cast<std::size_t>(std::popcount(s));
        all.data()[s] = size < shares.size() ? shares[size] : 0.0;
    }
    return all;
}

// Calls body(first, n) for every run of consecutive coalitions without the players of bit `step` and (if not 0) of bit `inner`,
// which is below it.
template <class Body>
void for_runs_without(std::size_t n_coalitions, std::size_t step, std::size_t inner, Body&& body) {
    for (std::size_t first = 0; first < n_coalitions; first += 2 * step) {
        if (inner == 0) {
            body(first, step);
        } else {
            for (std::size_t start = first; start < first + step; start += 2 * inner) body(start, inner);
        }
    }
}

// values: a line a game, of 2^m coalitions x outputs; out: a line a game, of m players x outputs. O(games x outputs x m 2^m).
// A player who adds nothing gets exactly 0.
inline void exact_values(RowMajor<const double> values, std::size_t n_players, std::size_t n_outputs, RowMajor<double> out,
                         Threads threads) {
    const std::size_t n_coalitions = std::size_t{1} << n_players;
    const Aligned<double> shares = shares_of_coalitions(n_players, order_shares(n_players));
    const double* const share = shares.data();
    const double work = static_cast<double>(values.size()) * static_cast<double>(n_players);
    parallel_for(values.rows * n_players, threads.for_work(work), [&](std::size_t task) {
        const std::size_t game = task / n_players, player = task % n_players, step = std::size_t{1} << player;
        for (std::size_t k = 0; k < n_outputs; ++k) {
            const double* const v = values.row(game) + k;
            double sum = 0;
            for_runs_without(n_coalitions, step, 0, [&](std::size_t first, std::size_t n) {
                sum += lane_sum(n, [=](std::size_t t) {
                    const std::size_t s = first + t;
                    return share[s] * (v[(s + step) * n_outputs] - v[s * n_outputs]);
                });
            });
            out(game, player * n_outputs + k) = sum;
        }
    });
}

// The interaction values of pairs, half of each at (i, j) and half at (j, i): the mean over coalitions S without both of
// v(S + i + j) - v(S + i) - v(S + j) + v(S), with weights s! (m - s - 2)! / (m - 1)!; the diagonal is left alone.
// out: a line a game, of m x m x outputs. O(games x outputs x m^2 2^m).
inline void exact_interactions(RowMajor<const double> values, std::size_t n_players, std::size_t n_outputs, RowMajor<double> out,
                               Threads threads) {
    if (n_players < 2) return;
    const std::size_t n_coalitions = std::size_t{1} << n_players;
    const Aligned<double> shares = shares_of_coalitions(n_players, order_shares(n_players - 1));
    const double* const share = shares.data();
    const double work = static_cast<double>(values.size()) * static_cast<double>(n_players * n_players);
    parallel_for(values.rows * n_players, threads.for_work(work), [&](std::size_t task) {
        const std::size_t game = task / n_players, i = task % n_players, high = std::size_t{1} << i;
        for (std::size_t j = 0; j < i; ++j) {
            const std::size_t low = std::size_t{1} << j;
            for (std::size_t k = 0; k < n_outputs; ++k) {
                const double* const v = values.row(game) + k;
                double sum = 0;
                for_runs_without(n_coalitions, high, low, [&](std::size_t first, std::size_t n) {
                    sum += lane_sum(n, [=](std::size_t t) {
                        const std::size_t s = first + t;
                        const double with_high = v[(s + high + low) * n_outputs] - v[(s + high) * n_outputs];
                        return share[s] * (with_high - (v[(s + low) * n_outputs] - v[s * n_outputs]));
                    });
                });
                double* const line = out.row(game) + k;
                line[(i * n_players + j) * n_outputs] = line[(j * n_players + i) * n_outputs] = sum / 2;
            }
        }
    });
}

}  // namespace mercer::inspection
