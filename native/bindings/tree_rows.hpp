// X as the kernels of trees take it: a matrix, or sparse rows.
#pragma once

#include "bindings/arrays.hpp"
#include "tree/sparse_rows.hpp"

namespace mercer::bindings {

template <class T>
Matrix<const T> values_of(const In2<T>& x) {
    return matrix<T>(x);
}
inline const tree::SparseRows& values_of(const tree::SparseRows& x) { return x; }

template <class X>
std::size_t n_rows_of(const X& x) {
    return tree::n_rows_of(values_of(x));
}

}  // namespace mercer::bindings
