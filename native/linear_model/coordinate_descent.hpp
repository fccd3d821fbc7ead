// Coordinate descent on a quadratic plus a separable penalty: minimise 1/2 ||b - A w||^2 + sum_j value(w_j).
//
// The solver is a template over the quadratic (which keeps a gradient or residuals as w moves) and the penalty. With several
// tasks, w_j is the group of one column's coefficients, one a task, and the penalty is of its norm. Arrays of coefficients and
// gradients hold n_tasks values a column. The quadratic of a weighted problem is the same with rows times roots of weights.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/rng.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/coordinate_descent_design.hpp"
#include "losses/penalties.hpp"

namespace mercer::linear_model {

// The number of tasks, known to the compiler where it is one.
template <std::size_t kFixed>
struct Tasks {
    std::size_t n = kFixed;
    std::size_t count() const {
        if constexpr (kFixed != 0) {
            return kFixed;
        } else {
            return n;
        }
    }
};

// A quadratic by its Gram matrix: the gradient q - G w is kept for every column, so that a move costs O(size).
template <std::size_t kTasks>
class GramQuadratic {
   public:
    // gram: size x size with rows `stride` apart; moments q = A' b; total = b' b; `gradient` is scratch for size x tasks.
    GramQuadratic(const double* gram, std::size_t stride, std::size_t size, std::span<const double> moments, double total,
                  std::span<double> gradient, Tasks<kTasks> tasks)
        : gram_(gram), stride_(stride), size_(size), moments_(moments), total_(total), gradient_(gradient), tasks_(tasks) {}

    std::size_t size() const { return size_; }
    Tasks<kTasks> tasks() const { return tasks_; }
    double curvature(std::size_t j) const { return gram_[j * stride_ + j]; }
    double entry(std::size_t i, std::size_t j) const { return gram_[i * stride_ + j]; }
    double gradient(std::size_t j, std::size_t t) const { return gradient_[j * tasks_.count() + t]; }
    std::span<double> state() const { return gradient_; }  // affine in w

    // w_j += delta
    void move(std::size_t j, const double* delta) {
        const double* row = gram_ + j * stride_;
        const std::size_t n_tasks = tasks_.count();
        if constexpr (kTasks == 1) {
            const double d = delta[0];
            double* g = gradient_.data();
            for (std::size_t k = 0; k < size_; ++k) g[k] -= d * row[k];
        } else {
            for (std::size_t k = 0; k < size_; ++k)
                for (std::size_t t = 0; t < n_tasks; ++t) gradient_[k * n_tasks + t] -= row[k] * delta[t];
        }
    }

    // The state from scratch. O(size times coefficients that are not zero).
    void refresh(std::span<const double> w) {
        std::copy(moments_.begin(), moments_.begin() + static_cast<std::ptrdiff_t>(gradient_.size()), gradient_.begin());
        const std::size_t n_tasks = tasks_.count();
        for (std::size_t j = 0; j < size_; ++j) {
            const auto group = w.subspan(j * n_tasks, n_tasks);
            if (std::any_of(group.begin(), group.end(), [](double v) { return v != 0; })) move(j, group.data());
        }
    }

    // ||b - A w||^2 and its product with b; exact up to rounding of b' b.
    double residual_squares(std::span<const double> w) const {
        const double taken = lane_sum(w.size(), [&](std::size_t k) { return w[k] * (moments_[k] + gradient_[k]); });
        return std::max(total_ - taken, 0.0);
    }
    double residual_target(std::span<const double> w) const {
        return total_ - lane_sum(w.size(), [&](std::size_t k) { return w[k] * moments_[k]; });
    }
    double loss(std::span<const double> w) const { return residual_squares(w) / 2; }

   private:
    const double* gram_;
    std::size_t stride_;
    std::size_t size_;
    std::span<const double> moments_;
    double total_;
    std::span<double> gradient_;
    Tasks<kTasks> tasks_;
};

// A quadratic by its columns: the residuals are kept, so that a move costs O(n). For working sets whose Gram matrix is too large.
template <std::size_t kTasks>
class ColumnQuadratic {
   public:
    // The columns are the design's working columns, in their order; `residual` holds n values a task.
    ColumnQuadratic(const Design& design, std::span<const double> curvatures, std::span<const double> target,
                    std::span<double> residual, Tasks<kTasks> tasks)
        : design_(&design), curvatures_(curvatures), target_(target), residual_(residual), tasks_(tasks) {}

    std::size_t size() const { return curvatures_.size(); }
    Tasks<kTasks> tasks() const { return tasks_; }
    double curvature(std::size_t j) const { return curvatures_[j]; }
    double gradient(std::size_t j, std::size_t t) const { return design_->dot(j, run(t)); }
    std::span<double> state() const { return residual_; }

    void move(std::size_t j, const double* delta) {
        for (std::size_t t = 0; t < tasks_.count(); ++t)
            if (delta[t] != 0) design_->add(j, -delta[t], run(t));
    }
    void refresh(std::span<const double> w) {
        std::copy(target_.begin(), target_.end(), residual_.begin());
        for (std::size_t j = 0; j < size(); ++j) move(j, w.data() + j * tasks_.count());
    }
    double loss(std::span<const double>) const {
        return lane_sum(residual_.size(), [&](std::size_t i) { return residual_[i] * residual_[i]; }) / 2;
    }

   private:
    std::span<double> run(std::size_t t) const { return residual_.subspan(t * design_->rows(), design_->rows()); }

    const Design* design_;
    std::span<const double> curvatures_;
    std::span<const double> target_;
    std::span<double> residual_;
    Tasks<kTasks> tasks_;
};

namespace detail {

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

// Overwrites the lower triangle of a (n x n, by rows) with its Cholesky factor and b with the solution of a x = b; false where a is
// not positive definite. In a fixed order of its own: BLAS would round differently with other threads. O(n^3).
inline bool solve_cholesky(std::vector<double>& a, std::vector<double>& b) {
    const std::size_t n = b.size();
    for (std::size_t i = 0; i < n; ++i) {
        double* row = a.data() + i * n;
        checkpoint();
        for (std::size_t j = 0; j <= i; ++j) {
            const double* other = a.data() + j * n;
            const double rest = row[j] - lane_sum(j, [&](std::size_t k) { return row[k] * other[k]; });
            if (i == j && !(rest > 0)) return false;
            row[j] = i == j ? std::sqrt(rest) : rest / other[j];
        }
        b[i] = (b[i] - lane_sum(i, [&](std::size_t k) { return row[k] * b[k]; })) / row[i];
    }
    for (std::size_t i = n; i-- > 0;) {
        b[i] /= a[i * n + i];
        for (std::size_t k = 0; k < i; ++k) b[k] -= b[i] * a[i * n + k];
    }
    return true;
}

}  // namespace detail

// How far the last sweep moved: the largest change of a coefficient, and the largest coefficient.
struct Change {
    double update = 0;
    double size = 0;
    bool is_within(double tol) const { return update <= tol * size; }
};

// Sweeps over the coordinates, each set to the exact minimiser along it, with Anderson acceleration and, for l1 and l2 penalties on
// a Gram matrix, Newton's method for the coefficients in use: while their signs hold, the problem is a linear system.
template <class Quadratic, losses::Penalty P, std::size_t kTasks>
class CoordinateDescent {
   public:
    // w holds tasks values a column and is moved in place. `random` (or null) draws the coordinates instead of cycling.
    CoordinateDescent(Quadratic& quadratic, P penalty, std::span<double> w, Philox* random)
        : quadratic_(quadratic), penalty_(penalty), w_(w), random_(random), group_(2 * quadratic.tasks().count()) {}

    // One sweep over all columns, then (unless that moved nothing by more than `tol` times the largest coefficient) five over those
    // in use and an extrapolation from them, and from the second call on a Newton step, each kept where it lowers the objective.
    // Returns the change of the first sweep.
    Change run(double tol) {
        const Change change = sweep_all();
        if (change.is_within(tol) || !std::isfinite(change.update)) return change;
        find_active();
        if (active_.empty()) return change;
        save(0);
        for (std::size_t k = 1; k <= kMemory; ++k) {
            checkpoint();
            const Change inner = sweep_active();
            save(k);
            if (inner.update == 0) return change;
        }
        if (random_ == nullptr) extrapolate();
        if constexpr (kHasNewton)
            if (++n_runs_ >= kFirstNewton && std::has_single_bit(n_runs_)) step_newton();
        return change;
    }

    double penalty_value() const {
        double sum = 0;
        for (std::size_t j = 0; j < quadratic_.size(); ++j) sum += penalty_.value(norm(w_.data() + j * n_tasks()));
        return sum;
    }
    double objective() const { return quadratic_.loss(w_) + penalty_value(); }

   private:
    static constexpr std::size_t kMemory = 5;
    static constexpr std::size_t kMostNewton = 1024;  // coefficients in use: beyond it, a factorisation costs too many sweeps
    static constexpr std::size_t kFirstNewton = 16;   // round; then at every doubling: most descents end before
    static constexpr bool kHasNewton = kTasks == 1 && losses::HasDual<P> && requires(Quadratic& q) { q.entry(0, 0); };

    std::size_t n_tasks() const { return quadratic_.tasks().count(); }
    double norm(const double* group) const {
        if constexpr (kTasks == 1) return group[0];
        return std::sqrt(lane_sum(n_tasks(), [&](std::size_t t) { return group[t] * group[t]; }));
    }

    Change sweep_all() {
        Change change;
        const std::size_t n = quadratic_.size();
        for (std::size_t k = 0; k < n; ++k) update(random_ ? random_->below(static_cast<std::uint32_t>(n)) : k, change);
        return change;
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

    // Remembers the coefficients in use and the state.
    void save(std::size_t k) {
        points_[k].resize(active_.size() * n_tasks());
        for (std::size_t a = 0; a < active_.size(); ++a)
            std::copy_n(w_.data() + active_[a] * n_tasks(), n_tasks(), points_[k].data() + a * n_tasks());
    }

    void restore(const std::vector<double>& point) {
        for (std::size_t a = 0; a < active_.size(); ++a)
            std::copy_n(point.data() + a * n_tasks(), n_tasks(), w_.data() + active_[a] * n_tasks());
    }

    void extrapolate() {
        std::array<double, kMemory> weights{};
        if (!detail::anderson_weights<kMemory>(points_, weights)) return;
        std::vector<double> point(points_[0].size(), 0.0);
        for (std::size_t k = 0; k < kMemory; ++k)
            for (std::size_t i = 0; i < point.size(); ++i) point[i] += weights[k] * points_[k + 1][i];
        const double before = objective();
        const std::vector<double> state(quadratic_.state().begin(), quadratic_.state().end());
        if (try_point(point, before)) return;
        restore(points_[kMemory]);
        std::copy(state.begin(), state.end(), quadratic_.state().begin());
    }

    // Moves the coefficients in use to `point`; true where that lowers the objective.
    bool try_point(const std::vector<double>& point, double before) {
        restore(point);
        if (!std::isfinite(penalty_value())) return false;
        quadratic_.refresh(w_);
        return objective() < before;
    }

    // To the minimum over the coefficients in use as if their signs were fixed; those that would change sign become zero. Where
    // that does not lower the objective, only as far as the first of them, which always does.
    void step_newton() {
        find_active();
        const std::size_t n = active_.size();
        if (n == 0 || n > kMostNewton) return;
        std::vector<double> direction(n);
        if (!newton_direction(direction)) return;
        save(0);
        const std::vector<double>& here = points_[0];
        const std::vector<double> state(quadratic_.state().begin(), quadratic_.state().end());
        const double before = objective();
        double longest = 1;
        for (std::size_t a = 0; a < n; ++a)
            if (here[a] * (here[a] + direction[a]) < 0) longest = std::min(longest, -here[a] / direction[a]);
        for (const double length : {1.0, longest}) {
            std::vector<double> point(n);
            for (std::size_t a = 0; a < n; ++a) {
                const double next = here[a] + length * direction[a];
                point[a] = here[a] * next <= 0 || (length < 1 && here[a] + longest * direction[a] == 0) ? 0.0 : next;
            }
            if (try_point(point, before)) return;
        }
        restore(here);
        std::copy(state.begin(), state.end(), quadratic_.state().begin());
    }

    bool newton_direction(std::vector<double>& direction) const {
        const std::size_t n = active_.size();
        std::vector<double> matrix(n * n);
        double largest = 0;
        for (const std::size_t j : active_) largest = std::max(largest, quadratic_.curvature(j));
        for (std::size_t a = 0; a < n; ++a) {
            const double w = w_[active_[a]];
            for (std::size_t b = 0; b <= a; ++b) matrix[a * n + b] = quadratic_.entry(active_[a], active_[b]);
            matrix[a * n + a] += penalty_.l2 + 1e-12 * largest;  // more columns than rows leave directions without curvature
            direction[a] = quadratic_.gradient(active_[a], 0) - std::copysign(penalty_.l1, w) - penalty_.l2 * w;
        }
        return detail::solve_cholesky(matrix, direction);
    }

    Quadratic& quadratic_;
    P penalty_;
    std::span<double> w_;
    Philox* random_;
    std::vector<double> group_;
    std::vector<std::size_t> active_;
    std::vector<double> points_[kMemory + 1];
    std::size_t n_runs_ = 0;
};

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

// Descends on a Gram matrix until `tolerance` holds, for at most max_rounds rounds of six sweeps. Moves w and leaves the gradient
// q - G w in `gradient`. Returns what was reached and the rounds used. O(size^2) a sweep, less where few coefficients are in use.
template <losses::Penalty P, std::size_t kTasks>
std::pair<Reached, std::size_t> descend_on_gram(GramQuadratic<kTasks> quadratic, P penalty, std::span<double> w,
                                                Tolerance tolerance, std::size_t max_rounds, Philox* random) {
    const std::size_t n_tasks = quadratic.tasks().count();
    for (std::size_t j = 0; j < quadratic.size(); ++j)
        if (!(quadratic.curvature(j) > 0)) std::fill_n(w.data() + j * n_tasks, n_tasks, 0.0);  // a constant column
    quadratic.refresh(w);
    CoordinateDescent<GramQuadratic<kTasks>, P, kTasks> descent(quadratic, penalty, w, random);
    Reached reached;
    std::size_t round = 0;
    do {
        checkpoint();
        const Change change = descent.run(tolerance.update);
        if (!std::isfinite(change.update)) break;
        Assessment<P, kTasks> assessment(penalty, quadratic.tasks());
        for (std::size_t j = 0; j < quadratic.size(); ++j)
            assessment.add(w.data() + j * n_tasks, quadratic.state().data() + j * n_tasks, quadratic.curvature(j));
        reached = assessment.reached(quadratic.residual_squares(w), quadratic.residual_target(w));
        reached.update = change.size > 0 ? change.update / change.size : 0.0;
        ++round;
        reached.is_stalled = change.update == 0;
    } while (round < max_rounds && !tolerance.holds(reached) && !reached.is_stalled);
    return {reached, round};
}

}  // namespace mercer::linear_model
