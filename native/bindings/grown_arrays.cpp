#include "bindings/grown_arrays.hpp"

#include <nanobind/stl/unique_ptr.h>

#include <utility>

#include "bindings/owned.hpp"

namespace mercer::bindings {

GrownArrays::GrownArrays(tree::JoinedTrees& joined, std::size_t n_values, std::size_t n_features)
    : n_values_(n_values), facts_(std::move(joined.all)) {
    trees_ = std::make_unique<tree::Trees>(std::move(facts_.nodes), std::move(facts_.words), joined.node_counts, joined.word_counts,
                                           n_features);
}

nb::tuple GrownArrays::to_python() {
    const std::size_t n = trees_->nodes().size();
    return nb::make_tuple(nb::cast(std::move(trees_)), owned(std::move(facts_.impurity), {n}), owned(std::move(facts_.n_rows), {n}),
                          owned(std::move(facts_.weight), {n}), owned(std::move(facts_.values), {n, n_values_}));
}

}  // namespace mercer::bindings
