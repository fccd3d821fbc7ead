// X as the kernels of trees take it: a matrix, or sparse rows.
#pragma once

#include <cstddef>
#include <type_traits>

#include "bindings/arrays.hpp"
#include "tree/sparse_rows.hpp"

namespace mercer::bindings {

template <class T>
Matrix<const T> values_of(const In2<T>& x) {
    return matrix<T>(x);
}
inline const tree::SparseRows& values_of(const tree::SparseRows& x) { return x; }

// What is made of X (argument `kPatient` of a binding) keeps a matrix alive, which may be read in place; sparse rows are copied.
template <class X, std::size_t kNurse, std::size_t kPatient>
using KeepsMatrix = std::conditional_t<std::is_same_v<X, tree::SparseRows>, std::nullptr_t, nb::keep_alive<kNurse, kPatient>>;

template <class X>
std::size_t n_rows_of(const X& x) {
    return tree::n_rows_of(values_of(x));
}

}  // namespace mercer::bindings
