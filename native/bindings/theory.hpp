// The bindings of theory.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::bindings {

void bind_theory(nanobind::module_& m);

}  // namespace mercer::bindings
