// What a point of a penalised least-squares problem has reached: the objective, the dual, and the gap between them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "linear_model/coordinate_descent_quadratic.hpp"
#include "losses/penalties.hpp"

namespace mercer::linear_model {

// What a point has reached. `gap` bounds the distance to the least objective; where there is no dual (a penalty that is not convex,
// or none at all), `dual` is not finite and `gap` is the sum over coordinates of what the best move of each alone would gain.
struct Reached {
    double primal = 0;
    double dual = -std::numeric_limits<double>::infinity();
    double gap = std::numeric_limits<double>::infinity();
    double update = 0;  // the largest change of a coefficient in the last full sweep, relative to the largest coefficient
    std::size_t n_active = 0;
    bool is_stalled = false;  // further steps would change nothing
};

// Collects, column by column, what a duality gap needs. Columns known to pull no harder than their threshold may be left out, as
// long as their coefficients are zero.
template <losses::Penalty P, std::size_t kTasks>
class Assessment {
   public:
    Assessment(P penalty, Tasks<kTasks> tasks) : penalty_(penalty), tasks_(tasks) {}

    // w and g = A' r of one column with curvature h.
    void add(const double* w, const double* g, double h) {
        if constexpr (kTasks == 1) {
            add_one(w[0], g[0], P::strength(g[0] - l2() * w[0]), P::strength(g[0]), h);
        } else {
            const std::size_t n = tasks_.count();
            double size = 0, pull = 0, raw = 0;
            for (std::size_t t = 0; t < n; ++t) {
                size += w[t] * w[t];
                pull += (g[t] - l2() * w[t]) * (g[t] - l2() * w[t]);
                raw += g[t] * g[t];
            }
            // Without a dual only the unpenalised problem has groups: what its best move gains is then a matter of norms.
            if (size > 0) ++n_active_;
            values_ += penalty_.value(std::sqrt(size));
            squares_ += size;
            strongest_ = std::max(strongest_, std::sqrt(pull));
            const double excess = std::max(std::sqrt(raw) - l1(), 0.0);
            excess_ += excess * excess;
            if (h > 0) gain_ += raw / (2 * h);
        }
    }

    // residual = r' r, target = r' b.
    Reached reached(double residual, double target) const {
        Reached result;
        result.n_active = n_active_;
        result.primal = residual / 2 + values_;
        if constexpr (losses::HasDual<P>) {
            if (penalty_.l1 > 0 || penalty_.l2 > 0) {
                result.dual = dual(residual, target);
                result.gap = std::max(result.primal - result.dual, 0.0);
                result.dual = std::min(result.dual, result.primal);  // rounding may lift it above
                return result;
            }
        }
        result.gap = gain_;
        return result;
    }

   private:
    double l1() const {
        if constexpr (losses::HasDual<P>) return penalty_.l1;
        return 0;
    }
    double l2() const {
        if constexpr (losses::HasDual<P>) return penalty_.l2;
        return 0;
    }

    void add_one(double w, double g, double pull, double raw, double h) {
        if (w != 0) ++n_active_;
        values_ += penalty_.value(w);
        if constexpr (losses::HasDual<P>) {
            squares_ += w * w;
            strongest_ = std::max(strongest_, pull);
            const double excess = std::max(raw - l1(), 0.0);
            excess_ += excess * excess;
            if (l1() > 0 || l2() > 0) return;
        }
        if (!(h > 0)) return;
        const double z = w + g / h;
        const double best = penalty_.prox(z, h);
        const double here = h / 2 * (w - z) * (w - z) + penalty_.value(w);
        const double there = h / 2 * (best - z) * (best - z) + penalty_.value(best);
        gain_ += std::max(here - there, 0.0);
    }

    // The better of two dual points. The residuals of the problem with l2 as further rows, scaled into the polar of the l1 ball;
    // and, where l2 > 0, the residuals themselves, every vector being feasible in the dual of the whole penalty.
    double dual(double residual, double target) const {
        const double squares = residual + penalty_.l2 * squares_;
        const double most = strongest_ > 0 ? penalty_.l1 / strongest_ : std::numeric_limits<double>::infinity();
        // Residuals that rounding has made zero still point the right way; how far to go along them, the constraint says.
        const double wanted = squares > 0 ? std::max(target / squares, 0.0) : target > 0 && std::isfinite(most) ? most : 0.0;
        const double scale = std::min(wanted, most);
        double best = scale * target - scale * scale / 2 * squares;
        if (penalty_.l2 > 0) best = std::max(best, target - residual / 2 - excess_ / (2 * penalty_.l2));
        return best;
    }

    P penalty_;
    Tasks<kTasks> tasks_;
    double values_ = 0, squares_ = 0, strongest_ = 0, excess_ = 0, gain_ = 0;
    std::size_t n_active_ = 0;
};

// When to stop: the gap falls to `gap` and a full sweep moves no coefficient by more than `update` times the largest.
struct Tolerance {
    double gap = 0;
    double update = 0;
    bool holds(const Reached& reached) const { return reached.gap <= gap && reached.update <= update; }
};

}  // namespace mercer::linear_model
