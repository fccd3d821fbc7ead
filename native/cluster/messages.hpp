// The messages of affinity propagation (Frey and Dueck, Science 2007), a round in one pass over the three matrices.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/chunk_sums.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

namespace detail {

// The largest of n values.
inline double largest(const double* values, std::size_t n) {
    constexpr std::size_t kLanes = 8;  // of which none waits for another
    std::array<double, kLanes> best;
    best.fill(-std::numeric_limits<double>::infinity());
    std::size_t k = 0;
    for (; k + kLanes <= n; k += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) best[l] = values[k + l] > best[l] ? values[k + l] : best[l];
    double result = *std::max_element(best.begin(), best.end());
    for (; k < n; ++k) result = std::max(result, values[k]);
    return result;
}

// One row of the round. `sums` gets the support that it gives to each row.
inline void exchange_row(std::size_t i, std::size_t n, const double* s, double* a, double* r, const double* support, double damping,
                         double* totals, double* sums) {
    const double fresh = 1 - damping, own = damping * a[i] + fresh * (support[i] - r[i]);
    for (std::size_t k = 0; k < n; ++k) {
        const double positive = r[k] > 0 ? r[k] : 0, lacking = positive - support[k];
        a[k] = damping * a[k] - fresh * (lacking > 0 ? lacking : 0);
    }
    a[i] = own;
    for (std::size_t k = 0; k < n; ++k) totals[k] = a[k] + s[k];
    const double best = largest(totals, n);
    const auto at = std::min(static_cast<std::size_t>(std::find(totals, totals + n, best) - totals), n - 1);
    totals[at] = -std::numeric_limits<double>::infinity();
    const double second = largest(totals, n), of_best = damping * r[at] + fresh * (s[at] - second);
    for (std::size_t k = 0; k < n; ++k) r[k] = damping * r[k] + fresh * (s[k] - best);
    r[at] = of_best;
    for (std::size_t k = 0; k < n; ++k) sums[k] += r[k] > 0 ? r[k] : 0;
    sums[i] += r[i] > 0 ? 0 : r[i];
}

}  // namespace detail

// A round: the availabilities follow from the responsibilities of the round before and their `support`, then the responsibilities
// from them; `support` becomes that of the new ones, for each column its own responsibility and the positive ones of the others.
// Availabilities are thus written a round late, which saves a pass: those of row k to itself, after the round, are
// damping a_kk + (1 - damping) (support_k - r_kk). O(n^2).
inline void exchange_messages(RowMajor<const double> similarities, RowMajor<double> availabilities,
                              RowMajor<double> responsibilities, std::span<double> support, double damping, Threads threads) {
    const std::size_t n = similarities.rows;
    const Chunks chunks = Chunks::of(n, std::max<std::size_t>(8, 40'000 / std::max<std::size_t>(n, 1)), 64);
    ChunkSums<double> sums(chunks, n);
    parallel_for(chunks.count, threads.for_work(4 * static_cast<double>(n) * static_cast<double>(n)), [&](std::size_t chunk) {
        std::vector<double> totals(n);
        for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
            detail::exchange_row(i, n, similarities.row(i), availabilities.row(i), responsibilities.row(i), support.data(), damping,
                                 totals.data(), sums[chunk]);
    });
    const std::span<double> total = sums.total();
    std::copy(total.begin(), total.end(), support.begin());
}

}  // namespace mercer::cluster
