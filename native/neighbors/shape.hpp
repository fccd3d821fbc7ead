// The shape of a search tree: nodes of up to eight children, made of three levels of halvings, down to leaves of a few blocks.
//
// Halves are cut by count, at whole blocks, so that the shape follows from the number of points and of those in a leaf: it is never
// stored, and no file can hold a wrong one. Leaves lie side by side, and only the last block of all may lack points.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/errors.hpp"
#include "neighbors/blocks.hpp"

namespace mercer::neighbors {

struct SlotRange {
    std::size_t begin, end;

    std::size_t size() const { return end - begin; }
};

struct ShapeNode {
    static constexpr std::int32_t kLeaf = -1;

    std::array<std::uint32_t, kBlock + 1> starts{};  // the slots of child c: from starts[c] to starts[c + 1]
    std::array<std::int32_t, kBlock> nodes{};        // of each child; kLeaf
    std::uint32_t n_children = 0;

    SlotRange child(std::size_t c) const { return {starts[c], starts[c + 1]}; }
};

class TreeShape {
   public:
    static constexpr std::size_t kMostPoints = std::numeric_limits<Row>::max() - kBlock;
    static constexpr std::size_t kMostPending = 128;  // children that a search may have put off: eight a level, of twelve at most

    // Leaves have `leaf_points` at most, rounded up to whole blocks.
    TreeShape(std::size_t n, std::size_t leaf_points) : n_(n), leaf_points_(round_to_blocks(std::max(leaf_points, kBlock))) {
        require(n >= 1 && n <= kMostPoints, "a search tree holds from one to two thousand million points");
        add_node({0, n});
    }

    std::size_t n_points() const { return n_; }
    std::size_t leaf_points() const { return leaf_points_; }
    const std::vector<ShapeNode>& nodes() const { return nodes_; }

    bool is_leaf(SlotRange range) const { return range.size() <= leaf_points_; }
    // Where a range that is no leaf is halved.
    static std::size_t middle(SlotRange range) { return range.begin + round_to_blocks(range.size() / 2); }

   private:
    std::int32_t add_node(SlotRange range) {
        const std::size_t id = nodes_.size();
        nodes_.emplace_back();
        ShapeNode node;
        std::array<SlotRange, kBlock> ranges{range};
        std::size_t count = 1;
        for (int level = 0; level < 3; ++level) {
            std::array<SlotRange, kBlock> halves;
            std::size_t n_halves = 0;
            for (std::size_t c = 0; c < count; ++c) {
                if (is_leaf(ranges[c])) {
                    halves[n_halves++] = ranges[c];
                } else {
                    halves[n_halves++] = {ranges[c].begin, middle(ranges[c])};
                    halves[n_halves++] = {middle(ranges[c]), ranges[c].end};
                }
            }
            ranges = halves;
            count = n_halves;
        }
        node.n_children = static_cast<std::uint32_t>(count);
        for (std::size_t c = 0; c < count; ++c) {
            node.starts[c] = static_cast<std::uint32_t>(ranges[c].begin);
            node.starts[c + 1] = static_cast<std::uint32_t>(ranges[c].end);
            node.nodes[c] = is_leaf(ranges[c]) ? ShapeNode::kLeaf : add_node(ranges[c]);
        }
        nodes_[id] = node;
        return static_cast<std::int32_t>(id);
    }

    std::size_t n_, leaf_points_;
    std::vector<ShapeNode> nodes_;
};

}  // namespace mercer::neighbors
