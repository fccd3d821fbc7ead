// Grows one tree by exact splits. Every feature keeps the node's rows in sorted order; a split partitions all of these orders and
// never sorts again: O(n d) a level.
//
// Alone, a tree grows with all threads: they share the features of a large node, and the subtrees of small ones. What comes out is
// the same: nothing depends on which thread does a part, and random draws are named by the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/rng.hpp"
#include "tree/categories.hpp"
#include "tree/columns.hpp"
#include "tree/grown.hpp"
#include "tree/split.hpp"

namespace mercer::tree {

// How the features of a node are chosen: all of them, or a draw without replacement for each node.
struct Draw {
    std::size_t max_features = 0;
    std::uint64_t seed = 0;
};

template <class Criterion>
class Grower {
   public:
    // Rows of weight 0 take no part. `directions` is empty, or has -1, 0 or +1 for each feature.
    Grower(const RankedColumns& columns, const Criterion& criterion, std::span<const double> weights,
           std::span<const std::int8_t> directions, const Limits& limits, Draw draw, Threads threads)
        : columns_(columns),
          criterion_(criterion),
          directions_(directions),
          limits_(limits),
          draw_(draw),
          threads_(threads),
          is_bounded_(!directions.empty()),
          n_rows_(columns.n_rows()) {
        if (!weights.empty()) {
            const auto n_zero = static_cast<std::size_t>(std::count(weights.begin(), weights.end(), 0.0));
            n_rows_ -= n_zero;
            if (n_zero > 0) keep_weighted(weights);
        }
        goes_left_.resize(columns.n_rows());
    }

    Grown grow() {
        require(n_rows_ > 0 && columns_.count() > 0, "a tree needs rows and features");
        Task root;
        root.end = n_rows_;
        root.summary = criterion_.summarise(rows(0, 0, n_rows_));
        total_weight_ = root.summary.weight;
        root.is_leaf = must_be_leaf(root);
        if (limits_.max_leaves > 0) return grow_by_gain(std::move(root));
        return grow_by_depth(std::move(root));
    }

   private:
    using Summary = typename Criterion::Summary;
    using Lanes = std::span<Scratch>;  // one a thread: alone, or as many as work on one node together

    // A node to be: rows [begin, end) of every feature's order.
    struct Task {
        std::size_t begin = 0;
        std::size_t end = 0;
        std::size_t depth = 0;
        std::uint64_t key = 0;     // names the node's random draws
        std::int64_t parent = -1;  // of a right child
        bool is_leaf = false;
        Bounds bounds;
        Summary summary;
        std::size_t size() const { return end - begin; }
    };

    struct Children {
        Task left;
        Task right;
    };

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

    bool must_be_leaf(const Task& task) const {
        return task.depth >= limits_.max_depth || task.size() < limits_.min_rows_split ||
               task.size() < 2 * std::max<std::size_t>(limits_.min_rows_leaf, 1) ||
               task.summary.weight < 2 * limits_.min_weight_leaf || task.summary.is_pure ||
               task.summary.impurity <= std::numeric_limits<double>::epsilon();
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

    Split look(std::size_t f, const Task& task, Scratch& scratch) const {
        const Ordered feature = ordered(f, task);
        Split split;
        if (columns_[f].is_categorical) {
            split = split_categories(criterion_, feature, task.summary, limits_, scratch);
        } else {
            split.at = criterion_.scan(feature, task.summary, task.bounds, is_bounded_, limits_, scratch);
        }
        split.feature = f;
        return split;
    }

    // The best split of a node; of equal ones that of the feature that was looked at first.
    Split find(const Task& task, Lanes lanes) const {
        std::vector<std::size_t>& chosen = lanes.front().features;
        choose_features(task, chosen);
        std::vector<Split> found(lanes.size());
        for_lanes(lanes, [&](std::size_t lane, Scratch& scratch) {
            for (std::size_t k = lane; k < chosen.size(); k += lanes.size()) {
                Split split = look(chosen[k], task, scratch);
                split.turn = k;
                if (split.is_better(found[lane])) found[lane] = std::move(split);
            }
        });
        for (std::size_t lane = 1; lane < lanes.size(); ++lane)
            if (found[lane].is_better(found[0])) found[0] = std::move(found[lane]);
        return std::move(found[0]);
    }

    // Calls body(lane, scratch) for every lane, each on a thread of its own.
    template <class Body>
    void for_lanes(Lanes lanes, Body&& body) const {
        if (lanes.size() == 1) return body(0, lanes.front());
        parallel_for(lanes.size(), threads_, [&](std::size_t lane) { body(lane, lanes[lane]); });
    }

    // How much the weighted impurity falls by a split.
    double gain(const Task& task, const Split& split) const {
        return Criterion::kScale * (split.at.worth - task.summary.worth) / total_weight_;
    }
    bool is_worth_it(const Task& task, const Split& split) const {
        return split.is_found() && gain(task, split) + std::numeric_limits<double>::epsilon() >= limits_.min_gain;
    }

    // ---- splitting

    Node node_of(const Split& split, const Task& task, std::vector<Word>& words) const {
        const Column& column = columns_[split.feature];
        Node node{.tag = static_cast<std::uint32_t>(split.feature), .right = 1};
        if (column.is_categorical) {
            node.tag |= Node::kCategorical;
            node.threshold = static_cast<double>(words.size());
            std::size_t most = 0;
            for (const Code code : split.left_codes) most = std::max(most, static_cast<std::size_t>(column.values[code]));
            const std::size_t start = words.size();
            words.resize(start + 2 + most / 32, 0);
            words[start] = static_cast<Word>(1 + most / 32);
            for (const Code code : split.left_codes) {
                const auto category = static_cast<std::size_t>(column.values[code]);
                words[start + 1 + category / 32] |= Word{1} << (category % 32);
            }
        } else {
            const Ordered feature = ordered(split.feature, task);
            node.threshold = middle_of(column, feature, split.at.n_left);
        }
        return node;
    }

    // Half way between the values on both sides of a cut; infinite where all known values go left.
    static double middle_of(const Column& column, const Ordered& feature, std::size_t n_left) {
        if (n_left == feature.n_known) return kInfinity;
        const double low = column.values[column.codes[feature.rows[n_left - 1]]];
        const double high = column.values[column.codes[feature.rows[n_left]]];
        const double middle = low / 2 + high / 2;
        return middle < high && middle >= low ? middle : low;  // also where one of them is infinite
    }

    // Marks the rows that go left. Returns how many they are.
    std::size_t mark(const Split& split, const Ordered& feature) {
        const Column& column = columns_[split.feature];
        if (column.is_categorical) {
            std::vector<std::uint8_t> is_left(column.values.size() + 1, 0);
            for (const Code code : split.left_codes) is_left[code] = 1;
            is_left[column.missing_code()] = split.at.is_missing_left;
            for (const Row row : feature.rows) goes_left_[row] = is_left[column.codes[row]];
            return split.at.n_left;
        }
        for (std::size_t i = 0; i < feature.n_known; ++i) goes_left_[feature.rows[i]] = i < split.at.n_left;
        for (std::size_t i = feature.n_known; i < feature.rows.size(); ++i) goes_left_[feature.rows[i]] = split.at.is_missing_left;
        return split.at.n_left + (split.at.is_missing_left ? feature.n_missing() : 0);
    }

    // Where the rows go that training says nothing about: with the larger side. Missing values that it knows go where they were
    // found to be best.
    std::uint32_t sides(const Split& split, const Ordered& feature, std::size_t n_left) const {
        const bool is_left_larger = 2 * n_left > feature.rows.size();
        const bool is_missing_left = feature.n_missing() > 0 ? split.at.is_missing_left : is_left_larger;
        const bool is_other_left = is_left_larger && columns_[split.feature].is_categorical;
        return (is_missing_left ? Node::kMissingLeft : 0u) | (is_other_left ? Node::kOtherLeft : 0u);
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
        for_lanes(lanes, [&](std::size_t lane, Scratch& scratch) {
            for (std::size_t f = lane; f < columns_.count(); f += lanes.size()) {
                const Row* from = is_first ? columns_[f].order.data() : order(f);
                partition(from + task.begin, order(f) + task.begin, task.size(), scratch.rows.data());
            }
        });
    }

    // Splits a node's rows. Where both children are leaves their summaries are all that is needed, and no order is touched.
    Children divide(const Split& split, const Task& task, Node& node, Lanes lanes) {
        const Ordered feature = ordered(split.feature, task);
        const std::size_t n_left = mark(split, feature);
        node.tag |= sides(split, feature, n_left);
        Row* space = lanes.front().rows.data();
        Row* left = space;
        Row* right = space + n_left;
        for (const Row row : feature.rows) *(goes_left_[row] != 0 ? left++ : right++) = row;
        const std::span<const Row> moved(space, task.size());
        Children out{child(task, task.begin, task.begin + n_left, 1, criterion_.summarise(moved.first(n_left))),
                     child(task, task.begin + n_left, task.end, 2, criterion_.summarise(moved.subspan(n_left)))};
        if (is_bounded_) bound(split, out);
        out.left.is_leaf = must_be_leaf(out.left);
        out.right.is_leaf = must_be_leaf(out.right);
        if (!out.left.is_leaf || !out.right.is_leaf) partition_all(task, lanes);
        return out;
    }

    Task child(const Task& parent, std::size_t begin, std::size_t end, std::uint64_t side, Summary summary) const {
        Task out;
        out.begin = begin;
        out.end = end;
        out.depth = parent.depth + 1;
        out.key = (parent.key ^ (parent.key >> 29)) * 0xBF58476D1CE4E5B9u + side;
        out.bounds = parent.bounds;
        out.summary = std::move(summary);
        return out;
    }

    void bound(const Split& split, Children& out) const {
        const int direction = directions_[split.feature];
        if (direction == 0) return;
        const double middle = criterion_.middle(out.left.summary, out.right.summary);
        (direction > 0 ? out.left.bounds.upper : out.left.bounds.lower) = middle;
        (direction > 0 ? out.right.bounds.lower : out.right.bounds.upper) = middle;
    }

    // ---- growing

    void write(const Task& task, Grown& out) const {
        out.nodes.emplace_back();
        out.impurity.push_back(task.summary.impurity);
        out.weight.push_back(task.summary.weight);
        out.n_rows.push_back(static_cast<std::int64_t>(task.summary.n));
        out.values.resize(out.values.size() + criterion_.n_values());
        double* values = out.values.data() + out.values.size() - criterion_.n_values();
        criterion_.write_values(task.summary, task.bounds, values);
        out.nodes.back().threshold = values[criterion_.n_values() - 1];
    }

    // A whole subtree, left before right.
    Grown grow_subtree(Task root) {
        Grown out;
        Scratch scratch(root.size());
        const Lanes alone(&scratch, 1);
        std::vector<Task> open;
        open.push_back(std::move(root));
        while (!open.empty()) {
            Task task = std::move(open.back());
            open.pop_back();
            checkpoint();
            const auto index = static_cast<std::int64_t>(out.size());
            if (task.parent >= 0) out.nodes[static_cast<std::size_t>(task.parent)].right = static_cast<std::uint32_t>(index);
            write(task, out);
            if (task.is_leaf) continue;
            const Split split = find(task, alone);
            if (!is_worth_it(task, split)) continue;
            Node node = node_of(split, task, out.words);
            Children children = divide(split, task, node, alone);
            out.nodes.back() = node;
            children.right.parent = index;
            open.push_back(std::move(children.right));
            open.push_back(std::move(children.left));
        }
        return out;
    }

    // Large nodes one after another, all threads on one; then the subtrees of the others side by side.
    Grown grow_by_depth(Task root) {
        if (threads_.count <= 1 || n_rows_ < kLeastShared) return grow_subtree(std::move(root));
        Crown crown;
        std::vector<Scratch> lanes = make_lanes();
        std::vector<Task> small;
        std::vector<std::pair<Task, std::size_t>> open;
        const std::size_t large = std::max(kLeastShared / 2, n_rows_ / 16);
        const auto plant = [&](Task task) {
            const std::size_t place = crown.left.size();
            crown.open();
            write(task, crown.nodes);
            if (task.is_leaf) return place;
            if (task.size() < large) {
                crown.subtree[place] = static_cast<std::int64_t>(small.size());
                small.push_back(std::move(task));
            } else {
                open.emplace_back(std::move(task), place);
            }
            return place;
        };
        plant(std::move(root));
        while (!open.empty()) {
            auto [task, place] = std::move(open.back());
            open.pop_back();
            checkpoint();
            const Split split = find(task, lanes);
            if (!is_worth_it(task, split)) continue;
            put_split(crown, task, place, split, lanes, plant);
        }
        std::vector<Grown> subtrees(small.size());
        parallel_for(small.size(), threads_, [&](std::size_t t) { subtrees[t] = grow_subtree(std::move(small[t])); });
        return crown.flatten(subtrees, criterion_.n_values());
    }

    template <class Plant>
    void put_split(Crown& crown, const Task& task, std::size_t place, const Split& split, Lanes lanes, Plant& plant) {
        Node node = node_of(split, task, crown.nodes.words);
        Children children = divide(split, task, node, lanes);
        crown.nodes.nodes[place] = node;
        const std::size_t left = plant(std::move(children.left));
        const std::size_t right = plant(std::move(children.right));
        crown.left[place] = static_cast<std::int64_t>(left);
        crown.right[place] = static_cast<std::int64_t>(right);
    }

    // The split of largest gain first, until there are enough leaves.
    Grown grow_by_gain(Task root) {
        struct Offer {
            double gain;
            std::size_t place;
            Split split;
            Task task;
            bool operator<(const Offer& other) const { return gain != other.gain ? gain < other.gain : place > other.place; }
        };
        Crown crown;
        std::vector<Scratch> lanes = make_lanes();
        std::vector<Offer> offers;  // a heap
        const auto plant = [&](Task task) {
            const std::size_t place = crown.left.size();
            crown.open();
            write(task, crown.nodes);
            if (task.is_leaf) return place;
            Split split = find(task, task.size() < kLeastShared ? Lanes(lanes).first(1) : Lanes(lanes));
            if (!is_worth_it(task, split)) return place;
            offers.push_back({gain(task, split), place, std::move(split), std::move(task)});
            std::push_heap(offers.begin(), offers.end());
            return place;
        };
        plant(std::move(root));
        for (std::size_t n_leaves = 1; !offers.empty() && n_leaves < limits_.max_leaves; ++n_leaves) {
            checkpoint();
            std::pop_heap(offers.begin(), offers.end());
            const Offer offer = std::move(offers.back());
            offers.pop_back();
            put_split(crown, offer.task, offer.place, offer.split, lanes, plant);
        }
        return crown.flatten({}, criterion_.n_values());
    }

    std::vector<Scratch> make_lanes() const {
        return std::vector<Scratch>(static_cast<std::size_t>(std::max(threads_.count, 1)), Scratch(n_rows_));
    }

    static constexpr std::size_t kLeastShared = 4096;  // rows below which a node is one thread's

    const RankedColumns& columns_;
    const Criterion& criterion_;
    std::span<const std::int8_t> directions_;
    Limits limits_;
    Draw draw_;
    Threads threads_;
    bool is_bounded_;
    std::size_t n_rows_;
    double total_weight_ = 0;
    std::vector<std::uint8_t> goes_left_;
    std::optional<Aligned<Row>> orders_;
};

}  // namespace mercer::tree
