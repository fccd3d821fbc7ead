// Dual coordinate descent for the multi-class machine of Crammer and Singer (Keerthi et al., KDD 2008): each visit of a row solves
// for all its dual variables at once.
//
// The dual problem, in a (rows x classes) with a_ik <= cost_i [k = label_i] and a zero sum in every row, W = X'a and
// b = b0 + prior sum_i a_i, is to minimise
//   |W|^2 / 2 + (|b|^2 - |b0|^2) / (2 prior) + sum_ik a_ik [k != label_i]
// where `prior` is the inverse strength of the penalty |b - b0|^2 / 2 on the intercepts; 0 keeps them as they are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/rng.hpp"
#include "core/views.hpp"

namespace mercer::svm {

// What does not change: the class, the cost and the squared norm of each row.
struct MulticlassTerms {
    std::span<const std::int32_t> labels;
    std::span<const double> costs;
    std::span<const double> squared_norms;
    double prior;

    std::size_t label(std::size_t i) const { return static_cast<std::size_t>(labels[i]); }
};

inline constexpr std::size_t kClassesTogether = 8;  // lines of coefficients are padded to multiples of this

namespace detail {

// slopes[k] = sum_j x_ij coef_jk + intercept_k + [k != label], a few classes at a time so that their sums stay in registers.
template <class Rows>
void row_slopes(const Rows& x, std::size_t i, RowMajor<const double> coef, std::size_t label, std::span<double> slopes) {
    for (std::size_t first = 0; first < coef.cols; first += kClassesTogether) {
        double sums[kClassesTogether];
        const double* intercept = coef.row(x.cols()) + first;
        for (std::size_t k = 0; k < kClassesTogether; ++k) sums[k] = intercept[k] + 1;
        x.for_each(i, [&](std::size_t j, double value) {
            const double* line = coef.row(j) + first;
            for (std::size_t k = 0; k < kClassesTogether; ++k) sums[k] += value * line[k];
        });
        std::copy_n(sums, std::min(kClassesTogether, slopes.size() - first), slopes.data() + first);
    }
    slopes[label] -= 1;
}

// How a row stands: how far it is from its optimality condition, and by how much it would stay where it is, if at an end.
struct RowState {
    double violation;
    double slack;  // negative where the row is at no end
};

// The condition is that no class has a larger slope than one whose dual may still grow. A row is at an end where it has no duals,
// or where all its cost is on one class.
inline RowState row_state(std::span<const double> slopes, std::span<const double> duals, double cost, std::size_t label) {
    double largest = -std::numeric_limits<double>::infinity(), second = largest;
    double least = std::numeric_limits<double>::infinity();
    std::size_t n_growing = 0;
    for (std::size_t k = 0; k < slopes.size(); ++k) {
        if (slopes[k] > largest) {
            second = std::exchange(largest, slopes[k]);
        } else {
            second = std::max(second, slopes[k]);
        }
        if (duals[k] < (k == label ? cost : 0.0)) {
            least = std::min(least, slopes[k]);
            ++n_growing;
        }
    }
    const double violation = n_growing == 0 ? 0.0 : std::max(largest - least, 0.0);
    // With a single dual that may grow, and its slope the largest, the others are behind by the slack.
    return {violation, n_growing == 1 && least == largest ? largest - second : -1.0};
}

// Writes the minimiser of curvature |a|^2 / 2 + (slopes - curvature duals)' a under the constraints of a row to `duals`, which stay
// where sums have overflowed.
inline void solve_row(std::span<const double> slopes, double curvature, double cost, std::size_t label, std::span<double> duals,
                      std::vector<double>& sorted) {
    const std::size_t n_classes = slopes.size();
    if (!(curvature > 0)) {  // linear: all on the class of the largest slope
        std::fill(duals.begin(), duals.end(), 0.0);
        const auto k = static_cast<std::size_t>(std::max_element(slopes.begin(), slopes.end()) - slopes.begin());
        if (slopes[k] > slopes[label]) duals[label] = cost, duals[k] = -cost;
        return;
    }
    sorted.assign(slopes.begin(), slopes.end());
    for (std::size_t k = 0; k < n_classes; ++k) sorted[k] -= curvature * duals[k];
    sorted[label] += curvature * cost;
    if (!std::all_of(sorted.begin(), sorted.end(), [](double value) { return std::isfinite(value); })) return;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double threshold = sorted[0] - curvature * cost;
    std::size_t n_free = 1;
    while (n_free < n_classes && threshold < static_cast<double>(n_free) * sorted[n_free]) threshold += sorted[n_free++];
    threshold /= static_cast<double>(n_free);
    for (std::size_t k = 0; k < n_classes; ++k)
        duals[k] = std::min(k == label ? cost : 0.0, duals[k] + (threshold - slopes[k]) / curvature);
}

}  // namespace detail

// Visits the first n_active rows of `active` once, in random order; updates `duals` (rows x classes) and `coef` (W, then b: columns
// + 1 x classes, padded). Rows that are at an end and stay there by more than `patience` are moved behind the active ones. Writes
// to `summary` the number of active rows left and the largest violation met. O((entries of the active rows) classes).
template <class Rows>
void multiclass_epoch(const Rows& x, const MulticlassTerms& terms, double patience, std::uint64_t seed, std::uint64_t epoch,
                      std::size_t n_active, std::span<std::int32_t> active, RowMajor<double> duals, RowMajor<double> coef,
                      std::span<double> summary) {
    const std::size_t n_classes = duals.cols;
    Philox random(seed, epoch);
    for (std::size_t k = n_active; k > 1; --k) std::swap(active[k - 1], active[random.below(static_cast<std::uint32_t>(k))]);
    std::vector<double> slopes(n_classes), found(n_classes), sorted;
    std::vector<std::pair<std::size_t, double>> changes;
    double largest = 0;
    double* intercept = coef.row(x.cols());
    for (std::size_t visit = 0; visit < n_active;) {
        if (visit % 256 == 0) checkpoint();
        const auto i = static_cast<std::size_t>(active[visit]);
        if (visit + 1 < n_active) x.prefetch(static_cast<std::size_t>(active[visit + 1]));
        const std::size_t label = terms.label(i);
        const std::span<double> row(duals.row(i), n_classes);
        detail::row_slopes<Rows>(x, i, {coef.data, coef.rows, coef.cols}, label, slopes);
        const detail::RowState state = detail::row_state(slopes, row, terms.costs[i], label);
        if (!(terms.costs[i] > 0) || state.slack > patience) {
            std::swap(active[visit], active[--n_active]);
            continue;
        }
        ++visit;
        if (!(state.violation > 0)) continue;
        largest = std::max(largest, state.violation);
        std::copy(row.begin(), row.end(), found.begin());
        detail::solve_row(slopes, terms.squared_norms[i] + terms.prior, terms.costs[i], label, found, sorted);
        changes.clear();
        for (std::size_t k = 0; k < n_classes; ++k)
            if (found[k] != row[k]) changes.emplace_back(k, found[k] - row[k]);
        std::copy(found.begin(), found.end(), row.begin());
        x.for_each(i, [&](std::size_t j, double value) {
            double* line = coef.row(j);
            for (const auto& [k, change] : changes) line[k] += value * change;
        });
        for (const auto& [k, change] : changes) intercept[k] += terms.prior * change;
    }
    summary[0] = static_cast<double>(n_active);
    summary[1] = largest;
}

}  // namespace mercer::svm
