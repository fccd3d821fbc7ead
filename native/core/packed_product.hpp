// Products of rows with many rows that stay: those are packed once (core/panels.hpp), for all products that follow.
//
// A product of few rows reads the packed ones once and writes nothing else; packing them again would take longer than to multiply.
// Tiles of the result are the tasks, over the whole depth one after another, so that a tile is finished while it is in the cache.
// A value has the same bits in whatever rows it was asked for with, and for any number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/panels.hpp"
#include "core/parallel.hpp"
#include "core/product.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer {

// Rows as the columns of a source, whose depth are the features: those of `index`, or all, minus a shift (empty: none).
template <Real T>
struct RowColumns {
    RowMajor<const T> x;
    std::span<const T> shift = {};
    const std::int64_t* index = nullptr;
    std::size_t n = x.rows;

    std::size_t depth() const { return x.cols; }
    std::size_t width() const { return n; }
    const T* row(std::size_t i) const { return x.row(index == nullptr ? i : static_cast<std::size_t>(index[i])); }

    void pack(std::size_t first, std::size_t last, std::size_t begin, std::size_t end, PanelLines<T> lines) const {
        constexpr std::size_t kWidth = Panel<T>::kWidth;
        for (std::size_t j = begin; j < end; j += kWidth) {
            T* const out = lines.panel((j - begin) / kWidth);
            const std::size_t n_columns = std::min(kWidth, end - j);
            for (std::size_t c = 0; c < n_columns; ++c) {
                const T* const source = row(j + c);
                for (std::size_t k = first; k < last; ++k)
                    out[(k - first) * kWidth + c] = shift.empty() ? source[k] : source[k] - shift[k];
            }
            for (std::size_t k = 0; n_columns < kWidth && k < last - first; ++k)
                std::fill(out + k * kWidth + n_columns, out + (k + 1) * kWidth, T{0});
        }
    }
};

// All of a source, packed: block of depth after block of depth, and in each, panel after panel, no longer than the block is deep.
template <Real P>
class PackedColumns {
   public:
    // O(depth width).
    template <PanelSource<P> Source>
    PackedColumns(const Source& source, Threads threads)
        : depth_(source.depth()), width_(source.width()), n_panels_(Panel<P>::count(width_)), data_(n_panels_ * kWidth * depth_) {
        const double work = static_cast<double>(depth_) * static_cast<double>(width_);
        parallel_for(n_panels_, threads.for_work(work), [&](std::size_t p) {
            for (std::size_t block = 0; block < n_blocks(); ++block)
                source.pack(block * kBlockDepth, block * kBlockDepth + lines(block), p * kWidth, std::min((p + 1) * kWidth, width_),
                            {data_.data() + offset(block, p), stride(block)});
        });
    }

    std::size_t depth() const { return depth_; }
    std::size_t width() const { return width_; }
    std::size_t n_blocks() const { return (depth_ + kBlockDepth - 1) / kBlockDepth; }
    std::size_t lines(std::size_t block) const { return std::min(kBlockDepth, depth_ - block * kBlockDepth); }
    std::size_t stride(std::size_t block) const { return lines(block) * kWidth; }  // from a panel to the next one
    const P* panel(std::size_t block, std::size_t p) const { return data_.data() + offset(block, p); }

    static constexpr std::size_t kWidth = Panel<P>::kWidth;

   private:
    std::size_t offset(std::size_t block, std::size_t p) const {
        return block * kBlockDepth * n_panels_ * kWidth + p * stride(block);
    }

    std::size_t depth_, width_, n_panels_;
    Aligned<P> data_;
};

// Calls body(rows, first) for some rows after others, so that what is packed of them is small beside the whole.
template <Real T, class Body>
void for_each_band(RowMajor<const T> x, Body&& body) {
    constexpr std::size_t kPackedValues = (std::size_t{1} << 23) / sizeof(T), kTile = 240;
    const std::size_t step = std::max<std::size_t>(kPackedValues / std::max<std::size_t>(x.cols, 1) / kTile, 1) * kTile;
    for (std::size_t begin = 0; begin < x.rows; begin += step)
        body(RowMajor<const T>{x.row(begin), std::min(step, x.rows - begin), x.cols}, begin);
}

// Calls body(row, n_rows, column, n_columns) for the tiles of an m x n result, side by side; they begin at whole panels.
template <Real P, class Body>
void for_each_tile(std::size_t m, std::size_t n, double work, Threads threads, Body&& body) {
    constexpr std::size_t kWidth = Panel<P>::kWidth;
    constexpr std::size_t kEdge = 240 / kWidth * kWidth;  // two blocks of such a tile's panels fit the second-level cache
    const std::size_t wide = kEdge * std::clamp<std::size_t>(32 / std::max<std::size_t>(m, 1), 1, 8);
    const std::size_t n_down = (m + kEdge - 1) / kEdge, n_across = (n + wide - 1) / wide;
    parallel_for(n_down * n_across, threads.for_work(work), [&](std::size_t task) {
        const std::size_t row = task % n_down * kEdge, column = task / n_down * wide;
        body(row, std::min(kEdge, m - row), column, std::min(wide, n - column));
    });
}

// c = alpha left' right for packed factors of one depth, at least 1; `finish(tile, row, column)` is called with every complete
// tile. O(m n depth).
template <Real P, class Finish>
void packed_product(const PackedColumns<P>& left, const PackedColumns<P>& right, P alpha, RowMajor<P> c, Threads threads,
                    const Finish& finish) {
    require(left.depth() == right.depth() && c.rows == left.width() && c.cols == right.width(),
            "packed_product: the shapes do not fit");
    constexpr std::size_t kWidth = Panel<P>::kWidth;
    const double work = static_cast<double>(c.rows) * static_cast<double>(c.cols) * (static_cast<double>(left.depth()) / 4 + 4);
    for_each_tile<P>(c.rows, c.cols, work, threads, [&](std::size_t row, std::size_t m, std::size_t column, std::size_t n) {
        P* const target = &c(row, column);
        for (std::size_t block = 0; block < right.n_blocks(); ++block) {
            detail::TileProduct<P, P>{left.panel(block, row / kWidth),
                                      right.panel(block, column / kWidth),
                                      right.lines(block),
                                      m,
                                      n,
                                      alpha,
                                      block == 0 ? P{0} : P{1},
                                      target,
                                      c.cols,
                                      -static_cast<std::ptrdiff_t>(m),
                                      kWidth,
                                      right.stride(block)}
                .run();
            checkpoint();
        }
        finish(Matrix<P>{target, m, n, static_cast<std::ptrdiff_t>(c.cols), 1}, row, column);
    });
}

}  // namespace mercer
