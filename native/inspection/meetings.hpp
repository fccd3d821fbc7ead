// Interventional Shapley values of sums of trees by walks for pairs of a row and a row of the background.
//
// With one background row z, a leaf with value v is worth v to a coalition S if x satisfies the splits on the features in S and z
// those on the others. Only the a features that x alone satisfies and the b that z alone does matter, where each feature of the
// path is satisfied by one at least:
//
//   phi_j = v (a - 1)! b! / (a + b)!  for the former,  -v a! (b - 1)! / (a + b)!  for the latter,
//
// and what a pair gives together is half of v (a - 2)! b! / (a + b - 1)!, -v (a - 1)! (b - 1)! / (a + b - 1)! or v a! (b - 2)! /
// (a + b - 1)!, for two of the former, one of each and two of the latter. A walk goes both ways only where x and z part, for a
// feature that they have not parted for above.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "inspection/beta_weights.hpp"
#include "inspection/splits.hpp"

namespace mercer::inspection {

// The ways of rows at all splits of a tree: a line for each row.
template <class X>
void find_ways(const Trees::Part& tree, const Splits& splits, const X& x, std::size_t row, Way* ways) {
    for (std::size_t s = 0; s < splits.size(); ++s) {
        const Node& node = tree.nodes[splits[s].node];
        ways[s] = tree::goes_left(node, x(row, node.feature()), tree.words.data()) ? kLeft : kRight;
    }
}

// Walks one tree for pairs of rows.
class MeetingWalk {
   public:
    MeetingWalk(const Splits& splits, std::span<const double> values, const BetaWeights& beta)
        : splits_(splits), values_(values), beta_(beta), sides_(splits.features().size(), kBoth) {}

    // Calls take(leaf's value, slots where x alone goes this way, those where z alone does) for each leaf that matters.
    template <class Take>
    void for_each_leaf(const Way* x, const Way* z, Take&& take) {
        xs_.clear();
        zs_.clear();
        open_.clear();
        Child at{0, 0};
        while (true) {
            while (!at.is_leaf()) at = next(at.split, x, z);
            if (!xs_.empty() || !zs_.empty()) take(values_[at.node], xs_, zs_);
            if (open_.empty()) break;
            at = turn_back();
        }
        undo(0, 0);
    }

    // Adds the values, times a weight, to a line with a place for each feature.
    void add(const Way* x, const Way* z, double weight, double* out) {
        for_each_leaf(x, z, [&](double value, const auto& xs, const auto& zs) {
            const std::size_t a = xs.size(), b = zs.size();
            const double gain = a > 0 ? weight * value * beta_(a - 1, b) : 0.0;
            const double loss = b > 0 ? weight * value * beta_(a, b - 1) : 0.0;
            for (const std::uint32_t slot : xs) out[splits_.features()[slot]] += gain;
            for (const std::uint32_t slot : zs) out[splits_.features()[slot]] -= loss;
        });
    }

    // The same for what pairs give together: `out` is features x features.
    void add_pairs(const Way* x, const Way* z, double weight, RowMajor<double> out) {
        for_each_leaf(x, z, [&](double value, const auto& xs, const auto& zs) {
            const std::size_t a = xs.size(), b = zs.size();
            if (a + b < 2) return;
            const double half = weight * value / 2;
            const double both = a > 1 ? half * beta_(a - 2, b) : 0.0;
            const double mixed = a > 0 && b > 0 ? half * beta_(a - 1, b - 1) : 0.0;
            const double none = b > 1 ? half * beta_(a, b - 2) : 0.0;
            add_product(xs, xs, both, out);
            add_product(xs, zs, -mixed, out);
            add_product(zs, xs, -mixed, out);
            add_product(zs, zs, none, out);
        });
    }

   private:
    enum Side : std::uint8_t { kBoth, kX, kZ };
    struct Branch {
        std::uint32_t split;
        Way way;  // of z, which is still to be walked
        std::uint32_t n_xs, n_zs;
    };
    using Slots = std::vector<std::uint32_t>;

    Child next(std::uint32_t s, const Way* x, const Way* z) {
        const Split& split = splits_[s];
        Side& side = sides_[split.slot];
        if (side == kZ) return split.child(z[s]);
        if (side == kBoth && x[s] != z[s]) {
            open_.push_back({s, z[s], static_cast<std::uint32_t>(xs_.size()), static_cast<std::uint32_t>(zs_.size())});
            side = kX;
            xs_.push_back(split.slot);
        }
        return split.child(x[s]);
    }

    Child turn_back() {
        const Branch branch = open_.back();
        open_.pop_back();
        undo(branch.n_xs, branch.n_zs);
        const Split& split = splits_[branch.split];
        sides_[split.slot] = kZ;
        zs_.push_back(split.slot);
        return split.child(branch.way);
    }

    void undo(std::size_t n_xs, std::size_t n_zs) {
        for (; xs_.size() > n_xs; xs_.pop_back()) sides_[xs_.back()] = kBoth;
        for (; zs_.size() > n_zs; zs_.pop_back()) sides_[zs_.back()] = kBoth;
    }

    void add_product(const Slots& rows, const Slots& columns, double weight, RowMajor<double> out) const {
        for (const std::uint32_t i : rows)
            for (const std::uint32_t j : columns)
                if (i != j) out(splits_.features()[i], splits_.features()[j]) += weight;
    }

    const Splits& splits_;
    std::span<const double> values_;
    const BetaWeights& beta_;
    std::vector<Side> sides_;
    Slots xs_, zs_;
    std::vector<Branch> open_;
};

// Adds to `out` (rows x features, or with `has_pairs` rows x features x features) the values for each row of x, averaged over the
// rows z of the background with the weights of `scales` (rows x background; none: all 1).
// O(trees (rows + background) splits + trees rows background leaves met).
template <class X>
void add_by_meetings(const Model& model, const X& x, const X& background, RowMajor<const double> scales, bool has_pairs,
                     RowMajor<double> out, Threads threads) {
    const std::size_t n = x.rows, m = background.rows, d = model.trees.n_features();
    const auto chunks = Chunks::of(n, 1, 1024);
    const BetaWeights beta;
    for (std::size_t i = 0; i < model.count(); ++i) {
        const std::size_t t = model.tree(i);
        const auto tree = model.trees.part(t);
        const Splits splits = model.splits(t);
        if (splits.size() == 0) continue;
        std::vector<Way> theirs(m * splits.size());
        parallel_for(m, threads, [&](std::size_t k) { find_ways(tree, splits, background, k, theirs.data() + k * splits.size()); });
        parallel_for(chunks.count, threads, [&](std::size_t chunk) {
            MeetingWalk walk(splits, model.of_tree(model.values, t), beta);
            std::vector<Way> mine(splits.size());
            for (std::size_t row = chunks.begin(chunk); row < chunks.end(chunk); ++row) {
                find_ways(tree, splits, x, row, mine.data());
                for (std::size_t k = 0; k < m; ++k) {
                    if (k % 64 == 0) checkpoint();
                    const double weight = (scales.data == nullptr ? 1.0 : scales(row, k)) / static_cast<double>(m);
                    const Way* z = theirs.data() + k * splits.size();
                    if (has_pairs)
                        walk.add_pairs(mine.data(), z, weight, {out.row(row), d, d});
                    else
                        walk.add(mine.data(), z, weight, out.row(row));
                }
            }
        });
    }
}

}  // namespace mercer::inspection
