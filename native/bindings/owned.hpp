// Results whose size a kernel finds out: arrays that Python owns.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace mercer::bindings {

namespace detail {

template <class T, class Memory>
auto owned(T* data, Memory memory, std::initializer_list<std::size_t> shape) {
    auto kept = std::make_unique<Memory>(std::move(memory));
    const nanobind::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<Memory*>(p); });
    kept.release();
    return nanobind::ndarray<nanobind::numpy, T, nanobind::c_contig>(data, shape.size(), shape.begin(), owner);
}

}  // namespace detail

// The memory itself, which is moved, not copied.
template <class T>
auto owned(std::vector<T> values, std::initializer_list<std::size_t> shape) {
    T* const data = values.data();
    return detail::owned(data, std::move(values), shape);
}
template <class T>
auto owned(std::unique_ptr<T[]> values, std::size_t n) {
    T* const data = values.get();
    return detail::owned(data, std::move(values), {n});
}

}  // namespace mercer::bindings
