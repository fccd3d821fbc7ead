// Single linkage: what a minimum spanning tree merges, from its lightest edge to its heaviest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/radix_sort.hpp"

namespace mercer::cluster {

struct TreeEdges {
    std::span<const std::int64_t> from, to;
    std::span<const double> weights;

    std::size_t size() const { return weights.size(); }
};

// Merge i makes node n + i of two nodes: points are 0 to n - 1. As SciPy's linkage, the lower node stands left.
struct Merge {
    std::int64_t left, right;
    double height;
    std::int64_t size;  // points under it
};

// The merges of a spanning tree; equal weights in the order of the edges. Throws where the edges are none. O(n log n).
inline std::vector<Merge> single_linkage(const TreeEdges& edges) {
    const std::size_t n = edges.size() + 1;
    std::vector<std::size_t> order(edges.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<std::uint64_t> keys(edges.size());
    std::transform(edges.weights.begin(), edges.weights.end(), keys.begin(), [](double weight) { return sort_key(weight); });
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    std::vector<std::size_t> parents(n), nodes(n);  // of a root: the node that its set is
    std::iota(parents.begin(), parents.end(), std::size_t{0});
    std::iota(nodes.begin(), nodes.end(), std::size_t{0});
    std::vector<std::int64_t> sizes(n, 1);
    const auto find = [&](std::size_t x) {
        for (; parents[x] != x; x = parents[x]) parents[x] = parents[parents[x]];
        return x;
    };
    std::vector<Merge> merges;
    merges.reserve(edges.size());
    for (const std::size_t e : order) {
        const std::int64_t from = edges.from[e], to = edges.to[e];
        const auto limit = static_cast<std::int64_t>(n);
        require(from >= 0 && from < limit && to >= 0 && to < limit, "an edge leads out of the points");
        std::size_t a = find(static_cast<std::size_t>(from)), b = find(static_cast<std::size_t>(to));
        require(a != b, "the edges are no spanning tree");
        const std::size_t low = std::min(nodes[a], nodes[b]), high = std::max(nodes[a], nodes[b]);
        if (sizes[a] < sizes[b]) std::swap(a, b);
        parents[b] = a;
        sizes[a] += sizes[b];
        nodes[a] = n + merges.size();
        merges.push_back({static_cast<std::int64_t>(low), static_cast<std::int64_t>(high), edges.weights[e], sizes[a]});
    }
    return merges;
}

// Writes the clusters that edges lighter than `cut` hold together, numbered by their first points; -1 for those of fewer than
// `least` points. O(n).
inline void cut_tree(const TreeEdges& edges, double cut, std::size_t least, std::span<std::int64_t> labels) {
    const std::size_t n = edges.size() + 1;
    std::vector<std::size_t> parents(n), sizes(n);
    std::iota(parents.begin(), parents.end(), std::size_t{0});
    const auto find = [&](std::size_t x) {
        for (; parents[x] != x; x = parents[x]) parents[x] = parents[parents[x]];
        return x;
    };
    for (std::size_t e = 0; e < edges.size(); ++e) {
        const auto from = static_cast<std::uint64_t>(edges.from[e]), to = static_cast<std::uint64_t>(edges.to[e]);
        require(from < n && to < n, "an edge leads out of the points");
        if (!(edges.weights[e] < cut)) continue;
        const std::size_t a = find(from), b = find(to);
        parents[std::max(a, b)] = std::min(a, b);
    }
    for (std::size_t i = 0; i < n; ++i) ++sizes[find(i)];
    std::vector<std::int64_t> names(n, -1);
    std::int64_t n_clusters = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t root = find(i);
        if (sizes[root] >= least && names[root] < 0) names[root] = n_clusters++;
        labels[i] = names[root];
    }
}

}  // namespace mercer::cluster
