// Anderson's extrapolation of a linear iteration, such as the sweeps of coordinate descent once the signs of w hold still.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/simd.hpp"

namespace mercer::linear_model {

// The last K + 1 points of an iteration, or what else is affine in them.
template <std::size_t K>
class Trail {
   public:
    using Weights = std::array<double, K>;

    void clear() { n_points_ = 0; }
    bool is_full() const { return n_points_ == K + 1; }
    // The next point, to be written: it holds what was there before.
    std::vector<double>& add() { return points_[n_points_++]; }
    const std::vector<double>& last() const { return points_[n_points_ - 1]; }

    // What follows needs a full trail.

    // Weights with sum 1 that make the combination of the last steps smallest (Anderson); none where they are not determined.
    std::optional<Weights> weights() const {
        double a[K][K];
        double trace = 0;
        const std::size_t n = points_[0].size();
        for (std::size_t i = 0; i < K; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                a[i][j] = lane_sum(
                    n, [&](std::size_t k) { return (points_[i + 1][k] - points_[i][k]) * (points_[j + 1][k] - points_[j][k]); });
            }
            trace += a[i][i];
        }
        if (!(trace > 0) || !std::isfinite(trace)) return std::nullopt;
        for (std::size_t i = 0; i < K; ++i) a[i][i] += 1e-14 * trace;
        Weights weights{};
        // Cholesky, then two triangular solves with a right-hand side of ones.
        for (std::size_t i = 0; i < K; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                double sum = a[i][j];
                for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
                if (i == j && !(sum > 0)) return std::nullopt;
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
        if (total == 0 || !std::isfinite(total)) return std::nullopt;
        for (double& weight : weights) weight /= total;
        return weights;
    }

    // out = sum_k weights[k] points[k + 1]
    void combine(const Weights& weights, std::vector<double>& out) const {
        out.assign(points_[0].size(), 0.0);
        for (std::size_t k = 0; k < K; ++k) {
            const double* point = points_[k + 1].data();
            for (std::size_t i = 0; i < out.size(); ++i) out[i] += weights[k] * point[i];
        }
    }

   private:
    std::array<std::vector<double>, K + 1> points_;
    std::size_t n_points_ = 0;
};

}  // namespace mercer::linear_model
