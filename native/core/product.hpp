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
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

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

    void run() const;
};

extern template struct TileProduct<double, double>;
extern template struct TileProduct<float, float>;
extern template struct TileProduct<float, double>;

// How a product of m x n results is cut.
template <Real P>
struct ProductPlan {
    static constexpr std::size_t kWidth = Panel<P>::kWidth;
    static constexpr std::size_t kEdge = 240 / kWidth * kWidth;  // of a tile: two of its blocks fit the second-level cache
    static constexpr std::size_t kLeastEdge = (72 + kWidth - 1) / kWidth * kWidth;    // below, panels are fetched too often
    static constexpr std::size_t kPackedValues = (std::size_t{1} << 23) / sizeof(P);  // of a factor at a time
    static constexpr std::size_t kSliceValues = (std::size_t{1} << 20) / sizeof(P);   // of one thread, in its second-level cache

    std::size_t m, n, depth;
    std::size_t edge;
    bool is_symmetric;

    ProductPlan(std::size_t m_, std::size_t n_, std::size_t depth_, bool is_symmetric_)
        : m(m_), n(n_), depth(depth_), is_symmetric(is_symmetric_) {
        constexpr double kWantedTiles = 36;
        const double area = static_cast<double>(m) * static_cast<double>(n);
        const auto wanted = static_cast<std::size_t>(std::min(std::sqrt(area / kWantedTiles), 1e6));
        edge = std::clamp((wanted + kWidth - 1) / kWidth * kWidth, kLeastEdge, kEdge);
    }

    static std::size_t tiles_along(std::size_t size, std::size_t edge) { return (size + edge - 1) / edge; }
    std::size_t n_tiles() const {
        const std::size_t rows = tiles_along(m, edge), columns = tiles_along(n, edge);
        return is_symmetric ? rows * (rows + 1) / 2 : rows * columns;
    }

    // Slices of the blocks of depth, where there are few tiles: as many as are worth the addition of their results.
    Chunks slices() const {
        const double area = static_cast<double>(m) * static_cast<double>(n);
        const auto least = static_cast<std::size_t>(std::clamp(2e6 / (area + 1), 512.0, 65536.0)) / kBlockDepth;
        const std::size_t n_blocks = (depth + kBlockDepth - 1) / kBlockDepth;
        return n_tiles() < 16 ? Chunks::of(n_blocks, least, 64 / n_tiles()) : Chunks{n_blocks, 1};
    }

    // Columns and lines that are packed at a time.
    std::size_t band() const { return std::max(kPackedValues / kBlockDepth / edge, std::size_t{1}) * edge; }
    std::size_t lines(std::size_t band) const {
        const std::size_t values = slices().count > 1 ? kSliceValues : kPackedValues;
        return std::max(values / (Panel<P>::count(band) * Panels<P>::kStride), std::size_t{1}) * kBlockDepth;
    }
    double work() const {
        return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(depth) / (is_symmetric ? 8 : 4);
    }
};

// c(j, i) = c(i, j) for the tile of rows and columns from (row, column) on.
template <class Out>
void mirror_tile(Matrix<Out> c, std::size_t row, std::size_t column, std::size_t n_rows, std::size_t n_columns) {
    constexpr std::size_t kSquare = 16;  // of which both the rows and their mirror image stay in the cache
    for (std::size_t i0 = row; i0 < row + n_rows; i0 += kSquare)
        for (std::size_t j0 = column; j0 < column + n_columns; j0 += kSquare)
            for (std::size_t i = i0; i < std::min(i0 + kSquare, row + n_rows); ++i)
                for (std::size_t j = std::max(i + 1, j0); j < std::min(j0 + kSquare, column + n_columns); ++j) c(j, i) = c(i, j);
}

// The product over lines [first, last) of both sources; `right` is absent where it is `left` itself, and then all tiles but those
// above the diagonal are mirror images.
template <Real P, Real Out, class Left, class Right, class Finish>
class ProductRun {
   public:
    ProductRun(const ProductPlan<P>& plan, const Left& left, const Right* right, Out alpha, Out beta, Matrix<Out> c,
               Threads threads, const Finish& finish)
        : plan_(plan),
          left_(left),
          right_(right),
          alpha_(alpha),
          beta_(beta),
          c_(c),
          threads_(threads.for_work(plan.work())),
          finish_(finish) {}

    void run(std::size_t first, std::size_t last) {
        const std::size_t right_band = plan_.is_symmetric ? plan_.n : std::min(plan_.band(), plan_.n);
        const std::size_t left_band = std::min(plan_.band(), plan_.m);
        const std::size_t most_lines = std::min(plan_.lines(right_band), std::max(last - first, std::size_t{1}));
        Panels<P> right(right_band, most_lines);
        std::optional<Panels<P>> left;
        if (!plan_.is_symmetric) left.emplace(left_band, most_lines);
        for (std::size_t j = 0; j < plan_.n; j += right_band) {
            const std::size_t j_end = std::min(j + right_band, plan_.n);
            std::size_t line = first;
            do {  // once where there is no depth: beta counts all the same
                const std::size_t line_end = std::min(line + most_lines, last);
                const Stage stage{line, line_end, line == first, line_end == last};
                if (plan_.is_symmetric) {
                    right.fill(left_, line, line_end, 0, plan_.n, threads_);
                    multiply(right, right, stage, 0, plan_.m, 0, plan_.n);
                } else {
                    right.fill(*right_, line, line_end, j, j_end, threads_);
                    for (std::size_t i = 0; i < plan_.m; i += left_band) {
                        const std::size_t i_end = std::min(i + left_band, plan_.m);
                        left->fill(left_, line, line_end, i, i_end, threads_);
                        multiply(*left, right, stage, i, i_end, j, j_end);
                    }
                }
                line = line_end;
            } while (line < last);
        }
    }

   private:
    struct Stage {
        std::size_t first, last;
        bool is_first, is_last;
    };

    void multiply(const Panels<P>& left, const Panels<P>& right, const Stage& stage, std::size_t i, std::size_t i_end,
                  std::size_t j, std::size_t j_end) const {
        const std::size_t rows = plan_.tiles_along(i_end - i, plan_.edge), columns = plan_.tiles_along(j_end - j, plan_.edge);
        parallel_for(rows * columns, threads_, [&](std::size_t task) {
            const std::size_t row = task / columns * plan_.edge, column = task % columns * plan_.edge;
            if (plan_.is_symmetric && row > column) return;
            const std::size_t m = std::min(plan_.edge, i_end - i - row), n = std::min(plan_.edge, j_end - j - column);
            Out* const c = &c_(i + row, j + column);
            for (std::size_t line = stage.first, block = 0; line < stage.last || (block == 0 && stage.is_first);
                 line += kBlockDepth, ++block) {
                const Out beta = stage.is_first && block == 0 ? beta_ : Out{1};
                TileProduct<P, Out>{left.panel(block, row / Panel<P>::kWidth),
                                    right.panel(block, column / Panel<P>::kWidth),
                                    std::min(kBlockDepth, stage.last - line),
                                    m,
                                    n,
                                    alpha_,
                                    beta,
                                    c,
                                    static_cast<std::size_t>(c_.row_stride),
                                    plan_.is_symmetric ? static_cast<std::ptrdiff_t>(row) - static_cast<std::ptrdiff_t>(column)
                                                       : -static_cast<std::ptrdiff_t>(plan_.edge)}
                    .run();
                checkpoint();
            }
            if (!stage.is_last) return;
            finish_(Matrix<Out>{c, m, n, c_.row_stride, 1}, i + row, j + column);
            if (plan_.is_symmetric) mirror_tile(c_, row, column, m, n);
        });
    }

    const ProductPlan<P>& plan_;
    const Left& left_;
    const Right* right_;
    Out alpha_, beta_;
    Matrix<Out> c_;
    Threads threads_;
    const Finish& finish_;
};

template <Real P, Real Out, class Left, class Right, class Finish>
void run_product(const ProductPlan<P>& plan, const Left& left, const Right* right, Out alpha, Out beta, Matrix<Out> c,
                 Threads threads, const Finish& finish) {
    if (plan.m == 0 || plan.n == 0) return;
    const Chunks slices = plan.slices();
    if (slices.count == 1) {
        ProductRun<P, Out, Left, Right, Finish>(plan, left, right, alpha, beta, c, threads, finish).run(0, plan.depth);
        return;
    }
    const std::size_t size = plan.m * plan.n;
    Aligned<Out> partial(slices.count * size);
    parallel_for(slices.count, threads.for_work(plan.work()), [&](std::size_t slice) {
        const Matrix<Out> part{partial.data() + slice * size, plan.m, plan.n, static_cast<std::ptrdiff_t>(plan.n), 1};
        const LeaveTile leave;
        ProductRun<P, Out, Left, Right, LeaveTile>(plan, left, right, alpha, Out{0}, part, threads, leave)
            .run(slices.begin(slice) * kBlockDepth, std::min(slices.end(slice) * kBlockDepth, plan.depth));
    });
    for (std::size_t i = 0; i < plan.m; ++i) {
        Out* const line = c.row(i);
        for (std::size_t j = 0; j < plan.n; ++j) {
            Out sum = beta == Out{0} ? Out{0} : beta * line[j];
            for (std::size_t slice = 0; slice < slices.count; ++slice) sum += partial[slice * size + i * plan.n + j];
            line[j] = sum;
        }
    }
    finish(c, 0, 0);
}

}  // namespace detail

// c = beta c + alpha left' right, for sources of the same depth; the rows of c are contiguous, and it is not read where beta is 0.
// `finish(tile, row, column)` is called with every complete tile of c. Products are summed in the type P. O(m n depth).
template <Real P, Real Out, PanelSource<P> Left, PanelSource<P> Right, class Finish = LeaveTile>
void product(const Left& left, const Right& right, Out alpha, Out beta, Matrix<Out> c, Threads threads, const Finish& finish = {}) {
    require(left.depth() == right.depth() && c.rows == left.width() && c.cols == right.width() && c.has_contiguous_rows(),
            "product: the shapes do not fit");
    const detail::ProductPlan<P> plan(c.rows, c.cols, left.depth(), false);
    detail::run_product<P, Out>(plan, left, &right, alpha, beta, c, threads, finish);
}

// c = beta c + alpha source' source, both triangles of a symmetric c. `finish` is called with the tiles on and above the diagonal
// before they are mirrored (with all of c where the result is small). O(width^2 depth).
template <Real P, Real Out, PanelSource<P> Source, class Finish = LeaveTile>
void gram_product(const Source& source, Out alpha, Out beta, Matrix<Out> c, Threads threads, const Finish& finish = {}) {
    require(c.rows == source.width() && c.cols == source.width() && c.has_contiguous_rows(), "gram_product: the shapes do not fit");
    const detail::ProductPlan<P> plan(c.rows, c.cols, source.depth(), true);
    detail::run_product<P, Out, Source, Source>(plan, source, nullptr, alpha, beta, c, threads, finish);
}

// Adds up Gram matrices of short runs of lines on the calling thread: for kernels that see their rows block by block.
class GramOfRuns {
   public:
    explicit GramOfRuns(std::size_t width) : panels_(Panel<double>::count(width) * Panels<double>::kStride) {}

    // Adds source' source to the upper triangle of `sums`, whose rows are as long as the source is wide; kBlockDepth lines at most.
    template <PanelSource<double> Source>
    void add(const Source& source, double* sums) {
        const std::size_t depth = source.depth(), width = source.width();
        source.pack(0, depth, 0, width, {panels_.data(), Panels<double>::kStride});
        detail::TileProduct<double, double>{panels_.data(), panels_.data(), depth, width, width, 1, 1, sums, width, 0}.run();
    }

   private:
    Aligned<double> panels_;
};

// c = beta c + alpha a b, for matrices of any strides.
template <Real T>
void multiply(T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c, Threads threads) {
    const StridedSource<T, T> left{{a.data, a.cols, a.rows, a.col_stride, a.row_stride}};
    product<T, T>(left, StridedSource<T, T>{b}, alpha, beta, c, threads);
}

}  // namespace mercer
