// Grows one tree by exact splits. Every feature keeps the node's rows in sorted order; a split partitions all of these orders and
// never sorts again: O(n d) a level. Threads share the features of a large node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/rng.hpp"
#include "tree/categories.hpp"
#include "tree/columns.hpp"
#include "tree/growth.hpp"
#include "tree/split.hpp"

namespace mercer::tree {

template <class Criterion>
class Grower final : private GrowthBy<Criterion, tree::Split, Scratch> {
   public:
    // Rows of weight 0 take no part. `directions` is empty, or has -1, 0 or +1 for each feature.
    Grower(const RankedColumns& columns, const Criterion& criterion, std::span<const double> weights,
           std::span<const std::int8_t> directions, const Limits& limits, Draw draw, Threads threads)
        : Base(criterion, directions, limits, threads), columns_(columns), draw_(draw), n_rows_(columns.n_rows()) {
        if (!weights.empty()) {
            const auto n_zero = static_cast<std::size_t>(std::count(weights.begin(), weights.end(), 0.0));
            n_rows_ -= n_zero;
            if (n_zero > 0 && n_rows_ > 0) keep_weighted(weights);
        }
        goes_left_.resize(columns.n_rows());
    }

    Grown grow() {
        require(n_rows_ > 0 && columns_.count() > 0, "a tree needs rows and features");
        return this->grow_from(rows(0, 0, n_rows_));
    }

   private:
    using Base = GrowthBy<Criterion, tree::Split, Scratch>;
    using Split = tree::Split;
    using Base::criterion_;
    using Base::directions_;
    using Base::limits_;
    using Base::threads_;
    using typename Base::Children;
    using typename Base::Lanes;
    using typename Base::Task;

    // The rows that take part, in the order of every feature.
    void keep_weighted(std::span<const double> weights) {
        allocate_orders();
        parallel_for(columns_.count(), threads_.for_work(static_cast<double>(columns_.n_rows() * columns_.count())),
                     [&](std::size_t f) {
                         Row* out = order(f);
                         std::size_t n = 0;
                         for (const Row row : columns_[f].order) {
                             out[n] = row;
                             n += weights[row] != 0;
                             if (n == n_rows_) break;
                         }
                     });
    }

    void allocate_orders() { orders_.emplace(n_rows_ * columns_.count()); }
    Row* order(std::size_t feature) const { return orders_->data() + feature * n_rows_; }
    std::span<const Row> rows(std::size_t feature, std::size_t begin, std::size_t end) const {
        if (!orders_) return columns_[feature].order.subspan(begin, end - begin);  // nothing was split yet
        return {order(feature) + begin, end - begin};
    }

    // ---- searching

    Ordered ordered(std::size_t f, const Task& task) const {
        const Column& column = columns_[f];
        Ordered out{.rows = rows(f, task.begin, task.end)};
        if (column.has_ties() || column.is_categorical) out.codes = column.codes.data();
        out.n_known = out.rows.size();
        if (column.n_missing > 0) {
            const auto is_known = [&](Row row) { return column.codes[row] != column.missing_code(); };
            out.n_known =
                static_cast<std::size_t>(std::partition_point(out.rows.begin(), out.rows.end(), is_known) - out.rows.begin());
        }
        if (!directions_.empty()) out.direction = directions_[f];
        return out;
    }

    bool is_constant(std::size_t f, const Task& task) const {
        const auto sorted = rows(f, task.begin, task.end);
        return columns_[f].codes[sorted.front()] == columns_[f].codes[sorted.back()];
    }

    // The features to look at: those that vary in the node, of all or of a draw that goes on until it has one.
    void choose_features(const Task& task, std::vector<std::size_t>& chosen) const {
        const std::size_t d = columns_.count();
        chosen.resize(d);
        std::iota(chosen.begin(), chosen.end(), std::size_t{0});
        std::size_t n_chosen = 0;
        if (draw_.max_features >= d) {
            for (std::size_t f = 0; f < d; ++f)
                if (!is_constant(f, task)) chosen[n_chosen++] = f;
            chosen.resize(n_chosen);
            return;
        }
        Philox random(draw_.seed, task.key);
        for (std::size_t drawn = 0; drawn < d && (drawn < draw_.max_features || n_chosen == 0); ++drawn) {
            const std::size_t other = drawn + random.below(static_cast<std::uint32_t>(d - drawn));
            std::swap(chosen[drawn], chosen[other]);
            if (!is_constant(chosen[drawn], task)) std::swap(chosen[n_chosen++], chosen[drawn]);
        }
        chosen.resize(n_chosen);
    }

    // The best split by one feature. Where it has few ties, the cut may part one unless ties count.
    Split look(std::size_t f, const Task& task, bool ties_count, Scratch& scratch) const {
        Ordered feature = ordered(f, task);
        if (!ties_count && columns_[f].has_few_ties()) feature.codes = nullptr;
        Split split;
        if (columns_[f].is_categorical) {
            split = split_categories(criterion_, feature, task.summary, limits_, scratch);
        } else {
            split.at = criterion_.scan(feature, task.summary, task.bounds, this->is_bounded(), limits_, scratch);
        }
        split.feature = f;
        return split;
    }

    // The best split of a node; of equal ones that of the feature that was looked at first. Few ties are looked for at the end,
    // since codes lie all over the memory: the best of all cuts, if it parts no tie, is the best of those that do not.
    Split find(const Task& task, Lanes lanes) const override {
        choose_features(task, lanes.front().features);
        Split split = find(task, false, lanes);
        const bool parts_tie = split.at.n_left > 0 && columns_[split.feature].has_few_ties() &&
                               !ordered(split.feature, task).is_border(split.at.n_left);
        return parts_tie ? find(task, true, lanes) : split;
    }

    Split find(const Task& task, bool ties_count, Lanes lanes) const {
        const std::vector<std::size_t>& chosen = lanes.front().features;
        std::vector<Split> found(lanes.size());
        this->for_lanes(lanes, [&](std::size_t lane, Scratch& scratch) {
            for (std::size_t k = lane; k < chosen.size(); k += lanes.size()) {
                Split split = look(chosen[k], task, ties_count, scratch);
                split.turn = k;
                if (split.is_better(found[lane])) found[lane] = std::move(split);
            }
        });
        for (std::size_t lane = 1; lane < lanes.size(); ++lane)
            if (found[lane].is_better(found[0])) found[0] = std::move(found[lane]);
        return std::move(found[0]);
    }

    // ---- splitting

    Node node_of(const Split& split, const Task& task, std::vector<Word>& words) const override {
        const Column& column = columns_[split.feature];
        Node node{.tag = static_cast<std::uint32_t>(split.feature), .right = 1};
        if (column.is_categorical) {
            node.tag |= Node::kCategorical;
            node.threshold = static_cast<double>(words.size());
            std::vector<std::size_t> categories;
            for (const Code code : split.left_codes) categories.push_back(column.categories[code]);
            append_set(categories, words);
        } else {
            const Ordered feature = ordered(split.feature, task);
            node.threshold = middle_of(split.feature, feature, split.at.n_left);
        }
        return node;
    }

    // Half way between the values on both sides of a cut; infinite where all known values go left.
    double middle_of(std::size_t j, const Ordered& feature, std::size_t n_left) const {
        if (n_left == feature.n_known) return kInfinity;
        return middle_between(columns_.value(feature.rows[n_left - 1], j), columns_.value(feature.rows[n_left], j));
    }

    // Marks the rows that go left. Returns how many they are.
    std::size_t mark(const Split& split, const Ordered& feature) {
        const Column& column = columns_[split.feature];
        if (column.is_categorical) {
            std::vector<std::uint8_t> is_left(column.n_distinct + 1, 0);
            for (const Code code : split.left_codes) is_left[code] = 1;
            is_left[column.missing_code()] = split.at.is_missing_left;
            for (const Row row : feature.rows) goes_left_[row] = is_left[column.codes[row]];
            return split.at.n_left;
        }
        for (std::size_t i = 0; i < feature.n_known; ++i) goes_left_[feature.rows[i]] = i < split.at.n_left;
        for (std::size_t i = feature.n_known; i < feature.rows.size(); ++i) goes_left_[feature.rows[i]] = split.at.is_missing_left;
        return split.at.n_left + (split.at.is_missing_left ? feature.n_missing() : 0);
    }

    // Moves the marked rows among [begin, end) of an order to its front, keeping the order on both sides. Without branches: which
    // way a row goes cannot be foretold.
    void partition(const Row* from, Row* to, std::size_t n, Row* space) const {
        const std::uint8_t* goes_left = goes_left_.data();
        Row* left = to;
        Row* right = space;
        for (std::size_t i = 0; i < n; ++i) {
            const Row row = from[i];
            const std::size_t is_left = goes_left[row];
            *left = row;
            *right = row;
            left += is_left;
            right += 1 - is_left;
        }
        std::copy(space, right, left);
    }

    void partition_all(const Task& task, Lanes lanes) {
        const bool is_first = !orders_;
        if (is_first) allocate_orders();
        this->for_lanes(lanes, [&](std::size_t lane, Scratch& scratch) {
            for (std::size_t f = lane; f < columns_.count(); f += lanes.size()) {
                const Row* from = is_first ? columns_[f].order.data() : order(f);
                partition(from + task.begin, order(f) + task.begin, task.size(), scratch.rows.data());
            }
        });
    }

    // Splits a node's rows. Where both children are leaves their summaries are all that is needed, and no order is touched.
    Children divide(const Split& split, const Task& task, Node& node, Lanes lanes) override {
        const Ordered feature = ordered(split.feature, task);
        const std::size_t n_left = mark(split, feature);
        node.tag |= Base::sides(n_left, task.size(), feature.n_missing() > 0, split.at.is_missing_left,
                                columns_[split.feature].is_categorical);
        Row* space = lanes.front().rows.data();
        Row* left = space;
        Row* right = space + n_left;
        for (const Row row : feature.rows) *(goes_left_[row] != 0 ? left++ : right++) = row;
        Children out = this->make_children(task, split.feature, {space, task.size()}, n_left);
        if (!out.left.is_leaf || !out.right.is_leaf) partition_all(task, lanes);
        return out;
    }

    const RankedColumns& columns_;
    Draw draw_;
    std::size_t n_rows_;
    std::vector<std::uint8_t> goes_left_;
    std::optional<Aligned<Row>> orders_;
};

}  // namespace mercer::tree
