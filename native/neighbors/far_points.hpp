// What a ball tree is built of: a range's line between two points far from each other, and its centre.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/simd.hpp"
#include "core/views.hpp"
#include "neighbors/arrange.hpp"
#include "neighbors/blocks.hpp"
#include "neighbors/shape.hpp"

namespace mercer::neighbors {

namespace detail {

// Of some rows of a range, spread over it, the one that is farthest from `from`. O(1000 d).
template <Real T>
std::size_t farthest_row(Matrix<const T> x, std::span<const Row> rows, std::size_t from) {
    constexpr std::size_t kSome = 1000;
    const std::size_t step = std::max<std::size_t>(rows.size() / kSome, 1);
    std::size_t farthest = from;
    double largest = 0;
    for (std::size_t i = 0; i < rows.size(); i += step) {
        const auto row = static_cast<std::size_t>(rows[i]);
        const double square = lane_sum(x.cols, [&](std::size_t j) {
            const double difference = static_cast<double>(x(row, j)) - static_cast<double>(x(from, j));
            return difference * difference;
        });
        if (square > largest) {
            largest = square;
            farthest = row;
        }
    }
    return farthest;
}

}  // namespace detail

// Keys by which a range is halved: where its points lie along the line between two points far from each other. O(n d).
template <Real T>
void fill_far_keys(Matrix<const T> x, std::span<const Row> rows, SplitKeys& keys) {
    const std::size_t first = detail::farthest_row(x, rows, static_cast<std::size_t>(rows[rows.size() / 2]));
    const std::size_t second = detail::farthest_row(x, rows, first);
    std::vector<double> line(x.cols), places(rows.size());
    for (std::size_t j = 0; j < x.cols; ++j) line[j] = static_cast<double>(x(first, j)) - static_cast<double>(x(second, j));
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row = static_cast<std::size_t>(rows[i]);
        places[i] = lane_sum(x.cols, [&](std::size_t j) { return line[j] * static_cast<double>(x(row, j)); });
        low = std::min(low, places[i]);
        high = std::max(high, places[i]);
    }
    std::size_t i = 0;
    keys.fill(rows, low, high, [&](std::size_t) { return places[i++]; });
}

// The mean of the points of a range, which begins a block. O(n d).
template <Real T>
void find_mean(const Blocks<T>& points, SlotRange range, double* mean) {
    std::fill_n(mean, points.d, 0.0);
    for (std::size_t slot = range.begin; slot < range.end; slot += kBlock) {
        const T* const block = points.block(slot);
        const std::size_t n_lanes = std::min(kBlock, range.end - slot);
        for (std::size_t j = 0; j < points.d; ++j)
            for (std::size_t lane = 0; lane < n_lanes; ++lane) mean[j] += static_cast<double>(block[j * kBlock + lane]);
    }
    for (std::size_t j = 0; j < points.d; ++j) mean[j] /= static_cast<double>(range.size());
}

// Feature by feature the median of some points of a range: where values are names of things rather than quantities, one of them,
// and of two the commoner. O(d).
template <Real T>
void find_median(const Blocks<T>& points, SlotRange range, double* median) {
    constexpr std::size_t kSome = 31;
    const std::size_t step = (range.size() + kSome - 1) / kSome;
    std::vector<T> values;
    for (std::size_t j = 0; j < points.d; ++j) {
        values.clear();
        for (std::size_t slot = range.begin; slot < range.end; slot += step)
            values.push_back(points.block(slot / kBlock * kBlock)[j * kBlock + slot % kBlock]);
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        median[j] = static_cast<double>(*middle);
    }
}

}  // namespace mercer::neighbors
