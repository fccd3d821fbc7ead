// Coordinate descent for a quadratic function with an l1 penalty, given by its matrix: the inner problem of a proximal Newton step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "core/interrupt.hpp"
#include "core/views.hpp"

namespace mercer::svm {

// Minimises gradient' s + s' hessian s / 2 + sum_j strengths_j |point_j + s_j| over the step s, from s = 0, until a sweep gains no
// more than `tol` times what the first one did, or after max_sweeps sweeps. Writes s to `step` and its product with the
// Hessian to `product`. O(d^2) a sweep.
inline void minimise_quadratic_l1(RowMajor<const double> hessian, std::span<const double> gradient, std::span<const double> point,
                                  std::span<const double> strengths, double tol, std::size_t max_sweeps, std::span<double> step,
                                  std::span<double> product) {
    const std::size_t d = point.size();
    std::fill(step.begin(), step.end(), 0.0);
    std::fill(product.begin(), product.end(), 0.0);
    double first = 0;
    for (std::size_t sweep = 0; sweep < max_sweeps; ++sweep) {
        double gained = 0;
        for (std::size_t j = 0; j < d; ++j) {
            const double curvature = hessian(j, j);
            if (!(curvature > 0)) continue;
            const double slope = gradient[j] + product[j];
            const double now = point[j] + step[j];
            const double aim = now - slope / curvature;
            const double threshold = strengths[j] / curvature;
            const double next = aim > threshold ? aim - threshold : aim < -threshold ? aim + threshold : 0.0;
            const double change = next - now;
            if (change == 0) continue;
            step[j] += change;
            gained += 0.5 * curvature * change * change;
            const double* row = hessian.row(j);
            for (std::size_t k = 0; k < d; ++k) product[k] += change * row[k];
        }
        checkpoint();
        if (sweep == 0) first = gained;
        if (!(gained > tol * first)) return;
    }
}

}  // namespace mercer::svm
