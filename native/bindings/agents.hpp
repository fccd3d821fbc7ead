// The bindings of agents.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/arrays.hpp"
#include "rl/model.hpp"

namespace mercer::bindings {

void bind_rl(nanobind::module_& m);
void bind_episodes(nanobind::module_& m);
void bind_learners(nanobind::module_& m);
void bind_bandits(nanobind::module_& m);

inline std::span<const double> per_state(const rl::Model& model, const In1<double>& a) {
    require(a.shape(0) == model.n_states(), "an array with one value for each state has the wrong length");
    return vector<double>(a);
}
inline std::span<double> per_state(const rl::Model& model, const Out1<double>& a) {
    require(a.shape(0) == model.n_states(), "an array with one value for each state has the wrong length");
    return vector<double>(a);
}

}  // namespace mercer::bindings
