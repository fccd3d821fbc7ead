// Coordinate descent for the quadratic models of a proximal Newton method: m(w) + sum_j (l1_j |w_j| + l2_j/2 w_j^2).
//
// The model is given by its gradient and either its Hessian as a matrix, or the curvatures of rows and the columns of X.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/views.hpp"
#include "linear_model/columns.hpp"
#include "linear_model/joint_descent.hpp"
#include "linear_model/row_model.hpp"
#include "linear_model/single_descent.hpp"

namespace mercer::linear_model {

// Minimises g' (w - w0) + (w - w0)' H (w - w0) / 2 + sum_j l1_j |w_j| over w, from w = w0 on; coordinates without curvature stay.
// Returns the number of sweeps. O(q^2) a sweep, less where few coordinates move.
inline std::size_t descend_on_hessian(RowMajor<const double> hessian, std::span<const double> gradient, std::span<const double> l1,
                                      std::span<double> w, DescentRule rule) {
    const std::size_t q = w.size();
    std::vector<double> slope(gradient.begin(), gradient.end());
    std::size_t sweep = 0;
    for (double largest = std::numeric_limits<double>::infinity(); sweep < rule.most_sweeps && largest > rule.tol; ++sweep) {
        checkpoint();
        largest = 0;
        for (std::size_t j = 0; j < q; ++j) {
            const double h = hessian(j, j);
            if (!(h > 0)) continue;
            const double delta = soft_threshold(h * w[j] - slope[j], l1[j]) / h - w[j];
            if (delta == 0 || !std::isfinite(delta)) continue;
            w[j] += delta;
            largest = std::max(largest, h * std::abs(delta));
            const double* line = hessian.row(j);
            for (std::size_t i = 0; i < q; ++i) slope[i] += delta * line[i];
        }
    }
    return sweep;
}

// Minimises the model of the rows plus the penalty over some coordinates and the intercepts, from where they are: `coef` and the
// moves of the intercepts (zero at first) change, and `model.change` by what that changes in the linear values. Returns the number
// of sweeps. O(entries of the columns in use + n K) a sweep.
template <class Columns>
std::size_t descend_on_columns(const Columns& x, RowModel model, Coordinates at, Intercepts intercepts, ModelPenalty penalty,
                               DescentRule rule) {
    if (model.outputs() == 1) return detail::SingleDescent<Columns>(x, model, at, intercepts, penalty).run(rule);
    return detail::JointDescent<Columns>(x, model, at, intercepts, penalty).run(rule);
}

}  // namespace mercer::linear_model
