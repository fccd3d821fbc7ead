// The bindings of agents.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::bindings {

void bind_rl(nanobind::module_& m);

}  // namespace mercer::bindings
