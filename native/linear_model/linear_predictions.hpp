// Values of linear models for dense rows: what every linear prediction of more than a few rows is. A value has the same bits for
// any number of threads and, but for many outputs, whichever other rows are asked for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include "core/parallel.hpp"
#include "core/product.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::linear_model {

namespace detail {

// As many numbers as a vector of C has lanes.
template <Real C, Real In>
typename Simd<C>::Vector load_as(const In* source) {
    typedef In Numbers __attribute__((vector_size(Simd<C>::kLanes * sizeof(In))));
    Numbers v;
    std::memcpy(&v, source, sizeof v);
    return __builtin_convertvector(v, typename Simd<C>::Vector);
}

// x.c over d numbers, in four vectors of sums that need not wait for one another.
template <Real T, Real C>
C row_product(const T* x, const C* c, std::size_t d) {
    using S = Simd<C>;
    constexpr std::size_t kVectors = 4, kStep = kVectors * S::kLanes;
    typename S::Vector sums[kVectors] = {};
    std::size_t j = 0;
    for (; j + kStep <= d; j += kStep)
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) sums[v] += load_as<C>(x + j + v * S::kLanes) * S::load(c + j + v * S::kLanes);
    for (; j + S::kLanes <= d; j += S::kLanes) sums[0] += load_as<C>(x + j) * S::load(c + j);
    C rest = 0;
    for (; j < d; ++j) rest += static_cast<C>(x[j]) * c[j];
    const typename S::Vector sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (std::size_t l = 0; l < S::kLanes; ++l) rest += sum[l];
    return rest;
}

// sums[i] += the products of four columns with their coefficients, for n rows; `stride` is from a row to the next.
template <Real T, Real C, class Stride>
void add_columns(const std::array<const T*, 4>& columns, const std::array<C, 4>& c, Stride stride, std::size_t n, C* sums) {
    for (std::size_t i = 0; i < n; ++i) {
        const auto at = [&](std::size_t j) { return c[j] * static_cast<C>(columns[j][static_cast<std::ptrdiff_t>(i) * stride]); };
        sums[i] += (at(0) + at(1)) + (at(2) + at(3));
    }
}

// Rows [begin, end) of one output, where columns lie together or nothing does: so many rows at a time that their sums stay in the
// first-level cache.
template <Real T, Real C>
void values_by_columns(Matrix<const T> x, const C* coef, C intercept, std::size_t begin, std::size_t end, C* out, std::size_t ld) {
    constexpr std::size_t kRows = 2048;
    std::array<C, kRows> sums;
    for (std::size_t first = begin; first < end; first += kRows) {
        const std::size_t n = std::min(kRows, end - first);
        std::fill_n(sums.begin(), n, intercept);
        for (std::size_t j = 0; j < x.cols; j += 4) {
            std::array<const T*, 4> columns;
            std::array<C, 4> c;
            for (std::size_t k = 0; k < 4; ++k) {  // where there are fewer: the last one again, times zero
                columns[k] = &x(first, std::min(j + k, x.cols - 1));
                c[k] = j + k < x.cols ? coef[j + k] : C{0};
            }
            if (x.row_stride == 1) {
                add_columns(columns, c, std::integral_constant<std::ptrdiff_t, 1>{}, n, sums.data());
            } else {
                add_columns(columns, c, x.row_stride, n, sums.data());
            }
        }
        for (std::size_t i = 0; i < n; ++i) out[(first + i) * ld] = sums[i];
    }
}

}  // namespace detail

// Writes X coef' + intercept to `values`, a row each and a column for each output, summed in their type. O(rows outputs columns).
template <Real T, Real C>
void linear_predictions(Matrix<const T> x, RowMajor<const C> coef, std::span<const C> intercept, RowMajor<C> values,
                        Threads threads) {
    constexpr std::size_t kManyOutputs = 8;
    if constexpr (std::is_same_v<T, C>) {
        if (coef.rows >= kManyOutputs) {
            const auto d = static_cast<std::ptrdiff_t>(coef.cols), outputs = static_cast<std::ptrdiff_t>(coef.rows);
            for (std::size_t i = 0; i < values.rows; ++i) std::copy(intercept.begin(), intercept.end(), values.row(i));
            const Matrix<const C> transposed{coef.data, coef.cols, coef.rows, 1, d};
            return multiply<C>(C{1}, x, transposed, C{1}, Matrix<C>{values.data, values.rows, values.cols, outputs, 1}, threads);
        }
    }
    const double work = static_cast<double>(x.rows) * static_cast<double>(x.cols) * static_cast<double>(coef.rows) / 2;
    const Chunks chunks = Chunks::of(x.rows, 2048, 1024);
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        const std::size_t begin = chunks.begin(chunk), end = chunks.end(chunk);
        if (!x.has_contiguous_rows()) {
            for (std::size_t k = 0; k < coef.rows; ++k)
                detail::values_by_columns(x, coef.row(k), intercept[k], begin, end, values.data + k, coef.rows);
            return;
        }
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t k = 0; k < coef.rows; ++k)
                values(i, k) = intercept[k] + detail::row_product(x.row(i), coef.row(k), x.cols);
    });
}

}  // namespace mercer::linear_model
