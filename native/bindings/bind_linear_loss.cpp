#include "bindings/arrays.hpp"

namespace mercer::bindings {

void bind_linear_loss(nb::module_&) {}

}  // namespace mercer::bindings
