// Agglomeration along the edges of a graph: only clusters that an edge connects are merged, the nearest first.
//
// How far apart two clusters are is known from the edges between them (their least, greatest or mean distance), or from means and
// sizes (Ward). Merges make new nodes, so that numbers rise and lists of neighbours stay sorted. O(e log e) for graphs whose
// clusters have few neighbours.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/lance_williams.hpp"
#include "cluster/linkage.hpp"
#include "core/distance.hpp"
#include "core/interrupt.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

struct GraphEdge {
    std::uint32_t node;
    double distance;
};
using GraphLists = std::vector<std::vector<GraphEdge>>;  // of each node: its neighbours in ascending order, in both directions

// Distances of merged nodes by a formula of Lance and Williams that asks for nothing but the two distances and the sizes.
template <Linkage L>
struct EdgeLinkage {
    double merged(double ac, double bc, const Pair& pair) const { return L::merged(ac, bc, pair, 1.0); }
    void merge(std::size_t, std::size_t, const Pair&) {}
    double distance(std::size_t, std::size_t, double known) const { return known; }
};

// Ward's, from the means and sizes of nodes.
class MeanLinkage {
   public:
    explicit MeanLinkage(Matrix<const double> x) : d_(x.cols), means_(x.rows * x.cols), sizes_(x.rows, 1.0) {
        for (std::size_t i = 0; i < x.rows; ++i)
            for (std::size_t j = 0; j < d_; ++j) means_[i * d_ + j] = x(i, j);
    }
    double merged(double ac, double, const Pair&) const { return ac; }
    void merge(std::size_t a, std::size_t b, const Pair& pair) {
        const double share = pair.size_b / (pair.size_a + pair.size_b);
        means_.resize(means_.size() + d_);
        for (std::size_t j = 0; j < d_; ++j)
            means_[means_.size() - d_ + j] = means_[a * d_ + j] + share * (means_[b * d_ + j] - means_[a * d_ + j]);
        sizes_.push_back(pair.size_a + pair.size_b);
    }
    double distance(std::size_t a, std::size_t b, double) const {
        const double squared = squared_distance(means_.data() + a * d_, means_.data() + b * d_, d_);
        return std::sqrt(2 * squared / (1 / sizes_[a] + 1 / sizes_[b]));
    }

   private:
    std::size_t d_;
    std::vector<double> means_, sizes_;
};

// Merges until `n_merges` are done, or no edge is left.
template <class Distances>
std::vector<Merge> merge_graph(GraphLists lists, Distances distances, std::size_t n_merges) {
    struct Candidate {
        double distance;
        std::uint32_t high, low;
        bool operator>(const Candidate& other) const {
            return std::tie(distance, high, low) > std::tie(other.distance, other.high, other.low);
        }
    };
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap;
    const std::size_t n = lists.size();
    std::vector<double> sizes(n, 1.0);
    std::vector<std::uint8_t> is_gone(n, 0);
    for (std::uint32_t i = 0; i < n; ++i) {
        for (GraphEdge& edge : lists[i]) {
            edge.distance = distances.distance(i, edge.node, edge.distance);
            if (edge.node < i) heap.push({edge.distance, i, edge.node});
        }
    }
    std::vector<Merge> merges;
    for (; merges.size() < n_merges && !heap.empty();) {
        const Candidate least = heap.top();
        heap.pop();
        if (is_gone[least.high] || is_gone[least.low]) continue;
        const std::size_t a = least.low, b = least.high;
        const Pair pair{sizes[a], sizes[b], least.distance};
        is_gone[a] = is_gone[b] = 1;
        distances.merge(a, b, pair);
        const auto node = static_cast<std::uint32_t>(sizes.size());
        std::vector<GraphEdge> joined;
        auto left = lists[a].begin(), right = lists[b].begin();
        while (left != lists[a].end() || right != lists[b].end()) {
            const std::uint32_t in_left = left == lists[a].end() ? std::numeric_limits<std::uint32_t>::max() : left->node;
            const std::uint32_t in_right = right == lists[b].end() ? std::numeric_limits<std::uint32_t>::max() : right->node;
            GraphEdge edge{std::min(in_left, in_right), 0};
            if (in_left == in_right) {
                edge.distance = distances.merged(left->distance, right->distance, pair);
            } else {
                edge.distance = in_left < in_right ? left->distance : right->distance;
            }
            left += in_left == edge.node;
            right += in_right == edge.node;
            if (is_gone[edge.node]) continue;
            edge.distance = distances.distance(node, edge.node, edge.distance);
            joined.push_back(edge);
            lists[edge.node].push_back({node, edge.distance});
            heap.push({edge.distance, node, edge.node});
        }
        for (const std::size_t gone : {a, b}) lists[gone] = {};
        lists.push_back(std::move(joined));
        sizes.push_back(pair.size_a + pair.size_b);
        is_gone.push_back(0);
        merges.push_back(
            {static_cast<std::int64_t>(a), static_cast<std::int64_t>(b), least.distance, static_cast<std::int64_t>(sizes.back())});
        report_progress(merges.size(), n_merges);
    }
    return merges;
}

}  // namespace mercer::cluster
