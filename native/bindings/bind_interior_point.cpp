#include "bindings/arrays.hpp"

namespace mercer::bindings {

void bind_interior_point(nb::module_&) {}

}  // namespace mercer::bindings
