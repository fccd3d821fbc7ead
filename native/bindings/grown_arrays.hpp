// From grown trees to Python: the trees, and an array a fact.
#pragma once

#include <memory>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/owned.hpp"
#include "tree/forest.hpp"
#include "tree/grown.hpp"
#include "tree/node.hpp"

namespace mercer::bindings {

// The trees of a forest, checked without the GIL.
class GrownArrays {
   public:
    GrownArrays(tree::JoinedTrees& joined, std::size_t n_values, std::size_t n_features)
        : n_values_(n_values), facts_(std::move(joined.all)) {
        trees_ = std::make_unique<tree::Trees>(std::move(facts_.nodes), std::move(facts_.words), joined.node_counts,
                                               joined.word_counts, n_features);
    }

    // (trees, impurity, n_rows, weight, values); with the GIL.
    nb::tuple to_python() {
        const std::size_t n = trees_->nodes().size();
        return nb::make_tuple(nb::cast(std::move(trees_)), owned(std::move(facts_.impurity), {n}),
                              owned(std::move(facts_.n_rows), {n}), owned(std::move(facts_.weight), {n}),
                              owned(std::move(facts_.values), {n, n_values_}));
    }

   private:
    std::size_t n_values_;
    tree::Grown facts_;
    std::unique_ptr<tree::Trees> trees_;
};

}  // namespace mercer::bindings
