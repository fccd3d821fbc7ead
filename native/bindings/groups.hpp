// Bindings of statistics of groups.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::bindings {

void bind_groups(nanobind::module_& m);

}  // namespace mercer::bindings
