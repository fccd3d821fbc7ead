// Grows one tree, whatever finds its splits: depth first, or the split of largest gain first.
//
// Alone, a tree grows with all threads: they share a large node, and the subtrees of small ones. What comes out is the same:
// nothing depends on which thread does a part, and random draws are named by the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "tree/grown.hpp"
#include "tree/split.hpp"

namespace mercer::tree {

// How the features of a node are chosen: all of them, or a draw without replacement for each node.
struct Draw {
    std::size_t max_features = 0;
    std::uint64_t seed = 0;
};

// A node to be: rows [begin, end) of wherever its grower keeps them.
template <class Summary>
struct GrowthTask {
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

// What a grower derives from, by way of GrowthBy. It knows the criterion by its summaries alone, so that it is compiled once for
// all measures of a kind; what it asks for by virtual calls is worth far more than a call.
template <class Summary, class Split, class Memory>
class Growth {
   protected:
    using Task = GrowthTask<Summary>;
    using Lanes = std::span<Memory>;  // one a thread: alone, or as many as work on one node together

    struct Children {
        Task left;
        Task right;
    };

    // `directions` is empty, or has -1, 0 or +1 for each feature. `scale` and `n_values` are the criterion's.
    Growth(std::span<const std::int8_t> directions, const Limits& limits, Threads threads, double scale, std::size_t n_values)
        : directions_(directions), limits_(limits), threads_(threads), scale_(scale), n_values_(n_values) {}
    ~Growth() = default;

    // A split has is_found(), worth() and a feature. Memory is what one thread needs for a node of n rows.
    virtual Split find(const Task& task, Lanes lanes) const = 0;  // the best split of a node, by as many threads as there are lanes
    virtual Node node_of(const Split& split, const Task& task, std::vector<Word>& words) const = 0;  // the split as a node
    // The two children; it also sets the node's flags.
    virtual Children divide(const Split& split, const Task& task, Node& node, Lanes lanes) = 0;

    virtual Summary summarise(std::span<const Row> rows) const = 0;
    virtual double middle(const Summary& left, const Summary& right) const = 0;
    virtual void write_values(const Summary& node, const Bounds& bounds, double* values) const = 0;

    Grown grow_from(std::span<const Row> rows) {
        Task root;
        root.end = n_rows_ = rows.size();
        root.summary = summarise(rows);
        total_weight_ = root.summary.weight;
        root.is_leaf = must_be_leaf(root);
        if (limits_.max_leaves > 0) return grow_by_gain(std::move(root));
        return grow_by_depth(std::move(root));
    }

    bool is_bounded() const { return !directions_.empty(); }

    bool must_be_leaf(const Task& task) const {
        return task.depth >= limits_.max_depth || task.size() < limits_.min_rows_split ||
               task.size() < 2 * std::max<std::size_t>(limits_.min_rows_leaf, 1) ||
               task.summary.weight < 2 * limits_.min_weight_leaf || task.summary.is_pure;
    }

    // How much the weighted impurity falls by a split.
    double gain(const Task& task, const auto& split) const { return scale_ * (split.worth() - task.summary.worth) / total_weight_; }
    bool is_worth_it(const Task& task, const auto& split) const {
        return split.is_found() && gain(task, split) + std::numeric_limits<double>::epsilon() >= limits_.min_gain;
    }

    // Calls body(lane, memory) for every lane, each on a thread of its own.
    template <class Body>
    void for_lanes(Lanes lanes, Body&& body) const {
        if (lanes.size() == 1) return body(0, lanes.front());
        parallel_for(lanes.size(), threads_, [&](std::size_t lane) { body(lane, lanes[lane]); });
    }

    // Where the rows go that training says nothing about: with the larger side. Missing values that it knows go where they were
    // found to be best.
    static std::uint32_t sides(std::size_t n_left, std::size_t n, bool has_missing, bool is_missing_left, bool is_categorical) {
        const bool is_left_larger = 2 * n_left > n;
        const bool sends_missing_left = has_missing ? is_missing_left : is_left_larger;
        const bool sends_others_left = is_left_larger && is_categorical;
        return (sends_missing_left ? Node::kMissingLeft : 0u) | (sends_others_left ? Node::kOtherLeft : 0u);
    }

    // The children of a node whose first n_left rows in `moved` go left.
    Children make_children(const Task& task, std::size_t feature, std::span<const Row> moved, std::size_t n_left) const {
        Children out{child(task, task.begin, task.begin + n_left, 1, summarise(moved.first(n_left))),
                     child(task, task.begin + n_left, task.end, 2, summarise(moved.subspan(n_left)))};
        if (is_bounded()) bound(feature, out);
        const bool is_split = n_left > 0 && n_left < moved.size();  // else X, which is read in place, was written to meanwhile
        out.left.is_leaf = !is_split || must_be_leaf(out.left);
        out.right.is_leaf = !is_split || must_be_leaf(out.right);
        return out;
    }

    std::span<const std::int8_t> directions_;
    Limits limits_;
    Threads threads_;

   private:
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

    void bound(std::size_t feature, Children& out) const {
        const int direction = directions_[feature];
        if (direction == 0) return;
        const double between = middle(out.left.summary, out.right.summary);
        (direction > 0 ? out.left.bounds.upper : out.left.bounds.lower) = between;
        (direction > 0 ? out.right.bounds.lower : out.right.bounds.upper) = between;
    }

    void write(const Task& task, Grown& out) const {
        out.nodes.emplace_back();
        out.impurity.push_back(task.summary.impurity);
        out.weight.push_back(task.summary.weight);
        out.n_rows.push_back(static_cast<std::int64_t>(task.summary.n));
        out.values.resize(out.values.size() + n_values_);
        double* values = out.values.data() + out.values.size() - n_values_;
        write_values(task.summary, task.bounds, values);
        out.nodes.back().threshold = values[n_values_ - 1];
    }

    // A whole subtree, left before right.
    Grown grow_subtree(Task root) {
        Grown out;
        Memory memory(root.size());
        const Lanes alone(&memory, 1);
        std::vector<Task> open;
        open.push_back(std::move(root));
        while (!open.empty()) {
            Task task = std::move(open.back());
            open.pop_back();
            if (task.size() > kLeastShared || out.size() % 64 == 0) checkpoint();
            const auto index = static_cast<std::int64_t>(out.size());
            if (task.parent >= 0) out.nodes[static_cast<std::size_t>(task.parent)].right = static_cast<std::uint32_t>(index);
            write(task, out);
            if (task.is_leaf) continue;
            const auto split = find(task, alone);
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
        std::vector<Memory> lanes = make_lanes();
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
            const auto split = find(task, lanes);
            if (!is_worth_it(task, split)) continue;
            put_split(crown, task, place, split, lanes, plant);
        }
        std::vector<Grown> subtrees(small.size());
        parallel_for(small.size(), threads_, [&](std::size_t t) { subtrees[t] = grow_subtree(std::move(small[t])); });
        return crown.flatten(subtrees, n_values_);
    }

    template <class Plant>
    void put_split(Crown& crown, const Task& task, std::size_t place, const auto& split, Lanes lanes, Plant& plant) {
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
        std::vector<Memory> lanes = make_lanes();
        std::vector<Offer> offers;  // a heap
        const auto plant = [&](Task task) {
            const std::size_t place = crown.left.size();
            crown.open();
            write(task, crown.nodes);
            if (task.is_leaf) return place;
            auto split = find(task, task.size() < kLeastShared ? Lanes(lanes).first(1) : Lanes(lanes));
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
        return crown.flatten({}, n_values_);
    }

    std::vector<Memory> make_lanes() const {
        return std::vector<Memory>(static_cast<std::size_t>(std::max(threads_.count, 1)), Memory(n_rows_));
    }

    static constexpr std::size_t kLeastShared = 4096;  // rows below which a node is one thread's

    std::size_t n_rows_ = 0;
    double total_weight_ = 0;
    double scale_;
    std::size_t n_values_;
};

// The same for one criterion.
template <class Criterion, class Split, class Memory>
class GrowthBy : protected Growth<typename Criterion::Summary, Split, Memory> {
   protected:
    using Summary = typename Criterion::Summary;

    GrowthBy(const Criterion& criterion, std::span<const std::int8_t> directions, const Limits& limits, Threads threads)
        : Growth<Summary, Split, Memory>(directions, limits, threads, criterion.scale(), criterion.n_values()),
          criterion_(criterion) {}
    ~GrowthBy() = default;

    const Criterion& criterion_;

   private:
    Summary summarise(std::span<const Row> rows) const final { return criterion_.summarise(rows); }
    double middle(const Summary& left, const Summary& right) const final { return criterion_.middle(left, right); }
    void write_values(const Summary& node, const Bounds& bounds, double* values) const final {
        criterion_.write_values(node, bounds, values);
    }
};

}  // namespace mercer::tree
