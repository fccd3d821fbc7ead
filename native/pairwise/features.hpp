// Distances that grow feature by feature: groups of rows of y, a lane each, meet the rows of x (core/distance.hpp), and the map of
// a finished value is taken on its way to the result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/distance.hpp"
#include "core/math.hpp"
#include "core/metric.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"
#include "pairwise/maps.hpp"

namespace mercer::pairwise {

// A metric starts at zero.
struct FromZero {
    template <Real T>
    static T start(const T*) {
        return 0;
    }
};

// sum (x - y)^2 / (x + y) of values that are not negative; a feature that neither has adds nothing.
struct ChiSquared : FromZero {
    template <class V>
    static V add(V sum, V y, V x) {
        const V difference = x - y, total = x + y;
        return sum + (total > V{} ? difference * difference / total : V{});
    }
};

// sum of (x - y)^2 over the features that both have.
struct SquaredOfPresent : FromZero {
    template <class V>
    static V add(V sum, V y, V x) {
        const V difference = x - y;
        return sum + (difference == difference ? difference * difference : V{});
    }
};

// The number of features that both have.
struct CountOfPresent : FromZero {
    template <class V>
    static V add(V sum, V y, V x) {
        const V difference = x - y;
        return sum + (difference == difference ? math::fill<V>(1.0) : V{});
    }
};

// sum x log(x / y) - x + y of values that are not negative: no term is below zero. 0 log 0 is 0; infinite where y lacks what x has.
struct Divergence : FromZero {
    template <class V>
    static V add(V sum, V y, V x) {
        using T = math::Lane<V>;
        const V zero{}, endless = math::fill<V>(std::numeric_limits<double>::infinity());
        const V least = math::fill<V>(std::numeric_limits<T>::min());
        const V ratio = math::min(math::max(x / (y > zero ? y : least), least), math::fill<V>(std::numeric_limits<T>::max()));
        const V term = x > zero ? (y > zero ? x * math::log(ratio) - x + y : endless) : y;
        return sum + (x == y ? zero : term);
    }
};

// Takes the map of the values of a group for one row of x, and writes them side by side.
template <Real T, class Map>
struct WriteMapped {
    Map map;
    T* out;  // of the group's first row, for the first row of x
    std::size_t ld;
    std::size_t n_rows;  // of the group

    void take(std::size_t target, const GroupVectors<T>& values) const {
        using S = Simd<T>;
        T* const line = out + target * ld;
        for (std::size_t v = 0; v < kGroupVectors && v * S::kLanes < n_rows; ++v) {
            const typename S::Vector mapped = map(values[v]);
            const std::size_t first = v * S::kLanes;
            if (first + S::kLanes <= n_rows) {
                S::store(line + first, mapped);
            } else {
                for (std::size_t lane = 0; first + lane < n_rows; ++lane) line[first + lane] = mapped[lane];
            }
        }
    }
};

// Writes map(metric(x_i, y_j)), the rows of x in blocks side by side. O(n m d).
template <Real T, class M, class Map>
void map_features(const M& metric, RowMajor<const T> x, RowMajor<const T> y, const Map& map, RowMajor<T> out, Threads threads) {
    constexpr std::size_t kBlockRows = 192;
    const std::size_t n_blocks = (x.rows + kBlockRows - 1) / kBlockRows;
    const double work = static_cast<double>(x.rows) * static_cast<double>(y.rows) * static_cast<double>(x.cols) / 4;
    const Matrix<const T> groups{y.data, y.rows, y.cols, static_cast<std::ptrdiff_t>(y.cols), 1};
    const std::vector<T> zeros(kBlockRows);
    parallel_for(n_blocks, threads.for_work(work), [&](std::size_t block) {
        const std::size_t begin = block * kBlockRows, n = std::min(kBlockRows, x.rows - begin);
        const Targets<T> targets{{x.row(begin), n, x.cols}, zeros.data()};
        measure_rows<T>(
            metric, groups, targets,
            [&](std::size_t first, std::size_t n_lanes) {
                return WriteMapped<T, Map>{map, out.row(begin) + first, out.cols, n_lanes};
            },
            [](std::size_t, std::size_t, const auto&) {}, Threads{1});
    });
}

}  // namespace mercer::pairwise
