// Dual coordinate descent for linear models (Hsieh et al., ICML 2008): each visit of a row solves for its dual variable alone.
//
// The dual problem, in a with -low <= a <= up, w = X'a and b = b0 + prior sum(a), is to minimise
//   |w|^2 / 2 + (b^2 - b0^2) / (2 prior) + sum_i curvature_i a_i^2 / 2 + epsilon |a_i| - target_i a_i
// where `prior` is the inverse strength of the penalty (b - b0)^2 / 2 on the intercept; 0 keeps the intercept as it is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "core/interrupt.hpp"
#include "core/prefetch.hpp"
#include "core/rng.hpp"
#include "core/views.hpp"

namespace mercer::svm {

// What does not change, a line an example: target, low, up, curvature and squared norm.
struct DualTerms {
    RowMajor<const double> fields;
    double epsilon;
    double prior;

    double target(std::size_t i) const { return fields(i, 0); }
    double low(std::size_t i) const { return fields(i, 1); }
    double up(std::size_t i) const { return fields(i, 2); }
    double curvature(std::size_t i) const { return fields(i, 3); }
    double squared_norm(std::size_t i) const { return fields(i, 4); }
    void prefetch(std::size_t i) const { prefetch_run(fields.row(i), fields.cols); }
};

namespace detail {

// The minimiser over one dual variable, where the smooth part has this slope at `dual` and this curvature.
inline double best_dual(const DualTerms& terms, std::size_t i, double dual, double slope, double curvature) {
    if (!(curvature > 0)) {  // linear in this variable: the end of the box that it falls to, or zero between
        if (slope < -terms.epsilon) return terms.up(i);
        return slope > terms.epsilon ? -terms.low(i) : std::clamp(0.0, -terms.low(i), terms.up(i));
    }
    const double aim = dual - slope / curvature;
    const double threshold = terms.epsilon / curvature;
    const double shrunk = aim > threshold ? aim - threshold : aim < -threshold ? aim + threshold : 0.0;
    return std::max(-terms.low(i), std::min(shrunk, terms.up(i)));
}

// How far the slope is from allowing a better dual: negative upwards, positive downwards, zero at the optimum.
inline double projected_slope(const DualTerms& terms, std::size_t i, double dual, double slope) {
    const double upwards = slope + (dual >= 0 ? terms.epsilon : -terms.epsilon);   // the slope towards larger duals
    const double downwards = slope + (dual > 0 ? terms.epsilon : -terms.epsilon);  // and towards smaller ones
    if (upwards < 0 && dual < terms.up(i)) return upwards;
    if (downwards > 0 && dual > -terms.low(i)) return downwards;
    return 0;
}

}  // namespace detail

// Visits the first n_active examples of `active` once, in random order; updates `duals` and `coef` (w, then b). Examples that
// are optimal where they are, by more than `patience`, are moved behind the active ones. Writes to `summary` the number of
// active examples left and the largest violation met. O(entries of the active rows).
template <class Rows>
void dual_epoch(const Rows& x, const DualTerms& terms, double patience, std::uint64_t seed, std::uint64_t epoch,
                std::size_t n_active, std::span<std::int32_t> active, std::span<double> duals, std::span<double> coef,
                std::span<double> summary) {
    constexpr std::size_t kAhead = 4;
    Philox random(seed, epoch);
    for (std::size_t k = n_active; k > 1; --k) std::swap(active[k - 1], active[random.below(static_cast<std::uint32_t>(k))]);
    double largest = 0;
    double& intercept = coef[x.cols()];
    for (std::size_t k = 0; k < n_active;) {
        if (k % 256 == 0) checkpoint();
        const auto i = static_cast<std::size_t>(active[k]);
        if (k + kAhead < n_active) {
            const auto next = static_cast<std::size_t>(active[k + kAhead]);
            x.prefetch(next);
            terms.prefetch(next);
        }
        const double slope = x.dot(i, coef.data()) + intercept - terms.target(i) + terms.curvature(i) * duals[i];
        const double violation = detail::projected_slope(terms, i, duals[i], slope);
        const bool is_far =
            std::abs(slope) > terms.epsilon + patience || (duals[i] == 0 && std::abs(slope) < terms.epsilon - patience);
        if (violation == 0 && is_far) {
            std::swap(active[k], active[--n_active]);
            continue;
        }
        largest = std::max(largest, std::abs(violation));
        const double curvature = terms.squared_norm(i) + terms.prior + terms.curvature(i);
        const double change = violation == 0 ? 0.0 : detail::best_dual(terms, i, duals[i], slope, curvature) - duals[i];
        if (change != 0) {
            duals[i] += change;
            x.add(i, change, coef.data());
            intercept += terms.prior * change;
        }
        ++k;
    }
    summary[0] = static_cast<double>(n_active);
    summary[1] = largest;
}

}  // namespace mercer::svm
