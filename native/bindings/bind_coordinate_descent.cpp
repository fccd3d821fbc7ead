#include "bindings/arrays.hpp"

namespace mercer::bindings {

void bind_coordinate_descent(nb::module_&) {}

}  // namespace mercer::bindings
