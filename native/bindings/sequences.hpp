// Bindings of mixtures and hidden Markov models.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::bindings {

void bind_mixture(nanobind::module_& m);

}  // namespace mercer::bindings
