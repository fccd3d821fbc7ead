// Products of sparse rows with single vectors. On one thread: sums by columns would need a copy of their own for each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/interrupt.hpp"
#include "core/views.hpp"

namespace mercer::linear_model {

namespace detail {

inline constexpr std::size_t kRowsBetweenLooks = 4096;

}  // namespace detail

// Writes X v + constant to `values`, one for each row. O(entries).
inline void sparse_values(const Csr<double>& x, std::span<const double> vector, double constant, std::span<double> values) {
    for (std::size_t i = 0; i < x.rows; ++i) {
        if (i % detail::kRowsBetweenLooks == 0) checkpoint();
        double sums[4] = {constant};  // four at a time: additions need not wait for one another
        std::size_t e = x.begin(i);
        const std::size_t end = x.end(i);
        for (; e + 4 <= end; e += 4)
            for (std::size_t k = 0; k < 4; ++k) sums[k] += x.values[e + k] * vector[x.columns[e + k]];
        for (; e < end; ++e) sums[0] += x.values[e] * vector[x.columns[e]];
        values[i] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
}

// Writes X' v to `sums`, one for each column, added up in the order of the rows. O(entries + columns).
inline void sparse_sums(const Csr<double>& x, std::span<const double> vector, std::span<double> sums) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t i = 0; i < x.rows; ++i) {
        if (i % detail::kRowsBetweenLooks == 0) checkpoint();
        const double factor = vector[i];
        for (std::size_t e = x.begin(i); e < x.end(i); ++e) sums[x.columns[e]] += factor * x.values[e];
    }
}

// Writes the weighted sums of the columns and of their squares. O(entries + columns).
inline void sparse_moments(const Csr<double>& x, std::span<const double> weights, std::span<double> sums,
                           std::span<double> squares) {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(squares.begin(), squares.end(), 0.0);
    for (std::size_t i = 0; i < x.rows; ++i) {
        if (i % detail::kRowsBetweenLooks == 0) checkpoint();
        for (std::size_t e = x.begin(i); e < x.end(i); ++e) {
            const double weighted = weights[i] * x.values[e];
            sums[x.columns[e]] += weighted;
            squares[x.columns[e]] += weighted * x.values[e];
        }
    }
}

}  // namespace mercer::linear_model
