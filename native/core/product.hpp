// Matrix products, blocked for registers and caches, with the same bits for any number of threads.
//
// Both factors are packed into panels (core/panels.hpp), on the way from any strides, shifted and scaled. The depth is cut into
// blocks, whose sums are added to the result in order, and the result into tiles, which are the tasks: both depend on the shape
// alone. Where the result is so small that its tiles would not occupy the threads, the depth is cut into slices, each with a result
// of its own. A finished tile is handed to a functor while it is in the cache. All of it may be called inside a parallel loop,
// where it runs on the calling thread.
//
// Measured on one thread of a Zen 4 processor against OpenBLAS 0.3.30 (its AVX-512 kernels), in GF/s of processor time: X' X of
// 50,000 x 2,000 in double precision 49 (OpenBLAS 51), in single 103 (97); 2,000 x 2,000 by 2,000 x 2,000 48 (52) and 101 (103); of
// the portable level v3, 45 to 47 and 94 to 98. So SciPy's BLAS, whose bits depend on the number of its threads, is not called.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/errors.hpp"
#include "core/panels.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer {

// Done with a tile of the result once it is complete, given its first row and column: nothing.
struct LeaveTile {
    template <class Out>
    void operator()(Matrix<Out>, std::size_t, std::size_t) const {}
};

namespace detail {

// How far apart the lines of the factors are.
struct Lines {
    std::size_t left, right;
};

// A tile of the result over one block of depth: c = beta c + alpha (left panels)' (right panels), m x n. c is not read where beta
// is 0. Sums are taken in the type P. Defined in core/product.cpp.
template <Real P, Real Out>
struct TileProduct {
    const P* left;
    const P* right;
    std::size_t depth, m, n;
    Out alpha, beta;
    Out* c;
    std::size_t ld;
    // Columns of row i before i + first_needed are not needed: micro-tiles of such columns alone are passed over.
    std::ptrdiff_t first_needed;
    // From a line of a panel to the next one, and from a panel to the next one: packed, unless said otherwise. The left factor's
    // lines may lie otherwise (0: as those of the right one).
    std::size_t line = Panel<P>::kWidth, panel = Panels<P>::kStride, left_line = 0;

    Lines lines() const { return {left_line == 0 ? line : left_line, line}; }

    void run() const;
};

extern template struct TileProduct<double, double>;
extern template struct TileProduct<float, float>;
extern template struct TileProduct<float, double>;

// c(j, i) = c(i, j) for the tile of rows and columns from (row, column) on.
template <class Out>
void mirror_tile(Matrix<Out> c, std::size_t row, std::size_t column, std::size_t n_rows, std::size_t n_columns) {
    constexpr std::size_t kSquare = 16;  // of which both the rows and their mirror image stay in the cache
    for (std::size_t i0 = row; i0 < row + n_rows; i0 += kSquare)
        for (std::size_t j0 = column; j0 < column + n_columns; j0 += kSquare)
            for (std::size_t i = i0; i < std::min(i0 + kSquare, row + n_rows); ++i)
                for (std::size_t j = std::max(i + 1, j0); j < std::min(j0 + kSquare, column + n_columns); ++j) c(j, i) = c(i, j);
}

// A source behind one function, so that the driver of all products is compiled once for each type of them (core/product.cpp):
// called for some lines at a time.
template <Real P>
class AnySource {
   public:
    template <PanelSource<P> Source>
    explicit AnySource(const Source& source)
        : source_(&source),
          depth_(source.depth()),
          width_(source.width()),
          pack_([](const void* of, std::size_t first, std::size_t last, std::size_t begin, std::size_t end, PanelLines<P> lines) {
              static_cast<const Source*>(of)->pack(first, last, begin, end, lines);
          }) {}

    std::size_t depth() const { return depth_; }
    std::size_t width() const { return width_; }
    void pack(std::size_t first, std::size_t last, std::size_t begin, std::size_t end, PanelLines<P> lines) const {
        pack_(source_, first, last, begin, end, lines);
    }

   private:
    const void* source_;
    std::size_t depth_, width_;
    void (*pack_)(const void*, std::size_t, std::size_t, std::size_t, std::size_t, PanelLines<P>);
};

// What finishes a tile, likewise.
template <Real Out>
class AnyFinish {
   public:
    template <class Finish>
    explicit AnyFinish(const Finish& finish)
        : finish_(&finish), call_([](const void* by, Matrix<Out> tile, std::size_t row, std::size_t column) {
              (*static_cast<const Finish*>(by))(tile, row, column);
          }) {}

    void operator()(Matrix<Out> tile, std::size_t row, std::size_t column) const { call_(finish_, tile, row, column); }

   private:
    const void* finish_;
    void (*call_)(const void*, Matrix<Out>, std::size_t, std::size_t);
};

// c = beta c + alpha left' right; `right` is absent where it is `left` itself. Defined in core/product.cpp.
template <Real P, Real Out>
void run_product(const AnySource<P>& left, const AnySource<P>* right, Out alpha, Out beta, Matrix<Out> c, Threads threads,
                 const AnyFinish<Out>& finish);

extern template void run_product<double, double>(const AnySource<double>&, const AnySource<double>*, double, double, Matrix<double>,
                                                 Threads, const AnyFinish<double>&);
extern template void run_product<float, float>(const AnySource<float>&, const AnySource<float>*, float, float, Matrix<float>,
                                               Threads, const AnyFinish<float>&);
extern template void run_product<float, double>(const AnySource<float>&, const AnySource<float>*, double, double, Matrix<double>,
                                                Threads, const AnyFinish<double>&);

}  // namespace detail

// c = beta c + alpha left' right, for sources of the same depth; the rows of c are contiguous, and it is not read where beta is 0.
// `finish(tile, row, column)` is called with every complete tile of c. Products are summed in the type P. O(m n depth).
template <Real P, Real Out, PanelSource<P> Left, PanelSource<P> Right, class Finish = LeaveTile>
void product(const Left& left, const Right& right, Out alpha, Out beta, Matrix<Out> c, Threads threads, const Finish& finish = {}) {
    require(left.depth() == right.depth() && c.rows == left.width() && c.cols == right.width() && c.has_contiguous_rows(),
            "product: the shapes do not fit");
    const detail::AnySource<P> other(right);
    detail::run_product<P, Out>(detail::AnySource<P>(left), &other, alpha, beta, c, threads, detail::AnyFinish<Out>(finish));
}

// c = beta c + alpha source' source, both triangles of a symmetric c. `finish` is called with the tiles on and above the diagonal
// before they are mirrored (with all of c where the result is small). O(width^2 depth).
template <Real P, Real Out, PanelSource<P> Source, class Finish = LeaveTile>
void gram_product(const Source& source, Out alpha, Out beta, Matrix<Out> c, Threads threads, const Finish& finish = {}) {
    require(c.rows == source.width() && c.cols == source.width() && c.has_contiguous_rows(), "gram_product: the shapes do not fit");
    detail::run_product<P, Out>(detail::AnySource<P>(source), nullptr, alpha, beta, c, threads, detail::AnyFinish<Out>(finish));
}

// Adds rows' rows to the upper triangle of `sums` (width x width) on the calling thread, for kernels that see their rows block by
// block: n contiguous rows that stay in the first-level cache are read where they lie. The width is whole vectors, and behind the
// last row there are Panel::kRows more values, which count for nothing.
inline void add_gram_of_rows(const double* rows, std::size_t n, std::size_t width, double* sums) {
    detail::TileProduct<double, double>{rows, rows, n, width, width, 1, 1, sums, width, 0, width, Panel<double>::kWidth}.run();
}

// c = beta c + a' b for contiguous rows that stay in the second-level cache and are read where they lie: packing them would take
// longer. Behind the last row of each there are Panel::kWidth more values, which count for nothing. O(rows m n).
template <Real T>
void product_in_place(RowMajor<const T> a, RowMajor<const T> b, T beta, Matrix<T> c, Threads threads) {
    constexpr std::size_t kEdge = 48, kWidth = Panel<T>::kWidth;
    static_assert(kEdge % kWidth == 0 && kEdge % Panel<T>::kRows == 0);
    const double work = static_cast<double>(a.rows) * static_cast<double>(a.cols) * static_cast<double>(b.cols) / 4;
    parallel_for((a.cols + kEdge - 1) / kEdge, threads.for_work(work), [&](std::size_t task) {
        const std::size_t first = task * kEdge, m = std::min(kEdge, a.cols - first);
        for (std::size_t row = 0; row < a.rows; row += kBlockDepth)
            detail::TileProduct<T, T>{a.row(row) + first,
                                      b.row(row),
                                      std::min(kBlockDepth, a.rows - row),
                                      m,
                                      b.cols,
                                      T{1},
                                      row == 0 ? beta : T{1},
                                      c.row(first),
                                      static_cast<std::size_t>(c.row_stride),
                                      -static_cast<std::ptrdiff_t>(m),
                                      b.cols,
                                      kWidth,
                                      a.cols}
                .run();
    });
}

// c = beta c + alpha a b, for matrices of any strides.
template <Real T>
void multiply(T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c, Threads threads) {
    const StridedSource<T, T> left{{a.data, a.cols, a.rows, a.col_stride, a.row_stride}};
    product<T, T>(left, StridedSource<T, T>{b}, alpha, beta, c, threads);
}

}  // namespace mercer
