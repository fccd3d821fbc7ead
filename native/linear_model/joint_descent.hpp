// Coordinate descent on the model of a softmax loss with several outputs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/interrupt.hpp"
#include "core/simd.hpp"
#include "linear_model/row_model.hpp"

namespace mercer::linear_model::detail {

// How hard the rows pull back: entry (k, i) of Hessian times change is w_ki (change_ki - mean_i), for the mean of the changes of
// a row under its probabilities, which is kept.
class JointPull {
   public:
    explicit JointPull(RowModel model) : model_(model), mean_(model.rows(), 0.0) {
        for (std::size_t k = 0; k < model.outputs(); ++k)
            for (std::size_t i = 0; i < model.rows(); ++i) mean_[i] += model.probabilities(k, i) * model.change(k, i);
    }
    double at(std::size_t k, std::size_t i) const { return model_.weighted(k, i) * (model_.change(k, i) - mean_[i]); }
    double curvature(std::size_t k, std::size_t i) const { return model_.weighted(k, i) * (1 - model_.probabilities(k, i)); }
    void move(std::size_t k, std::size_t i, double step) {
        model_.change(k, i) += step;
        mean_[i] += model_.probabilities(k, i) * step;
    }

   private:
    RowModel model_;
    std::vector<double> mean_;
};

// Coordinate descent for several outputs.
template <class Columns>
class JointDescent {
   public:
    JointDescent(const Columns& x, RowModel model, Coordinates at, Intercepts intercepts, ModelPenalty penalty)
        : x_(x),
          n_(model.rows()),
          pull_(model),
          at_(at),
          intercepts_(intercepts),
          penalty_(penalty),
          start_(at.coef.begin(), at.coef.end()),
          curvature_(at.size()),
          damping_(at.size()) {
        for (std::size_t c = 0; c < at.size(); ++c) {
            if (c % 1024 == 0) checkpoint();
            const std::size_t k = at.output(c);
            const double most = x.sum(at.column(c), [&](std::size_t i, double v) { return v * v * model.row_weights[i]; });
            damping_[c] = penalty.damping * most / 4;
            curvature_[c] = damping_[c] + penalty.l2 +
                            x.sum(at.column(c), [&](std::size_t i, double v) { return v * v * pull_.curvature(k, i); });
        }
        for (std::size_t k = 0; k < intercepts.moves.size(); ++k)
            totals_.push_back(lane_sum(n_, [&](std::size_t i) { return pull_.curvature(k, i); }));
    }

    // A sweep over all coordinates, then sweeps over those that are not zero until they rest.
    std::size_t run(DescentRule rule) {
        std::size_t sweep = 0;
        std::vector<std::size_t> active;
        while (sweep < rule.most_sweeps) {
            double largest = move_intercepts();
            active.clear();
            for (std::size_t c = 0; c < at_.size(); ++c) {
                if (c % 1024 == 0) checkpoint();
                largest = std::max(largest, move(c));
                if (at_.coef[c] != 0) active.push_back(c);
            }
            ++sweep;
            if (!(largest > rule.tol)) break;
            for (double inner = largest; sweep < rule.most_sweeps && inner > std::max(rule.tol, 0.1 * largest); ++sweep) {
                inner = move_intercepts();
                for (std::size_t a = 0; a < active.size(); ++a) {
                    if (a % 1024 == 0) checkpoint();
                    inner = std::max(inner, move(active[a]));
                }
            }
        }
        return sweep;
    }

   private:
    // Each returns curvature times the size of the move.
    double move(std::size_t c) {
        const double h = curvature_[c];
        if (!(h > 0)) return 0;
        const std::size_t k = at_.output(c), j = at_.column(c);
        double& w = at_.coef[c];
        const double back = x_.sum(j, [&](std::size_t i, double v) { return v * pull_.at(k, i); });
        const double slope = at_.gradient[c] + back + penalty_.l2 * w + damping_[c] * (w - start_[c]);
        const double delta = soft_threshold(h * w - slope, penalty_.l1) / h - w;
        if (delta == 0 || !std::isfinite(delta)) return 0;
        w += delta;
        x_.for_each(j, [&](std::size_t i, double v) { pull_.move(k, i, delta * v); });
        return h * std::abs(delta);
    }

    double move_intercepts() {
        double largest = 0;
        for (std::size_t k = 0; k < totals_.size(); ++k) {
            if (!(totals_[k] > 0)) continue;
            const double slope = intercepts_.gradient[k] + lane_sum(n_, [&](std::size_t i) { return pull_.at(k, i); });
            const double delta = -slope / totals_[k];
            if (!std::isfinite(delta)) continue;
            intercepts_.moves[k] += delta;
            for (std::size_t i = 0; i < n_; ++i) pull_.move(k, i, delta);
            largest = std::max(largest, std::abs(slope));
        }
        return largest;
    }

    const Columns& x_;
    std::size_t n_;
    JointPull pull_;
    Coordinates at_;
    Intercepts intercepts_;
    ModelPenalty penalty_;
    std::vector<double> start_;
    std::vector<double> curvature_;
    std::vector<double> damping_;
    std::vector<double> totals_;
};

}  // namespace mercer::linear_model::detail
