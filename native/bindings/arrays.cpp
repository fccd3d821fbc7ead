#include "bindings/arrays.hpp"

namespace mercer::bindings {

AnyArray::AnyArray() = default;
AnyArray::AnyArray(const AnyArray& other) = default;
AnyArray& AnyArray::operator=(const AnyArray& other) = default;
AnyArray::~AnyArray() = default;

void AnyArray::hold(nb::detail::ndarray_handle* handle) { array_ = nb::ndarray<>(handle); }

}  // namespace mercer::bindings
