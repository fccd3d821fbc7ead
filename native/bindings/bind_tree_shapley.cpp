#include "bindings/arrays.hpp"
#include "bindings/explanations.hpp"

namespace mercer::bindings {

void bind_tree_shapley(nb::module_&) {}

}  // namespace mercer::bindings
