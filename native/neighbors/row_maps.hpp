// Rows as other rows, whose Euclidean distances say what is asked of the first: directions for the cosine, points on the sphere
// for great circles, products with a factor of a matrix for Mahalanobis. What a row becomes depends on nothing but the row, to the
// last bit, so that equal rows stay equal.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::neighbors {

namespace detail {

// Calls body(values, out) with each row in double precision.
template <Real T, class Body>
void map_rows(Matrix<const T> x, RowMajor<double> out, Threads threads, Body&& body) {
    constexpr std::size_t kTask = 256;
    const double work = static_cast<double>(x.rows) * static_cast<double>(x.cols + out.cols) * 4;
    parallel_for((x.rows + kTask - 1) / kTask, threads.for_work(work), [&](std::size_t task) {
        std::vector<double> values(x.cols);
        for (std::size_t i = task * kTask; i < std::min((task + 1) * kTask, x.rows); ++i) {
            for (std::size_t j = 0; j < x.cols; ++j) values[j] = static_cast<double>(x(i, j));
            body(std::span<double>(values), out.row(i));
        }
    });
}

}  // namespace detail

// x / |x| of each row, first less its mean where rows are centred; and one coordinate more, which is one for rows of zeros, so
// that these are at right angles to all others. O(n d).
template <Real T>
void map_to_directions(Matrix<const T> x, bool is_centred, RowMajor<double> out, Threads threads) {
    const std::size_t d = x.cols;
    detail::map_rows(x, out, threads, [&](std::span<double> values, double* row) {
        double largest = 0;
        for (const double value : values) largest = std::fmax(largest, std::abs(value));
        if (largest > 0 && std::isfinite(largest))  // squares then neither vanish nor overflow
            for (double& value : values) value /= largest;
        if (is_centred) {
            const double mean = lane_sum(d, [&](std::size_t j) { return values[j]; }) / static_cast<double>(d);
            for (double& value : values) value -= mean;
        }
        const double length = std::sqrt(lane_sum(d, [&](std::size_t j) { return values[j] * values[j]; }));
        const bool is_zero = length == 0;
        for (std::size_t j = 0; j < d; ++j) row[j] = is_zero ? 0 : values[j] / length;
        row[d] = is_zero ? 1 : 0;
    });
}

// Latitude and longitude in radians, as points of the unit sphere. O(n).
template <Real T>
void map_to_sphere(Matrix<const T> x, RowMajor<double> out, Threads threads) {
    detail::map_rows(x, out, threads, [](std::span<double> values, double* row) {
        const double around = std::cos(values[0]);
        row[0] = around * std::cos(values[1]);
        row[1] = around * std::sin(values[1]);
        row[2] = std::sin(values[0]);
    });
}

// (x - shift) A for a matrix A of as many rows as x has columns. O(n d A.cols).
template <Real T>
void map_linearly(Matrix<const T> x, std::span<const double> shift, RowMajor<const double> factor, RowMajor<double> out,
                  Threads threads) {
    detail::map_rows(x, out, threads, [&](std::span<double> values, double* row) {
        std::fill_n(row, out.cols, 0.0);
        for (std::size_t j = 0; j < values.size(); ++j) {
            const double value = values[j] - shift[j];
            const double* const line = factor.row(j);
            for (std::size_t c = 0; c < out.cols; ++c) row[c] += value * line[c];
        }
    });
}

}  // namespace mercer::neighbors
