// The bindings of explanations.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::bindings {

void bind_tree_shapley(nanobind::module_& m);
void bind_games(nanobind::module_& m);
void bind_inspection(nanobind::module_& m);

}  // namespace mercer::bindings
