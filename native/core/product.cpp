// The driver and the innermost loops of all products, compiled once.
#include "core/product.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

namespace mercer {

template struct StridedSource<double, double>;
template struct StridedSource<float, float>;
template struct StridedSource<float, double>;

}  // namespace mercer

namespace mercer::detail {

// c = beta c + alpha left' right for kRows columns of a left panel and V vectors of a right one, as far as they exist.
template <std::size_t V, Real P, Real Out>
void multiply_micro_tile(const P* left, const P* right, std::size_t depth, Lines lines, std::size_t m, std::size_t n, Out alpha,
                         Out beta, Out* c, std::size_t ld) {
    using S = Simd<P>;
    constexpr std::size_t kRows = Panel<P>::kRows;
    typename S::Vector sums[kRows][V] = {};
    for (std::size_t k = 0; k < depth; ++k, left += lines.left, right += lines.right) {
        typename S::Vector b[V];
#pragma GCC unroll 8
        for (std::size_t v = 0; v < V; ++v) b[v] = S::load(right + v * S::kLanes);
#pragma GCC unroll 8
        for (std::size_t r = 0; r < kRows; ++r) {
            const typename S::Vector a = S::broadcast(left[r]);
#pragma GCC unroll 8
            for (std::size_t v = 0; v < V; ++v) sums[r][v] += a * b[v];
        }
    }
    if constexpr (sizeof(P) == sizeof(Out)) {
        if (m == kRows && n == V * S::kLanes) {
            if (beta == 0) {
#pragma GCC unroll 8
                for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 8
                    for (std::size_t v = 0; v < V; ++v) S::store(c + r * ld + v * S::kLanes, alpha * sums[r][v]);
            } else {
#pragma GCC unroll 8
                for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 8
                    for (std::size_t v = 0; v < V; ++v) {
                        Out* const target = c + r * ld + v * S::kLanes;
                        S::store(target, beta * S::load(target) + alpha * sums[r][v]);
                    }
            }
            return;
        }
    }
    alignas(64) P tile[kRows][V * S::kLanes];
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < V; ++v) S::store(&tile[r][v * S::kLanes], sums[r][v]);
    for (std::size_t r = 0; r < m; ++r) {
        Out* const line = c + r * ld;
        if (beta == 0) {
            for (std::size_t j = 0; j < n; ++j) line[j] = alpha * static_cast<Out>(tile[r][j]);
        } else {
            for (std::size_t j = 0; j < n; ++j) line[j] = beta * line[j] + alpha * static_cast<Out>(tile[r][j]);
        }
    }
}

// Where vectors have 32 bytes and the processor has some of 64, two neighbouring panels are one of whole wide vectors. Sums are the
// same, number by number, and so are their bits. (A whole variant of that width is another matter: what is not bound by products
// loses more from it than it gains.)
#if defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__)

bool has_wide_vectors() {
    static const bool has = __builtin_cpu_supports("avx512f") != 0;
    return has;
}

template <class Vector, class Half, std::size_t... kLane>
[[gnu::target("avx512f"), gnu::always_inline]] inline Vector joined(const Half& first, const Half& second,
                                                                    std::index_sequence<kLane...>) {
    return __builtin_shufflevector(first, second, kLane...);
}

// c = beta c + alpha left' right for kRows columns of each of G left groups and the first V wide vectors of two right panels.
template <std::size_t G, std::size_t V, Real P, Real Out>
[[gnu::target("avx512f")]] void multiply_wide_tile(const P* const (&left)[G], const P* right, const P* next, std::size_t depth,
                                                   Lines lines, Out alpha, Out beta, Out* c, std::size_t ld) {
    constexpr std::size_t kRows = Panel<P>::kRows, kHalf = Simd<P>::kLanes, kLanes = 2 * kHalf;
    static_assert(Panel<P>::kWidth == 3 * kHalf && V <= 3);
    typedef P Half __attribute__((vector_size(kVectorBytes)));
    typedef P Vector __attribute__((vector_size(2 * kVectorBytes)));
    Vector sums[G * kRows][V] = {};
    for (std::size_t k = 0; k < depth; ++k) {
        const P* const low = right + k * lines.right;
        const P* const high = next + k * lines.right;
        Vector b[V];
        std::memcpy(&b[0], low, sizeof(Vector));
        if constexpr (V > 1) {
            Half first, second;  // joined in registers: a vector that is written by halves is waited for when it is read
            std::memcpy(&first, low + kLanes, sizeof first);
            std::memcpy(&second, high, sizeof second);
            b[1] = joined<Vector>(first, second, std::make_index_sequence<kLanes>());
        }
        if constexpr (V > 2) std::memcpy(&b[2], high + kHalf, sizeof(Vector));
#pragma GCC unroll 8
        for (std::size_t r = 0; r < G * kRows; ++r) {
            const Vector a = left[r / kRows][k * lines.left + r % kRows] - Vector{};
#pragma GCC unroll 8
            for (std::size_t v = 0; v < V; ++v) sums[r][v] += a * b[v];
        }
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < G * kRows; ++r) {
        Out* const line = c + r * ld;
#pragma GCC unroll 8
        for (std::size_t v = 0; v < V; ++v) {
            typedef Out Wide __attribute__((vector_size(kLanes * sizeof(Out))));
            Wide value = alpha * __builtin_convertvector(sums[r][v], Wide);
            if (beta != 0) {
                Wide before;
                std::memcpy(&before, line + v * kLanes, sizeof before);
                value = beta * before + alpha * __builtin_convertvector(sums[r][v], Wide);
            }
            std::memcpy(line + v * kLanes, &value, sizeof value);
        }
    }
}

// The product of all left panels with the first V wide vectors of two right ones, from column j of the tile on.
template <std::size_t V, Real P, Real Out>
void multiply_panel_pair(const TileProduct<P, Out>& tile, std::size_t j) {
    using Shape = Panel<P>;
    constexpr std::size_t kColumns = 2 * V * Simd<P>::kLanes;
    const P* const right = tile.right + j / Shape::kWidth * tile.panel;
    const P* const next = right + (V > 1 ? tile.panel : 0);
    const auto left = [&](std::size_t i) { return tile.left + i / Shape::kWidth * tile.panel + i % Shape::kWidth; };
    for (std::size_t i = 0; i < tile.m;) {
        const std::ptrdiff_t ahead = static_cast<std::ptrdiff_t>(i) + tile.first_needed - static_cast<std::ptrdiff_t>(j);
        if (ahead >= static_cast<std::ptrdiff_t>(kColumns)) break;
        Out* const target = tile.c + i * tile.ld + j;
        const std::size_t rows = tile.m - i;
        if (rows >= 2 * Shape::kRows) {
            multiply_wide_tile<2, V, P, Out>({left(i), left(i + Shape::kRows)}, right, next, tile.depth, tile.lines(), tile.alpha,
                                             tile.beta, target, tile.ld);
            i += 2 * Shape::kRows;
        } else if (rows >= Shape::kRows) {
            multiply_wide_tile<1, V, P, Out>({left(i)}, right, next, tile.depth, tile.lines(), tile.alpha, tile.beta, target,
                                             tile.ld);
            i += Shape::kRows;
        } else {
            for (std::size_t first = 0; first < kColumns; first += Shape::kWidth)
                multiply_micro_tile<Shape::kVectors>(left(i), first == 0 ? right : next, tile.depth, tile.lines(), rows,
                                                     std::min(Shape::kWidth, kColumns - first), tile.alpha, tile.beta,
                                                     target + first, tile.ld);
            break;
        }
    }
}

#else

constexpr bool has_wide_vectors() { return false; }

template <std::size_t V, Real P, Real Out>
void multiply_panel_pair(const TileProduct<P, Out>&, std::size_t) {}

#endif

template <Real P, Real Out>
void TileProduct<P, Out>::run() const {
    using Shape = Panel<P>;
    constexpr std::size_t kLanes = Simd<P>::kLanes;
    std::size_t begin = 0;
    if (has_wide_vectors()) {
        for (; begin + 2 * Shape::kWidth <= n; begin += 2 * Shape::kWidth) multiply_panel_pair<3>(*this, begin);
        if (n - begin == 2 * kLanes) multiply_panel_pair<1>(*this, std::exchange(begin, n));
        if (n - begin == 4 * kLanes) multiply_panel_pair<2>(*this, std::exchange(begin, n));
    }
    for (std::size_t j = begin; j < n; j += Shape::kWidth) {
        const std::size_t columns = std::min(Shape::kWidth, n - j);
        const P* const right_panel = right + j / Shape::kWidth * panel;
        for (std::size_t i = 0; i < m; i += Shape::kRows) {
            const std::ptrdiff_t ahead = static_cast<std::ptrdiff_t>(i) + first_needed - static_cast<std::ptrdiff_t>(j);
            if (ahead >= static_cast<std::ptrdiff_t>(columns)) break;
            const std::size_t rows = std::min(Shape::kRows, m - i);
            const P* const a = left + i / Shape::kWidth * panel + i % Shape::kWidth;
            const std::size_t skipped = ahead > 0 ? static_cast<std::size_t>(ahead) / kLanes * kLanes : 0;  // whole vectors
            const P* const b = right_panel + skipped;
            Out* const target = c + i * ld + j + skipped;
            if (columns - skipped > (Shape::kVectors - 1) * kLanes) {
                multiply_micro_tile<Shape::kVectors>(a, b, depth, lines(), rows, columns, alpha, beta, target, ld);
            } else if (columns - skipped > kLanes) {
                multiply_micro_tile<2>(a, b, depth, lines(), rows, columns - skipped, alpha, beta, target, ld);
            } else {
                multiply_micro_tile<1>(a, b, depth, lines(), rows, columns - skipped, alpha, beta, target, ld);
            }
        }
    }
}

template struct TileProduct<double, double>;
template struct TileProduct<float, float>;
template struct TileProduct<float, double>;

namespace {

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

// The product over lines [first, last) of both sources; `right` is absent where it is `left` itself, and then all tiles but those
// above the diagonal are mirror images.
template <Real P, Real Out>
class ProductRun {
   public:
    ProductRun(const ProductPlan<P>& plan, const AnySource<P>& left, const AnySource<P>* right, Out alpha, Out beta, Matrix<Out> c,
               Threads threads, const AnyFinish<Out>& finish)
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
    const AnySource<P>& left_;
    const AnySource<P>* right_;
    Out alpha_, beta_;
    Matrix<Out> c_;
    Threads threads_;
    const AnyFinish<Out>& finish_;
};

}  // namespace

template <Real P, Real Out>
void run_product(const AnySource<P>& left, const AnySource<P>* right, Out alpha, Out beta, Matrix<Out> c, Threads threads,
                 const AnyFinish<Out>& finish) {
    const ProductPlan<P> plan(c.rows, c.cols, left.depth(), right == nullptr);
    if (plan.m == 0 || plan.n == 0) return;
    const Chunks slices = plan.slices();
    if (slices.count == 1) {
        ProductRun<P, Out>(plan, left, right, alpha, beta, c, threads, finish).run(0, plan.depth);
        return;
    }
    const std::size_t size = plan.m * plan.n;
    Aligned<Out> partial(slices.count * size);
    parallel_for(slices.count, threads.for_work(plan.work()), [&](std::size_t slice) {
        const Matrix<Out> part{partial.data() + slice * size, plan.m, plan.n, static_cast<std::ptrdiff_t>(plan.n), 1};
        constexpr LeaveTile nothing;
        const AnyFinish<Out> leave(nothing);
        ProductRun<P, Out>(plan, left, right, alpha, Out{0}, part, threads, leave)
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

template void run_product<double, double>(const AnySource<double>&, const AnySource<double>*, double, double, Matrix<double>,
                                          Threads, const AnyFinish<double>&);
template void run_product<float, float>(const AnySource<float>&, const AnySource<float>*, float, float, Matrix<float>, Threads,
                                        const AnyFinish<float>&);
template void run_product<float, double>(const AnySource<float>&, const AnySource<float>*, double, double, Matrix<double>, Threads,
                                         const AnyFinish<double>&);

}  // namespace mercer::detail
