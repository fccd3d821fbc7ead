// Clustering and spanning trees, in files of their own: each compiles for a while.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::bindings {

void bind_dbscan(nanobind::module_& m);
void bind_optics(nanobind::module_& m);
void bind_spanning_tree(nanobind::module_& m);
void bind_hierarchy(nanobind::module_& m);
void bind_cf_tree(nanobind::module_& m);
void bind_mean_shift(nanobind::module_& m);
void bind_map_training(nanobind::module_& m);

}  // namespace mercer::bindings
