// Products with rows that are seen about a centre, which is taken off value by value: what is left of rows far from the origin has
// all its digits, as it would not if the centre's share were taken off the products.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/panels.hpp"
#include "core/parallel.hpp"
#include "core/prefetch.hpp"
#include "core/product.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer {

namespace detail {

// (x - 1 centre')' as a factor: a line for each column of x, and as wide as x has rows.
template <Real T>
class CentredLines {
   public:
    CentredLines(Matrix<const T> x, std::span<const T> centre)
        : lines_{{x.data, x.cols, x.rows, x.col_stride, x.row_stride}}, centre_(centre) {}

    std::size_t depth() const { return lines_.depth(); }
    std::size_t width() const { return lines_.width(); }

    void pack(std::size_t first, std::size_t last, std::size_t begin, std::size_t end, PanelLines<T> out) const {
        constexpr std::size_t kWidth = Panel<T>::kWidth;
        lines_.pack(first, last, begin, end, out);
        for (std::size_t j = begin; j < end; j += kWidth) {
            const std::size_t n = std::min(kWidth, end - j);
            T* line = out.panel((j - begin) / kWidth);
            for (std::size_t k = first; k < last; ++k, line += kWidth)
                for (std::size_t c = 0; c < n; ++c) line[c] -= centre_[k];
        }
    }

   private:
    StridedSource<T, T> lines_;
    std::span<const T> centre_;
};

// A few columns of b, filled up with zeros to whole vectors, for rows that are read where they lie.
template <Real T>
class NarrowFactor {
   public:
    static constexpr std::size_t kMostVectors = 6;

    static bool suits(Matrix<const T> x, Matrix<const T> b) {
        return x.has_contiguous_rows() && b.cols >= 1 && b.cols <= kMostVectors * S::kLanes;
    }

    explicit NarrowFactor(Matrix<const T> b)
        : depth_(b.rows), width_(b.cols), padded_(S::round_up(b.cols)), values_(b.rows * padded_) {
        for (std::size_t k = 0; k < b.rows; ++k)
            for (std::size_t j = 0; j < padded_; ++j) values_[k * padded_ + j] = j < width_ ? b(k, j) : T{0};
    }

    // c = (x - 1 centre') b for rows [begin, end). A row has the same bits whichever others are asked for.
    void multiply(Matrix<const T> x, std::span<const T> centre, Matrix<T> c, std::size_t begin, std::size_t end) const {
        switch (padded_ / S::kLanes) {
            case 1:
                return multiply_by<1>(x, centre, c, begin, end);
            case 2:
                return multiply_by<2>(x, centre, c, begin, end);
            case 3:
                return multiply_by<3>(x, centre, c, begin, end);
            case 4:
                return multiply_by<4>(x, centre, c, begin, end);
            case 5:
                return multiply_by<5>(x, centre, c, begin, end);
            default:
                return multiply_by<6>(x, centre, c, begin, end);
        }
    }

   private:
    using S = Simd<T>;
    static constexpr std::size_t kTogether = 36;        // rows that meet a block of the factor while it is in the first-level cache
    static constexpr std::size_t kFactorBytes = 24576;  // of such a block

    // So many rows at a time that their sums stay in registers.
    template <std::size_t V>
    static constexpr std::size_t kRows = V <= 4 ? (kVectorRegisters == 32 ? 6 : 3) : (kVectorRegisters == 32 ? 4 : 2);

    template <std::size_t V>
    void multiply_by(Matrix<const T> x, std::span<const T> centre, Matrix<T> c, std::size_t begin, std::size_t end) const {
        constexpr std::size_t kWidth = V * S::kLanes, kDepth = kFactorBytes / (kWidth * sizeof(T)), R = kRows<V>;
        static_assert(kTogether % R == 0);
        alignas(64) T sums[kTogether * kWidth];
        for (std::size_t first = begin; first < end; first += kTogether) {
            const std::size_t n = std::min(kTogether, end - first);
            std::fill_n(sums, n * kWidth, T{0});
            for (std::size_t k = 0; k < depth_; k += kDepth) {
                const std::size_t k_end = std::min(k + kDepth, depth_);
                std::size_t i = 0;
                for (; i + R <= n; i += R) add_rows<R, V>(x, centre, first + i, k, k_end, sums + i * kWidth);
                for (; i < n; ++i) add_rows<1, V>(x, centre, first + i, k, k_end, sums + i * kWidth);
            }
            for (std::size_t i = 0; i < n; ++i) std::copy_n(sums + i * kWidth, width_, c.row(first + i));
        }
    }

    // sums += (x - 1 centre') b for R rows and columns [k, k_end) of x.
    template <std::size_t R, std::size_t V>
    void add_rows(Matrix<const T> x, std::span<const T> centre, std::size_t first, std::size_t k, std::size_t k_end,
                  T* target) const {
        constexpr std::size_t kWidth = V * S::kLanes;
        typename S::Vector sums[R][V];
        const T* rows[R];
        for (std::size_t r = 0; r < R; ++r) {
            rows[r] = x.row(first + r);
            if (first + R + r < x.rows) prefetch_run(x.row(first + R + r) + k, k_end - k);  // too short to be foreseen
#pragma GCC unroll 8
            for (std::size_t v = 0; v < V; ++v) sums[r][v] = S::load(target + r * kWidth + v * S::kLanes);
        }
        const T* line = values_.data() + k * kWidth;
        for (; k < k_end; ++k, line += kWidth) {
            typename S::Vector left[R];
#pragma GCC unroll 6
            for (std::size_t r = 0; r < R; ++r) left[r] = S::broadcast(rows[r][k] - centre[k]);
#pragma GCC unroll 8
            for (std::size_t v = 0; v < V; ++v) {
                const typename S::Vector right = S::load(line + v * S::kLanes);
#pragma GCC unroll 6
                for (std::size_t r = 0; r < R; ++r) sums[r][v] += left[r] * right;
            }
        }
#pragma GCC unroll 6
        for (std::size_t r = 0; r < R; ++r)
#pragma GCC unroll 8
            for (std::size_t v = 0; v < V; ++v) S::store(target + r * kWidth + v * S::kLanes, sums[r][v]);
    }

    std::size_t depth_, width_, padded_;
    Aligned<T> values_;
};

}  // namespace detail

// c = (x - 1 centre') b, for matrices of any strides. O(rows columns width).
template <Real T>
void multiply_centred(Matrix<const T> x, std::span<const T> centre, Matrix<const T> b, Matrix<T> c, Threads threads) {
    require(x.cols == b.rows && c.rows == x.rows && c.cols == b.cols && centre.size() == x.cols && c.has_contiguous_rows(),
            "multiply_centred: the shapes do not fit");
    if (detail::NarrowFactor<T>::suits(x, b)) {
        const detail::NarrowFactor<T> factor(b);
        const Chunks chunks = Chunks::of(x.rows, 64, 1024);
        const double work = static_cast<double>(x.rows) * static_cast<double>(x.cols * b.cols) / 4;
        return parallel_for(chunks.count, threads.for_work(work),
                            [&](std::size_t chunk) { factor.multiply(x, centre, c, chunks.begin(chunk), chunks.end(chunk)); });
    }
    product<T, T>(detail::CentredLines<T>(x, centre), StridedSource<T, T>{b}, T{1}, T{0}, c, threads);
}

// c = (x - 1 centre')' b, for matrices of any strides. O(rows columns width).
template <Real T>
void multiply_centred_transposed(Matrix<const T> x, std::span<const T> centre, Matrix<const T> b, Matrix<T> c, Threads threads) {
    product<T, T>(StridedSource<T, T>{x, centre}, StridedSource<T, T>{b}, T{1}, T{0}, c, threads);
}

}  // namespace mercer
