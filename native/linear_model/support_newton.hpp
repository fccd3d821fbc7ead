// Newton's method for the coefficients in use of a quadratic with an l1 and l2 penalty: while signs hold, a linear system.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/simd.hpp"
#include "linear_model/support_factor.hpp"
#include "losses/penalties.hpp"

namespace mercer::linear_model {

// Moves the coefficients in use to their joint minimum, or as far towards it as the objective falls, coefficients that reach zero
// on the way being left there. The factor of the system follows the support from call to call: along a path few columns change.
template <losses::Penalty P>
class SupportNewton {
   public:
    static constexpr std::size_t kMostColumns = 1024;  // in use: beyond it, the factor costs too many sweeps

    // Multiplications that `step` would spend before its first direction, and on that. O(size).
    template <class Quadratic>
    double cost(const Quadratic& quadratic, P penalty, std::span<const std::size_t> active) const {
        const auto n = static_cast<double>(active.size());
        if (active.size() > kMostColumns) return std::numeric_limits<double>::infinity();
        const bool is_fresh = penalty.l2 != l2_;
        const auto is_old = [&](std::size_t j) { return !is_fresh && factor_.has(j); };
        const auto n_old = static_cast<double>(std::count_if(active.begin(), active.end(), is_old));
        const double n_gone = is_fresh ? 0.0 : static_cast<double>(factor_.size()) - n_old;
        const double n_rows = (n * n - n_old * n_old) / 2;  // that the new columns go through, and what those hold
        const double n_entries = (n * n * n - n_old * n_old * n_old) / 6;
        return n_entries + n_rows * (kRowCost + quadratic.cost_of_product()) + n_gone * n * n + n * (n + 2 * kRowCost) +
               n * quadratic.cost_of_move();
    }

    // `active` are the columns whose coefficients are not zero. True where w has moved; the state of the quadratic then has not.
    template <class Quadratic>
    bool step(const Quadratic& quadratic, P penalty, std::span<double> w, std::span<const std::size_t> active) {
        follow(quadratic, penalty, active);
        const auto columns = factor_.columns();
        slopes_.resize(columns.size());
        for (std::size_t a = 0; a < columns.size(); ++a) {
            const double value = w[columns[a]];
            slopes_[a] = quadratic.gradient(columns[a], 0) - std::copysign(penalty.l1, value) - penalty.l2 * value;
        }
        bool has_moved = false;
        for (std::size_t turn = 0; turn < kMostTurns && factor_.size() > 0; ++turn) {
            checkpoint();
            direction_ = slopes_;
            factor_.solve(direction_);
            const double length = search(penalty, w);
            if (!(length > 0)) break;
            has_moved = true;
            if (move(length, penalty, w) == 0) break;
        }
        return has_moved;
    }

    // The factor will be made anew.
    void forget() { l2_ = kNone; }

   private:
    static constexpr double kNone = -1;
    static constexpr double kRowCost = 16;  // a division and the start of a loop, in multiplications
    static constexpr std::size_t kMostTurns = 200;

    // Brings the factor to the columns in use.
    template <class Quadratic>
    void follow(const Quadratic& quadratic, P penalty, std::span<const std::size_t> active) {
        if (penalty.l2 != l2_) {
            double largest = 0;
            for (std::size_t j = 0; j < quadratic.size(); ++j) largest = std::max(largest, quadratic.curvature(j));
            factor_.reset(penalty.l2 + 1e-12 * largest);  // more columns than rows leave directions without curvature
            l2_ = penalty.l2;
        }
        std::vector<char> is_used(quadratic.size(), 0);
        for (const std::size_t j : active) is_used[j] = 1;
        for (std::size_t a = factor_.size(); a-- > 0;)
            if (is_used[factor_.columns()[a]] == 0) factor_.remove(a);
        std::vector<double> products;
        for (const std::size_t j : active) {
            if (factor_.has(j)) continue;
            checkpoint();
            products.resize(factor_.size());
            quadratic.products(j, factor_.columns(), products);
            factor_.add(j, products, quadratic.curvature(j));
        }
    }

    // The length of the step that minimises the objective along the direction, at most 1: its slope rises linearly and jumps where
    // a coefficient passes zero.
    double search(P penalty, std::span<const double> w) {
        const auto columns = factor_.columns();
        const double promise = lane_sum(columns.size(), [&](std::size_t a) { return slopes_[a] * direction_[a]; });
        if (!(promise > 0) || !std::isfinite(promise)) return 0;
        crossings_.clear();
        for (std::size_t a = 0; a < columns.size(); ++a) {
            const double value = w[columns[a]], step = direction_[a];
            if ((value > 0 && step <= -value) || (value < 0 && step >= -value)) crossings_.emplace_back(-value / step, a);
        }
        std::sort(crossings_.begin(), crossings_.end());
        double jumps = 0;
        n_crossed_ = 0;
        ends_at_zero_ = false;
        for (const auto& [length, a] : crossings_) {
            if (jumps >= (1 - length) * promise) break;
            const bool may_cross = std::isfinite(penalty.value(direction_[a]));
            jumps += may_cross ? 2 * penalty.l1 * std::abs(direction_[a]) : std::numeric_limits<double>::infinity();
            ++n_crossed_;
            if (jumps >= (1 - length) * promise) {
                ends_at_zero_ = true;
                return length;
            }
        }
        return 1 - jumps / promise;
    }

    // Goes there; returns the number of coefficients that have changed sign or left.
    std::size_t move(double length, P penalty, std::span<double> w) {
        const auto columns = factor_.columns();
        for (std::size_t a = 0; a < columns.size(); ++a) {
            w[columns[a]] += length * direction_[a];
            slopes_[a] *= 1 - length;
        }
        for (std::size_t c = 0; c < n_crossed_; ++c) {
            const std::size_t a = crossings_[c].second;
            slopes_[a] -= 2 * std::copysign(penalty.l1, direction_[a]);
        }
        if (ends_at_zero_) {
            const std::size_t last = crossings_[n_crossed_ - 1].second;
            w[columns[last]] = 0;
            factor_.remove(last);
            slopes_.erase(slopes_.begin() + static_cast<std::ptrdiff_t>(last));
        }
        return n_crossed_;
    }

    SupportFactor factor_;
    double l2_ = kNone;  // of the factor
    std::vector<double> slopes_, direction_;
    std::vector<std::pair<double, std::size_t>> crossings_;
    std::size_t n_crossed_ = 0;
    bool ends_at_zero_ = false;
};

}  // namespace mercer::linear_model
