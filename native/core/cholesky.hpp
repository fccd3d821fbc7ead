// Cholesky factors and triangular systems of any size: halved again and again, so that nearly all of the work is products
// (core/product.hpp). The same bits for any number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/product.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer {

namespace detail {

template <class T>
Matrix<T> part(Matrix<T> a, std::size_t row, std::size_t column, std::size_t n_rows, std::size_t n_columns) {
    return {n_rows * n_columns == 0 ? a.data : &a(row, column), n_rows, n_columns, a.row_stride, a.col_stride};
}

template <class T>
Matrix<const T> fixed(Matrix<T> a) {
    return {a.data, a.rows, a.cols, a.row_stride, a.col_stride};
}

template <class T>
Matrix<T> transposed(Matrix<T> a) {
    return {a.data, a.cols, a.rows, a.col_stride, a.row_stride};
}

// The first half, in whole leaves.
inline std::size_t first_half(std::size_t n, std::size_t leaf) { return (n / 2 + leaf - 1) / leaf * leaf; }

// Row by row, each from its products with those before it.
template <Real T>
bool factor_leaf(Matrix<T> a) {
    for (std::size_t i = 0; i < a.rows; ++i) {
        T* const row = a.row(i);
        for (std::size_t j = 0; j <= i; ++j) {
            const T* const other = a.row(j);
            const double sum = static_cast<double>(row[j]) - lane_sum(j, [=](std::size_t k) {
                                   return static_cast<double>(row[k]) * static_cast<double>(other[k]);
                               });
            if (j < i) {
                row[j] = static_cast<T>(sum / static_cast<double>(other[j]));
            } else {
                if (!(sum > 0) || !std::isfinite(sum)) return false;
                row[i] = static_cast<T>(std::sqrt(sum));
            }
        }
    }
    return true;
}

// One row b at a time: its solution of l x = b or, transposed, of l' x = b.
template <bool kIsTransposed, Real T>
void solve_row(Matrix<const T> l, T* b) {
    const std::size_t n = l.rows;
    if constexpr (kIsTransposed) {
        for (std::size_t j = n; j-- > 0;) {
            const T* const row = l.row(j);
            const T x = b[j] /= row[j];
            for (std::size_t k = 0; k < j; ++k) b[k] -= x * row[k];
        }
    } else {
        for (std::size_t j = 0; j < n; ++j) {
            const T* const row = l.row(j);
            const double sum = lane_sum(j, [=](std::size_t k) { return static_cast<double>(b[k]) * static_cast<double>(row[k]); });
            b[j] = static_cast<T>((static_cast<double>(b[j]) - sum) / static_cast<double>(row[j]));
        }
    }
}

inline constexpr std::size_t kSolveLeaf = 32;
inline constexpr std::size_t kSolveVectors = 4;  // enough sums side by side that none waits for itself

// The same for several vectors of rows at once, each lane a row.
template <bool kIsTransposed, Real T>
void solve_lanes(Matrix<const T> l, Matrix<T> b) {
    using S = Simd<T>;
    constexpr std::size_t kLanes = kSolveVectors * S::kLanes;
    const std::size_t n = l.rows;
    alignas(64) T x[kSolveLeaf][kLanes] = {};
    for (std::size_t i = 0; i < b.rows; ++i)
        for (std::size_t j = 0; j < n; ++j) x[j][i] = b(i, j);
    for (std::size_t step = 0; step < n; ++step) {
        const std::size_t j = kIsTransposed ? n - 1 - step : step;
        typename S::Vector sums[kSolveVectors];
        for (std::size_t v = 0; v < kSolveVectors; ++v) sums[v] = S::load(&x[j][v * S::kLanes]);
        const std::size_t first = kIsTransposed ? j + 1 : 0, last = kIsTransposed ? n : j;
        for (std::size_t k = first; k < last; ++k) {
            const typename S::Vector factor = S::broadcast(kIsTransposed ? l(k, j) : l(j, k));
            for (std::size_t v = 0; v < kSolveVectors; ++v) sums[v] -= factor * S::load(&x[k][v * S::kLanes]);
        }
        for (std::size_t v = 0; v < kSolveVectors; ++v) S::store(&x[j][v * S::kLanes], sums[v] / S::broadcast(l(j, j)));
    }
    for (std::size_t i = 0; i < b.rows; ++i)
        for (std::size_t j = 0; j < n; ++j) b(i, j) = x[j][i];
}

template <bool kIsTransposed, Real T>
void solve_halves(Matrix<const T> l, Matrix<T> b, Threads threads) {
    const std::size_t n = l.rows;
    if (n <= kSolveLeaf) {
        constexpr std::size_t kRows = kSolveVectors * Simd<T>::kLanes;
        const std::size_t n_tasks = (b.rows + kRows - 1) / kRows;
        parallel_for(n_tasks, threads.for_work(static_cast<double>(b.rows * n * n) / 4), [&](std::size_t task) {
            solve_lanes<kIsTransposed>(l, part(b, task * kRows, 0, std::min(kRows, b.rows - task * kRows), n));
        });
        return;
    }
    const std::size_t half = first_half(n, kSolveLeaf), rest = n - half;
    const Matrix<T> left = part(b, 0, 0, b.rows, half), right = part(b, 0, half, b.rows, rest);
    const Matrix<const T> corner = part(l, half, 0, rest, half);
    const auto solve_left = [&] { solve_halves<kIsTransposed>(part(l, 0, 0, half, half), left, threads); };
    const auto solve_right = [&] { solve_halves<kIsTransposed>(part(l, half, half, rest, rest), right, threads); };
    if constexpr (kIsTransposed) {
        solve_right();
        multiply<T>(T{-1}, fixed(right), corner, T{1}, left, threads);
        solve_left();
    } else {
        solve_left();
        multiply<T>(T{-1}, fixed(left), transposed(corner), T{1}, right, threads);
        solve_right();
    }
}

template <bool kIsTransposed, Real T>
void solve_triangular(Matrix<const T> l, Matrix<T> b, Threads threads) {
    require(l.rows == l.cols && b.cols == l.rows && l.has_contiguous_rows() && b.has_contiguous_rows(),
            "solve_triangular: the shapes do not fit");
    constexpr std::size_t kFew = 4;  // rows for which packing the factor would cost more than it saves
    if (b.rows > kFew) return solve_halves<kIsTransposed>(l, b, threads);
    for (std::size_t i = 0; i < b.rows; ++i) solve_row<kIsTransposed>(l, b.row(i));
}

}  // namespace detail

// Overwrites each row b of `rows` with the solution of l x = b, for a lower triangular l. O(n^2 rows).
template <Real T>
void solve_lower(Matrix<const T> l, Matrix<T> rows, Threads threads) {
    detail::solve_triangular<false>(l, rows, threads);
}

// The same for l' x = b.
template <Real T>
void solve_lower_transposed(Matrix<const T> l, Matrix<T> rows, Threads threads) {
    detail::solve_triangular<true>(l, rows, threads);
}

// Overwrites the lower triangle of a symmetric a, given whole, with its Cholesky factor; false where a is not positive definite.
// What is above the diagonal afterwards means nothing. O(n^3).
template <Real T>
bool factor_cholesky(Matrix<T> a, Threads threads) {
    require(a.rows == a.cols && a.has_contiguous_rows(), "factor_cholesky: the shapes do not fit");
    constexpr std::size_t kLeaf = 32;
    const std::size_t n = a.rows;
    if (n <= kLeaf) return detail::factor_leaf(a);
    const std::size_t half = detail::first_half(n, kLeaf), rest = n - half;
    const Matrix<T> first = detail::part(a, 0, 0, half, half), below = detail::part(a, half, 0, rest, half);
    if (!factor_cholesky(first, threads)) return false;
    solve_lower(detail::fixed(first), below, threads);
    const StridedSource<T, T> source{detail::transposed(detail::fixed(below))};
    const Matrix<T> last = detail::part(a, half, half, rest, rest);
    gram_product<T, T>(source, T{-1}, T{1}, last, threads);
    return factor_cholesky(last, threads);
}

}  // namespace mercer
