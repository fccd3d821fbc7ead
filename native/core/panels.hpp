// Factors of a product, packed: panels of kWidth columns side by side, line after line of the depth (what is summed over).
//
// A panel is read as vectors of columns where its matrix stands on the right, and value by value, kRows columns at a time, where it
// stands on the left. Since kRows divides kWidth, one copy of a matrix serves on both sides of its own Gram matrix.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer {

template <Real P>
struct Panel {
    // Accumulators of kRows x kVectors, a line of the right panel and a value of the left one fill the registers; without fused
    // multiply-adds a product needs one more. kRows x 3 on 64 registers' worth of NEON, so that kRows divides the width.
#if defined(__aarch64__)
    static constexpr std::size_t kRows = 6, kVectors = 3;
#elif defined(__FMA__)
    static constexpr std::size_t kRows = kVectorRegisters == 32 ? 8 : 4, kVectors = 3;
#else
    static constexpr std::size_t kRows = 4, kVectors = 2;
#endif
    static constexpr std::size_t kWidth = kVectors * Simd<P>::kLanes;
    static_assert(kWidth % kRows == 0);

    static std::size_t count(std::size_t width) { return (width + kWidth - 1) / kWidth; }
};

// A block of depth: a panel's share of it stays in the first-level cache, a tile's in the second.
inline constexpr std::size_t kBlockDepth = 256;

// Where a source writes its lines: those of panel p follow each other at data + p * stride.
template <Real P>
struct PanelLines {
    P* data;
    std::size_t stride;

    P* panel(std::size_t p) const { return data + p * stride; }
};

// Lines are packed in pieces of so many, which begin at multiples of it.
inline constexpr std::size_t kPieceDepth = 32;
static_assert(kBlockDepth % kPieceDepth == 0);

// What a product reads: depth() lines of width() columns. `pack` writes lines [first, last) of columns [begin, end), which start at
// a whole panel, and fills the last panel up with zeros.
template <class Source, class P>
concept PanelSource = requires(const Source& source, std::size_t k, PanelLines<P> lines) {
    { source.depth() } -> std::convertible_to<std::size_t>;
    { source.width() } -> std::convertible_to<std::size_t>;
    source.pack(k, k, k, k, lines);
};

// A matrix of any strides as a source, one line a row: diag(factors) (x - 1 shift'). Empty: none.
template <Real In, Real P>
struct StridedSource {
    Matrix<const In> x;
    std::span<const P> shift = {};
    std::span<const P> factors = {};

    std::size_t depth() const { return x.rows; }
    std::size_t width() const { return x.cols; }

    // A panel at a time: a line of it is short, and panels lie at multiples of a large power of two, whose sets of the cache are
    // few.
    void pack(std::size_t first, std::size_t last, std::size_t begin, std::size_t end, PanelLines<P> lines) const;

    // Lines [first, last) of one column, kWidth apart.
    void pack_column(std::size_t first, std::size_t last, std::size_t j, P* out) const {
        const P offset = shift.empty() ? P{0} : shift[j];
        for (std::size_t k = first; k < last; ++k, out += kWidth) *out = (static_cast<P>(x(k, j)) - offset) * factor(k);
    }

   private:
    using S = Simd<P>;
    static constexpr std::size_t kWidth = Panel<P>::kWidth;
    static constexpr std::size_t kLine = 64 / sizeof(In);
    static constexpr std::size_t kAhead = kPieceDepth;  // short runs of many of them are no pattern to the processor

    static typename S::Vector load(const In* source) {
        typedef In Narrow __attribute__((vector_size(S::kLanes * sizeof(In))));
        Narrow v;
        std::memcpy(&v, source, sizeof v);
        return __builtin_convertvector(v, typename S::Vector);
    }
    static void prefetch(const In* source, std::size_t n) {
        for (std::size_t c = 0; c < n; c += 64 / sizeof(In)) __builtin_prefetch(source + c, 0, 2);
    }
    P factor(std::size_t k) const { return factors.empty() ? P{1} : factors[k]; }

    void pack_lines(std::size_t first, std::size_t last, std::size_t j, std::size_t n, const P* offset, P* out) const {
        const std::size_t n_whole = n / S::kLanes * S::kLanes;
        for (std::size_t k = first; k < last; ++k, out += kWidth) {
            const In* source = x.row(k) + j;
            const P by = factor(k);
            if (k + kAhead < x.rows) prefetch(x.row(k + kAhead) + j, n);
            for (std::size_t c = 0; c < n_whole; c += S::kLanes)
                S::store(out + c, (load(source + c) - S::load(offset + c)) * S::broadcast(by));
            for (std::size_t c = n_whole; c < n; ++c) out[c] = (static_cast<P>(source[c]) - offset[c]) * by;
        }
    }

    // Columns lie together: squares of values are transposed in registers.
    void pack_squares(std::size_t first, std::size_t last, std::size_t j, std::size_t n, const P* offset, P* out) const {
        const std::size_t n_whole = n / S::kLanes * S::kLanes;
        const std::size_t last_whole = first + (last - first) / S::kLanes * S::kLanes;
        for (std::size_t c = 0; c < n_whole; c += S::kLanes) {
            for (std::size_t k = first; k < last_whole; k += S::kLanes) {
                if (k % kLine < S::kLanes && k + kAhead < x.rows)
                    for (std::size_t l = 0; l < S::kLanes; ++l) __builtin_prefetch(&x(k + kAhead, j + c + l), 0, 2);
                typename S::Vector square[S::kLanes];
#pragma GCC unroll 16
                for (std::size_t l = 0; l < S::kLanes; ++l) square[l] = load(&x(k, j + c + l));
                transpose<P>(square);
#pragma GCC unroll 16
                for (std::size_t l = 0; l < S::kLanes; ++l)
                    S::store(out + (k - first + l) * kWidth + c, (square[l] - S::load(offset + c)) * S::broadcast(factor(k + l)));
            }
        }
        for (std::size_t c = 0; c < n; ++c) pack_values(first, last, c < n_whole ? last_whole : first, j, c, offset, out);
    }

    // Lines [from, last) of column j + c, one by one.
    void pack_values(std::size_t first, std::size_t last, std::size_t from, std::size_t j, std::size_t c, const P* offset,
                     P* out) const {
        for (std::size_t k = from; k < last; ++k)
            out[(k - first) * kWidth + c] = (static_cast<P>(x(k, j + c)) - offset[c]) * factor(k);
    }
};

template <Real In, Real P>
void StridedSource<In, P>::pack(std::size_t first, std::size_t last, std::size_t begin, std::size_t end,
                                PanelLines<P> lines) const {
    for (std::size_t j = begin; j < end; j += kWidth) {
        const std::size_t n = std::min(kWidth, end - j);
        P* out = lines.panel((j - begin) / kWidth);
        alignas(64) P offset[kWidth] = {};
        if (!shift.empty()) std::copy_n(shift.data() + j, n, offset);
        if (x.has_contiguous_rows()) {
            pack_lines(first, last, j, n, offset, out);
        } else if (x.row_stride == 1) {
            pack_squares(first, last, j, n, offset, out);
        } else {
            for (std::size_t c = 0; c < n; ++c) pack_values(first, last, first, j, c, offset, out);
        }
        for (std::size_t k = 0; n < kWidth && k < last - first; ++k) std::fill(out + k * kWidth + n, out + (k + 1) * kWidth, P{0});
    }
}

extern template struct StridedSource<double, double>;  // in core/product.cpp
extern template struct StridedSource<float, float>;
extern template struct StridedSource<float, double>;

// The columns of one source followed by those of another, of the same depth.
template <Real P, class First, class Second>
struct JoinedSource {
    First first;
    Second second;

    std::size_t depth() const { return first.depth(); }
    std::size_t width() const { return first.width() + second.width(); }

    void pack(std::size_t from, std::size_t to, std::size_t begin, std::size_t end, PanelLines<P> lines) const {
        constexpr std::size_t kWidth = Panel<P>::kWidth;
        const std::size_t split = first.width();
        if (begin < split) first.pack(from, to, begin, std::min(end, split), lines);
        for (std::size_t j = std::max(begin, split); j < end; ++j) {
            const std::size_t lane = (j - begin) % kWidth;
            P* const out = lines.panel((j - begin) / kWidth);
            if (lane == 0)
                for (std::size_t k = 0; k < to - from; ++k) std::fill_n(out + k * kWidth, kWidth, P{0});
            second.pack_column(from, to, j - split, out + lane);
        }
    }
};

// Some lines of some columns of a source, packed: block of depth after block of depth, and in each, panel after panel.
template <Real P>
class Panels {
   public:
    Panels(std::size_t most_columns, std::size_t most_lines)
        : data_((most_lines + kBlockDepth - 1) / kBlockDepth * Panel<P>::count(most_columns) * kStride) {}

    // O(lines columns).
    template <PanelSource<P> Source>
    void fill(const Source& source, std::size_t first, std::size_t last, std::size_t begin, std::size_t end, Threads threads) {
        n_panels_ = Panel<P>::count(end - begin);
        const std::size_t n_pieces = (last - first + kPieceDepth - 1) / kPieceDepth;
        const double work = static_cast<double>(last - first) * static_cast<double>(end - begin);
        parallel_for(n_pieces, threads.for_work(work), [&](std::size_t piece) {
            const std::size_t line = piece * kPieceDepth;
            P* const block = data_.data() + line / kBlockDepth * n_panels_ * kStride;
            source.pack(first + line, std::min(first + line + kPieceDepth, last), begin, end,
                        {block + line % kBlockDepth * Panel<P>::kWidth, kStride});
        });
    }

    const P* panel(std::size_t block, std::size_t p) const { return data_.data() + (block * n_panels_ + p) * kStride; }

    static constexpr std::size_t kStride = kBlockDepth * Panel<P>::kWidth;  // from a panel's lines to the next one's

   private:
    Aligned<P> data_;
    std::size_t n_panels_ = 0;
};

}  // namespace mercer
