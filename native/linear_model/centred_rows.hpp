// Centred rows A = diag(roots of weights) (X - 1 means'), never formed: products with A and A', and A A' for X with more columns
// than rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
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

// Columns of A as lines of p values of type P: the transpose of a band of X, for the kernel that multiplies columns. X is read
// once. Columns are taken about their first value, in full precision, before they are centred: a narrow type loses nothing to
// columns far from zero, and constant columns are exactly zero.
template <Real T, Real P>
class ColumnBand {
   public:
    ColumnBand(const CentredRows<T>& a, std::size_t capacity, std::size_t p)
        : a_(a), p_(p), block_(capacity * p), weights_(a.x.rows), roots_(a.x.rows), base_(capacity), sums_(capacity) {
        std::fill_n(block_.data(), capacity * p, P{0});
        for (std::size_t i = 0; i < a.x.rows; ++i) {
            weights_[i] = a.weight(i);
            roots_[i] = static_cast<P>(a.root(i));
            total_ += weights_[i];
        }
        while (origin_ + 1 < a.x.rows && !(weights_[origin_] > 0)) ++origin_;
    }

    const P* lines() const { return block_.data(); }

    // Takes the columns [first, last) and, if they are to be centred, writes their weighted means (else zero).
    void take(std::size_t first, std::size_t last, bool is_centred, std::span<double> means) {
        const std::size_t n_columns = last - first;
        for (std::size_t j = 0; j < n_columns; ++j) base_[j] = is_centred ? a_.x(origin_, first + j) : T{0};
        std::fill_n(sums_.data(), n_columns, 0.0);
        std::size_t i = 0;
        if (a_.x.has_contiguous_rows())
            for (; i + L::kLanes <= a_.x.rows; i += L::kLanes) take_square_rows(i, first, n_columns);
        for (; i < a_.x.rows; ++i) take_row(i, first, 0, n_columns);
        for (std::size_t j = 0; j < n_columns; ++j) {
            const double offset = is_centred ? sums_[j] / total_ : 0.0;
            means[first + j] = static_cast<double>(base_[j]) + offset;
            centre_line(block_.data() + j * p_, static_cast<P>(offset));
        }
    }

   private:
    using L = Simd<P>;

    // As many rows as a vector has lanes: squares of values are transposed in registers.
    void take_square_rows(std::size_t i, std::size_t first, std::size_t n_columns) {
        const std::size_t n_square = n_columns / L::kLanes * L::kLanes;
        for (std::size_t r = 0; r < L::kLanes; ++r) add_row(a_.x.row(i + r) + first, weights_[i + r], n_square);
        for (std::size_t j = 0; j < n_square; j += L::kLanes) {
            typename L::Vector square[L::kLanes];
            for (std::size_t r = 0; r < L::kLanes; ++r) square[r] = widened(a_.x.row(i + r) + first + j) - widened(&base_[j]);
            transpose<P>(square);
            for (std::size_t c = 0; c < L::kLanes; ++c) L::store(block_.data() + (j + c) * p_ + i, square[c]);
        }
        for (std::size_t r = 0; r < L::kLanes; ++r) take_row(i + r, first, n_square, n_columns);
    }

    static typename L::Vector widened(const T* source) {
        if constexpr (std::same_as<T, P>) {
            return L::load(source);
        } else {
            typename L::Vector v;
            for (std::size_t l = 0; l < L::kLanes; ++l) v[l] = static_cast<P>(source[l]);
            return v;
        }
    }

    void add_row(const T* source, double weight, std::size_t n_columns) {
        const T* base = base_.data();
        double* sums = sums_.data();
        for (std::size_t j = 0; j < n_columns; ++j)
            sums[j] += weight * (static_cast<double>(source[j]) - static_cast<double>(base[j]));
    }

    void take_row(std::size_t i, std::size_t first, std::size_t from, std::size_t to) {
        for (std::size_t j = from; j < to; ++j) {
            const T value = a_.x(i, first + j);
            block_[j * p_ + i] = static_cast<P>(value) - static_cast<P>(base_[j]);
            sums_[j] += weights_[i] * (static_cast<double>(value) - static_cast<double>(base_[j]));
        }
    }

    void centre_line(P* line, P offset) const {
        const P* roots = roots_.data();
        for (std::size_t i = 0; i < a_.x.rows; ++i) line[i] = (line[i] - offset) * roots[i];
    }

    const CentredRows<T>& a_;
    std::size_t p_;
    Aligned<P> block_;
    Aligned<double> weights_;
    Aligned<P> roots_;
    Aligned<T> base_;
    Aligned<double> sums_;
    double total_ = 0;
    std::size_t origin_ = 0;
};

// gram = the sum of matrices of p x p doubles, of which the upper triangles are given. O(p^2 count).
inline void add_up_symmetric(const double* parts, std::size_t count, std::size_t p, RowMajor<double> gram, Threads threads) {
    constexpr std::size_t kSquare = 32;  // of which both the rows and their mirror image stay in the cache
    const std::size_t n = gram.rows;
    const std::size_t n_bands = (n + kSquare - 1) / kSquare;
    const double work = static_cast<double>(n * n * count);
    parallel_for(n_bands, threads.for_work(work), [&](std::size_t band) {
        const std::size_t last_row = std::min((band + 1) * kSquare, n);
        for (std::size_t j0 = band * kSquare; j0 < n; j0 += kSquare) {
            const std::size_t last_column = std::min(j0 + kSquare, n);
            for (std::size_t i = band * kSquare; i < last_row; ++i) {
                for (std::size_t j = std::max(i, j0); j < last_column; ++j) {
                    double sum = 0;
                    for (std::size_t part = 0; part < count; ++part) sum += parts[(part * p + i) * p + j];
                    gram(i, j) = gram(j, i) = sum;
                }
            }
        }
    });
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
    const Chunks chunks = detail::sample_chunks(x.cols, n, p * p);
    const std::size_t capacity = std::clamp<std::size_t>(24 * 1024 / (sizeof(P) * p + 1), 512 / sizeof(P), 256);
    Aligned<double> partial(chunks.count * p * p);
    const double work = static_cast<double>(x.cols) * static_cast<double>(n * n) / 4;
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        double* sums = partial.data() + chunk * p * p;
        std::fill_n(sums, p * p, 0.0);
        detail::ColumnBand<T, P> band(a, capacity, p);
        for (std::size_t first = chunks.begin(chunk); first < chunks.end(chunk); first += capacity) {
            const std::size_t last = std::min(first + capacity, chunks.end(chunk));
            band.take(first, last, is_centred, means);
            detail::add_gram(band.lines(), last - first, p, n, sums);
            checkpoint();
        }
    });
    detail::add_up_symmetric(partial.data(), chunks.count, p, gram, threads);
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
