// Coordinate descent for the quadratic models of a proximal Newton method, by the curvatures of rows and the columns of X.
#pragma once

#include <cstddef>

#include "linear_model/columns.hpp"
#include "linear_model/joint_descent.hpp"
#include "linear_model/row_model.hpp"
#include "linear_model/single_descent.hpp"

namespace mercer::linear_model {

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
