// The leaves of a k-d tree and what lies near each of them: for methods that treat the points of a leaf together.
//
// Boxes are compared by the least and the greatest rank of any two of their points. Both are monotone in each difference, rounding
// included, so that what they rule out, or in, is ruled out, or in, for every pair of points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neighbors/blocks.hpp"
#include "neighbors/boxes.hpp"
#include "neighbors/kd_tree.hpp"
#include "neighbors/shape.hpp"

namespace mercer::neighbors {

// A child of a node, by which what is known of it is looked up.
struct ChildPlace {
    std::uint32_t node, child;

    std::size_t index() const { return std::size_t{node} * kBlock + child; }
};

struct Leaf {
    ChildPlace place;
    SlotRange slots;
};

// All leaves, in the order of their slots.
inline std::vector<Leaf> leaves_of(const TreeShape& shape) {
    std::vector<Leaf> leaves;
    const auto& nodes = shape.nodes();
    std::vector<ChildPlace> pending;
    const auto push_children = [&](std::uint32_t node) {
        for (std::uint32_t c = nodes[node].n_children; c-- > 0;) pending.push_back({node, c});
    };
    push_children(0);
    while (!pending.empty()) {
        const ChildPlace place = pending.back();
        pending.pop_back();
        const std::int32_t below = nodes[place.node].nodes[place.child];
        if (below == ShapeNode::kLeaf) {
            leaves.push_back({place, nodes[place.node].child(place.child)});
        } else {
            push_children(static_cast<std::uint32_t>(below));
        }
    }
    return leaves;
}

// The box of a child.
template <Real T>
void take_box(const KdTree<T>& tree, ChildPlace place, Box& box) {
    const std::size_t d = tree.n_features();
    box.low.resize(d);
    box.high.resize(d);
    const T* const first = tree.boxes_of(place.node) + place.child;
    for (std::size_t j = 0; j < d; ++j) {
        box.low[j] = first[2 * kBlock * j];
        box.high[j] = first[2 * kBlock * j + kBlock];
    }
}

// What a walk goes on with after a visit.
enum class Walk { kOn, kStop };

// Walks over the children that have a point within `rank` of the box. `visitor` has
//   opens(place)    whether a child is of any use
//   whole(place)    all pairs of the box and the child are within the rank: done with the child
//   part(leaf)      some pairs of the box and the leaf may be
// The last two return whether to go on.
template <std::size_t kD, class M, Real T, class Visitor>
void walk_near(const KdTree<T>& tree, const M& metric, const Box& box, double rank, Visitor& visitor) {
    const auto& nodes = tree.shape().nodes();
    std::uint32_t pending[TreeShape::kMostPending];
    std::size_t n_pending = 1;
    pending[0] = 0;
    while (n_pending > 0) {
        const std::uint32_t node = pending[--n_pending];
        const BoxRanks ranks = rank_boxes<kD>(metric, box, tree.boxes_of(node), tree.n_features());
        const unsigned whole = ranks.greatest.up_to(rank);
        unsigned open = ranks.least.up_to(rank) & first_lanes(nodes[node].n_children);
        for (; open != 0; open &= open - 1) {
            const auto child = static_cast<std::uint32_t>(__builtin_ctz(open));
            const ChildPlace place{node, child};
            if (!visitor.opens(place)) continue;
            Walk next = Walk::kOn;
            if ((whole >> child & 1) != 0) {
                next = visitor.whole(place);
            } else if (nodes[node].nodes[child] == ShapeNode::kLeaf) {
                next = visitor.part(Leaf{place, nodes[node].child(child)});
            } else {
                pending[n_pending++] = static_cast<std::uint32_t>(nodes[node].nodes[child]);
            }
            if (next == Walk::kStop) return;
        }
    }
}

// Calls visit(slot, hits) for the blocks of a leaf that hold points within `rank` of the query: `slot` begins a block, and `hits`
// are the bits of its points. The visit returns whether to go on. O(points of the leaf x d).
template <std::size_t kD, class M, Real T, class Visit>
[[gnu::always_inline]] inline Walk hits_in_leaf(const Blocks<T>& points, const M& metric, const double* query, SlotRange leaf,
                                                double rank, Visit&& visit) {
    for (std::size_t slot = leaf.begin; slot < leaf.end; slot += kBlock) {
        const unsigned hits =
            measure_block<kD>(metric, query, points.block(slot), points.d).up_to(rank) & first_lanes(leaf.end - slot);
        if (hits != 0 && visit(slot, hits) == Walk::kStop) return Walk::kStop;
    }
    return Walk::kOn;
}

}  // namespace mercer::neighbors
