// Pairs of sparse rows, whose entries are sorted by column.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "core/rows.hpp"
#include "core/views.hpp"
#include "pairwise/maps.hpp"
#include "pairwise/products.hpp"

namespace mercer::pairwise {

// The sum of term(x_ik - y_jk) over the columns k that either row has. O(entries of both).
template <Real T, class Term>
double sum_of_differences(const Csr<T>& x, std::size_t i, const Csr<T>& y, std::size_t j, Term&& term) {
    constexpr std::int32_t kEnd = std::numeric_limits<std::int32_t>::max();
    std::size_t a = x.begin(i), b = y.begin(j);
    const std::size_t a_end = x.end(i), b_end = y.end(j);
    double sum = 0;
    while (a < a_end || b < b_end) {
        const std::int32_t left = a < a_end ? x.columns[a] : kEnd, right = b < b_end ? y.columns[b] : kEnd;
        double difference = 0;
        if (left <= right && a < a_end) difference += static_cast<double>(x.values[a++]);
        if (right <= left && b < b_end) difference -= static_cast<double>(y.values[b++]);
        sum += term(difference);
    }
    return sum;
}

// Writes Manhattan's distances. O(n m entries of two rows).
template <Real T>
void sparse_manhattan(const Csr<T>& x, const Csr<T>& y, const LineMap<T>& map, RowMajor<T> out, Threads threads) {
    const double work = static_cast<double>(x.values.size()) * static_cast<double>(y.rows + 1) +
                        static_cast<double>(y.values.size()) * static_cast<double>(x.rows + 1);
    parallel_for(x.rows, threads.for_work(work), [&](std::size_t i) {
        for (std::size_t j = 0; j < y.rows; ++j)
            out(i, j) = static_cast<T>(sum_of_differences(x, i, y, j, [](double z) { return std::abs(z); }));
        map(out.row(i), y.rows);
    });
}

// Overwrites products x_i . y_j by map(|x_i - y_j|^2). O(n m), and what is measured again.
template <Real T>
void map_sparse_squared(const CsrRows<T>& x, const CsrRows<T>& y, const LineMap<T>& map, RowMajor<T> out, Threads threads) {
    const auto norms = [](const CsrRows<T>& rows) {
        std::vector<T> squared(rows.rows());
        for (std::size_t i = 0; i < squared.size(); ++i) squared[i] = static_cast<T>(rows.squared_norm(i));
        return squared;
    };
    const std::vector<T> left = norms(x), right = norms(y);
    const auto between = [&](std::size_t i, std::size_t j) {
        return sum_of_differences(x.x, i, y.x, j, [](double z) { return z * z; });
    };
    const SquaredFromProducts<T, decltype(between)> value{left, right, between};
    const double work = static_cast<double>(out.rows) * static_cast<double>(out.cols) * 4;
    parallel_for(out.rows, threads.for_work(work), [&](std::size_t i) {
        T* const line = out.row(i);
        for (std::size_t j = 0; j < out.cols; ++j) line[j] *= T{-2};
        value(line, out.cols, i, 0);
        map(line, out.cols);
    });
}

}  // namespace mercer::pairwise
