#include "bindings/arrays.hpp"

namespace mercer::bindings {

void bind_stochastic(nb::module_&) {}

}  // namespace mercer::bindings
