#include "bindings/arrays.hpp"
#include "bindings/explanations.hpp"

namespace mercer::bindings {

void bind_games(nb::module_&) {}

}  // namespace mercer::bindings
