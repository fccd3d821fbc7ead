// The one way through a search tree, whatever bounds its nodes have and whatever is collected.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/errors.hpp"
#include "neighbors/blocks.hpp"
#include "neighbors/collectors.hpp"
#include "neighbors/shape.hpp"

namespace mercer::neighbors {

// Calls go<d>() where d is small, with the loops over features unrolled, else go<0>().
template <class Go>
auto with_features(std::size_t d, Go&& go) {
    switch (d) {
        case 1:
            return go.template operator()<1>();
        case 2:
            return go.template operator()<2>();
        case 3:
            return go.template operator()<3>();
        case 4:
            return go.template operator()<4>();
        default:
            return go.template operator()<0>();
    }
}

// A collector that calls visit(rank, row) for all within a rank.
template <class Visit>
struct Visitor {
    static constexpr bool kIsOrdered = false;

    double radius;
    Visit& visit;

    double limit() const { return radius; }
    bool may_take(double rank, Row) const { return rank <= radius; }
    void offer(double rank, Row row) { visit(rank, row); }
};

inline void require_permutation(const std::vector<Row>& rows) {
    std::vector<bool> is_seen(rows.size());
    for (const Row row : rows) {
        require(row >= 0 && static_cast<std::size_t>(row) < rows.size() && !is_seen[static_cast<std::size_t>(row)],
                "search tree: every row must be named once");
        is_seen[static_cast<std::size_t>(row)] = true;
    }
}

// The least row number of each child of each node.
inline std::vector<Row> least_rows(const TreeShape& shape, const std::vector<Row>& rows) {
    const auto& nodes = shape.nodes();
    std::vector<Row> least(nodes.size() * kBlock, std::numeric_limits<Row>::max());
    for (std::size_t id = nodes.size(); id-- > 0;) {
        for (std::size_t c = 0; c < nodes[id].n_children; ++c) {
            const auto [begin, end] = nodes[id].child(c);
            const Row* first = rows.data() + begin;
            const Row* last = rows.data() + end;
            if (nodes[id].nodes[c] != ShapeNode::kLeaf) {
                first = least.data() + static_cast<std::size_t>(nodes[id].nodes[c]) * kBlock;
                last = first + kBlock;
            }
            least[id * kBlock + c] = *std::min_element(first, last);
        }
    }
    return least;
}

// Children that a search has put off, the nearest on top.
struct Pending {
    double rank;
    std::uint32_t node;
    std::uint32_t child;
};

inline constexpr std::size_t kAllLeaves = std::numeric_limits<std::size_t>::max();

// As `traverse`, but leaves of the lowest bounds come first wherever they are, and the search ends after `most_leaves` of them,
// once the collector has what it wants. O(log of what is put off) more for each child than a search that goes deep first.
template <std::size_t kD, class Tree, class M, class Collector>
std::size_t traverse_nearest_first(const Tree& tree, const M& metric, const double* query, Collector& collector,
                                   std::size_t most_leaves) {
    const auto& nodes = tree.shape().nodes();
    const auto points = tree.points();
    const auto is_farther = [](const Pending& a, const Pending& b) { return a.rank > b.rank; };
    std::vector<Pending> pending;  // a heap, the nearest on top
    std::size_t node = 0, n_leaves = 0;
    while (true) {
        const BlockValues bounds = tree.template bound_children<kD>(metric, query, node);
        for (unsigned open = bounds.up_to(collector.limit()) & first_lanes(nodes[node].n_children); open != 0; open &= open - 1) {
            const auto child = static_cast<std::uint32_t>(__builtin_ctz(open));
            pending.push_back({bounds[child], static_cast<std::uint32_t>(node), child});
            std::push_heap(pending.begin(), pending.end(), is_farther);
        }
        while (true) {
            if (pending.empty()) return n_leaves;
            std::pop_heap(pending.begin(), pending.end(), is_farther);
            const Pending next = pending.back();
            pending.pop_back();
            if (!collector.may_take(next.rank, tree.first_row(next.node, next.child))) continue;
            const ShapeNode& parent = nodes[next.node];
            if (parent.nodes[next.child] != ShapeNode::kLeaf) {
                node = static_cast<std::size_t>(parent.nodes[next.child]);
                break;
            }
            if (n_leaves >= most_leaves && collector.limit() < std::numeric_limits<double>::infinity()) return n_leaves;
            ++n_leaves;
            const SlotRange leaf = parent.child(next.child);
            scan<kD>(metric, points, query, leaf.begin, leaf.end, collector);
        }
    }
}

// Offers to the collector every point that it may take, nodes of lower bounds first where order helps it. A child is passed over
// where its bound is above the collector's limit, or equal to it and all its rows come after the last one kept. A collector may
// have open_children(node): bits of the children that can hold anything for it, whatever their bounds. Returns how many leaves it
// looked into.
template <std::size_t kD, class Tree, class M, class Collector>
std::size_t traverse(const Tree& tree, const M& metric, const double* query, Collector& collector) {
    const auto& nodes = tree.shape().nodes();
    const auto points = tree.points();
    Pending pending[TreeShape::kMostPending];
    std::size_t n_pending = 0;
    std::size_t node = 0, n_leaves = 0;
    while (true) {
        const BlockValues bounds = tree.template bound_children<kD>(metric, query, node);
        unsigned open = bounds.up_to(collector.limit()) & first_lanes(nodes[node].n_children);
        if constexpr (requires { collector.open_children(node); }) open &= collector.open_children(node);
        alignas(64) double bound[kBlock];
        bounds.store(bound);
        const std::size_t bottom = n_pending;
        for (; open != 0; open &= open - 1) {
            const auto child = static_cast<std::uint32_t>(__builtin_ctz(open));
            std::size_t place = n_pending++;
            if constexpr (Collector::kIsOrdered)
                for (; place > bottom && pending[place - 1].rank < bound[child]; --place) pending[place] = pending[place - 1];
            pending[place] = {bound[child], static_cast<std::uint32_t>(node), child};
        }
        while (true) {
            if (n_pending == 0) return n_leaves;
            const Pending next = pending[--n_pending];
            if (!collector.may_take(next.rank, tree.first_row(next.node, next.child))) continue;
            const ShapeNode& parent = nodes[next.node];
            if (parent.nodes[next.child] != ShapeNode::kLeaf) {
                node = static_cast<std::size_t>(parent.nodes[next.child]);
                break;
            }
            ++n_leaves;
            const SlotRange leaf = parent.child(next.child);
            scan<kD>(metric, points, query, leaf.begin, leaf.end, collector);
        }
    }
}

}  // namespace mercer::neighbors
