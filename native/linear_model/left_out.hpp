// Ridge regression for many penalties from one decomposition: what every row's error is when that row is left out of the fit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "core/block_products.hpp"
#include "core/chunk_sums.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/centred_rows.hpp"

namespace mercer::linear_model {

namespace detail {

// A matrix with its rows padded to whole vectors.
struct Padded {
    std::size_t ld;
    Aligned<double> values;

    explicit Padded(RowMajor<const double> source)
        : ld(S::round_up(source.cols)), values(std::max<std::size_t>(source.rows, 1) * ld) {
        std::fill_n(values.data(), values.size(), 0.0);
        for (std::size_t i = 0; i < source.rows; ++i) std::copy_n(source.row(i), source.cols, values.data() + i * ld);
    }
};

}  // namespace detail

// What the fits for all penalties have in common: with A' A = V diag(s) V', V, 1 / (s + alpha) and V' w.
struct RidgeFits {
    RowMajor<const double> vectors;    // V, columns of X x directions
    RowMajor<const double> shrinkage;  // 1 / (s + alpha), directions x penalties
    RowMajor<const double> solutions;  // V' w, directions x (targets x penalties)
    double share = 0;                  // of the intercept in the leverage of a row of weight one
};

// Writes the sums of weight times squared error, each row left out in turn, to `sums` (targets x penalties), and the errors,
// without weights, to `errors` (targets x penalties by rows) unless that is empty. `a.means` are those of X, `y_means` those of y.
// O(n k (d + targets penalties)) for k directions.
template <Real T>
void left_out_errors(const CentredRows<T>& a, Matrix<const T> y, std::span<const double> y_means, const RidgeFits& fits,
                     std::span<double> sums, RowMajor<double> errors, Threads threads) {
    constexpr std::size_t kRows = 64;
    const std::size_t d = a.x.cols, k = fits.vectors.cols, n_alphas = fits.shrinkage.cols, n_fits = fits.solutions.cols;
    const detail::Padded vectors(fits.vectors), shrinkage(fits.shrinkage), solutions(fits.solutions);
    const Chunks chunks = Chunks::of(a.x.rows, 512, 64);
    ChunkSums<double> parts(chunks, n_fits);
    const double work = static_cast<double>(a.x.rows) * static_cast<double>(k * (d + n_fits));
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        Aligned<double> block(kRows * std::max<std::size_t>(d, 1)), z(kRows * vectors.ld), squares(kRows * vectors.ld),
            leverage(kRows * shrinkage.ld), fitted(kRows * solutions.ld);
        for (std::size_t first = chunks.begin(chunk); first < chunks.end(chunk); first += kRows) {
            const std::size_t n = std::min(kRows, chunks.end(chunk) - first);
            for (std::size_t i = 0; i < n; ++i) {
                double* row = block.data() + i * d;
                detail::for_columns(a.x, first + i, 0, d, [&](double value, std::size_t j) { row[j] = value - a.means[j]; });
            }
            multiply_block(block.data(), n, d, vectors.values.data(), vectors.ld, d, z.data());
            for (std::size_t i = 0; i < n * vectors.ld; ++i) squares[i] = z[i] * z[i];
            multiply_block(squares.data(), n, vectors.ld, shrinkage.values.data(), shrinkage.ld, k, leverage.data());
            multiply_block(z.data(), n, vectors.ld, solutions.values.data(), solutions.ld, k, fitted.data());
            for (std::size_t i = 0; i < n; ++i) {
                const double weight = a.weight(first + i);
                for (std::size_t fit = 0; fit < n_fits; ++fit) {
                    const std::size_t target = fit / n_alphas;
                    const double kept = 1 - weight * (leverage[i * shrinkage.ld + fit % n_alphas] + fits.share);
                    const double residual =
                        static_cast<double>(y(first + i, target)) - y_means[target] - fitted[i * solutions.ld + fit];
                    const double error = residual / std::max(kept, std::numeric_limits<double>::epsilon());
                    parts[chunk][fit] += weight * error * error;
                    if (errors.data != nullptr) errors(fit, first + i) = error;
                }
            }
        }
    });
    std::ranges::copy(parts.total(), sums.begin());
}

}  // namespace mercer::linear_model
