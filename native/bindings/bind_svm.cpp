#include "bindings/arrays.hpp"

namespace mercer::bindings {

void bind_svm(nb::module_&) {}

}  // namespace mercer::bindings
