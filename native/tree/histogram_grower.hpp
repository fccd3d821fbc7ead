// Grows one tree of second-order gradient boosting at a time, from histograms.
//
// A node owns a run of `order_`, the rows in it. To split it, the run is parted in place; the histograms of the child with fewer
// rows are built, those of the other are what is left of the parent's, and both are searched for their best splits while they are
// in the cache: one parallel loop over panels does all three.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <queue>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/rng.hpp"
#include "core/simd.hpp"
#include "tree/bins.hpp"
#include "tree/boosted_tree.hpp"
#include "tree/histogram.hpp"
#include "tree/histogram_splits.hpp"
#include "tree/node.hpp"
#include "tree/row_order.hpp"

namespace mercer::boosting {

enum class Growth { kLeafWise, kDepthWise };  // the best gain first, or level by level and the best gain first within one

struct GrowthRules {
    SplitRules split;
    double shrinkage = 1;
    std::size_t max_leaves = 0;  // 0: no limit
    std::size_t max_depth = 0;   // 0: no limit
    Growth growth = Growth::kLeafWise;
    double feature_share = 1;  // of the features allowed at a node, how many are drawn for its split
    std::uint64_t seed = 0;
    std::vector<std::int8_t> monotone;               // a column's sign; empty: none is constrained
    std::vector<std::vector<std::uint32_t>> groups;  // of columns, sorted, that may meet on one path; empty: all may
};

namespace detail {

// Histograms of a node, panel after panel; memory that a node gives back is used again.
template <class Value>
class HistogramPool {
   public:
    // Makes room for so many panels a node; what there was is given up where that changes.
    void start(std::size_t n_panels) {
        if (n_panels * kPanelBins != size_) blocks_.clear();
        size_ = n_panels * kPanelBins;
        free_.clear();
        for (std::size_t slot = blocks_.size(); slot-- > 0;) free_.push_back(slot);
    }

    std::size_t take() {
        if (free_.empty()) {
            blocks_.emplace_back(size_);
            return blocks_.size() - 1;
        }
        const std::size_t slot = free_.back();
        free_.pop_back();
        return slot;
    }
    void give_back(std::size_t slot) { free_.push_back(slot); }
    Value* panel(std::size_t slot, std::size_t p) const { return blocks_[slot].data() + p * kPanelBins; }

   private:
    std::size_t size_ = 0;
    std::vector<Aligned<Value>> blocks_;
    std::vector<std::size_t> free_;
};

}  // namespace detail

template <class Entry>
class HistogramGrower {
   public:
    // `used_rows` are those to learn from, rising; none given: all.
    HistogramGrower(const BinnedRows& binned, GrowthRules rules, std::vector<std::uint32_t> used_rows)
        : binned_(binned),
          rules_(std::move(rules)),
          packed_(binned.n_rows()),
          n_gathered_(used_rows.empty() ? binned.n_rows() / 2 + 1 : used_rows.size()),
          order_(binned.n_rows(), std::move(used_rows)) {}
    HistogramGrower(const HistogramGrower&) = delete;
    HistogramGrower& operator=(const HistogramGrower&) = delete;

    // Grows the tree of this number from the derivatives of all rows. O(n d) a level at most.
    void grow(std::span<const double> gradients, std::span<const double> hessians, std::uint64_t tree_number, Threads threads) {
        threads_ = threads;
        tree_number_ = tree_number;
        packed_.pack(gradients, hessians, threads);
        while (gathered_.size() < packed_.n_levels()) gathered_.emplace_back(n_gathered_);
        pool_.start(n_panels());
        nodes_.clear();
        tree_ = {};
        open_ = {};
        make_root();
        std::size_t n_leaves = 1;
        while (!open_.empty() && (rules_.max_leaves == 0 || n_leaves < rules_.max_leaves)) {
            const auto node = static_cast<std::size_t>(-std::get<2>(open_.top()));
            open_.pop();
            ++n_leaves;
            split(node, n_leaves == rules_.max_leaves);
        }
        if (nodes_.size() == 1) order_.fill();
        write_tree();
    }

    const BoostedTree& tree() const { return tree_; }
    std::size_t n_rows() const { return binned_.n_rows(); }

    void add_leaf_values(std::span<double> raw, Threads threads) const {
        boosting::add_leaf_values(tree_, {order_.data(), order_.size()}, raw, threads);
    }
    void renew_leaves(std::span<const double> y, std::span<const double> raw, std::span<const double> weights, double quantile,
                      Threads threads) {
        boosting::renew_leaves(tree_, {order_.data(), order_.size()}, y, raw, weights, quantile, rules_.shrinkage, threads);
    }

   private:
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    using Value = typename Entry::Word;

    struct Grown {  // a node of the tree as it grows
        std::size_t begin = 0;
        std::size_t end = 0;
        std::size_t depth = 0;
        Sums sums;
        Bounds bounds;
        double value = 0;
        double change = 0;
        Split split;
        std::size_t slot = kNone;  // of its histograms
        std::size_t left = 0;      // 0: a leaf
        std::size_t right = 0;
        std::vector<std::uint32_t> groups;  // those that all columns on the way here belong to

        std::size_t n_rows() const { return end - begin; }
    };

    // Of the histograms of a node: those of all columns, level after level.
    std::size_t n_panels() const { return binned_.n_panels() * packed_.n_levels(); }

    // The rows of a node, or null where they are 0, 1, 2, ….
    const std::uint32_t* rows_of(const Grown& node) const { return node.depth > 0 ? order_.data() : order_.root(); }

    void make_root() {
        Grown root;
        root.end = order_.size();
        root.groups.resize(rules_.groups.size());
        std::iota(root.groups.begin(), root.groups.end(), 0u);
        nodes_.push_back(std::move(root));
        nodes_[0].slot = pool_.take();
        gather(nodes_[0]);
        build(nodes_[0]);
        if (binned_.n_panels() > 0) nodes_[0].sums = total_of(nodes_[0]);
        settle(nodes_[0]);
        if (can_split(nodes_[0])) {
            search({0, kNone}, {});
            offer(0);
        }
    }

    ColumnHistogram<Entry> histogram_of(const Grown& node, std::size_t j) const {
        ColumnHistogram<Entry> histogram{packed_.units(), {}};
        for (std::size_t level = 0; level < packed_.n_levels(); ++level)
            histogram.words[level] =
                pool_.panel(node.slot, level * binned_.n_panels() + j / kPanelColumns) + j % kPanelColumns * kHistogramBins;
        return histogram;
    }

    Sums total_of(const Grown& node) const {
        return histogram_of(node, 0).sum(0, binned_.column(0).n_used(), [](std::size_t) { return true; });
    }

    void settle(Grown& node) const {
        node.value = leaf_value(node.sums, rules_.split.l2, node.bounds);
        node.change = leaf_change(node.sums, rules_.split.l2, node.value);
    }

    bool can_split(const Grown& node) const {
        return static_cast<double>(node.n_rows()) >= 2 * rules_.split.least_rows && node.n_rows() >= 2 &&
               node.sums.hessian >= 2 * kLeastHessian && (rules_.max_depth == 0 || node.depth < rules_.max_depth);
    }

    // Puts a node with its best split among those to be split, or gives up its histograms.
    void offer(std::size_t n) {
        const Grown& node = nodes_[n];
        if (!(node.split.gain > 0)) return release(n);
        const auto depth = static_cast<double>(node.depth);
        double level = 0;
        if (rules_.growth == Growth::kDepthWise) {
            level = -depth;
        } else if (rules_.max_leaves == 0) {
            level = depth;  // all will be split: the deepest first, so that few histograms are alive
        }
        // Gains that agree to single precision are equal, and the older node comes first: rounding must not decide.
        open_.emplace(level, static_cast<float>(node.split.gain), -static_cast<std::int64_t>(n));
    }
    void release(std::size_t n) {
        if (nodes_[n].slot != kNone) pool_.give_back(nodes_[n].slot);
        nodes_[n].slot = kNone;
    }

    void split(std::size_t n, bool is_last) {
        const std::size_t middle = part_rows(nodes_[n]);
        const std::size_t left = add_child(n, nodes_[n].begin, middle, true);
        const std::size_t right = add_child(n, middle, nodes_[n].end, false);
        nodes_[n].left = left;
        nodes_[n].right = right;
        tree_.gain += nodes_[n].split.gain;
        std::size_t small = left;
        std::size_t large = right;
        if (nodes_[large].n_rows() < nodes_[small].n_rows()) std::swap(small, large);
        const bool wants_large = !is_last && can_split(nodes_[large]);
        const bool wants_small = !is_last && can_split(nodes_[small]);
        if (!wants_large && !wants_small) return release(n);
        nodes_[large].slot = std::exchange(nodes_[n].slot, kNone);
        nodes_[small].slot = pool_.take();
        search({wants_small ? small : kNone, wants_large ? large : kNone}, {small, large});
        for (const auto& [child, is_wanted] : {std::pair{small, wants_small}, std::pair{large, wants_large}}) {
            if (is_wanted) {
                offer(child);
            } else {
                release(child);
            }
        }
    }

    std::size_t add_child(std::size_t n, std::size_t begin, std::size_t end, bool is_left) {
        const Grown& parent = nodes_[n];
        Grown child;
        child.begin = begin;
        child.end = end;
        child.depth = parent.depth + 1;
        child.sums = is_left ? parent.split.left : parent.split.right;
        child.bounds = parent.bounds;
        const int sign = rules_.monotone.empty() ? 0 : rules_.monotone[parent.split.feature];
        if (sign != 0) {  // neither side may come to pass the middle between the two
            const double l2 = rules_.split.l2;
            const double middle =
                0.5 * (leaf_value(parent.split.left, l2, parent.bounds) + leaf_value(parent.split.right, l2, parent.bounds));
            ((sign > 0) == is_left ? child.bounds.high : child.bounds.low) = middle;
        }
        for (const std::uint32_t g : parent.groups)
            if (std::binary_search(rules_.groups[g].begin(), rules_.groups[g].end(), parent.split.feature))
                child.groups.push_back(g);
        settle(child);
        nodes_.push_back(std::move(child));
        return nodes_.size() - 1;
    }

    // Parts a node's rows by its split. Returns where the right side begins.
    std::size_t part_rows(const Grown& node) {
        const Split& split = node.split;
        const ColumnBins& column = binned_.column(split.feature);
        std::array<std::uint8_t, kHistogramBins> is_left{};
        for (std::size_t b = 0; b <= column.n_bins; ++b) is_left[b] = split.sends_left(b, column.n_bins) ? 1 : 0;
        return order_.part(node.begin, node.end, rows_of(node), binned_.bins_of(split.feature), is_left, threads_);
    }

    // In how many parts the rows of a node are counted: several where there are more threads than panels. The number changes no
    // bit, because whole numbers add up to the same in any order.
    std::size_t n_parts(const Grown& node) const {
        constexpr std::size_t kLeastRows = 32768;
        const std::size_t n_panels = std::max<std::size_t>(binned_.n_panels(), 1);
        const std::size_t wanted =
            threads_.count < 2 ? 1 : (2 * static_cast<std::size_t>(threads_.count) + n_panels - 1) / n_panels;
        return std::clamp<std::size_t>(node.n_rows() / kLeastRows, 1, wanted);
    }

    // Copies the derivatives of a node's rows into their order, for all panels to read in turn.
    void gather(const Grown& node) {
        const std::uint32_t* rows = rows_of(node);
        if (rows == nullptr) return;
        const auto chunks = Chunks::of(node.n_rows(), 8192, 256);
        parallel_for(chunks.count, threads_.for_work(static_cast<double>(node.n_rows()) * 2), [&](std::size_t c) {
            const std::size_t last = node.end - 1;
            for (std::size_t level = 0; level < packed_.n_levels(); ++level) {
                const Value* words = packed_.words(level);
                Value* gathered = gathered_[level].data();
                for (std::size_t i = chunks.begin(c); i < chunks.end(c); ++i) {
                    __builtin_prefetch(&words[rows[std::min(node.begin + i + kRowsAhead, last)]]);
                    gathered[i] = words[rows[node.begin + i]];
                }
            }
        });
    }

    // Builds the histograms of a node from its rows, in parts.
    void build(const Grown& node) {
        const Chunks chunks{node.n_rows(), n_parts(node)};
        if (!parts_.empty() && parts_[0].size() != n_panels() * kPanelBins) parts_.clear();
        while (parts_.size() + 1 < chunks.count) parts_.emplace_back(n_panels() * kPanelBins);
        const Threads useful = threads_.for_work(static_cast<double>(node.n_rows()) * static_cast<double>(n_panels()) * 16);
        const auto part_of = [&](std::size_t part, std::size_t p) {
            return part == 0 ? pool_.panel(node.slot, p) : parts_[part - 1].data() + p * kPanelBins;
        };
        parallel_for(n_panels() * chunks.count, useful, [&](std::size_t task) {
            const std::size_t part = task / n_panels();
            build_panel(node, task % n_panels(), chunks.begin(part), chunks.end(part), part_of(part, task % n_panels()));
        });
        if (chunks.count == 1) return;
        parallel_for(n_panels(), useful, [&](std::size_t p) {
            Value* sum = pool_.panel(node.slot, p);
            for_each_used_bin(binned_, p % binned_.n_panels(), [&](std::size_t b, std::size_t e) {
                for (std::size_t part = 1; part < chunks.count; ++part)
                    for (std::size_t i = b; i < e; ++i) sum[i] += part_of(part, p)[i];
            });
        });
    }
    // Counts rows [begin, end) of a node, in one panel of one level.
    void build_panel(const Grown& node, std::size_t p, std::size_t begin, std::size_t end, Value* histogram) const {
        const std::size_t level = p / binned_.n_panels();
        const std::size_t of_columns = p % binned_.n_panels();
        for_each_used_bin(binned_, of_columns,
                          [&](std::size_t b, std::size_t e) { std::fill(histogram + b, histogram + e, Value{}); });
        const std::uint32_t* rows = rows_of(node);
        const std::size_t first = node.begin + begin;
        const Value* words = rows == nullptr ? packed_.words(level) + first : gathered_[level].data() + begin;
        add_to_histogram<Entry>(binned_, of_columns, words, rows == nullptr ? nullptr : rows + first, first, end - begin,
                                histogram);
    }

    // A pair of children whose histograms are to be made first: the first's from its rows, the second's from the parent's.
    struct Siblings {
        std::size_t small = kNone;
        std::size_t large = kNone;
    };

    // Finds the best splits of up to two nodes.
    void search(std::array<std::size_t, 2> wanted, Siblings siblings) {
        std::array<std::vector<std::uint8_t>, 2> allowed;
        std::array<std::vector<Split>, 2> found;
        for (std::size_t k = 0; k < 2; ++k) {
            if (wanted[k] == kNone) continue;
            allowed[k] = allowed_features(wanted[k]);
            found[k].resize(binned_.n_panels());
        }
        const bool is_shared = siblings.small != kNone && n_parts(nodes_[siblings.small]) > 1;
        if (siblings.small != kNone) gather(nodes_[siblings.small]);
        if (is_shared) build(nodes_[siblings.small]);
        const std::size_t n_rows = siblings.small == kNone || is_shared ? 0 : nodes_[siblings.small].n_rows();
        const auto work = static_cast<double>(n_panels()) * (static_cast<double>(n_rows) * 16 + 2 * kPanelBins * 8);
        parallel_for(binned_.n_panels(), threads_.for_work(work), [&](std::size_t p) {
            for (std::size_t in_level = p; in_level < n_panels() && siblings.small != kNone; in_level += binned_.n_panels()) {
                const Grown& small = nodes_[siblings.small];
                if (!is_shared) build_panel(small, in_level, 0, small.n_rows(), pool_.panel(small.slot, in_level));
                if (wanted[1] != kNone) subtract(siblings, in_level);
            }
            for (std::size_t k = 0; k < 2; ++k)
                if (wanted[k] != kNone) search_panel(nodes_[wanted[k]], p, allowed[k], found[k][p]);
        });
        for (std::size_t k = 0; k < 2; ++k) {
            if (wanted[k] == kNone) continue;
            Grown& node = nodes_[wanted[k]];
            for (const Split& split : found[k])
                if (candidate(node).is_better(split.gain, node.split.gain, rules_.split)) node.split = split;
            if (node.split.gain > 0) add_up_sides(node);
        }
    }

    void subtract(Siblings siblings, std::size_t p) {
        const Value* small = pool_.panel(nodes_[siblings.small].slot, p);
        Value* large = pool_.panel(nodes_[siblings.large].slot, p);
        for_each_used_bin(binned_, p % binned_.n_panels(), [&](std::size_t b, std::size_t e) {
            for (std::size_t i = b; i < e; ++i) large[i] -= small[i];
        });
    }

    detail::Candidate candidate(const Grown& node) const { return {node.sums, node.bounds, node.value, node.change}; }

    // The sums of both sides of a node's split, each from its own bins: a difference from the node's would carry the rounding of
    // what is on the other side, however large that is.
    void add_up_sides(Grown& node) const {
        Split& split = node.split;
        const ColumnBins& column = binned_.column(split.feature);
        const auto histogram = histogram_of(node, split.feature);
        const auto goes_left = [&](std::size_t b) { return split.sends_left(b, column.n_bins); };
        split.left = histogram.sum(0, column.n_used(), goes_left);
        split.right = histogram.sum(0, column.n_used(), [&](std::size_t b) { return !goes_left(b); });
    }

    void search_panel(const Grown& node, std::size_t p, const std::vector<std::uint8_t>& allowed, Split& best) {
        detail::Scan scan;
        const detail::Candidate sought = candidate(node);
        const std::size_t first = p * kPanelColumns;
        for (std::size_t j = first; j < std::min(first + kPanelColumns, binned_.n_columns()); ++j) {
            const ColumnBins& column = binned_.column(j);
            if ((!allowed.empty() && allowed[j] == 0) || (column.n_bins < 2 && !column.has_missing)) continue;
            const auto histogram = histogram_of(node, j);
            const auto feature = static_cast<std::uint32_t>(j);
            if (column.is_categorical) {
                find_category_split(histogram, column, sought, rules_.split, feature, best);
            } else {
                const int sign = rules_.monotone.empty() ? 0 : rules_.monotone[j];
                find_number_split(histogram, column, sought, rules_.split, sign, feature, scan, best);
            }
        }
    }

    // Which columns a node may split on; empty: all. Draws depend on the seed, the tree and the node alone.
    std::vector<std::uint8_t> allowed_features(std::size_t n) const {
        if (rules_.groups.empty() && rules_.feature_share >= 1) return {};
        std::vector<std::uint8_t> is_candidate(binned_.n_columns(), rules_.groups.empty() ? 1 : 0);
        for (const std::uint32_t g : nodes_[n].groups)
            for (const std::uint32_t j : rules_.groups[g]) is_candidate[j] = 1;
        std::vector<std::uint32_t> candidates;
        for (std::uint32_t j = 0; j < binned_.n_columns(); ++j)
            if (is_candidate[j] != 0) candidates.push_back(j);
        const auto wanted = static_cast<std::size_t>(std::ceil(rules_.feature_share * static_cast<double>(candidates.size())));
        Philox random(rules_.seed, (tree_number_ << 32) + n);
        std::vector<std::uint8_t> allowed(binned_.n_columns());
        for (std::size_t i = 0; i < std::min(std::max<std::size_t>(wanted, 1), candidates.size()); ++i) {
            if (rules_.feature_share < 1)
                std::swap(candidates[i], candidates[i + random.below(static_cast<std::uint32_t>(candidates.size() - i))]);
            allowed[candidates[i]] = 1;
        }
        return allowed;
    }

    // Writes the nodes, parents first, left before right.
    void write_tree() {
        std::vector<std::pair<std::size_t, std::size_t>> waiting{{0, kNone}};  // a node, and whose right child it is
        while (!waiting.empty()) {
            const auto [n, parent] = waiting.back();
            waiting.pop_back();
            const Grown& grown = nodes_[n];
            const std::size_t at = tree_.nodes.size();
            if (parent != kNone) tree_.nodes[parent].right = static_cast<std::uint32_t>(at);
            tree_.change.push_back(grown.change);
            tree_.hessian.push_back(grown.sums.hessian);
            tree_.n_rows.push_back(static_cast<std::int64_t>(grown.n_rows()));
            if (grown.left == 0) {
                tree_.nodes.push_back({rules_.shrinkage * grown.value, 0, 0});
                tree_.leaves.push_back({at, grown.begin, grown.end, grown.bounds});
                continue;
            }
            tree_.nodes.push_back(written_split(grown));
            waiting.emplace_back(grown.right, at);
            waiting.emplace_back(grown.left, kNone);
        }
    }

    Node written_split(const Grown& grown) {
        const Split& split = grown.split;
        const ColumnBins& column = binned_.column(split.feature);
        const bool is_left_larger = nodes_[grown.left].n_rows() > nodes_[grown.right].n_rows();
        Node node;
        node.tag = split.feature;
        if (column.has_missing ? split.is_missing_left : is_left_larger) node.tag |= Node::kMissingLeft;
        if (!split.is_categorical) {
            node.threshold = column.threshold(split.bin);
            return node;
        }
        node.tag |= Node::kCategorical | (is_left_larger ? Node::kOtherLeft : 0u);
        node.threshold = static_cast<double>(tree_.words.size());
        CategorySet set = split.categories;
        set[column.n_bins / 32] &= ~(Word{1} << (column.n_bins % 32));  // missing values have a flag of their own
        const std::size_t n_words = (column.n_bins + 31) / 32;
        tree_.words.push_back(static_cast<Word>(n_words));
        tree_.words.insert(tree_.words.end(), set.begin(), set.begin() + static_cast<std::ptrdiff_t>(n_words));
        return node;
    }

    const BinnedRows& binned_;
    GrowthRules rules_;
    PackedDerivatives<Entry> packed_;
    std::size_t n_gathered_;                // the most rows of a node to gather: the root's, or half of all
    std::vector<Aligned<Value>> gathered_;  // the derivatives of the rows of one node, in their order, level after level
    RowOrder order_;
    detail::HistogramPool<Value> pool_;
    std::vector<Aligned<Value>> parts_;  // histograms of parts of a node's rows, where threads share a panel
    std::uint64_t tree_number_ = 0;
    Threads threads_;
    std::vector<Grown> nodes_;
    std::priority_queue<std::tuple<double, float, std::int64_t>> open_;
    BoostedTree tree_;
};

}  // namespace mercer::boosting
