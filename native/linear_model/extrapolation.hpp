// Anderson's extrapolation of a linear iteration, such as the sweeps of coordinate descent once the signs of w hold still.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/simd.hpp"

namespace mercer::linear_model {

// Weights c with sum 1 that make the combination of the last steps smallest (Anderson); false where they are not determined.
template <std::size_t K>
bool anderson_weights(const std::vector<double> (&points)[K + 1], std::array<double, K>& weights) {
    double a[K][K];
    double trace = 0;
    const std::size_t n = points[0].size();
    for (std::size_t i = 0; i < K; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            a[i][j] =
                lane_sum(n, [&](std::size_t k) { return (points[i + 1][k] - points[i][k]) * (points[j + 1][k] - points[j][k]); });
        }
        trace += a[i][i];
    }
    if (!(trace > 0) || !std::isfinite(trace)) return false;
    for (std::size_t i = 0; i < K; ++i) a[i][i] += 1e-14 * trace;
    // Cholesky, then two triangular solves with a right-hand side of ones.
    for (std::size_t i = 0; i < K; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = a[i][j];
            for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
            if (i == j && !(sum > 0)) return false;
            a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
        }
    }
    for (std::size_t i = 0; i < K; ++i) {
        double sum = 1;
        for (std::size_t k = 0; k < i; ++k) sum -= a[i][k] * weights[k];
        weights[i] = sum / a[i][i];
    }
    double total = 0;
    for (std::size_t i = K; i-- > 0;) {
        double sum = weights[i];
        for (std::size_t k = i + 1; k < K; ++k) sum -= a[k][i] * weights[k];
        weights[i] = sum / a[i][i];
        total += weights[i];
    }
    if (total == 0 || !std::isfinite(total)) return false;
    for (double& weight : weights) weight /= total;
    return true;
}

}  // namespace mercer::linear_model
