// Replaced features of trees with few leaves, without walking them: as tree/few_leaves.hpp, where the splits rule out leaves in
// whatever order. What the splits on other features leave is found once, and those on the replaced ones speak for each alternative.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "inspection/alternatives.hpp"
#include "inspection/replacement.hpp"
#include "tree/few_leaves.hpp"

namespace mercer::inspection::detail {

template <Real T>
class ReplacedFewLeaves {
   public:
    ReplacedFewLeaves(const Trees& trees, const LeafValues& leaves, const Replacement<T>& replacement)
        : leaves_(leaves), replacement_(replacement), place_(replacement.group.size()) {
        for (std::size_t f = 0; f < place_.size(); ++f)
            if (replacement.group[f] != kNoGroup) place_[f] = n_places_++;
        for (std::size_t t = leaves.range.first; t < leaves.range.last; ++t) add(trees.part(t).nodes, trees.n_features());
    }

    // As replaced_sums.
    void write_sums(Matrix<const T> x, RowMajor<double> out, Threads threads) const {
        const auto work = static_cast<double>(x.rows) * static_cast<double>(trees_.size() * (replacement_.n_slots() + 20));
        const auto shares = Chunks::of((x.rows + kRows - 1) / kRows, 1, 256);
        parallel_for(shares.count, threads.for_work(work), [&](std::size_t share) {
            Block block(x.cols, n_places_ * replacement_.n_alternatives, replacement_.n_slots() * leaves_.n_outputs);
            for (std::size_t b = shares.begin(share); b < shares.end(share); ++b) {
                const std::size_t begin = b * kRows;
                const std::size_t end = std::min(begin + kRows, x.rows);
                take(x, begin, end, block);
                for (std::size_t t = 0; t < trees_.size(); ++t) {
                    checkpoint();
                    add_tree(trees_[t], t % leaves_.n_outputs, block);
                }
                write(block, begin, end, out);
            }
        });
    }

   private:
    using S = Simd<T>;
    using Index = typename S::Index;
    using Bits = std::make_unsigned_t<Index>;
    using Words = typename S::Indices;
    static constexpr std::size_t kVectors = 4;
    static constexpr std::size_t kRows = kVectors * S::kLanes;  // of a block

    struct Test {
        T threshold;
        Index ruled_out;  // the leaves that a row on the right cannot reach
        bool is_missing_left;
    };
    struct Used {  // a feature that a tree splits on
        std::size_t feature;
        std::size_t begin;  // of its tests
        std::size_t end;
    };
    struct Prepared {
        std::size_t begin;  // of its features
        std::size_t end;
        std::size_t values;
    };
    struct Open {
        Words words[kVectors];
    };

    // Columns of a block of rows, those of all alternatives, and the sums: kRows values each, one after another.
    struct Block {
        Block(std::size_t n_columns, std::size_t n_others, std::size_t n_sums)
            : x(n_columns * kRows), other(n_others * kRows), sums(n_sums * kRows) {
            std::fill_n(x.data(), x.size(), T{0});
            std::fill_n(other.data(), other.size(), T{0});
        }
        Aligned<T> x;
        Aligned<T> other;
        Aligned<double> sums;
        std::vector<Open> open;           // after the splits on each feature of a tree
        std::vector<std::int32_t> group;  // that a tree has met
    };

    void add(std::span<const Node> nodes, std::size_t n_features) {
        const auto n_leaves = tree::detail::leaves_before(nodes);
        std::vector<std::vector<Test>> of_feature(n_features);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const Node& node = nodes[i];
            if (node.is_leaf()) continue;
            const auto ruled_out = static_cast<Index>(tree::detail::left_leaves<Bits>(nodes, n_leaves, i));
            of_feature[node.feature()].push_back(
                {tree::detail::FewLeaves<T>::rounded_down(node.threshold), ruled_out, (node.tag & Node::kMissingLeft) != 0});
        }
        Prepared tree{used_.size(), 0, values_.size()};
        for (std::size_t f = 0; f < n_features; ++f) {
            if (of_feature[f].empty()) continue;
            used_.push_back({f, tests_.size(), tests_.size() + of_feature[f].size()});
            tests_.insert(tests_.end(), of_feature[f].begin(), of_feature[f].end());
        }
        tree.end = used_.size();
        for (const Node& node : nodes)
            if (node.is_leaf()) values_.push_back(node.threshold);
        trees_.push_back(tree);
    }

    void take(Matrix<const T> x, std::size_t begin, std::size_t end, Block& block) const {
        const std::size_t n = replacement_.n_alternatives;
        for (std::size_t f = 0; f < x.cols; ++f) {
            for (std::size_t i = begin; i < end; ++i) block.x.data()[f * kRows + i - begin] = x(i, f);
            if (replacement_.group[f] == kNoGroup) continue;
            for (std::size_t r = 0; r < n; ++r)
                for (std::size_t i = begin; i < end; ++i)
                    block.other.data()[(place_[f] * n + r) * kRows + i - begin] = replacement_.value(r, i, x.rows, f);
        }
        std::fill_n(block.sums.data(), block.sums.size(), 0.0);
    }

    // Rules out what the splits on a feature do, for a block of its values.
    void speak(const Used& used, const T* values, Open& open) const {
        for (std::size_t k = used.begin; k < used.end; ++k) {
            const Test& test = tests_[k];
            const auto threshold = S::broadcast(test.threshold);
            const auto ruled_out = S::broadcast_index(test.ruled_out);
#pragma GCC unroll 4
            for (std::size_t v = 0; v < kVectors; ++v) {
                const auto value = S::load(values + v * S::kLanes);
                const Words is_right = test.is_missing_left ? Words(value > threshold) : Words(~(value <= threshold));
                open.words[v] &= ~(is_right & ruled_out);
            }
        }
    }

    // Adds the values of the leaves that are left to sums of kRows.
    static void add_leaves(const Open& open, const double* values, double* sums) {
        alignas(64) Bits leaves[kRows];
        std::memcpy(leaves, open.words, sizeof leaves);
        for (std::size_t l = 0; l < kRows; ++l) sums[l] += values[std::countr_zero(leaves[l])];
    }

    static Open all_open() {
        Open open;
        for (auto& words : open.words) words = S::broadcast_index(-1);
        return open;
    }

    void add_tree(const Prepared& tree, std::size_t output, Block& block) const {
        const std::size_t n = replacement_.n_alternatives;
        const double* values = values_.data() + tree.values;
        const std::span<const Used> used(used_.data() + tree.begin, tree.end - tree.begin);
        block.open.clear();
        block.group.assign(replacement_.n_groups, 0);
        for (const Used& each : used) {
            block.open.push_back(all_open());
            speak(each, block.x.data() + each.feature * kRows, block.open.back());
            const std::int32_t group = replacement_.group[each.feature];
            if (group != kNoGroup) block.group[static_cast<std::size_t>(group)] = 1;
        }
        double own[kRows] = {};
        add_leaves(without(used, kNoGroup - 1, block), values, own);
        for (std::size_t g = 0; g < replacement_.n_groups; ++g) {
            double* sums = block.sums.data() + (output * replacement_.n_groups + g) * n * kRows;
            if (block.group[g] == 0) {
                for (std::size_t r = 0; r < n; ++r)
                    for (std::size_t l = 0; l < kRows; ++l) sums[r * kRows + l] += own[l];
                continue;
            }
            const auto group = static_cast<std::int32_t>(g);
            const Open rest = without(used, group, block);
            for (std::size_t r = 0; r < n; ++r) {
                Open open = rest;
                for (const Used& each : used)
                    if (replacement_.group[each.feature] == group)
                        speak(each, block.other.data() + (place_[each.feature] * n + r) * kRows, open);
                add_leaves(open, values, sums + r * kRows);
            }
        }
    }

    // What the splits on all features but those of a group leave.
    Open without(std::span<const Used> used, std::int32_t group, const Block& block) const {
        Open open = all_open();
        for (std::size_t u = 0; u < used.size(); ++u) {
            if (replacement_.group[used[u].feature] == group) continue;
            for (std::size_t v = 0; v < kVectors; ++v) open.words[v] &= block.open[u].words[v];
        }
        return open;
    }

    void write(const Block& block, std::size_t begin, std::size_t end, RowMajor<double> out) const {
        const std::size_t n_slots = replacement_.n_slots();
        const std::size_t n_outputs = leaves_.n_outputs;
        for (std::size_t s = 0; s < n_slots; ++s)
            for (std::size_t k = 0; k < n_outputs; ++k)
                for (std::size_t i = begin; i < end; ++i)
                    out(s, i * n_outputs + k) = block.sums.data()[(k * n_slots + s) * kRows + i - begin];
    }

    const LeafValues& leaves_;
    const Replacement<T>& replacement_;
    std::vector<std::size_t> place_;  // of each replaced feature among these
    std::size_t n_places_ = 0;
    std::vector<Test> tests_;
    std::vector<Used> used_;
    std::vector<double> values_;
    std::vector<Prepared> trees_;
};

}  // namespace mercer::inspection::detail
