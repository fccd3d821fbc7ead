#include "bindings/agents.hpp"
#include "bindings/arrays.hpp"

namespace mercer::bindings {

void bind_rl(nb::module_&) {}

}  // namespace mercer::bindings
