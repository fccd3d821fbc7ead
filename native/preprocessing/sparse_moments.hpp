// Means and squared deviations of the columns of sparse X. NaN means missing and is left out, column by column.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/views.hpp"

namespace mercer::preprocessing {

// Two sums that grow together, in one register.
typedef double PairOfSums __attribute__((vector_size(16)));

// Calls body(column, value, weight) for each entry of X, stored by rows or (kByColumns) by columns; `weights` may be empty.
template <bool kByColumns, class Body>
void for_entries(const Csr<double>& x, std::span<const double> weights, Body&& body) {
    for (std::size_t line = 0; line < x.rows; ++line) {
        if (line % 4096 == 0) checkpoint();
        for (std::size_t e = x.begin(line); e < x.end(line); ++e) {
            const auto place = static_cast<std::size_t>(x.columns[e]);
            const std::size_t row = kByColumns ? place : line;
            body(kByColumns ? line : place, x.values[e], weights.empty() ? 1.0 : weights[row]);
        }
    }
}

// Writes, for each column, the weight of the values that are not NaN (absent ones are zeros), their mean (0 where there is none)
// and the sum of their squared deviations, in two passes: what rounding has put into the mean is taken out of the second.
// O(entries).
template <bool kByColumns>
void sparse_column_moments(const Csr<double>& x, std::span<const double> weights, std::span<double> weight, std::span<double> mean,
                           std::span<double> deviation) {
    double total = static_cast<double>(kByColumns ? x.cols : x.rows), rounding = 0;
    if (!weights.empty()) {
        total = 0;
        for (const double w : weights) total += w;
        // What sums of weights in another order may differ by.
        rounding = static_cast<double>(weights.size()) * std::numeric_limits<double>::epsilon() * total;
    }
    std::vector<PairOfSums> sums(weight.size(), PairOfSums{});  // of weight times value, and of weights
    std::fill(weight.begin(), weight.end(), 0.0);               // of NaN, for now
    for_entries<kByColumns>(x, weights, [&](std::size_t j, double value, double w) {
        if (std::isnan(value)) {
            weight[j] += w;
        } else {
            sums[j] += PairOfSums{w * value, w};
        }
    });
    std::vector<double> absent(weight.size());
    for (std::size_t j = 0; j < sums.size(); ++j) {
        const double rest = total - weight[j] - sums[j][1];
        absent[j] = rest > rounding ? rest : 0.0;
        weight[j] = weight[j] > 0 ? sums[j][1] + absent[j] : total;  // the same for all columns without NaN, to the last bit
        mean[j] = weight[j] > 0 ? sums[j][0] / weight[j] : 0.0;
        sums[j] = PairOfSums{};  // of weight times deviation, and of its square
    }
    for_entries<kByColumns>(x, weights, [&](std::size_t j, double value, double w) {
        if (std::isnan(value)) return;
        const double difference = value - mean[j];
        sums[j] += PairOfSums{w * difference, w * difference * difference};
    });
    for (std::size_t j = 0; j < sums.size(); ++j) {
        const double left = sums[j][0] - absent[j] * mean[j];
        const double squares = sums[j][1] + absent[j] * mean[j] * mean[j];
        const double corrected = weight[j] > 0 ? squares - left * left / weight[j] : 0.0;
        deviation[j] = corrected < 0 ? 0.0 : corrected;  // what is not finite stays so
    }
}

}  // namespace mercer::preprocessing
