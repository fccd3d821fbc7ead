// Kernels and distances that come from inner products: tiles of the product (core/product.hpp), finished while they are in the
// cache.
//
// |x - y|^2 = |x|^2 + |y|^2 - 2 x.y loses digits where x and y are close to each other and far from zero. Both sides are shifted by
// the mean of some rows first, and what is still small beside the norms is measured again from the differences, so that every
// value has the accuracy of a direct computation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/distance.hpp"
#include "core/parallel.hpp"
#include "core/product.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "pairwise/maps.hpp"

namespace mercer::pairwise {

// A squared distance below this share of the squared norms is measured again: digits that were lost, over digits that are kept.
template <Real T>
inline constexpr T kDoubtful = sizeof(T) == 4 ? T(0.1) : T(1e-3);

// Squared distances from products: `between(i, j)` measures a pair of rows directly. Where the squared norms add up to no more than
// `harmless`, nobody minds the digits that are lost.
template <Real T, class Between>
struct SquaredFromProducts {
    std::span<const T> left_norms, right_norms;  // squared
    const Between& between;
    T harmless = -1;

    // values[c] holds -2 x_row . y_(column + c) and becomes the squared distance.
    void operator()(T* values, std::size_t n, std::size_t row, std::size_t column) const {
        using S = Simd<T>;
        const T norm = left_norms[row];
        const T* const norms = right_norms.data() + column;
        typename S::Indices doubts{};
        std::size_t c = 0;
        for (; c + S::kLanes <= n; c += S::kLanes) {
            const typename S::Vector scale = norm + S::load(norms + c), value = S::load(values + c) + scale;
            doubts |= ~(value > kDoubtful<T> * scale) & ~(scale <= harmless);
            S::store(values + c, value > typename S::Vector{} ? value : typename S::Vector{});
        }
        bool has_doubts = false;
        for (std::size_t lane = 0; lane < S::kLanes; ++lane) has_doubts |= doubts[lane] != 0;
        for (; c < n; ++c) {
            const T scale = norm + norms[c], value = values[c] + scale;
            has_doubts |= is_doubtful(value, scale);
            values[c] = value > T{0} ? value : T{0};
        }
        if (!has_doubts) return;
        for (c = 0; c < n; ++c)
            if (is_doubtful(values[c], norm + norms[c])) values[c] = static_cast<T>(between(row, column + c));
    }

   private:
    bool is_doubtful(T value, T scale) const { return !(value > kDoubtful<T> * scale) && !(scale <= harmless); }
};

// Products as they are.
struct PlainProducts {
    template <Real T>
    void operator()(T*, std::size_t, std::size_t, std::size_t) const {}
};

// Finishes tiles: values of products, then the map. On the diagonal of a symmetric result the lower triangle is a mirror image.
template <Real T, class Value>
struct FinishTile {
    Value value;
    LineMap<T> map;
    bool is_symmetric;

    void operator()(Matrix<T> tile, std::size_t row, std::size_t column) const {
        const bool is_on_diagonal = is_symmetric && row == column;
        for (std::size_t i = 0; i < tile.rows; ++i) {
            const std::size_t first = is_on_diagonal ? i : 0;
            if (first >= tile.cols) break;
            T* const values = tile.row(i) + first;
            value(values, tile.cols - first, row + i, column + first);
            map(values, tile.cols - first);
        }
        if (is_on_diagonal) mercer::detail::mirror_tile(tile, 0, 0, tile.rows, tile.cols);
    }
};

// The mean of some rows.
template <Real T>
std::vector<T> rough_mean(RowMajor<const T> x) {
    constexpr std::size_t kSome = 256;
    const std::size_t step = std::max<std::size_t>(x.rows / kSome, 1);
    std::vector<double> sums(x.cols);
    std::size_t n = 0;
    for (std::size_t i = 0; i < x.rows; i += step, ++n)
        for (std::size_t j = 0; j < x.cols; ++j) sums[j] += x(i, j);
    std::vector<T> mean(x.cols);
    for (std::size_t j = 0; j < x.cols; ++j) mean[j] = static_cast<T>(sums[j] / static_cast<double>(std::max<std::size_t>(n, 1)));
    return mean;
}

// The squared norms of rows minus a shift, which is empty for none.
template <Real T>
std::vector<T> squared_norms(RowMajor<const T> x, std::span<const T> shift) {
    std::vector<T> norms(x.rows);
    for (std::size_t i = 0; i < x.rows; ++i) {
        const T* const row = x.row(i);
        norms[i] = static_cast<T>(lane_sum(x.cols, [&](std::size_t j) {
            const T value = shift.empty() ? row[j] : row[j] - shift[j];
            return static_cast<double>(value) * value;
        }));
    }
    return norms;
}

template <Real T>
std::vector<T> shifted(RowMajor<const T> rows, std::span<const T> shift) {
    std::vector<T> copy(rows.size());
    for (std::size_t i = 0; i < rows.rows; ++i)
        for (std::size_t j = 0; j < rows.cols; ++j) copy[i * rows.cols + j] = rows(i, j) - shift[j];
    return copy;
}

// Writes map(value(x_i . y_j)) for rows of x and y; y is x itself where `is_symmetric`. alpha is what the product is scaled by.
// O(n m d).
template <Real T, class Value>
void finished_products(RowMajor<const T> x, RowMajor<const T> y, std::span<const T> shift, T alpha, const Value& value,
                       const LineMap<T>& map, bool is_symmetric, RowMajor<T> out, Threads threads) {
    const FinishTile<T, Value> finish{value, map, is_symmetric};
    const Matrix<T> c{out.data, out.rows, out.cols, static_cast<std::ptrdiff_t>(out.cols), 1};
    std::vector<T> left, right;  // shifted copies
    const auto source = [&](RowMajor<const T> rows,
                            std::vector<T>& copy) {  // whose columns are the rows, and whose depth the features
        const T* const data = shift.empty() ? rows.data : (copy = shifted<T>(rows, shift)).data();
        return StridedSource<T, T>{{data, rows.cols, rows.rows, 1, static_cast<std::ptrdiff_t>(rows.cols)}};
    };
    if (is_symmetric) return gram_product<T, T>(source(x, left), alpha, T{0}, c, threads, finish);
    product<T, T>(source(x, left), source(y, right), alpha, T{0}, c, threads, finish);
}

// Writes map(x_i . y_j). O(n m d).
template <Real T>
void map_products(RowMajor<const T> x, RowMajor<const T> y, bool is_symmetric, const LineMap<T>& map, RowMajor<T> out,
                  Threads threads) {
    finished_products<T>(x, y, {}, T{1}, PlainProducts{}, map, is_symmetric, out, threads);
}

// Writes map(|x_i - y_j|^2). O(n m d).
template <Real T>
void map_squared_distances(RowMajor<const T> x, RowMajor<const T> y, bool is_symmetric, const LineMap<T>& map, RowMajor<T> out,
                           Threads threads) {
    const std::vector<T> shift = rough_mean<T>(y);
    const std::vector<T> left = squared_norms<T>(x, shift);
    const std::vector<T> right = is_symmetric ? std::vector<T>() : squared_norms<T>(y, shift);
    const auto between = [&](std::size_t i, std::size_t j) { return squared_distance<T>(x.row(i), y.row(j), x.cols); };
    const SquaredFromProducts<T, decltype(between)> value{left, is_symmetric ? left : right, between};
    finished_products<T>(x, y, shift, T{-2}, value, map, is_symmetric, out, threads);
}

}  // namespace mercer::pairwise
