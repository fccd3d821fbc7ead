// The innermost loops of all products, compiled once.
#include "core/product.hpp"

#include <algorithm>
#include <cstddef>

namespace mercer::detail {

// c = beta c + alpha left' right for kRows columns of a left panel and V vectors of a right one, as far as they exist.
template <std::size_t V, Real P, Real Out>
void multiply_micro_tile(const P* left, const P* right, std::size_t depth, std::size_t m, std::size_t n, Out alpha, Out beta,
                         Out* c, std::size_t ld) {
    using S = Simd<P>;
    constexpr std::size_t kRows = Panel<P>::kRows, kWidth = Panel<P>::kWidth;
    typename S::Vector sums[kRows][V] = {};
    for (std::size_t k = 0; k < depth; ++k, left += kWidth, right += kWidth) {
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

template <Real P, Real Out>
void TileProduct<P, Out>::run() const {
    using Shape = Panel<P>;
    constexpr std::size_t kLanes = Simd<P>::kLanes;
    for (std::size_t j = 0; j < n; j += Shape::kWidth) {
        const std::size_t columns = std::min(Shape::kWidth, n - j);
        const P* const panel = right + j / Shape::kWidth * Panels<P>::kStride;
        for (std::size_t i = 0; i < m; i += Shape::kRows) {
            const std::ptrdiff_t ahead = static_cast<std::ptrdiff_t>(i) + first_needed - static_cast<std::ptrdiff_t>(j);
            if (ahead >= static_cast<std::ptrdiff_t>(columns)) break;
            const std::size_t rows = std::min(Shape::kRows, m - i);
            const P* const a = left + i / Shape::kWidth * Panels<P>::kStride + i % Shape::kWidth;
            const std::size_t skipped = ahead > 0 ? static_cast<std::size_t>(ahead) / kLanes * kLanes : 0;  // whole vectors
            const P* const b = panel + skipped;
            Out* const target = c + i * ld + j + skipped;
            if (columns - skipped > (Shape::kVectors - 1) * kLanes) {
                multiply_micro_tile<Shape::kVectors>(a, b, depth, rows, columns, alpha, beta, target, ld);
            } else if (columns - skipped > kLanes) {
                multiply_micro_tile<2>(a, b, depth, rows, columns - skipped, alpha, beta, target, ld);
            } else {
                multiply_micro_tile<1>(a, b, depth, rows, columns - skipped, alpha, beta, target, ld);
            }
        }
    }
}

template struct TileProduct<double, double>;
template struct TileProduct<float, float>;
template struct TileProduct<float, double>;

}  // namespace mercer::detail
