// From grown trees to Python: the trees, and an array a fact.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "tree/grown.hpp"
#include "tree/node.hpp"

namespace mercer::bindings {

// All trees of a forest joined, without the GIL.
struct JoinedTrees {
    JoinedTrees(std::vector<tree::Grown>& parts, std::size_t n_values, std::size_t n_features) : n_values(n_values) {
        std::vector<std::int64_t> node_counts;
        std::vector<std::int64_t> word_counts;
        std::vector<tree::Node> nodes;
        std::vector<tree::Word> words;
        const auto move_to = [](auto& to, auto& from) {
            to.insert(to.end(), from.begin(), from.end());
            std::exchange(from, {});  // the parts' memory is given back as the whole grows
        };
        for (tree::Grown& part : parts) {
            node_counts.push_back(static_cast<std::int64_t>(part.nodes.size()));
            word_counts.push_back(static_cast<std::int64_t>(part.words.size()));
            move_to(nodes, part.nodes);
            move_to(words, part.words);
            move_to(impurity, part.impurity);
            move_to(weight, part.weight);
            move_to(n_rows, part.n_rows);
            move_to(values, part.values);
        }
        trees = std::make_unique<tree::Trees>(std::move(nodes), std::move(words), node_counts, word_counts, n_features);
    }

    // (trees, impurity, n_rows, weight, values); with the GIL.
    nb::tuple to_python() {
        const std::size_t n = trees->nodes().size();
        return nb::make_tuple(nb::cast(std::move(trees)), owned(std::move(impurity), {n}), owned(std::move(n_rows), {n}),
                              owned(std::move(weight), {n}), owned(std::move(values), {n, n_values}));
    }

    template <class T>
    static nb::object owned(std::vector<T> data, std::initializer_list<std::size_t> shape) {
        auto* kept = new std::vector<T>(std::move(data));
        nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
        return nb::cast(nb::ndarray<nb::numpy, T, nb::c_contig>(kept->data(), shape.size(), shape.begin(), owner));
    }

    std::size_t n_values;
    std::unique_ptr<tree::Trees> trees;
    std::vector<double> impurity;
    std::vector<double> weight;
    std::vector<std::int64_t> n_rows;
    std::vector<double> values;
};

}  // namespace mercer::bindings
