// Centred rows A = diag(roots of weights) (X - 1 means'), never formed: products with A and A', and A A' for X with more columns
// than rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/normal_equations.hpp"

namespace mercer::linear_model {

template <Real T>
struct CentredRows {
    Matrix<const T> x;
    std::span<const T> weights;     // empty: all one
    std::span<const double> means;  // one a column

    double weight(std::size_t row) const { return weights.empty() ? 1.0 : static_cast<double>(weights[row]); }
    double root(std::size_t row) const { return weights.empty() ? 1.0 : std::sqrt(weight(row)); }
};

namespace detail {

// Calls body(value of x(row, j), j) for the columns [first, last), so that contiguous rows are read as vectors.
template <Real T, class Body>
[[gnu::always_inline]] inline void for_columns(Matrix<const T> x, std::size_t row, std::size_t first, std::size_t last,
                                               Body&& body) {
    if (x.has_contiguous_rows()) {
        const T* source = x.row(row);
        for (std::size_t j = first; j < last; ++j) body(static_cast<double>(source[j]), j);
    } else {
        for (std::size_t j = first; j < last; ++j) body(static_cast<double>(x(row, j)), j);
    }
}

// Weighted means of the columns [first, last), as offsets from the first row of positive weight: exact for constant columns.
template <Real T>
void column_means(Matrix<const T> x, std::span<const T> weights, std::size_t first, std::size_t last, std::span<double> means) {
    std::size_t origin = 0;
    while (!weights.empty() && origin + 1 < x.rows && !(weights[origin] > 0)) ++origin;
    std::vector<double> sums(last - first, 0.0);
    double total = 0;
    for (std::size_t i = 0; i < x.rows; ++i) {
        const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[i]);
        total += weight;
        if (x.has_contiguous_rows()) {
            const T* source = x.row(i) + first;
            const T* base = x.row(origin) + first;
            for (std::size_t j = 0; j < last - first; ++j)
                sums[j] += weight * (static_cast<double>(source[j]) - static_cast<double>(base[j]));
        } else {
            for (std::size_t j = first; j < last; ++j)
                sums[j - first] += weight * (static_cast<double>(x(i, j)) - static_cast<double>(x(origin, j)));
        }
    }
    for (std::size_t j = first; j < last; ++j) means[j] = static_cast<double>(x(origin, j)) + sums[j - first] / total;
}

// Writes columns [first, last) of A as rows of p values of type P: the transpose, for the kernel that multiplies columns. The means
// are subtracted in double precision, so that a narrow type loses nothing to columns far from zero.
template <Real T, Real P>
void pack_columns(const CentredRows<T>& a, std::size_t first, std::size_t last, std::span<const double> roots, std::size_t p,
                  P* block) {
    constexpr std::size_t kTogether = 64 / sizeof(P);  // lines of the output are written in pieces of 64 bytes
    for (std::size_t i0 = 0; i0 < a.x.rows; i0 += kTogether) {
        const std::size_t n = std::min(kTogether, a.x.rows - i0);
        for (std::size_t j = first; j < last; ++j) {
            P* target = block + (j - first) * p + i0;
            const double mean = a.means[j];
            if (n == kTogether) {
                for (std::size_t i = 0; i < kTogether; ++i)
                    target[i] = static_cast<P>((static_cast<double>(a.x(i0 + i, j)) - mean) * roots[i0 + i]);
            } else {
                for (std::size_t i = 0; i < n; ++i)
                    target[i] = static_cast<P>((static_cast<double>(a.x(i0 + i, j)) - mean) * roots[i0 + i]);
            }
        }
    }
}

}  // namespace detail

// Writes A A' to `gram` (rows x rows, both triangles) and the means of the columns to `means` (zero if not centred): each block of
// columns is read once. Products are taken in the type P: with float, twice as fast, as if A were known to single precision alone.
// O(n^2 d).
template <Real T, Real P = double>
void row_gram(Matrix<const T> x, std::span<const T> weights, bool is_centred, RowMajor<double> gram, std::span<double> means,
              Threads threads) {
    const std::size_t n = x.rows;
    // An odd number of vectors a line: lines at multiples of a large power of two would share few sets of the cache.
    const std::size_t p = (Simd<P>::round_up(n) / Simd<P>::kLanes | 1) * Simd<P>::kLanes;
    const CentredRows<T> a{x, weights, means};
    std::vector<double> roots(n);
    for (std::size_t i = 0; i < n; ++i) roots[i] = a.root(i);
    const Chunks chunks = detail::sample_chunks(x.cols, n, p * p);
    const std::size_t capacity = std::clamp<std::size_t>(24 * 1024 / (sizeof(P) * p + 1), 512 / sizeof(P), 256);
    Aligned<double> partial(chunks.count * p * p);
    const double work = static_cast<double>(x.cols) * static_cast<double>(n * n) / 4;
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        double* sums = partial.data() + chunk * p * p;
        std::fill_n(sums, p * p, 0.0);
        Aligned<P> block(capacity * p);
        std::fill_n(block.data(), capacity * p, P{0});
        for (std::size_t first = chunks.begin(chunk); first < chunks.end(chunk); first += capacity) {
            const std::size_t last = std::min(first + capacity, chunks.end(chunk));
            if (is_centred) {
                detail::column_means(x, weights, first, last, means);
            } else {
                std::fill(means.begin() + static_cast<std::ptrdiff_t>(first), means.begin() + static_cast<std::ptrdiff_t>(last),
                          0.0);
            }
            detail::pack_columns(a, first, last, roots, p, block.data());
            detail::add_gram(block.data(), last - first, p, n, sums);
            checkpoint();
        }
    });
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i; j < n; ++j) {
            double sum = 0;
            for (std::size_t chunk = 0; chunk < chunks.count; ++chunk) sum += partial[chunk * p * p + i * p + j];
            gram(i, j) = gram(j, i) = sum;
        }
    }
}

// Writes A coef' to `values` (targets x rows), for the rows of `coef` (targets x columns). In double precision. O(n d t).
template <Real T>
void apply_rows(const CentredRows<T>& a, RowMajor<const double> coef, RowMajor<double> values, Threads threads) {
    const std::size_t d = a.x.cols;
    const Chunks chunks = Chunks::of(a.x.rows, std::max<std::size_t>(32768 / (d + 1), 1), 64);
    const double work = static_cast<double>(a.x.rows) * static_cast<double>(d * coef.rows);
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            for (std::size_t t = 0; t < coef.rows; ++t) {
                const double* w = coef.row(t);
                const T* source = a.x.row(i);
                const double sum =
                    a.x.has_contiguous_rows()
                        ? lane_sum(d, [&](std::size_t j) { return (static_cast<double>(source[j]) - a.means[j]) * w[j]; })
                        : lane_sum(d, [&](std::size_t j) { return (static_cast<double>(a.x(i, j)) - a.means[j]) * w[j]; });
                values(t, i) = sum * a.root(i);
            }
        }
    });
}

// Writes A' v to each row of `coef` (targets x columns), for the rows v of `duals` (targets x rows). In double precision. O(n d t).
template <Real T>
void apply_columns(const CentredRows<T>& a, RowMajor<const double> duals, RowMajor<double> coef, Threads threads) {
    const std::size_t d = a.x.cols;
    const std::size_t size = duals.rows * d;
    const Chunks bands = Chunks::of(a.x.rows, 2048, std::clamp<std::size_t>(a.x.rows / 64, 1, 16));
    const Chunks columns = Chunks::of(d, 256, 64);
    std::vector<double> partial(bands.count * size, 0.0);
    const double work = static_cast<double>(a.x.rows) * static_cast<double>(size);
    parallel_for(bands.count * columns.count, threads.for_work(work), [&](std::size_t task) {
        const std::size_t band = task / columns.count;
        const std::size_t first = columns.begin(task % columns.count);
        const std::size_t last = columns.end(task % columns.count);
        for (std::size_t i = bands.begin(band); i < bands.end(band); ++i) {
            const double root = a.root(i);
            for (std::size_t t = 0; t < duals.rows; ++t) {
                const double dual = duals(t, i) * root;
                double* sums = partial.data() + band * size + t * d;
                detail::for_columns(a.x, i, first, last,
                                    [&](double value, std::size_t j) { sums[j] += dual * (value - a.means[j]); });
            }
        }
    });
    for (std::size_t k = 0; k < size; ++k) {
        double sum = 0;
        for (std::size_t band = 0; band < bands.count; ++band) sum += partial[band * size + k];
        coef.data[k] = sum;
    }
}

}  // namespace mercer::linear_model
