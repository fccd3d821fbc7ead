// The condensed tree of HDBSCAN: which clusters of at least some size there are at any density, and which of them to choose.
//
// Density is lambda = 1 / distance. From the root of a single linkage down, a split into several large enough parts makes
// them new clusters; what is smaller falls out of the cluster, point by point, at the density of the split. Merges of the same
// height are one split, into as many parts as there are: which of them came first is chance.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "cluster/linkage.hpp"

namespace mercer::cluster {

struct CondensedCluster {
    std::size_t parent;
    double birth;         // lambda at which it splits off; 0 for the root
    double death;         // the largest lambda at which a point or a cluster leaves it
    std::size_t size;     // points at its birth
    std::size_t n_below;  // points in clusters that split off it
    double stability;     // sum over what leaves it of (lambda - birth) x size
    bool is_leaf;
};

// Clusters, parents before their children; the root is the first.
struct CondensedTree {
    std::vector<CondensedCluster> clusters;
    std::vector<std::size_t> cluster;  // that each point falls out of
    std::vector<double> lambda;        // at which it does
};

// O(n).
inline CondensedTree condense(const std::vector<Merge>& merges, std::size_t min_cluster_size) {
    const std::size_t n = merges.size() + 1;
    CondensedTree tree{{{0, 0, 0, n, 0, 0, true}}, std::vector<std::size_t>(n), std::vector<double>(n)};
    const auto size_of = [&](std::size_t node) { return node < n ? 1 : static_cast<std::size_t>(merges[node - n].size); };
    std::vector<std::size_t> below;
    const auto drop = [&](std::size_t node, std::size_t cluster, double lambda) {  // every point under a node
        below.assign(1, node);
        while (!below.empty()) {
            const std::size_t next = below.back();
            below.pop_back();
            if (next < n) {
                tree.cluster[next] = cluster;
                tree.lambda[next] = lambda;
            } else {
                below.push_back(static_cast<std::size_t>(merges[next - n].left));
                below.push_back(static_cast<std::size_t>(merges[next - n].right));
            }
        }
    };
    const auto take_apart = [&](std::size_t node, std::vector<std::size_t>& parts) {  // into what its height holds together
        const double height = merges[node - n].height;
        parts.clear();
        below.assign(1, node);
        while (!below.empty()) {
            const std::size_t next = below.back();
            below.pop_back();
            if (next < n || merges[next - n].height < height) {
                parts.push_back(next);
            } else {
                below.push_back(static_cast<std::size_t>(merges[next - n].right));
                below.push_back(static_cast<std::size_t>(merges[next - n].left));
            }
        }
    };
    std::vector<std::size_t> parts;
    struct Part {
        std::size_t node, cluster;
    };
    std::vector<Part> queue{{2 * n - 2, 0}};  // breadth first: clusters are numbered level by level
    for (std::size_t next = 0; next < queue.size(); ++next) {
        const auto [node, cluster] = queue[next];
        if (node < n) {  // a cluster of one point
            drop(node, cluster, std::numeric_limits<double>::infinity());
            continue;
        }
        const double height = merges[node - n].height;
        const double lambda = height > 0 ? 1 / height : std::numeric_limits<double>::infinity();
        take_apart(node, parts);
        const auto is_large = [&](std::size_t part) { return size_of(part) >= min_cluster_size; };
        const bool is_split = std::count_if(parts.begin(), parts.end(), is_large) > 1;
        for (const std::size_t part : parts) {
            if (!is_large(part)) {
                drop(part, cluster, lambda);
            } else if (is_split) {
                queue.push_back({part, tree.clusters.size()});
                tree.clusters.push_back({cluster, lambda, 0, size_of(part), 0, 0, true});
            } else {
                queue.push_back({part, cluster});
            }
        }
    }
    return tree;
}

// Fills in deaths and stabilities. O(n).
inline void weigh_clusters(CondensedTree& tree) {
    const auto leave = [&](CondensedCluster& from, double lambda, std::size_t size) {
        from.death = std::max(from.death, lambda);
        from.stability += (lambda - from.birth) * static_cast<double>(size);
    };
    for (std::size_t point = 0; point < tree.cluster.size(); ++point)
        leave(tree.clusters[tree.cluster[point]], tree.lambda[point], 1);
    for (std::size_t c = 1; c < tree.clusters.size(); ++c) {
        CondensedCluster& parent = tree.clusters[tree.clusters[c].parent];
        leave(parent, tree.clusters[c].birth, tree.clusters[c].size);
        parent.is_leaf = false;
        parent.n_below += tree.clusters[c].size;
    }
}

struct ClusterChoice {
    bool takes_leaves;  // the leaves of the tree, instead of the most stable clusters
    bool allows_root;   // a single cluster
    double epsilon;     // clusters that split off below this distance are not told apart
    std::size_t most;   // points of a cluster
};

namespace detail {

// Excess of mass: a cluster is chosen if it is at least as stable as the best choice among those below it.
inline std::vector<bool> choose_stable(const CondensedTree& tree, const ClusterChoice& choice) {
    const auto& clusters = tree.clusters;
    std::vector<double> value(clusters.size()), below(clusters.size());
    std::vector<bool> is_chosen(clusters.size());
    for (std::size_t c = clusters.size(); c-- > (choice.allows_root ? 0 : 1);) {
        const std::size_t size = c == 0 ? clusters[c].n_below : clusters[c].size;
        is_chosen[c] = !(below[c] > clusters[c].stability || size > choice.most);
        value[c] = is_chosen[c] ? clusters[c].stability : below[c];
        if (c > 0) below[clusters[c].parent] += value[c];
    }
    std::vector<bool> is_covered(clusters.size());  // by a chosen one above it
    for (std::size_t c = 1; c < clusters.size(); ++c) {
        is_covered[c] = is_covered[clusters[c].parent] || is_chosen[clusters[c].parent];
        if (is_covered[c]) is_chosen[c] = false;
    }
    return is_chosen;
}

// In place of a cluster that splits off below epsilon: the nearest above it that does not.
inline std::size_t climb(const CondensedTree& tree, const ClusterChoice& choice, std::size_t cluster) {
    const auto& clusters = tree.clusters;
    while (cluster != 0) {
        const std::size_t parent = clusters[cluster].parent;
        if (parent == 0) return choice.allows_root ? 0 : cluster;
        if (1 / clusters[parent].birth > choice.epsilon) return parent;
        cluster = parent;
    }
    return cluster;
}

}  // namespace detail

// The chosen clusters. O(clusters x depth).
inline std::vector<bool> choose_clusters(const CondensedTree& tree, const ClusterChoice& choice) {
    const auto& clusters = tree.clusters;
    std::vector<bool> is_chosen(clusters.size());
    if (choice.takes_leaves) {
        for (std::size_t c = 1; c < clusters.size(); ++c) is_chosen[c] = clusters[c].is_leaf;
    } else {
        is_chosen = detail::choose_stable(tree, choice);
    }
    if (choice.epsilon == 0 || clusters.size() == 1 || is_chosen[0]) return is_chosen;
    std::vector<bool> is_far(clusters.size());
    for (std::size_t c = 1; c < clusters.size(); ++c) {
        if (!is_chosen[c]) continue;
        is_far[1 / clusters[c].birth < choice.epsilon ? detail::climb(tree, choice, c) : c] = true;
    }
    return is_far;
}

// Writes the cluster of each point, numbered in the order of the tree (-1 is noise), and how firmly it is in it: its lambda over
// the cluster's largest. O(n).
inline void label_points(const CondensedTree& tree, const ClusterChoice& choice, std::span<std::int64_t> labels,
                         std::span<double> probabilities) {
    const auto& clusters = tree.clusters;
    const std::vector<bool> is_chosen = choose_clusters(tree, choice);
    std::vector<std::size_t> holder(clusters.size());  // the chosen cluster that each belongs to, or the root
    for (std::size_t c = 1; c < clusters.size(); ++c) holder[c] = is_chosen[c] ? c : holder[clusters[c].parent];
    // A point of a single cluster of all is in it if it stays to the density of epsilon, or of the last split.
    const double least = choice.epsilon != 0 ? 1 / choice.epsilon : clusters[0].death;
    std::vector<std::int64_t> name(clusters.size(), -1);
    std::int64_t n_named = 0;
    for (std::size_t point = 0; point < labels.size(); ++point) {
        const std::size_t cluster = holder[tree.cluster[point]];
        const double lambda = tree.lambda[point], most = clusters[cluster].death;
        const bool is_noise = cluster == 0 && !(is_chosen[0] && lambda >= least);
        if (!is_noise && name[cluster] < 0) name[cluster] = n_named++;
        labels[point] = is_noise ? -1 : name[cluster];
        const bool is_full = most == 0 || std::isinf(lambda);
        probabilities[point] = is_noise ? 0 : is_full ? 1 : std::min(lambda, most) / most;
    }
}

}  // namespace mercer::cluster
