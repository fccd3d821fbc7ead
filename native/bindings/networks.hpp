// Neural networks, in files of their own.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::bindings {

void bind_neural_network(nanobind::module_& m);
void bind_boltzmann(nanobind::module_& m);

}  // namespace mercer::bindings
