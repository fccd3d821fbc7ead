// LAPACK without linking one: the bindings take SciPy's own routines when the module is imported.
//
// Products, Cholesky factors and triangular systems are not among them: core/product.hpp and core/cholesky.hpp are as fast, and
// their bits do not depend on the number of threads that BLAS has.
#pragma once

#include <cstddef>
#include <vector>

#include "core/errors.hpp"
#include "core/views.hpp"

namespace mercer::lapack {

inline void (*pocon_routine)(char*, int*, double*, int*, double*, double*, double*, int*, int*) = nullptr;

// Estimates the reciprocal condition number, in the 1-norm, of the matrix of that 1-norm whose Cholesky factor is the lower
// triangle of l. O(n^2).
inline double pocon(RowMajor<const double> l, double norm) {
    require(l.rows <= 2147483647u, "a dimension is larger than LAPACK can count (2^31 - 1)");
    char upper = 'U';  // a row-major matrix is the transpose of a column-major one
    int n = static_cast<int>(l.rows), info = 0;
    double rcond = 1;
    std::vector<double> work(3 * static_cast<std::size_t>(n));
    std::vector<int> integers(static_cast<std::size_t>(n));
    // Fortran's prototypes know no const; the routine does not write to the factor.
    if (n > 0) pocon_routine(&upper, &n, const_cast<double*>(l.data), &n, &norm, &rcond, work.data(), integers.data(), &info);
    require(info == 0, "pocon: a value is not valid");
    return rcond;
}

}  // namespace mercer::lapack
