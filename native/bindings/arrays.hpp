// From Python arrays to views. Shapes, alignment and indices are checked here, so that no call from Python can make a kernel read
// or write outside its arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bindings/gil.hpp"
#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer::bindings {

namespace nb = nanobind;

// numpy.ndarray, found when the module is imported.
inline nb::handle array_class;

// What arrays of all types have in common, compiled once. It is copied, never moved: whoever called the kernel keeps a reference,
// and the last one goes when the GIL is held again, which a kernel that let go of it would have to take back.
class AnyArray {
   public:
    AnyArray();
    AnyArray(const AnyArray& other);
    AnyArray& operator=(const AnyArray& other);
    ~AnyArray();

    std::size_t shape(std::size_t axis) const { return array_.shape(axis); }
    std::int64_t stride(std::size_t axis) const { return array_.stride(axis); }
    std::size_t size() const { return array_.size(); }

    // The array behind a handle of nanobind's.
    void hold(nb::detail::ndarray_handle* handle);

   protected:
    nb::ndarray<> array_;
};

// An array that a kernel is handed: a NumPy array, and nothing else that has a buffer. The buffers of NumPy's scalars of dates have
// no strides, which nanobind reads all the same.
template <class T, class... Args>
struct Given : AnyArray {
    using Scalar = T;
    T* data() const { return static_cast<T*>(array_.data()); }
};

// In: any strides, read-only memory welcome. Out: C-contiguous and writable. Neither is ever converted (`noconvert`).
template <class T>
using In2 = Given<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using In1 = Given<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Rows2 = Given<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out2 = Given<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out1 = Given<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using MaybeIn1 = std::optional<In1<T>>;

template <class Array>
auto checked_data(const Array& a) {
    using T = typename Array::Scalar;
    auto* data = static_cast<T*>(a.data());
    require(reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0, "an array is not aligned to its element size");
    return data;
}

template <class T>
Matrix<const T> matrix(const In2<T>& a) {
    return {checked_data(a), a.shape(0), a.shape(1), static_cast<std::ptrdiff_t>(a.stride(0)),
            static_cast<std::ptrdiff_t>(a.stride(1))};
}
template <class T>
RowMajor<const T> rows(const Rows2<T>& a) {
    return {checked_data(a), a.shape(0), a.shape(1)};
}
template <class T>
RowMajor<T> rows(const Out2<T>& a) {
    return {checked_data(a), a.shape(0), a.shape(1)};
}
template <class T>
std::span<const T> vector(const In1<T>& a) {
    return {checked_data(a), a.shape(0)};
}
template <class T>
std::span<T> vector(const Out1<T>& a) {
    return {checked_data(a), a.shape(0)};
}
template <class T>
std::span<const T> vector(const MaybeIn1<T>& a) {
    return a ? vector<T>(*a) : std::span<const T>{};
}

// The values themselves, for what outlives the array.
template <class T>
std::vector<T> copied(const In1<T>& a) {
    const auto values = vector<T>(a);
    return {values.begin(), values.end()};
}
template <class T>
std::vector<T> copied(const MaybeIn1<T>& a) {
    return a ? copied<T>(*a) : std::vector<T>{};
}

// A vector that is either left out (None) or has one value a row.
template <class T>
std::span<const T> per_row(const MaybeIn1<T>& a, std::size_t n_rows) {
    require(!a || a->shape(0) == n_rows, "an array with one value per row has the wrong length");
    return vector<T>(a);
}

// Sparse rows: the offsets rise from 0 to the number of entries, and every column number is in range. O(nnz).
template <class T>
Csr<T> csr(const In1<T>& values, const In1<std::int32_t>& columns, const In1<std::int32_t>& row_starts, std::size_t n_columns) {
    const Csr<T> x{vector<T>(values), vector<std::int32_t>(columns), vector<std::int32_t>(row_starts),
                   row_starts.shape(0) == 0 ? 0 : row_starts.shape(0) - 1, n_columns};
    require(!x.row_starts.empty() && x.row_starts.front() == 0 && std::is_sorted(x.row_starts.begin(), x.row_starts.end()),
            "sparse matrix: indptr must start at 0 and not decrease");
    const auto n_entries = static_cast<std::size_t>(x.row_starts.back());
    require(n_entries <= x.values.size() && n_entries <= x.columns.size(), "sparse matrix: indptr points behind the entries");
    std::uint32_t largest = 0;  // a negative index is a large one; without a way out of the loop, it runs in vectors
    for (const std::int32_t j : x.columns.first(n_entries)) largest = std::max(largest, static_cast<std::uint32_t>(j));
    require(n_entries == 0 || largest < n_columns, "sparse matrix: a column index is out of range");
    return x;
}

inline Threads threads(int count) { return {std::clamp(count, 1, 1024)}; }

void bind_core(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_preprocessing(nb::module_& m);
void bind_cluster(nb::module_& m);
void bind_linear_model(nb::module_& m);
void bind_ridge(nb::module_& m);
void bind_coordinate_descent(nb::module_& m);
void bind_linear_loss(nb::module_& m);
void bind_softmax(nb::module_& m);
void bind_interior_point(nb::module_& m);
void bind_stochastic(nb::module_& m);
void bind_svm(nb::module_& m);
void bind_optim(nb::module_& m);
void bind_huber(nb::module_& m);
void bind_locally_weighted(nb::module_& m);
void bind_trees(nb::module_& m);
void bind_grow(nb::module_& m);
void bind_grow_regression(nb::module_& m);
void bind_grow_random(nb::module_& m);
void bind_grow_wide(nb::module_& m);
void bind_isolation(nb::module_& m);
void bind_leaf_targets(nb::module_& m);
void bind_histogram(nb::module_& m);
void bind_metrics(nb::module_& m);
void bind_calibration(nb::module_& m);

}  // namespace mercer::bindings

template <class... Args>
struct nanobind::detail::type_caster<mercer::bindings::Given<Args...>> {
    using ArrayCaster = make_caster<ndarray<Args...>>;
    NB_TYPE_CASTER(mercer::bindings::Given<Args...>, ArrayCaster::Name)

    // Not inlined: a kernel has up to a dozen arrays, and this is all that each of them compiles.
    [[gnu::noinline]] bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        // The type alone is asked: `isinstance` would run what an object says of itself, which may raise.
        auto* const array_class = reinterpret_cast<PyTypeObject*>(mercer::bindings::array_class.ptr());
        if (!PyObject_TypeCheck(source.ptr(), array_class)) return false;
        ArrayCaster caster;
        if (!caster.from_python(source, flags, cleanup)) return false;
        value.hold(caster.value.handle());
        return true;
    }
};
