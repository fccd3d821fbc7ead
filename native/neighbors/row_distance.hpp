// Distances between two rows of one matrix, dense or sparse, one pair at a time: for methods whose next pair depends on the last.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/distance.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::neighbors {

// What orders pairs as the Minkowski distance of exponent p does: the sum of |x_j - z_j|^p, or the largest for p = infinity.
struct Exponent {
    double p;

    bool is_largest() const { return std::isinf(p); }
    double term(double difference) const {
        const double size = std::abs(difference);
        if (p == 2) return size * size;
        return p == 1 || is_largest() ? size : std::pow(size, p);
    }
    double joined(double sum, double difference) const {
        return is_largest() ? std::max(sum, term(difference)) : sum + term(difference);
    }
};

template <Real T>
struct DenseRowPairs {
    RowMajor<const T> x;
    Exponent exponent;

    std::size_t rows() const { return x.rows; }

    // O(d).
    double operator()(std::size_t i, std::size_t j) const {
        const T *a = x.row(i), *b = x.row(j);
        const auto difference = [&](std::size_t f) { return static_cast<double>(a[f]) - static_cast<double>(b[f]); };
        if (exponent.p == 2) return squared_distance(a, b, x.cols);
        if (exponent.p == 1) return lane_sum(x.cols, [&](std::size_t f) { return std::abs(difference(f)); });
        double sum = 0;
        for (std::size_t f = 0; f < x.cols; ++f) sum = exponent.joined(sum, difference(f));
        return sum;
    }
};

template <Real T>
struct CsrRowPairs {
    Csr<T> x;
    Exponent exponent;

    std::size_t rows() const { return x.rows; }

    // Merges the entries of two rows, whose columns rise. O(entries).
    double operator()(std::size_t i, std::size_t j) const {
        std::size_t a = x.begin(i), b = x.begin(j);
        const std::size_t a_end = x.end(i), b_end = x.end(j);
        constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
        double sum = 0;
        while (a < a_end || b < b_end) {
            const std::int32_t a_column = a < a_end ? x.columns[a] : kNone, b_column = b < b_end ? x.columns[b] : kNone;
            double difference = 0;
            if (a_column <= b_column) difference += static_cast<double>(x.values[a++]);
            if (b_column <= a_column) difference -= static_cast<double>(x.values[b++]);
            sum = exponent.joined(sum, difference);
        }
        return sum;
    }
};

}  // namespace mercer::neighbors
