// Coordinate descent on a quadratic plus a separable penalty: minimise 1/2 ||b - A w||^2 + sum_j value(w_j).
//
// The solver is a template over the quadratic (which keeps a gradient or residuals as w moves) and the penalty. With several
// tasks, w_j is the group of one column's coefficients, one a task, and the penalty is of its norm. Arrays of coefficients and
// gradients hold n_tasks values a column. The quadratic of a weighted problem is the same with rows times roots of weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/rng.hpp"
#include "core/simd.hpp"
#include "linear_model/coordinate_descent_assessment.hpp"
#include "linear_model/coordinate_descent_quadratic.hpp"
#include "linear_model/extrapolation.hpp"
#include "linear_model/support_newton.hpp"
#include "losses/penalties.hpp"

namespace mercer::linear_model {

// How far the last sweep moved: the largest change of a coefficient, and the largest coefficient.
struct Change {
    double update = 0;
    double size = 0;
    bool is_within(double tol) const { return update <= tol * size; }
};

// Sweeps over the coordinates, each set to the exact minimiser along it, with Anderson acceleration and, for l1 and l2 penalties
// of single coefficients, Newton's method for those in use.
template <class Quadratic, losses::Penalty P, std::size_t kTasks>
class CoordinateDescent {
   public:
    // w holds tasks values a column and is moved in place. `random` (or null) draws the coordinates instead of cycling. `newton`
    // may know the columns from a descent before.
    CoordinateDescent(Quadratic& quadratic, P penalty, std::span<double> w, SupportNewton<P>& newton, Philox* random)
        : quadratic_(quadratic),
          penalty_(penalty),
          w_(w),
          newton_(newton),
          random_(random),
          group_(2 * quadratic.tasks().count()) {}

    // One sweep over all columns.
    Change sweep() {
        Change change;
        const std::size_t n = quadratic_.size();
        for (std::size_t k = 0; k < n; ++k) update(random_ ? random_->below(static_cast<std::uint32_t>(n)) : k, change);
        return change;
    }

    // To be called after a sweep: a Newton step for the coefficients in use or, where that would cost more than all sweeps since
    // the last one, five sweeps over them and an extrapolation. Both are kept where they lower the objective.
    void accelerate() {
        find_active();
        if (active_.empty()) return;
        spent_ += static_cast<double>(kMemory * active_.size()) * quadratic_.cost_of_move();
        if constexpr (kHasNewton) {
            if (newton_.cost(quadratic_, penalty_, active_) <= spent_) {
                spent_ = 0;
                if (step_newton()) return;
            }
        }
        sweep_and_extrapolate();
    }

    double penalty_value() const {
        double sum = 0;
        for (std::size_t j = 0; j < quadratic_.size(); ++j) sum += penalty_.value(norm(w_.data() + j * n_tasks()));
        return sum;
    }
    double objective() const { return quadratic_.loss(w_) + penalty_value(); }

   private:
    static constexpr std::size_t kMemory = 5;
    static constexpr bool kHasNewton = kTasks == 1 && losses::HasDual<P>;

    std::size_t n_tasks() const { return quadratic_.tasks().count(); }
    double norm(const double* group) const {
        if constexpr (kTasks == 1) return group[0];
        return std::sqrt(lane_sum(n_tasks(), [&](std::size_t t) { return group[t] * group[t]; }));
    }

    Change sweep_active() {
        Change change;
        const auto n = static_cast<std::uint32_t>(active_.size());
        for (std::uint32_t k = 0; k < n; ++k) update(active_[random_ ? random_->below(n) : k], change);
        return change;
    }

    [[gnu::always_inline]] inline void update(std::size_t j, Change& change) {
        const double h = quadratic_.curvature(j);
        double* w = w_.data() + j * n_tasks();
        if (!(h > 0)) return;
        if constexpr (kTasks == 1) {
            const double next = penalty_.prox(w[0] + quadratic_.gradient(j, 0) / h, h);
            const double delta = next - w[0];
            change.size = std::max(change.size, std::abs(next));
            if (delta == 0) return;
            w[0] = next;
            quadratic_.move(j, &delta);
            change.update = std::max(change.update, std::abs(delta));
        } else {
            update_group(j, h, w, change);
        }
    }

    void update_group(std::size_t j, double h, double* w, Change& change) {
        double* next = group_.data();
        double* delta = next + n_tasks();
        for (std::size_t t = 0; t < n_tasks(); ++t) next[t] = w[t] + quadratic_.gradient(j, t) / h;
        const double size = norm(next);
        const double scale = size > 0 ? penalty_.prox(size, h) / size : 0.0;
        bool has_moved = false;
        for (std::size_t t = 0; t < n_tasks(); ++t) {
            next[t] = scale * next[t] + 0.0;  // no negative zeros
            delta[t] = next[t] - w[t];
            w[t] = next[t];
            has_moved |= delta[t] != 0;
            change.size = std::max(change.size, std::abs(w[t]));
            change.update = std::max(change.update, std::abs(delta[t]));
        }
        if (has_moved) quadratic_.move(j, delta);
    }

    void find_active() {
        active_.clear();
        for (std::size_t j = 0; j < quadratic_.size(); ++j)
            if (norm(w_.data() + j * n_tasks()) != 0) active_.push_back(j);
    }

    // The coefficients in use.
    void save(std::vector<double>& point) const {
        point.resize(active_.size() * n_tasks());
        for (std::size_t a = 0; a < active_.size(); ++a)
            std::copy_n(w_.data() + active_[a] * n_tasks(), n_tasks(), point.data() + a * n_tasks());
    }

    void restore(const std::vector<double>& point) {
        for (std::size_t a = 0; a < active_.size(); ++a)
            std::copy_n(point.data() + a * n_tasks(), n_tasks(), w_.data() + active_[a] * n_tasks());
    }

    void sweep_and_extrapolate() {
        trail_.clear();
        save(trail_.add());
        while (!trail_.is_full()) {
            checkpoint();
            const Change inner = sweep_active();
            save(trail_.add());
            if (inner.update == 0) return;
        }
        if (random_ == nullptr) extrapolate();
    }

    void extrapolate() {
        const auto weights = trail_.weights();
        if (!weights) return;
        keep_if_better([&] {
            std::vector<double> point;
            trail_.combine(*weights, point);
            restore(point);
            return true;
        });
    }

    bool step_newton() {
        const bool is_better = keep_if_better([&] { return newton_.step(quadratic_, penalty_, w_, active_); });
        if (!is_better) newton_.forget();  // rounding may have worn its factor out
        return is_better;
    }

    // `move` moves the coefficients in use and says whether it has. Undone where that does not lower the objective.
    template <class Move>
    bool keep_if_better(Move&& move) {
        const double before = objective();
        save(start_);
        const std::vector<double> state(quadratic_.state().begin(), quadratic_.state().end());
        if (!move()) return false;
        if (std::isfinite(penalty_value())) {
            quadratic_.refresh(w_);
            if (objective() < before) return true;
        }
        restore(start_);
        std::copy(state.begin(), state.end(), quadratic_.state().begin());
        return false;
    }

    Quadratic& quadratic_;
    P penalty_;
    std::span<double> w_;
    SupportNewton<P>& newton_;
    Philox* random_;
    std::vector<double> group_;
    std::vector<std::size_t> active_;
    Trail<kMemory> trail_;
    std::vector<double> start_;  // of a move that may be undone
    double spent_ = 0;           // on sweeps since the last Newton step, in multiplications
};

// What the coefficients have reached, by the state of the quadratic.
template <class Quadratic, losses::Penalty P>
Reached assess(const Quadratic& quadratic, P penalty, std::span<const double> w, Change change) {
    const std::size_t n_tasks = quadratic.tasks().count();
    std::vector<double> gradient(n_tasks);
    Assessment<P, Quadratic::kFixedTasks> assessment(penalty, quadratic.tasks());
    for (std::size_t j = 0; j < quadratic.size(); ++j) {
        for (std::size_t t = 0; t < n_tasks; ++t) gradient[t] = quadratic.gradient(j, t);
        assessment.add(w.data() + j * n_tasks, gradient.data(), quadratic.curvature(j));
    }
    Reached reached = assessment.reached(quadratic.residual_squares(w), quadratic.residual_target(w));
    reached.update = change.size > 0 ? change.update / change.size : 0.0;
    reached.is_stalled = change.update == 0;
    return reached;
}

// Descends until `tolerance` holds, for at most max_rounds rounds, each a full sweep and what accelerates it. Moves w and leaves
// the state of the quadratic at it. Returns what was reached and the rounds used.
template <class Quadratic, losses::Penalty P>
std::pair<Reached, std::size_t> descend(Quadratic& quadratic, P penalty, std::span<double> w, SupportNewton<P>& newton,
                                        Tolerance tolerance, std::size_t max_rounds, Philox* random) {
    const std::size_t n_tasks = quadratic.tasks().count();
    for (std::size_t j = 0; j < quadratic.size(); ++j)
        if (!(quadratic.curvature(j) > 0)) std::fill_n(w.data() + j * n_tasks, n_tasks, 0.0);  // a constant column
    quadratic.refresh(w);
    CoordinateDescent<Quadratic, P, Quadratic::kFixedTasks> descent(quadratic, penalty, w, newton, random);
    Change change;
    for (std::size_t round = 1; round <= max_rounds; ++round) {
        checkpoint();
        change = descent.sweep();
        if (!std::isfinite(change.update)) return {Reached{}, round};
        if (change.is_within(tolerance.update)) {
            const Reached reached = assess(quadratic, penalty, std::span<const double>(w), change);
            if (reached.is_stalled || tolerance.holds(reached)) return {reached, round};
        }
        descent.accelerate();
    }
    return {assess(quadratic, penalty, std::span<const double>(w), change), max_rounds};
}

}  // namespace mercer::linear_model
