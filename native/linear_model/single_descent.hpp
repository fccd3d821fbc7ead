// Coordinate descent on the model of a loss with one output, with extrapolation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/interrupt.hpp"
#include "core/simd.hpp"
#include "linear_model/extrapolation.hpp"
#include "linear_model/row_model.hpp"

namespace mercer::linear_model::detail {

// Coordinate descent for one output: least squares with rows times the roots of their curvatures. The columns in use are copied
// that way, so that a step reads and writes one vector of rows; now and then the coefficients in use are extrapolated.
template <class Columns>
class SingleDescent {
   public:
    SingleDescent(const Columns& x, RowModel model, Coordinates at, Intercepts intercepts, ModelPenalty penalty)
        : x_(x), model_(model), at_(at), intercepts_(intercepts), penalty_(penalty), start_(at.coef.begin(), at.coef.end()) {
        const std::size_t n = model.rows();
        roots_.resize(n);
        values_.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            roots_[i] = std::sqrt(std::max(model.weighted(0, i) * (1 - model.probabilities(0, i)), 0.0));
            values_[i] = roots_[i] * model.change(0, i);
        }
        starts_.push_back(0);
        for (std::size_t c = 0; c < at.size(); ++c) {
            if (c % 1024 == 0) checkpoint();
            double square = 0, most = 0;
            x.for_each(at.column(c), [&](std::size_t i, double v) {
                entries_.push_back(v * roots_[i]);
                if constexpr (!Columns::kIsDense) rows_.push_back(static_cast<std::int32_t>(i));
                square += entries_.back() * entries_.back();
                most += v * v * model.row_weights[i];
            });
            starts_.push_back(entries_.size());
            damping_.push_back(penalty.damping * most / 4);
            curvature_.push_back(square + penalty.l2 + damping_.back());
        }
        if (!intercepts.moves.empty()) total_ = lane_sum(n, [&](std::size_t i) { return roots_[i] * roots_[i]; });
    }

    std::size_t run(DescentRule rule) {
        std::size_t sweep = 0;
        while (sweep < rule.most_sweeps) {  // a sweep over all, then sweeps over those that are not zero until they rest
            double largest = move_intercept();
            active_.clear();
            for (std::size_t c = 0; c < at_.size(); ++c) {
                if (c % 1024 == 0) checkpoint();
                largest = std::max(largest, move(c));
                if (at_.coef[c] != 0) active_.push_back(c);
            }
            ++sweep;
            if (!(largest > rule.tol)) break;
            sweep += run_active(rule.most_sweeps - sweep, std::max(rule.tol, 0.1 * largest));
        }
        write_change();
        return sweep;
    }

   private:
    static constexpr std::size_t kMemory = 5;

    std::size_t run_active(std::size_t most_sweeps, double tol) {
        std::size_t sweep = 0;
        points_.clear();
        states_.clear();
        for (double largest = std::numeric_limits<double>::infinity(); sweep < most_sweeps && largest > tol; ++sweep) {
            remember();
            if (points_.is_full()) extrapolate();
            largest = move_intercept();
            for (std::size_t a = 0; a < active_.size(); ++a) {
                if (a % 1024 == 0) checkpoint();
                largest = std::max(largest, move(active_[a]));
            }
        }
        return sweep;
    }

    // Each returns curvature times the size of the move.
    double move(std::size_t c) {
        const double h = curvature_[c];
        if (!(h > 0)) return 0;
        double& w = at_.coef[c];
        const double slope = at_.gradient[c] + product(c) + penalty_.l2 * w + damping_[c] * (w - start_[c]);
        const double delta = soft_threshold(h * w - slope, penalty_.l1) / h - w;
        if (delta == 0 || !std::isfinite(delta)) return 0;
        w += delta;
        add(c, delta);
        return h * std::abs(delta);
    }

    double move_intercept() {
        if (!(total_ > 0)) return 0;
        const double slope =
            intercepts_.gradient[0] + lane_sum(values_.size(), [&](std::size_t i) { return roots_[i] * values_[i]; });
        const double delta = -slope / total_;
        if (!std::isfinite(delta)) return 0;
        intercepts_.moves[0] += delta;
        for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += delta * roots_[i];
        return std::abs(slope);
    }

    std::size_t row(std::size_t entry) const { return static_cast<std::size_t>(rows_[entry]); }
    void add(std::size_t c, double delta) {
        if constexpr (Columns::kIsDense) {
            const double* column = entries_.data() + starts_[c];
            for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += delta * column[i];
        } else {
            for (std::size_t e = starts_[c]; e < starts_[c + 1]; ++e) values_[row(e)] += delta * entries_[e];
        }
    }
    double product(std::size_t c) const {
        if constexpr (Columns::kIsDense) {
            const double* column = entries_.data() + starts_[c];
            return lane_sum(values_.size(), [&](std::size_t i) { return column[i] * values_[i]; });
        }
        double sums[4] = {};  // four at a time: additions need not wait for one another
        std::size_t e = starts_[c];
        for (; e + 4 <= starts_[c + 1]; e += 4)
            for (std::size_t k = 0; k < 4; ++k) sums[k] += entries_[e + k] * values_[row(e + k)];
        for (; e < starts_[c + 1]; ++e) sums[0] += entries_[e] * values_[row(e)];
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }

    // The model with the penalty, up to a constant, over the coefficients in use.
    double objective() const {
        double sum = lane_sum(values_.size(), [&](std::size_t i) { return values_[i] * values_[i]; }) / 2;
        for (const std::size_t c : active_) {
            const double w = at_.coef[c], moved = w - start_[c];
            sum += at_.gradient[c] * w + penalty_.l1 * std::abs(w) + penalty_.l2 / 2 * w * w + damping_[c] / 2 * moved * moved;
        }
        return total_ > 0 ? sum + intercepts_.gradient[0] * intercepts_.moves[0] : sum;
    }

    void remember() {
        std::vector<double>& point = points_.add();
        point.clear();
        for (const std::size_t c : active_) point.push_back(at_.coef[c]);
        point.push_back(total_ > 0 ? intercepts_.moves[0] : 0.0);
        states_.add() = values_;
    }

    void restore(const std::vector<double>& point) {
        for (std::size_t a = 0; a < active_.size(); ++a) at_.coef[active_[a]] = point[a];
        if (total_ > 0) intercepts_.moves[0] = point.back();
    }

    // The values are linear in the coefficients: both are combined alike. Kept if the objective falls.
    void extrapolate() {
        if (const auto weights = points_.weights()) {
            const double before = objective();
            std::vector<double> point;
            points_.combine(*weights, point);
            states_.combine(*weights, values_);
            restore(point);
            if (!(objective() < before)) {
                restore(points_.last());
                values_ = states_.last();
            }
        }
        points_.clear();
        states_.clear();
    }

    void write_change() {
        for (std::size_t c = 0; c < at_.size(); ++c) {
            const double delta = at_.coef[c] - start_[c];
            if (delta != 0) x_.for_each(at_.column(c), [&](std::size_t i, double v) { model_.change(0, i) += delta * v; });
        }
        if (total_ > 0)
            for (std::size_t i = 0; i < model_.rows(); ++i) model_.change(0, i) += intercepts_.moves[0];
    }

    const Columns& x_;
    RowModel model_;
    Coordinates at_;
    Intercepts intercepts_;
    ModelPenalty penalty_;
    std::vector<double> start_;
    std::vector<double> roots_;        // of the curvatures of the rows
    std::vector<double> values_;       // roots times the change of the linear values
    std::vector<double> entries_;      // of the columns in use, times roots
    std::vector<std::int32_t> rows_;   // where the entries are; empty where columns are dense
    std::vector<std::size_t> starts_;  // the entries of each coordinate
    std::vector<double> curvature_;
    std::vector<double> damping_;
    double total_ = 0;
    std::vector<std::size_t> active_;
    Trail<kMemory> points_;  // coefficients in use and intercept,
    Trail<kMemory> states_;  // and the values there
};

}  // namespace mercer::linear_model::detail
