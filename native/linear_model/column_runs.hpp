// Products of columns that lie together in memory (Fortran order): runs of rows are multiplied as they are, without a
// transposition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "core/block_products.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/sample.hpp"

namespace mercer::linear_model::detail {

// Asks for rows [first, last) while other work goes on, if they lie together.
template <Real T>
void prefetch_rows(Matrix<const T> x, std::size_t first, std::size_t last) {
    if (!x.has_contiguous_rows() || first >= last) return;
    if (x.row_stride != static_cast<std::ptrdiff_t>(x.cols)) return;
    for (const T* p = x.row(first); p < x.row(last - 1) + x.cols; p += 64 / sizeof(T)) __builtin_prefetch(p, 0, 2);
}

// The same for rows of one column.
template <Real T>
void prefetch_run(Matrix<const T> x, std::size_t j, std::size_t first, std::size_t n) {
    if (x.row_stride != 1) return;
    for (const T* p = &x(0, j) + first; p < &x(0, j) + first + n; p += 64 / sizeof(T)) __builtin_prefetch(p, 0, 2);
}

// Runs of some columns of [X, y, 1], one after the other, each followed by a line of padding: runs at multiples of a large power of
// two would share few sets of the cache.
class ColumnRuns {
   public:
    static constexpr std::size_t kRows = 256;     // long enough that the sums over lanes cost little
    static constexpr std::size_t kMostRuns = 32;  // from so many on, packed panels (core/product.hpp) are faster

    explicit ColumnRuns(std::size_t n_runs) : n_runs_(n_runs), values_(kStride * round_up(n_runs)) {
        std::fill(run(n_runs), values_.data() + values_.size(), 0.0);  // tiles are whole, and reach beyond the last run
    }

    // The number of sums a line, of which lines there are as many as runs.
    static std::size_t round_up(std::size_t n_runs) { return (n_runs + kLeft - 1) / kLeft * kLeft; }

    // Takes up rows [first, first + n) of [X, y, 1] - shift, times the roots of the weights; n is kRows at most. Asks for the
    // `n_ahead` rows after them while other work goes on.
    template <Real T>
    void fill(const Sample<T>& sample, std::span<const double> shift, std::size_t first, std::size_t n, std::size_t n_ahead) {
        const std::size_t d = sample.x.cols;
        n_rows_ = S::round_up(n);
        const bool has_rows = sample.x.has_contiguous_rows();
        const std::size_t n_done = has_rows ? fill_squares(sample.x, shift, first, n) : 0;
        for (std::size_t j = 0; j < d; ++j) {
            if (!has_rows) prefetch_run(sample.x, j, first + n, n_ahead);
            fill_run(sample.x, j, shift[j], first, j < d / S::kLanes * S::kLanes ? n_done : 0, n, run(j));
        }
        if (has_rows) prefetch_rows(sample.x, first + n, first + n + n_ahead);
        for (std::size_t j = d; j < sample.cols(); ++j) fill_run(sample.y, j - d, shift[j], first, 0, n, run(j));
        std::fill_n(run(sample.cols()), n, 1.0);
        if (!sample.weights.empty()) weigh(sample, first, n);
        for (std::size_t j = 0; j < n_runs_; ++j) std::fill(run(j) + n, run(j) + n_rows_, 0.0);
    }

    // sums[j * round_up(n_runs) + i] += the product of runs i and j, for i <= j (and some others). O(n_rows n_runs^2).
    void add_products(double* sums) const {
        for (std::size_t i = 0; i < n_runs_; i += kLeft) {
            std::size_t j = i;
            for (; j + kRight <= n_runs_; j += kRight) add_tile<kRight>(i, j, sums);
            for (; j < n_runs_; ++j) add_tile<1>(i, j, sums);
        }
    }

   private:
    using S = Simd<double>;
    static constexpr std::size_t kStride = kRows + 8;
    // A tile of 4 x 3 sums and 4 operands fill sixteen registers, one of 8 x 3 nearly thirty-two; whole vectors to the left.
    static constexpr std::size_t kLeft = kVectorRegisters == 32 ? 8 : 4;
    static constexpr std::size_t kRight = 3;
    static_assert(kLeft % S::kLanes == 0);

    double* run(std::size_t j) const { return values_.data() + j * kStride; }

    // Rows [begin, end) after `first` of column j, one by one.
    template <Real T>
    static void fill_run(Matrix<const T> x, std::size_t j, double shift, std::size_t first, std::size_t begin, std::size_t end,
                         double* target) {
        const T* source = &x(first, j);
        if (x.row_stride == 1) {
            for (std::size_t i = begin; i < end; ++i) target[i] = static_cast<double>(source[i]) - shift;
        } else {
            for (std::size_t i = begin; i < end; ++i)
                target[i] = static_cast<double>(source[static_cast<std::ptrdiff_t>(i) * x.row_stride]) - shift;
        }
    }

    // Of rows that lie together, all whole squares of a vector's lanes; returns how many rows that is.
    template <Real T>
    std::size_t fill_squares(Matrix<const T> x, std::span<const double> shift, std::size_t first, std::size_t n) {
        typedef T Source __attribute__((vector_size(S::kLanes * sizeof(T))));
        const std::size_t n_done = n / S::kLanes * S::kLanes;
        for (std::size_t i = 0; i < n_done; i += S::kLanes) {
            for (std::size_t j = 0; j + S::kLanes <= x.cols; j += S::kLanes) {
                const S::Vector offset = S::load(shift.data() + j);
                S::Vector square[S::kLanes];
#pragma GCC unroll 8
                for (std::size_t k = 0; k < S::kLanes; ++k) {
                    Source source;
                    std::memcpy(&source, x.row(first + i + k) + j, sizeof source);
                    square[k] = __builtin_convertvector(source, S::Vector) - offset;
                }
                transpose<double>(square);
#pragma GCC unroll 8
                for (std::size_t k = 0; k < S::kLanes; ++k) S::store(run(j + k) + i, square[k]);
            }
        }
        return n_done;
    }

    template <Real T>
    void weigh(const Sample<T>& sample, std::size_t first, std::size_t n) {
        double roots[kRows];
        for (std::size_t i = 0; i < n; ++i) roots[i] = sample.root_weight(first + i);
        for (std::size_t j = 0; j <= sample.cols(); ++j)
            for (std::size_t i = 0; i < n; ++i) run(j)[i] *= roots[i];
    }

    template <std::size_t R>
    [[gnu::always_inline]] void add_tile(std::size_t i, std::size_t j, double* sums) const {
        S::Vector products[R][kLeft];
        dot_lines<kLeft, R>([first = run(i)](std::size_t l) { return first + l * kStride; },
                            [first = run(j)](std::size_t r) { return first + r * kStride; }, n_rows_, products);
#pragma GCC unroll 8
        for (std::size_t r = 0; r < R; ++r) {
#pragma GCC unroll 8
            for (std::size_t l = 0; l < kLeft; l += S::kLanes)
                add_lanes(products[r] + l, sums + (j + r) * round_up(n_runs_) + i + l);
        }
    }

    // target[k] += the sum of the lanes of v[k], for as many vectors as they have lanes.
    [[gnu::always_inline]] static void add_lanes(const S::Vector* vectors, double* target) {
        S::Vector v[S::kLanes];
#pragma GCC unroll 8
        for (std::size_t k = 0; k < S::kLanes; ++k) v[k] = vectors[k];
        transpose<double>(v);
#pragma GCC unroll 4
        for (std::size_t step = 1; step < S::kLanes; step *= 2) {
#pragma GCC unroll 8
            for (std::size_t k = 0; k < S::kLanes; k += 2 * step) v[k] += v[k + step];
        }
        S::store(target, S::load(target) + v[0]);
    }

    std::size_t n_runs_;
    std::size_t n_rows_ = 0;
    Aligned<double> values_;
};

}  // namespace mercer::linear_model::detail
