// Products with the Hessian of a sum of losses of linear values, which is never formed: X' diag(curvatures) X v.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/interrupt.hpp"
#include "svm/dual_descent.hpp"

namespace mercer::svm {

// Writes the product of X' diag(curvatures) X with `vector` to `product`, for rows (x, 1): both end with the intercept's entry.
// Each row is read once, and rows without curvature not at all. O(entries of the rows with curvature).
template <class Examples>
void curvature_product(const Examples& x, std::span<const double> curvatures, std::span<const double> vector,
                       std::span<double> product) {
    std::fill(product.begin(), product.end(), 0.0);
    const std::size_t d = x.cols();
    for (std::size_t i = 0; i < x.rows(); ++i) {
        if (i % 4096 == 0) checkpoint();
        if (curvatures[i] == 0) continue;
        const double slope = curvatures[i] * (x.product(i, vector.data()) + vector[d]);
        x.add(i, slope, product.data());
        product[d] += slope;
    }
}

}  // namespace mercer::svm
