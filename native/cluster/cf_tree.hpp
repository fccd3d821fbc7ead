// The tree of clustering features of BIRCH (Zhang, Ramakrishnan, Livny, SIGMOD 1996), with the features of BETULA (Lang and
// Schubert, 2020): weight, mean and sum of squared deviations about it, which lose no digits where sums of squares do.
//
// Leaves are chained in the order in which the peer lists their entries: where a leaf is split, its first half keeps its place and
// the second comes after it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/distance.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

// The entries of a node. Entry e of an inner node sums up what is below node children[e].
struct CfNode {
    std::vector<double> weights;
    std::vector<double> deviations;  // sums of squared deviations about the means
    std::vector<double> means;       // entries x features
    std::vector<std::int32_t> children;
    std::int32_t before = -1, after = -1;  // of a leaf: its neighbours in the chain

    std::size_t size() const { return weights.size(); }
    bool is_leaf() const { return children.empty() || children[0] < 0; }
};

class CfTree {
   public:
    // A tree as arrays: nodes in an order in which parents come before children, their entries one after another.
    struct State {
        std::vector<std::int64_t> starts;    // of the entries of each node, and the end
        std::vector<std::int32_t> children;  // of each entry; -1 in leaves
        std::vector<double> weights, deviations, means;
        std::vector<std::int32_t> leaves;  // in the order of the chain
    };

    CfTree(std::size_t n_features, double threshold, std::size_t branching_factor)
        : d_(n_features), limit_(threshold * threshold), most_entries_(branching_factor), nodes_(1) {
        require(n_features >= 1 && branching_factor >= 2, "a tree has features and two entries a node at least");
    }

    // From arrays of an earlier tree, checked: what sums and means hold can make answers wrong, but nothing else.
    CfTree(std::size_t n_features, double threshold, std::size_t branching_factor, const State& state)
        : CfTree(n_features, threshold, branching_factor) {
        check_sizes(state);
        const std::size_t n_nodes = state.starts.size() - 1;
        nodes_.resize(n_nodes);
        std::vector<char> has_parent(n_nodes, 0);
        for (std::size_t id = 0; id < n_nodes; ++id) {
            fill_node(state, id);
            for (const std::int32_t child : nodes_[id].children) {
                require((child < 0) == nodes_[id].is_leaf(), "tree of features: a node is half a leaf");
                if (child < 0) continue;
                const auto c = static_cast<std::size_t>(child);
                require(c > id && c < n_nodes && !has_parent[c], "tree of features: the nodes are no tree");
                has_parent[c] = 1;
            }
        }
        require(std::count(has_parent.begin(), has_parent.end(), 1) + 1 == static_cast<std::ptrdiff_t>(n_nodes),
                "tree of features: the nodes are no tree");
        for (std::size_t id = 1; id < n_nodes; ++id) require(nodes_[id].size() > 0, "tree of features: a node is empty");
        chain(state.leaves);
    }

    std::size_t n_features() const { return d_; }

    // The features of all leaf entries, in the order of the chain.
    std::size_t n_leaf_entries() const {
        std::size_t n = 0;
        for_each_leaf([&](const CfNode& leaf) { n += leaf.size(); });
        return n;
    }
    void copy_leaf_entries(std::span<double> weights, std::span<double> deviations, std::span<double> means) const {
        std::size_t at = 0;
        for_each_leaf([&](const CfNode& leaf) {
            std::copy(leaf.weights.begin(), leaf.weights.end(), weights.begin() + static_cast<std::ptrdiff_t>(at));
            std::copy(leaf.deviations.begin(), leaf.deviations.end(), deviations.begin() + static_cast<std::ptrdiff_t>(at));
            std::copy(leaf.means.begin(), leaf.means.end(), means.begin() + static_cast<std::ptrdiff_t>(at * d_));
            at += leaf.size();
        });
    }

    // Adds a row of d values. O(d branching_factor height).
    void insert(const double* row) {
        path_.clear();
        std::size_t node = root_;
        while (!nodes_[node].is_leaf()) {
            const std::size_t entry = nearest(nodes_[node], row);
            path_.push_back({node, entry});
            node = static_cast<std::size_t>(nodes_[node].children[entry]);
        }
        if (nodes_[node].size() == 0 || !absorb(nodes_[node], nearest(nodes_[node], row), row)) append(node, row);
        climb(node, row);
    }

    State state() const {
        State state;
        std::vector<std::size_t> order{root_};  // breadth first: parents before children
        std::vector<std::int32_t> number(nodes_.size(), -1);
        for (std::size_t i = 0; i < order.size(); ++i) {
            const CfNode& node = nodes_[order[i]];
            number[order[i]] = static_cast<std::int32_t>(i);
            state.starts.push_back(static_cast<std::int64_t>(state.weights.size()));
            state.weights.insert(state.weights.end(), node.weights.begin(), node.weights.end());
            state.deviations.insert(state.deviations.end(), node.deviations.begin(), node.deviations.end());
            state.means.insert(state.means.end(), node.means.begin(), node.means.end());
            for (const std::int32_t child : node.children) {
                state.children.push_back(child < 0 ? -1 : static_cast<std::int32_t>(order.size()));
                if (child >= 0) order.push_back(static_cast<std::size_t>(child));
            }
        }
        state.starts.push_back(static_cast<std::int64_t>(state.weights.size()));
        for (std::int32_t leaf = first_leaf_; leaf >= 0; leaf = nodes_[static_cast<std::size_t>(leaf)].after)
            state.leaves.push_back(number[static_cast<std::size_t>(leaf)]);
        return state;
    }

   private:
    struct Step {
        std::size_t node, entry;
    };

    template <class Visit>
    void for_each_leaf(Visit&& visit) const {
        for (std::int32_t leaf = first_leaf_; leaf >= 0;) {
            const CfNode& node = nodes_[static_cast<std::size_t>(leaf)];
            visit(node);
            leaf = node.after;
        }
    }

    // The entry whose mean is nearest, the first of equals.
    std::size_t nearest(const CfNode& node, const double* row) const {
        std::size_t best = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t e = 0; e < node.size(); ++e) {
            const double distance = squared_distance(node.means.data() + e * d_, row, d_);
            if (distance < least) {
                least = distance;
                best = e;
            }
        }
        return best;
    }

    // Adds the features (weight, mean, deviation) to an entry: S = S_a + S_b + n_a n_b / (n_a + n_b) |mean_b - mean_a|^2.
    void add(CfNode& node, std::size_t entry, double weight, const double* mean, double deviation) const {
        double* const own = node.means.data() + entry * d_;
        const double before = node.weights[entry], total = before + weight, share = weight / total;
        node.deviations[entry] += deviation + before * share * squared_distance(own, mean, d_);
        node.weights[entry] = total;
        for (std::size_t j = 0; j < d_; ++j) own[j] += share * (mean[j] - own[j]);
    }

    // Adds a row to an entry of a leaf if the radius stays within the threshold.
    bool absorb(CfNode& leaf, std::size_t entry, const double* row) const {
        const double before = leaf.weights[entry], total = before + 1;
        const double deviation =
            leaf.deviations[entry] + before / total * squared_distance(leaf.means.data() + entry * d_, row, d_);
        if (!(deviation / total <= limit_)) return false;
        add(leaf, entry, 1, row, 0);
        return true;
    }

    void append(std::size_t node, const double* row) {
        CfNode& leaf = nodes_[node];
        leaf.weights.push_back(1);
        leaf.deviations.push_back(0);
        leaf.means.insert(leaf.means.end(), row, row + d_);
        leaf.children.push_back(-1);
    }

    // Brings the nodes above up to date: an entry whose node overflows becomes two, any other adds the row.
    void climb(std::size_t node, const double* row) {
        for (std::size_t level = path_.size(); level-- > 0;) {
            const auto [parent, entry] = path_[level];
            if (nodes_[node].size() > most_entries_) {
                const std::size_t second = split(node);
                summarise(node, parent, entry);
                nodes_[parent].children[entry] = static_cast<std::int32_t>(node);
                append_summary(second, parent);
            } else {
                add(nodes_[parent], entry, 1, row, 0);
            }
            node = parent;
        }
        if (nodes_[root_].size() <= most_entries_) return;
        const std::size_t first = root_, second = split(first);
        root_ = new_node();
        append_summary(first, root_);
        append_summary(second, root_);
    }

    // Parts the entries of a node by the nearer of the two that are farthest from one another. Returns the node of the second part.
    std::size_t split(std::size_t id) {
        const std::size_t second = new_node();
        CfNode &node = nodes_[id], &other = nodes_[second];
        const std::vector<char> stays = first_part(node);
        CfNode kept;
        for (std::size_t e = 0; e < node.size(); ++e) move_entry(node, e, stays[e] ? kept : other);
        kept.before = node.before;
        kept.after = node.after;
        if (node.is_leaf()) {
            other.before = static_cast<std::int32_t>(id);
            other.after = node.after;
            if (node.after >= 0) nodes_[static_cast<std::size_t>(node.after)].before = static_cast<std::int32_t>(second);
            kept.after = static_cast<std::int32_t>(second);
        }
        node = std::move(kept);
        return second;
    }

    std::vector<char> first_part(const CfNode& node) const {
        const std::size_t n = node.size();
        const auto distance = [&](std::size_t a, std::size_t b) {
            return squared_distance(node.means.data() + a * d_, node.means.data() + b * d_, d_);
        };
        std::size_t one = 0, two = 0;
        double farthest = 0;
        for (std::size_t a = 0; a < n; ++a) {
            for (std::size_t b = a + 1; b < n; ++b) {
                const double here = distance(a, b);
                if (here > farthest) {
                    farthest = here;
                    one = a;
                    two = b;
                }
            }
        }
        std::vector<char> stays(n);
        for (std::size_t e = 0; e < n; ++e) stays[e] = e == one || distance(one, e) < distance(two, e);
        return stays;
    }

    void move_entry(const CfNode& from, std::size_t e, CfNode& to) const {
        to.weights.push_back(from.weights[e]);
        to.deviations.push_back(from.deviations[e]);
        to.means.insert(to.means.end(), from.means.data() + e * d_, from.means.data() + (e + 1) * d_);
        to.children.push_back(from.children[e]);
    }

    // Writes what a node sums up to as an entry of another.
    void summarise(std::size_t id, std::size_t parent, std::size_t entry) {
        const CfNode& node = nodes_[id];
        CfNode& above = nodes_[parent];
        above.weights[entry] = node.weights[0];
        above.deviations[entry] = node.deviations[0];
        std::copy_n(node.means.data(), d_, above.means.data() + entry * d_);
        for (std::size_t e = 1; e < node.size(); ++e)
            add(above, entry, node.weights[e], node.means.data() + e * d_, node.deviations[e]);
    }

    void append_summary(std::size_t id, std::size_t parent) {
        CfNode& above = nodes_[parent];
        above.weights.push_back(0);
        above.deviations.push_back(0);
        above.means.resize(above.means.size() + d_);
        above.children.push_back(static_cast<std::int32_t>(id));
        summarise(id, parent, above.size() - 1);
    }

    std::size_t new_node() {
        require(nodes_.size() < std::numeric_limits<std::int32_t>::max(), "a tree of features has too many nodes");
        nodes_.emplace_back();
        return nodes_.size() - 1;
    }

    void check_sizes(const State& state) const {
        const auto& starts = state.starts;
        const std::size_t n = state.weights.size();
        require(starts.size() >= 2 && starts.front() == 0 && std::is_sorted(starts.begin(), starts.end()) &&
                    static_cast<std::uint64_t>(starts.back()) == n,
                "tree of features: the entries of nodes must follow one another");
        require(starts.size() < std::numeric_limits<std::int32_t>::max(), "tree of features: there are too many nodes");
        require(state.children.size() == n && state.deviations.size() == n && state.means.size() / d_ == n &&
                    state.means.size() % d_ == 0,
                "tree of features: each entry has a child, a weight, a deviation and a mean");
    }

    void fill_node(const State& state, std::size_t id) {
        const auto begin = static_cast<std::size_t>(state.starts[id]), end = static_cast<std::size_t>(state.starts[id + 1]);
        CfNode& node = nodes_[id];
        node.weights.assign(state.weights.data() + begin, state.weights.data() + end);
        node.deviations.assign(state.deviations.data() + begin, state.deviations.data() + end);
        node.means.assign(state.means.data() + begin * d_, state.means.data() + end * d_);
        node.children.assign(state.children.data() + begin, state.children.data() + end);
    }

    void chain(const std::vector<std::int32_t>& leaves) {
        std::vector<char> is_chained(nodes_.size(), 0);
        std::int32_t last = -1;
        for (const std::int32_t leaf : leaves) {
            const auto id = static_cast<std::size_t>(leaf);
            require(leaf >= 0 && id < nodes_.size() && nodes_[id].is_leaf() && !is_chained[id],
                    "tree of features: the chain must name each leaf once");
            is_chained[id] = 1;
            nodes_[id].before = last;
            if (last >= 0) nodes_[static_cast<std::size_t>(last)].after = leaf;
            last = leaf;
        }
        const auto n_leaves = std::count_if(nodes_.begin(), nodes_.end(), [](const CfNode& node) { return node.is_leaf(); });
        require(static_cast<std::ptrdiff_t>(leaves.size()) == n_leaves, "tree of features: the chain must name each leaf once");
        first_leaf_ = leaves[0];
    }

    std::size_t d_;
    double limit_;  // on the squared radius of leaf entries
    std::size_t most_entries_;
    std::vector<CfNode> nodes_;
    std::size_t root_ = 0;
    std::int32_t first_leaf_ = 0;  // the first half of a leaf keeps its number, so this never changes
    std::vector<Step> path_;
};

// Adds rows one after another.
inline void insert_rows(CfTree& tree, RowMajor<const double> rows) {
    for (std::size_t i = 0; i < rows.rows; ++i) {
        if (i % 64 == 0) checkpoint();
        tree.insert(rows.row(i));
    }
}

}  // namespace mercer::cluster
