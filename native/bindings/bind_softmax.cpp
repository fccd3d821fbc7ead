#include "bindings/arrays.hpp"

namespace mercer::bindings {

void bind_softmax(nb::module_&) {}

}  // namespace mercer::bindings
