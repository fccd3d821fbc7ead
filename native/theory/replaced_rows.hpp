// Ridge regression with one row replaced, or left out, for every row: by updates of rank two of the one fit.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::theory {

// A fit by least squares with a penalty: A = Z'Z + penalty, residuals e = y - Z w on the rows of the fit (first) and on others.
struct RidgeOnRows {
    RowMajor<const double> rows;       // Z: the rows of the fit, then those that come in, then others to judge by
    RowMajor<const double> leverages;  // Z A^-1
    std::span<const double> residuals;
    std::size_t n_coefficients = 0;  // of which the norm is taken: an intercept comes after them
};

// What replacing one row does: to the loss (y - z'w)^2 of all rows, to its own, and to the coefficients.
struct Changes {
    std::span<double> mean;  // of the absolute change of the loss
    std::span<double> largest;
    std::span<double> own;           // of the loss of the row that went
    std::span<double> coefficients;  // Euclidean norm
};

namespace detail {

// The change of w when row i goes and, unless `in` is negative, row `in` comes: A'(w' - w) = -z_i e_i + z_in e_in.
inline void change_of_weights(const RidgeOnRows& fit, std::size_t out, std::int64_t in, double* change) {
    const std::size_t d = fit.rows.cols;
    const auto dot = [&](std::size_t i, std::size_t j) {
        return lane_sum(d, [=, a = fit.rows.row(i), b = fit.leverages.row(j)](std::size_t k) { return a[k] * b[k]; });
    };
    const double* const gone = fit.leverages.row(out);
    // (I + C G) q = C e with C = diag(-1, 1) and G the products of both rows under A^-1.
    const double a = 1 - dot(out, out);
    if (in < 0) {
        const double q = -fit.residuals[out] / a;
        for (std::size_t k = 0; k < d; ++k) change[k] = q * gone[k];
        return;
    }
    const auto come = static_cast<std::size_t>(in);
    const double b = dot(out, come), c = 1 + dot(come, come);
    const double left = -fit.residuals[out], right = fit.residuals[come];
    const double determinant = a * c + b * b;
    const double q = (left * c + b * right) / determinant, r = (a * right - b * left) / determinant;
    const double* const new_line = fit.leverages.row(come);
    for (std::size_t k = 0; k < d; ++k) change[k] = q * gone[k] + r * new_line[k];
}

}  // namespace detail

// One replacement for each of the first `in.size()` rows: row i by row in[i], or by none where that is negative. The rows in
// `columns` are those of fit.rows transposed and padded to whole vectors, so that many are judged at a time. O(replacements rows
// d).
inline void replace_rows(const RidgeOnRows& fit, RowMajor<const double> columns, std::span<const std::int64_t> out,
                         std::span<const std::int64_t> in, const Changes& changes, Threads threads) {
    using S = Simd<double>;
    constexpr std::size_t kTogether = 2, kVectors = 4, kBlock = kVectors * S::kLanes;
    const std::size_t n = fit.rows.rows, d = fit.rows.cols, n_tasks = (out.size() + kTogether - 1) / kTogether;
    const double work = static_cast<double>(out.size()) * static_cast<double>(n * d);
    parallel_for(n_tasks, threads.for_work(work), [&](std::size_t task) {
        Aligned<double> weights(kTogether * d), moved(kTogether * kBlock);
        std::array<double, kTogether> sum{}, largest{}, own{};
        const std::size_t first = task * kTogether, n_here = std::min(kTogether, out.size() - first);
        std::fill_n(weights.data(), kTogether * d, 0.0);
        for (std::size_t k = 0; k < n_here; ++k)
            detail::change_of_weights(fit, static_cast<std::size_t>(out[first + k]), in[first + k], weights.data() + k * d);
        for (std::size_t begin = 0; begin < n; begin += kBlock) {
            typename S::Vector values[kTogether][kVectors] = {};
            for (std::size_t j = 0; j < d; ++j) {
                const double* const column = columns.row(j) + begin;
                for (std::size_t k = 0; k < kTogether; ++k) {
                    const auto weight = S::broadcast(weights[k * d + j]);
                    for (std::size_t v = 0; v < kVectors; ++v) values[k][v] += weight * S::load(column + v * S::kLanes);
                }
            }
            for (std::size_t k = 0; k < kTogether; ++k)
                for (std::size_t v = 0; v < kVectors; ++v) S::store(moved.data() + k * kBlock + v * S::kLanes, values[k][v]);
            const std::size_t n_block = std::min(kBlock, n - begin);
            for (std::size_t k = 0; k < n_here; ++k) {
                const double* const by = moved.data() + k * kBlock;
                const double* const residual = fit.residuals.data() + begin;
                const auto change = [=](std::size_t p) { return by[p] * (by[p] - 2 * residual[p]); };
                sum[k] += lane_sum(n_block, [=](std::size_t p) { return std::abs(change(p)); });
                double most = largest[k];
                for (std::size_t p = 0; p < n_block; ++p) most = std::max(most, std::abs(change(p)));
                largest[k] = most;
                const auto row = static_cast<std::size_t>(out[first + k]);
                if (row >= begin && row - begin < n_block) own[k] = change(row - begin);
            }
        }
        for (std::size_t k = 0; k < n_here; ++k) {
            const double* const w = weights.data() + k * d;
            changes.mean[first + k] = sum[k] / static_cast<double>(n);
            changes.largest[first + k] = largest[k];
            changes.own[first + k] = own[k];
            changes.coefficients[first + k] = std::sqrt(lane_sum(fit.n_coefficients, [=](std::size_t j) { return w[j] * w[j]; }));
        }
    });
}

}  // namespace mercer::theory
