// Random Fourier features: the product of rows with drawn directions, and the cosine of it while a tile is in the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/math.hpp"
#include "core/packed_product.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "pairwise/maps.hpp"

namespace mercer::pairwise {

// scale cos(value + the offset of the column).
template <Real T>
struct FinishWaves {
    std::span<const T> offsets;
    T scale;

    void operator()(Matrix<T> tile, std::size_t, std::size_t column) const {
        using S = Simd<T>;
        for (std::size_t i = 0; i < tile.rows; ++i) {
            T* const values = tile.row(i);
            const T* const offset = offsets.data() + column;
            std::size_t j = 0;
            for (; j + S::kLanes <= tile.cols; j += S::kLanes)
                S::store(values + j, scale * math::cos(S::load(values + j) + S::load(offset + j)));
            T rest[S::kLanes] = {};
            for (std::size_t l = 0; j + l < tile.cols; ++l) rest[l] = values[j + l] + offset[j + l];
            S::store(rest, scale * math::cos(S::load(rest)));
            std::copy_n(rest, tile.cols - j, values + j);
        }
    }
};

// Writes scale cos(x_i . w_j + offset_j) for rows of x and columns of `directions`. O(n k d).
template <Real T>
void fourier_features(RowMajor<const T> x, Matrix<const T> directions, std::span<const T> offsets, T scale, RowMajor<T> out,
                      Threads threads) {
    const PackedColumns<T> right(StridedSource<T, T>{directions}, threads);
    for_each_band(x, [&](RowMajor<const T> some, std::size_t begin) {
        const PackedColumns<T> left(RowColumns<T>{some}, threads);
        packed_product<T>(left, right, T{1}, {out.row(begin), some.rows, out.cols}, threads, FinishWaves<T>{offsets, scale});
    });
}

}  // namespace mercer::pairwise
