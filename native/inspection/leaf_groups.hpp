// The leaves of a tree in groups, each of which depends on a row by a few bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "inspection/splits.hpp"

namespace mercer::inspection {

// A split, and a way that a row must go there.
struct Condition {
    std::uint32_t split;
    Way way;
};

// A leaf of a group: of each distinct feature of its path the slot, the share c, and which bits of the group must be one and which
// zero where a row satisfies all splits on it.
struct GroupLeaf {
    struct Feature {
        std::uint32_t slot;
        double share;
        std::uint32_t ones;
        std::uint32_t zeros;
    };
    std::uint32_t node;
    std::vector<Feature> features;

    // The set of features that a row with the bits g satisfies.
    std::uint32_t satisfied(std::uint32_t g) const {
        std::uint32_t set = 0;
        for (std::size_t j = 0; j < features.size(); ++j) {
            const Feature& each = features[j];
            set |= static_cast<std::uint32_t>((g & each.ones) == each.ones && (g & each.zeros) == 0) << j;
        }
        return set;
    }
};

// The leaves below one node. A bit each has whether a row satisfies all splits above on a feature, for each such feature, and which
// way it goes (one: left), for each split below.
struct LeafGroup {
    std::vector<std::vector<Condition>> bits;  // each is one where all of its conditions hold
    std::vector<GroupLeaf> leaves;

    std::size_t n_patterns() const { return std::size_t{1} << bits.size(); }
};

class LeafGroups {
   public:
    static constexpr std::size_t kMostBits = 14;

    // Groups of as many leaves as `n_bits` bits allow; a leaf on whose path there are more features is a group alone. There are
    // none, and `fits` is false, where a path has more than kMostBits features. O(nodes x features of a path).
    LeafGroups(const Splits& splits, std::size_t n_bits) : fits_(splits.n_features_of_path() <= kMostBits) {
        if (!fits_ || splits.size() == 0) return;
        std::vector<std::size_t> n_below(splits.size(), 1);  // splits at and below each
        for (std::size_t s = splits.size(); s-- > 1;) n_below[splits[s].parent] += n_below[s];
        const Child root{.node = splits[0].node, .split = 0};
        std::vector<Place> open{{root, kNone, kLeft}};
        while (!open.empty()) {
            const Place at = open.back();
            open.pop_back();
            if (at.child.is_leaf() || n_above(splits[at.child.split]) + n_below[at.child.split] <= n_bits) {
                groups_.push_back(group(splits, at));
                continue;
            }
            const Split& split = splits[at.child.split];
            for (const Way way : {kRight, kLeft}) open.push_back({split.child(way), at.child.split, way});
        }
    }

    bool fits() const { return fits_; }
    std::size_t size() const { return groups_.size(); }
    const LeafGroup& operator[](std::size_t g) const { return groups_[g]; }
    auto begin() const { return groups_.begin(); }
    auto end() const { return groups_.end(); }

   private:
    // A child, and the split that it is one of.
    struct Place {
        Child child;
        std::uint32_t above;
        Way way;
    };

    static std::size_t n_above(const Split& split) { return split.n_features - (split.before == kNone); }

    static LeafGroup group(const Splits& splits, const Place& root) {
        LeafGroup group;
        std::vector<GroupLeaf::Feature> features;
        Way way = root.way;
        for (std::uint32_t s = root.above; s != kNone; way = splits[s].parent_way, s = splits[s].parent) {
            const Split& split = splits[s];
            const auto known = std::find_if(features.begin(), features.end(), [&](const auto& f) { return f.slot == split.slot; });
            const auto bit = static_cast<std::size_t>(known - features.begin());
            if (known == features.end()) {  // the last split on the feature: its share is that of the path
                features.push_back({split.slot, split.child(way).share, std::uint32_t{1} << bit, 0});
                group.bits.emplace_back();
            }
            group.bits[bit].push_back({s, way});
        }
        descend(splits, root.child, features, group);
        return group;
    }

    // Adds the leaves below a child. No deeper than the bits of a group.
    static void descend(const Splits& splits, const Child& child, std::vector<GroupLeaf::Feature> features, LeafGroup& group) {
        if (child.is_leaf()) {
            group.leaves.push_back({child.node, std::move(features)});
            return;
        }
        const Split& split = splits[child.split];
        const auto bit = std::uint32_t{1} << group.bits.size();
        group.bits.push_back({{child.split, kLeft}});
        const auto known = std::find_if(features.begin(), features.end(), [&](const auto& f) { return f.slot == split.slot; });
        const auto place = static_cast<std::size_t>(known - features.begin());
        if (known == features.end()) features.push_back({split.slot, 1.0, 0, 0});
        for (const Way way : {kLeft, kRight}) {
            auto below = features;
            below[place].share = split.child(way).share;
            (way == kLeft ? below[place].ones : below[place].zeros) |= bit;
            descend(splits, split.child(way), std::move(below), group);
        }
    }

    bool fits_;
    std::vector<LeafGroup> groups_;
};

}  // namespace mercer::inspection
