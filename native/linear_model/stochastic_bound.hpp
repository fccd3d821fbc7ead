// How good a linear model is: its loss over all rows, and what a bound on the best possible loss needs, in one pass over the data.
//
// For a convex loss L with derivative u at the value p of a row, L*(u) = u p - L(p): the conjugate comes without a formula of its
// own, and so does a point of the dual. The dual wants the weighted derivatives to add up to zero (the intercept is free), which
// those of an inexact model do not. Scaling the heavier side, positive or negative, by c <= 1 mends that, and as L* is convex,
// L*(c u) <= c L*(u) + (1 - c) L*(0) with L*(0) = -min L. So everything is summed by the sign of the derivative.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "core/chunk_sums.hpp"
#include "linear_model/stochastic.hpp"

namespace mercer::linear_model::stochastic {

// The columns of the sums of an output; the last six are for negative, then for positive derivatives.
enum SumColumn : std::size_t {
    kTotalLoss,
    kRows,
    kMisclassified,
    kLeastMargin,
    kSlope,
    kConjugate,
    kLeastLoss,
    kSumColumns = kSlope + 6
};

namespace detail {

// What one output adds up over some rows.
struct OutputSums {
    double columns[kSumColumns] = {};

    OutputSums() { columns[kLeastMargin] = std::numeric_limits<double>::infinity(); }
    double& operator[](std::size_t column) { return columns[column]; }

    void merge(const OutputSums& other) {
        const double margin = std::min(columns[kLeastMargin], other.columns[kLeastMargin]);
        for (std::size_t j = 0; j < kSumColumns; ++j) columns[j] += other.columns[j];
        columns[kLeastMargin] = margin;
    }
};

}  // namespace detail

// Writes for each output its sums and, to `sides` (two lines an output; no line: not wanted), the sums of weight times derivative
// times row for negative and for positive derivatives. Weights are those of rows times those of classes; the least margin is that
// of y (x w + b) over rows of positive weight, and rows where it is not positive are misclassified. O(n d) an output.
template <class Rows, Real T>
void bound(const Rows& rows, const Targets<T>& targets, const Rule& rule, RowMajor<const T> coef,
           std::span<const double> intercepts, RowMajor<double> sums, RowMajor<double> sides, Threads threads) {
    const std::size_t d = rows.cols();
    const bool has_sides = sides.rows > 0;
    const auto n_entries = static_cast<double>(rows.n_entries());
    // Each chunk has sums of its own: no more of them than the data are worth.
    const double most = std::clamp(n_entries / (16.0 * static_cast<double>(d) + 1), 1.0, 64.0);
    const Chunks chunks = Chunks::of(rows.rows(), 1024, static_cast<std::size_t>(most));
    for (std::size_t k = 0; k < coef.rows; ++k) {
        ChunkParts<detail::OutputSums> parts(chunks);
        ChunkSums<double> side_parts(chunks, std::span<double>(sides.row(2 * k), has_sides ? 2 * d : 0));
        const double negative = rule.loss.negative_label();
        parallel_for(chunks.count, threads.for_work(2 * n_entries), [&](std::size_t chunk) {
            detail::OutputSums sum;
            double* const side_sums = side_parts[chunk];
            for (std::size_t row = chunks.begin(chunk); row < chunks.end(chunk); ++row) {
                const double y = targets.target(row, k, negative);
                const double weight = targets.weight(row) * targets.class_weights(k, y > 0);
                if (weight == 0) continue;
                const double raw = rows.dot(row, coef.row(k)) + intercepts[k];
                const double value = rule.loss.value(y, raw), slope = rule.loss.slope(y, raw);
                const double margin = y > 0 ? raw : -raw;
                sum[kTotalLoss] += weight * value;
                sum[kRows] += 1;
                sum[kMisclassified] += margin <= 0;
                sum[kLeastMargin] = std::min(sum[kLeastMargin], margin);
                const std::size_t side = slope > 0;
                sum[kSlope + 3 * side] += weight * slope;
                sum[kConjugate + 3 * side] += weight * (slope * raw - value);
                sum[kLeastLoss + 3 * side] += weight * rule.loss.least(y);
                if (has_sides && slope != 0) rows.add(row, weight * slope, side_sums + side * d);
            }
            parts[chunk] = sum;
        });
        const auto total = parts.joined([](detail::OutputSums& all, const detail::OutputSums& part) { all.merge(part); });
        std::copy_n(total.columns, kSumColumns, sums.row(k));
        side_parts.total();
    }
}

}  // namespace mercer::linear_model::stochastic
