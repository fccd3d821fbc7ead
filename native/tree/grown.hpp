// Trees while they grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/node.hpp"
#include "tree/split.hpp"

namespace mercer::tree {

// The nodes of a tree, or of a part of one, in the order of node.hpp, and what is known of each beside its split.
struct Grown {
    std::vector<Node> nodes;
    std::vector<Word> words;
    std::vector<double> impurity;
    std::vector<double> weight;
    std::vector<std::int64_t> n_rows;
    std::vector<double> values;  // as many a node as the criterion has

    std::size_t size() const { return nodes.size(); }

    // Appends another part's nodes from `first` to `last` with their facts; links are moved by where they now lie.
    void append(const Grown& part, std::size_t first, std::size_t last, std::size_t n_values);
};

// The upper part of a tree while its nodes are made in another order than that of the finished tree: by gain, or large ones first.
struct Crown {
    static constexpr std::int64_t kNone = -1;

    Grown nodes;                     // in the order they were made; their links mean nothing
    std::vector<std::int64_t> left;  // children among `nodes`
    std::vector<std::int64_t> right;
    std::vector<std::int64_t> subtree;  // or the part that stands in a node's place

    void open() {
        left.push_back(kNone);
        right.push_back(kNone);
        subtree.push_back(kNone);
    }

    // The finished tree, with `subtrees` in their places.
    Grown flatten(const std::vector<Grown>& subtrees, std::size_t n_values) const;

   private:
    void append_one(Grown& out, std::size_t node, std::size_t n_values) const;
};

}  // namespace mercer::tree
