#include "bindings/arrays.hpp"
#include "bindings/theory.hpp"

namespace mercer::bindings {

void bind_theory(nb::module_&) {}

}  // namespace mercer::bindings
