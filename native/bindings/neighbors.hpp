// The searches, in files of their own: each compiles for a while.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::bindings {

void bind_neighbors(nanobind::module_& m);
void bind_kd_tree(nanobind::module_& m);

}  // namespace mercer::bindings
