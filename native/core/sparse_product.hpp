// Products of sparse rows with a dense matrix. Each line of the result is summed by itself, in the order of the entries, so that it
// has the same bits for any number of threads; products with the transposed matrix are those of its own sparse rows.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/parallel.hpp"
#include "core/prefetch.hpp"
#include "core/rows.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer {

namespace detail {

// V vectors of columns of one line of the result, which stay in registers while the entries pass.
template <std::size_t V, Real T>
void add_entries(const Csr<T>& x, std::size_t row, RowMajor<const T> b, std::size_t column, T* out) {
    using S = Simd<T>;
    constexpr std::size_t kAhead = 8;  // entries: their lines of b are anywhere
    typename S::Vector sums[V] = {};
    const std::size_t end = x.end(row);
    for (std::size_t e = x.begin(row); e < end; ++e) {
        if (e + kAhead < end) prefetch_run(b.row(static_cast<std::size_t>(x.columns[e + kAhead])) + column, V * S::kLanes);
        const T* const line = b.row(static_cast<std::size_t>(x.columns[e])) + column;
        const typename S::Vector value = S::broadcast(x.values[e]);
#pragma GCC unroll 8
        for (std::size_t v = 0; v < V; ++v) sums[v] += value * S::load(line + v * S::kLanes);
    }
    for (std::size_t v = 0; v < V; ++v) S::store(out + v * S::kLanes, sums[v]);
}

// Fewer columns than a vector has lanes.
template <Real T>
void add_few(const Csr<T>& x, std::size_t row, RowMajor<const T> b, std::size_t column, std::size_t n, T* out) {
    T sums[Simd<T>::kLanes] = {};
    for (std::size_t e = x.begin(row); e < x.end(row); ++e) {
        const T* const line = b.row(static_cast<std::size_t>(x.columns[e])) + column;
        for (std::size_t c = 0; c < n; ++c) sums[c] += x.values[e] * line[c];
    }
    std::copy_n(sums, n, out);
}

}  // namespace detail

// c = x b for sparse rows x. O(entries width).
template <Real T>
void multiply_sparse(const CsrRows<T>& rows, RowMajor<const T> b, RowMajor<T> c, Threads threads) {
    constexpr std::size_t kLanes = Simd<T>::kLanes;
    const Chunks chunks = Chunks::of(rows.rows(), 32, 1024);
    const double work = static_cast<double>(rows.n_entries() + rows.rows()) * static_cast<double>(b.cols) / 2;
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            std::size_t j = 0;
            for (; j + 8 * kLanes <= b.cols; j += 8 * kLanes) detail::add_entries<8>(rows.x, i, b, j, c.row(i) + j);
            for (; j + 4 * kLanes <= b.cols; j += 4 * kLanes) detail::add_entries<4>(rows.x, i, b, j, c.row(i) + j);
            for (; j + kLanes <= b.cols; j += kLanes) detail::add_entries<1>(rows.x, i, b, j, c.row(i) + j);
            if (j < b.cols) detail::add_few(rows.x, i, b, j, b.cols - j, c.row(i) + j);
        }
    });
}

}  // namespace mercer
