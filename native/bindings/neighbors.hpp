// The searches, in files of their own: each compiles for a while.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::bindings {

void bind_neighbors(nanobind::module_& m);
void bind_kd_tree(nanobind::module_& m);
void bind_given(nanobind::module_& m);
void bind_sparse_points(nanobind::module_& m);
void bind_product_points(nanobind::module_& m);
void bind_ball_tree(nanobind::module_& m);
void bind_density(nanobind::module_& m);
void bind_lsh(nanobind::module_& m);
void bind_row_maps(nanobind::module_& m);

}  // namespace mercer::bindings
