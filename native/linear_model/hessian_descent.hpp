// Coordinate descent on a quadratic with an l1 penalty, given by its matrix, with extrapolation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/extrapolation.hpp"
#include "linear_model/row_model.hpp"

namespace mercer::linear_model {

namespace detail {

// Moves w in place. The slopes g + H (w - w0) are kept, which are affine in w: an extrapolation combines both alike.
class HessianDescent {
   public:
    HessianDescent(RowMajor<const double> hessian, std::span<const double> gradient, std::span<const double> l1,
                   std::span<double> w)
        : hessian_(hessian),
          gradient_(gradient),
          l1_(l1),
          w_(w),
          start_(w.begin(), w.end()),
          slopes_(gradient.begin(), gradient.end()) {}

    // Returns the largest of the moves, each times its curvature. O(q^2), less where few coordinates move.
    double sweep() {
        double largest = 0;
        for (std::size_t j = 0; j < w_.size(); ++j) largest = std::max(largest, move(j));
        return largest;
    }

    // To be called before each sweep: extrapolates whenever enough points have come together. Kept if the objective falls.
    void accelerate() {
        points_.add().assign(w_.begin(), w_.end());
        states_.add() = slopes_;
        if (!points_.is_full()) return;
        if (const auto weights = points_.weights()) {
            const double before = objective();
            points_.combine(*weights, point_);
            states_.combine(*weights, slopes_);
            std::copy(point_.begin(), point_.end(), w_.begin());
            if (!(objective() < before)) {
                std::copy(points_.last().begin(), points_.last().end(), w_.begin());
                slopes_ = states_.last();
            }
        }
        points_.clear();
        states_.clear();
    }

   private:
    static constexpr std::size_t kMemory = 5;

    double move(std::size_t j) {
        const double h = hessian_(j, j);
        if (!(h > 0)) {
            if (std::abs(slopes_[j]) < l1_[j]) w_[j] = 0;
            return 0;
        }
        const double delta = soft_threshold(h * w_[j] - slopes_[j], l1_[j]) / h - w_[j];
        if (delta == 0 || !std::isfinite(delta)) return 0;
        w_[j] += delta;
        const double* line = hessian_.row(j);
        for (std::size_t i = 0; i < slopes_.size(); ++i) slopes_[i] += delta * line[i];
        return h * std::abs(delta);
    }

    double objective() const {
        return lane_sum(w_.size(), [&](std::size_t j) {
            return (gradient_[j] + slopes_[j]) * (w_[j] - start_[j]) / 2 + l1_[j] * std::abs(w_[j]);
        });
    }

    RowMajor<const double> hessian_;
    std::span<const double> gradient_;
    std::span<const double> l1_;
    std::span<double> w_;
    std::vector<double> start_;
    std::vector<double> slopes_;
    Trail<kMemory> points_;
    Trail<kMemory> states_;
    std::vector<double> point_;
};

}  // namespace detail

// Minimises g' (w - w0) + (w - w0)' H (w - w0) / 2 + sum_j l1_j |w_j| over w, from w = w0 on. Of the coordinates without
// curvature, those whose penalty outweighs their slope become zero, and others stay. Returns the number of sweeps. O(q^2) a sweep,
// less where few coordinates move.
inline std::size_t descend_on_hessian(RowMajor<const double> hessian, std::span<const double> gradient, std::span<const double> l1,
                                      std::span<double> w, DescentRule rule) {
    detail::HessianDescent descent(hessian, gradient, l1, w);
    std::size_t sweep = 0;
    for (double largest = std::numeric_limits<double>::infinity(); sweep < rule.most_sweeps && largest > rule.tol; ++sweep) {
        checkpoint();
        descent.accelerate();
        largest = descent.sweep();
    }
    return sweep;
}

}  // namespace mercer::linear_model
