// The rows of a regression: X, its targets and weights.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "core/views.hpp"

namespace mercer::linear_model {

// The rows of [X, y] as one source: y's columns follow X's.
template <Real T>
struct Sample {
    Matrix<const T> x;
    Matrix<const T> y;
    std::span<const T> weights;  // empty: all one

    std::size_t rows() const { return x.rows; }
    std::size_t cols() const { return x.cols + y.cols; }
    double root_weight(std::size_t row) const { return weights.empty() ? 1.0 : std::sqrt(static_cast<double>(weights[row])); }
};

}  // namespace mercer::linear_model
