// The quadratic model of a softmax loss about a point, as coordinate descent sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/views.hpp"
#include "losses/penalties.hpp"

namespace mercer::linear_model {

using losses::soft_threshold;

// When a descent ends: after a sweep in which no coordinate's move, times its curvature, exceeds `tol`, or after `most_sweeps`.
struct DescentRule {
    double tol = 0;
    std::size_t most_sweeps = 1;
};

// The softmax model of rows: probabilities p and weights times probabilities w, a line of n for each of K outputs. Row i has the
// Hessian diag(w_i) - w_i p_i' in its K linear values; `change` (K x n) is what these have changed by so far.
struct RowModel {
    std::span<const double> row_weights;
    RowMajor<const double> probabilities;
    RowMajor<const double> weighted;
    RowMajor<double> change;

    std::size_t outputs() const { return change.rows; }
    std::size_t rows() const { return change.cols; }
};

// The coordinates that a descent on columns may move: coefficient c belongs to column columns[c] and output outputs[c].
struct Coordinates {
    std::span<const std::int32_t> columns;
    std::span<const std::int32_t> outputs;
    std::span<const double> gradient;
    std::span<double> coef;

    std::size_t size() const { return columns.size(); }
    std::size_t column(std::size_t c) const { return static_cast<std::size_t>(columns[c]); }
    std::size_t output(std::size_t c) const { return static_cast<std::size_t>(outputs[c]); }
};

// One intercept for each output, without a penalty: its gradient, and how far it has moved. Empty where there are none.
struct Intercepts {
    std::span<const double> gradient;
    std::span<double> moves;
};

// l1 |w| + l2/2 w^2, and `damping` times a quarter of x'S x, the most that a logistic loss can curve, times (w - w0)^2 / 2: where
// rows are nearly certain the model is almost flat, but only nearby.
struct ModelPenalty {
    double l1 = 0;
    double l2 = 0;
    double damping = 0;
};

}  // namespace mercer::linear_model
