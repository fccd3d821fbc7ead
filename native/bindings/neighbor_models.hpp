// What stands on the searches, in files of their own.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::bindings {

void bind_condense(nanobind::module_& m);
void bind_neighbor_votes(nanobind::module_& m);
void bind_donors(nanobind::module_& m);
void bind_pairwise(nanobind::module_& m);
void bind_kernel_rows(nanobind::module_& m);
void bind_kernel_regression(nanobind::module_& m);
void bind_metric_learning(nanobind::module_& m);
void bind_interpolate(nanobind::module_& m);

}  // namespace mercer::bindings
