// From grown trees to Python: the trees, and an array a fact.
#pragma once

#include <memory>

#include "bindings/arrays.hpp"
#include "tree/forest.hpp"
#include "tree/grown.hpp"
#include "tree/node.hpp"

namespace mercer::bindings {

// The trees of a forest, checked without the GIL.
class GrownArrays {
   public:
    GrownArrays(tree::JoinedTrees& joined, std::size_t n_values, std::size_t n_features);

    // (trees, impurity, n_rows, weight, values); with the GIL.
    nb::tuple to_python();

   private:
    std::size_t n_values_;
    tree::Grown facts_;
    std::unique_ptr<tree::Trees> trees_;
};

}  // namespace mercer::bindings
