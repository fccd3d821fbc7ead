#include "bindings/arrays.hpp"

namespace mercer::bindings {

void bind_ridge(nb::module_&) {}

}  // namespace mercer::bindings
