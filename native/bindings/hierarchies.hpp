// Hierarchies of clusters and measures of clusterings.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::bindings {

void bind_linkage(nanobind::module_& m);
void bind_graph_linkage(nanobind::module_& m);
void bind_cluster_measures(nanobind::module_& m);

}  // namespace mercer::bindings
