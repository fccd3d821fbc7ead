// The splits of a tree as the games of its leaves see them: what lies above each, and what shares of the rows go which way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tree/node.hpp"

namespace mercer::inspection {

using tree::Node;
using tree::Trees;

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// Which way a split sends a row whose path so far satisfies all splits on the same feature; kOff: the row left that path before.
enum Way : std::uint8_t { kOff = 0, kLeft = 1, kRight = 2 };

struct Child {
    std::uint32_t node = 0;       // among the tree's nodes
    std::uint32_t split = kNone;  // among the tree's splits; none where it is a leaf
    double share = 1;             // of the feature, down to here: the product of the shares of all splits on it
    bool is_leaf() const { return split == kNone; }
};

struct Split {
    std::uint32_t node = 0;
    std::uint32_t slot = 0;        // the feature's place among those that the tree splits on
    std::uint32_t level = 0;       // how many splits lead here
    std::uint32_t before = kNone;  // the last split on the same feature above, and which of its children leads here
    Way before_way = kLeft;
    std::uint32_t parent = kNone;  // the split right above, and which of its children this is
    Way parent_way = kLeft;
    std::uint32_t n_features = 0;  // distinct ones on the path, this one among them
    double share = 1;              // of the feature above the split
    Child children[2];             // left, right
    const Child& child(Way way) const { return children[way - 1]; }
};

// The share of the rows that a split sends left, by the covers of its children; one half where they have none.
inline double left_share(double left, double right) { return left + right > 0 ? left / (left + right) : 0.5; }

// All splits of one tree, in the order of its nodes: parents first, left before right. O(nodes).
class Splits {
   public:
    // `cover` has the weight of the training rows of every node.
    Splits(const Trees::Part& tree, std::span<const double> cover) : nodes_(tree.nodes), split_of_(tree.nodes.size(), kNone) {
        std::vector<std::uint32_t> slots;
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i].is_leaf()) continue;
            features_.push_back(static_cast<std::uint32_t>(nodes_[i].feature()));
            split_of_[i] = static_cast<std::uint32_t>(splits_.size());
            splits_.push_back({.node = i});
        }
        std::sort(features_.begin(), features_.end());
        features_.erase(std::unique(features_.begin(), features_.end()), features_.end());
        last_.assign(features_.size(), kNone);
        for (std::uint32_t s = 0; s < splits_.size(); ++s) place(s, cover);
    }

    std::size_t size() const { return splits_.size(); }
    const Split& operator[](std::size_t s) const { return splits_[s]; }
    auto begin() const { return splits_.begin(); }
    auto end() const { return splits_.end(); }
    const std::vector<std::uint32_t>& features() const { return features_; }
    std::size_t n_levels() const { return n_levels_; }
    // The most distinct features on a path.
    std::size_t n_features_of_path() const { return n_features_of_path_; }

   private:
    // What a split knows of those above it. `path_` has the splits above, and `last_` the last of them on each feature.
    void place(std::uint32_t s, std::span<const double> cover) {
        Split& split = splits_[s];
        while (path_.size() > split.level) {
            last_[splits_[path_.back()].slot] = splits_[path_.back()].before;
            path_.pop_back();
        }
        const Node& node = nodes_[split.node];
        const auto feature = static_cast<std::uint32_t>(node.feature());
        split.slot = static_cast<std::uint32_t>(std::lower_bound(features_.begin(), features_.end(), feature) - features_.begin());
        split.before = last_[split.slot];
        split.n_features = (path_.empty() ? 0 : splits_[path_.back()].n_features) + (split.before == kNone);
        if (split.before != kNone) {
            const Split& before = splits_[split.before];
            const std::uint32_t below = before.level + 1 < path_.size() ? path_[before.level + 1] : s;
            split.before_way = splits_[below].parent_way;
            split.share = before.child(split.before_way).share;
        }
        const std::uint32_t below[2] = {split.node + 1, node.right};
        const double left = left_share(cover[below[0]], cover[below[1]]);
        for (const Way way : {kLeft, kRight}) {
            Child& child = split.children[way - 1];
            child.node = below[way - 1];
            child.split = split_of_[child.node];
            child.share = split.share * (way == kLeft ? left : 1 - left);
            if (child.is_leaf()) continue;
            splits_[child.split].level = split.level + 1;
            splits_[child.split].parent = s;
            splits_[child.split].parent_way = way;
        }
        path_.push_back(s);
        last_[split.slot] = s;
        n_levels_ = std::max<std::size_t>(n_levels_, split.level + 1);
        n_features_of_path_ = std::max<std::size_t>(n_features_of_path_, split.n_features);
    }

    std::span<const Node> nodes_;
    std::vector<std::uint32_t> split_of_;
    std::vector<std::uint32_t> features_;
    std::vector<Split> splits_;
    std::vector<std::uint32_t> path_;
    std::vector<std::uint32_t> last_;
    std::size_t n_levels_ = 0;
    std::size_t n_features_of_path_ = 0;
};

// Which trees of a model make up one output, with the weight of the rows of each node of all trees, and what each leaf of them adds
// to the output.
struct Model {
    const Trees& trees;
    std::vector<std::size_t> chosen;
    std::span<const double> cover;
    std::span<const double> values;

    std::size_t count() const { return chosen.size(); }
    std::size_t tree(std::size_t i) const { return chosen[i]; }
    std::span<const double> of_tree(std::span<const double> all, std::size_t t) const {
        return all.subspan(trees.node_starts()[t], trees.node_starts()[t + 1] - trees.node_starts()[t]);
    }
    Splits splits(std::size_t t) const { return {trees.part(t), of_tree(cover, t)}; }
};

// The mean of a model's output where every split sends shares of a row both ways. O(nodes).
inline double mean_of_leaves(const Model& model) {
    double total = 0;
    std::vector<double> means;
    for (std::size_t i = 0; i < model.count(); ++i) {
        const std::size_t t = model.tree(i);
        const auto nodes = model.trees.part(t).nodes;
        const auto cover = model.of_tree(model.cover, t), values = model.of_tree(model.values, t);
        means.assign(values.begin(), values.end());
        for (std::size_t at = nodes.size(); at-- > 0;) {
            if (nodes[at].is_leaf()) continue;
            const double left = left_share(cover[at + 1], cover[nodes[at].right]);
            means[at] = left * means[at + 1] + (1 - left) * means[nodes[at].right];
        }
        total += means[0];
    }
    return total;
}

}  // namespace mercer::inspection
