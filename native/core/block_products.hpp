// Products of a block of rows that lies in the cache with a narrow matrix, and of a few long lines with one another: too small to
// be worth packing (core/product.hpp is for the others). They run on the calling thread, and sums run over the inner dimension in
// order.
#pragma once

#include <cstddef>

#include "core/simd.hpp"

namespace mercer {

namespace detail {

// c = a b for R rows of a and V vectors of columns of b.
template <std::size_t R, std::size_t V, Real T>
[[gnu::always_inline]] inline void multiply_tile(const T* a, std::size_t lda, const T* b, std::size_t ldb, std::size_t inner,
                                                 T* c) {
    using S = Simd<T>;
    typename S::Vector sums[R][V] = {};
    for (std::size_t k = 0; k < inner; ++k) {
        typename S::Vector right[V];
#pragma GCC unroll 2
        for (std::size_t v = 0; v < V; ++v) right[v] = S::load(b + k * ldb + v * S::kLanes);
#pragma GCC unroll 4
        for (std::size_t r = 0; r < R; ++r) {
            const typename S::Vector left = S::broadcast(a[r * lda + k]);
#pragma GCC unroll 2
            for (std::size_t v = 0; v < V; ++v) sums[r][v] += left * right[v];
        }
    }
    for (std::size_t r = 0; r < R; ++r)
        for (std::size_t v = 0; v < V; ++v) S::store(c + r * ldb + v * S::kLanes, sums[r][v]);
}

template <std::size_t V, Real T>
void multiply_stripe(const T* a, std::size_t n, std::size_t lda, const T* b, std::size_t ldb, std::size_t inner, T* c) {
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) multiply_tile<4, V>(a + i * lda, lda, b, ldb, inner, c + i * ldb);
    for (; i < n; ++i) multiply_tile<1, V>(a + i * lda, lda, b, ldb, inner, c + i * ldb);
}

// sums += slopes' block for R columns of slopes and V vectors of columns of the block.
template <std::size_t R, std::size_t V, Real T>
[[gnu::always_inline]] inline void outer_tile(const T* slopes, std::size_t width, const T* block, std::size_t n, std::size_t p,
                                              T* sums) {
    using S = Simd<T>;
    typename S::Vector acc[R][V] = {};
    for (std::size_t i = 0; i < n; ++i) {
        typename S::Vector b[V];
#pragma GCC unroll 2
        for (std::size_t v = 0; v < V; ++v) b[v] = S::load(block + i * p + v * S::kLanes);
#pragma GCC unroll 6
        for (std::size_t r = 0; r < R; ++r) {
            const typename S::Vector a = S::broadcast(slopes[i * width + r]);
#pragma GCC unroll 2
            for (std::size_t v = 0; v < V; ++v) acc[r][v] += a * b[v];
        }
    }
    for (std::size_t r = 0; r < R; ++r) {
        for (std::size_t v = 0; v < V; ++v) {
            T* target = sums + r * p + v * S::kLanes;
            S::store(target, S::load(target) + acc[r][v]);
        }
    }
}

template <std::size_t R, Real T>
void outer_stripe(const T* slopes, std::size_t width, const T* block, std::size_t n, std::size_t p, T* sums) {
    using S = Simd<T>;
    std::size_t j = 0;
    for (; j + 2 * S::kLanes <= p; j += 2 * S::kLanes) outer_tile<R, 2>(slopes, width, block + j, n, p, sums + j);
    for (; j < p; j += S::kLanes) outer_tile<R, 1>(slopes, width, block + j, n, p, sums + j);
}

}  // namespace detail

// sums[r][l] = left(l)' right(r), lane by lane, for L x R lines of n doubles each; n is in whole vectors. The R lines stay in
// registers while those to the left go by.
template <std::size_t L, std::size_t R, class Left, class Right>
[[gnu::always_inline]] inline void dot_lines(const Left& left, const Right& right, std::size_t n,
                                             Simd<double>::Vector (&sums)[R][L]) {
    using S = Simd<double>;
    S::Vector products[R][L] = {};
    for (std::size_t i = 0; i < n; i += S::kLanes) {
        S::Vector b[R];
#pragma GCC unroll 8
        for (std::size_t r = 0; r < R; ++r) b[r] = S::load(right(r) + i);
#pragma GCC unroll 8
        for (std::size_t l = 0; l < L; ++l) {
            const S::Vector a = S::load(left(l) + i);
#pragma GCC unroll 8
            for (std::size_t r = 0; r < R; ++r) products[r][l] += a * b[r];
        }
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (std::size_t l = 0; l < L; ++l) sums[r][l] = products[r][l];
}

// Columns [begin, end) of c (n x ldb) = a (n x inner) b (inner x ldb). Rows of a are `lda` apart; ldb and both ends are in whole
// vectors. Each value has the same bits, whichever others are asked for. O(n inner (end - begin)).
template <Real T>
void multiply_block_columns(const T* a, std::size_t n, std::size_t lda, const T* b, std::size_t ldb, std::size_t inner, T* c,
                            std::size_t begin, std::size_t end) {
    using S = Simd<T>;
    std::size_t j = begin;
    for (; j + 2 * S::kLanes <= end; j += 2 * S::kLanes) detail::multiply_stripe<2>(a, n, lda, b + j, ldb, inner, c + j);
    for (; j < end; j += S::kLanes) detail::multiply_stripe<1>(a, n, lda, b + j, ldb, inner, c + j);
}

// All columns. O(n inner ldb).
template <Real T>
void multiply_block(const T* a, std::size_t n, std::size_t lda, const T* b, std::size_t ldb, std::size_t inner, T* c) {
    multiply_block_columns(a, n, lda, b, ldb, inner, c, 0, ldb);
}

// sums (k x p) += slopes' (k x n) block (n x p). Rows of slopes are `width` apart; p is in whole vectors. O(k n p).
template <Real T>
void add_outer(const T* slopes, std::size_t width, std::size_t k, const T* block, std::size_t n, std::size_t p, T* sums) {
    std::size_t i = 0;
    for (; i + 6 <= k; i += 6) detail::outer_stripe<6>(slopes + i, width, block, n, p, sums + i * p);
    for (; i + 2 <= k; i += 2) detail::outer_stripe<2>(slopes + i, width, block, n, p, sums + i * p);
    for (; i < k; ++i) detail::outer_stripe<1>(slopes + i, width, block, n, p, sums + i * p);
}

}  // namespace mercer
