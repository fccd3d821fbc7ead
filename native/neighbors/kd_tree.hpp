// A k-d tree for axial metrics: points in the order of the leaves, and the tight boxes of every node's children.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/held_values.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"
#include "neighbors/arrange.hpp"
#include "neighbors/blocks.hpp"
#include "neighbors/boxes.hpp"
#include "neighbors/collectors.hpp"
#include "neighbors/metric.hpp"
#include "neighbors/shape.hpp"
#include "neighbors/traverse.hpp"

namespace mercer::neighbors {

// Which feature a range is halved along: that of the widest spread, or that of the largest variance.
enum class SplitRule { kWidest, kVariance };

template <Real T>
class KdTree {
   public:
    using Value = T;

    // Builds the tree of the rows of x. O(n d log n).
    KdTree(Matrix<const T> x, std::size_t leaf_points, SplitRule rule, Threads threads)
        : shape_(x.rows, leaf_points), d_(x.cols), rows_(), points_(round_to_blocks(x.rows) * x.cols), boxes_(n_box_values()) {
        require(x.cols >= 1, "there must be a column");
        const Threads useful = threads.for_work(static_cast<double>(x.rows) * static_cast<double>(x.cols) * 8);
        const auto fill = [&](std::span<const Row> rows, SplitKeys& keys) { fill_keys(x, rule, rows, keys); };
        rows_ = arrange_rows(shape_, fill, useful);
        fill_blocks(x, std::span<const Row>(rows_), points_.own(), useful);
        fill_bounds();
    }

    // From arrays of an earlier tree, checked: `rows` names each row once. Points and boxes stay where they are: what they hold can
    // make answers wrong, but nothing else.
    KdTree(std::size_t leaf_points, std::vector<Row> rows, std::span<const T> points, std::span<const T> boxes, std::size_t d)
        : shape_(rows.size(), leaf_points), d_(d), rows_(std::move(rows)), points_(points), boxes_(boxes) {
        require(d >= 1 && d <= std::numeric_limits<std::size_t>::max() / (16 * sizeof(T)) / round_to_blocks(rows_.size()),
                "k-d tree: the number of features is out of range");
        require(points_.size() == round_to_blocks(rows_.size()) * d, "k-d tree: the points have the wrong size");
        require(boxes_.size() == n_box_values(), "k-d tree: the boxes have the wrong size");
        require_permutation(rows_);
        fill_first_rows();
    }

    std::size_t n_points() const { return rows_.size(); }
    std::size_t n_features() const { return d_; }
    const TreeShape& shape() const { return shape_; }
    Blocks<T> points() const { return {points_.data(), rows_.data(), rows_.size(), d_}; }
    std::span<const Row> rows() const { return rows_; }  // by slot
    std::span<const T> point_values() const { return points_.all(); }
    std::span<const T> boxes() const { return boxes_.all(); }
    Row first_row(std::size_t node, std::size_t child) const { return first_rows_[node * kBlock + child]; }

    // Ranks of the boxes of a node's children. O(d).
    template <std::size_t kD, class M>
    [[gnu::always_inline]] BlockValues bound_children(const M& metric, const double* query, std::size_t node) const {
        return bound_boxes<kD>(metric, query, boxes_of(node), d_);
    }
    // Ranks of the farthest corners of these boxes. O(d).
    template <class M>
    BlockValues bound_children_above(const M& metric, const double* query, std::size_t node) const {
        return bound_boxes_above(metric, query, boxes_of(node), d_);
    }
    // See boxes.hpp.
    const T* boxes_of(std::size_t node) const { return boxes_.data() + node * d_ * 2 * kBlock; }

    // Offers the points near `query` (d values) to a collector. Returns how many leaves it looked into.
    template <class M, class Collector>
    std::size_t search(const M& metric, const double* query, Collector& collector) const {
        if constexpr (std::same_as<M, Euclidean>) {
            return with_features(d_, [&]<std::size_t kD>() { return traverse<kD>(*this, metric, query, collector); });
        } else {
            return traverse<0>(*this, metric, query, collector);
        }
    }
    template <class M>
    void nearest(const M& metric, const double* query, NearestFew& collector) const {
        search(metric, query, collector);
    }
    // Calls visit(rank, row) for each point of at most this rank (`rank_within` of a radius).
    template <class M, class Visit>
    void within(const M& metric, const double* query, double rank, Visit&& visit) const {
        Visitor<std::remove_reference_t<Visit>> visitor{rank, visit};
        search(metric, query, visitor);
    }

   private:
    std::size_t n_box_values() const { return shape_.nodes().size() * d_ * 2 * kBlock; }

    static void fill_keys(Matrix<const T> x, SplitRule rule, std::span<const Row> rows, SplitKeys& keys) {
        const std::size_t d = x.cols;
        std::vector<T> low(d, std::numeric_limits<T>::infinity()), high(d, -std::numeric_limits<T>::infinity());
        for (const Row row : rows) {
            for (std::size_t j = 0; j < d; ++j) {
                const T value = x(static_cast<std::size_t>(row), j);
                low[j] = value < low[j] ? value : low[j];
                high[j] = value > high[j] ? value : high[j];
            }
        }
        std::size_t axis = 0;
        if (rule == SplitRule::kWidest) {
            for (std::size_t j = 1; j < d; ++j)
                if (static_cast<double>(high[j]) - low[j] > static_cast<double>(high[axis]) - low[axis]) axis = j;
        } else {
            axis = most_varied(x, rows);
        }
        keys.fill(rows, low[axis], high[axis], [&](std::size_t row) { return x(row, axis); });
    }

    static std::size_t most_varied(Matrix<const T> x, std::span<const Row> rows) {
        const std::size_t d = x.cols;
        std::vector<double> mean(d), squares(d);  // Welford's recurrence
        double count = 0;
        for (const Row row : rows) {
            ++count;
            for (std::size_t j = 0; j < d; ++j) {
                const double value = x(static_cast<std::size_t>(row), j), change = value - mean[j];
                mean[j] += change / count;
                squares[j] += change * (value - mean[j]);
            }
        }
        return static_cast<std::size_t>(std::max_element(squares.begin(), squares.end()) - squares.begin());
    }

    // Boxes of leaves from their points, of other nodes from those of their children, which come after them.
    void fill_bounds() {
        const auto& nodes = shape_.nodes();
        for (std::size_t id = nodes.size(); id-- > 0;) {
            for (std::size_t c = 0; c < kBlock; ++c) {
                T* const box = boxes_.own() + id * d_ * 2 * kBlock + c;
                for (std::size_t j = 0; j < d_; ++j) {
                    const auto [low, high] = c < nodes[id].n_children ? extent(nodes[id], c, j) : std::pair<T, T>{};
                    box[2 * kBlock * j] = low;
                    box[2 * kBlock * j + kBlock] = high;
                }
            }
        }
        fill_first_rows();
    }

    std::pair<T, T> extent(const ShapeNode& node, std::size_t c, std::size_t j) const {
        T low = std::numeric_limits<T>::infinity(), high = -low;
        const auto widen = [&](T least, T most) {
            low = std::min(low, least);
            high = std::max(high, most);
        };
        if (node.nodes[c] == ShapeNode::kLeaf) {
            for (std::size_t slot = node.starts[c]; slot < node.starts[c + 1]; ++slot) {
                const T value = points_[(slot / kBlock * d_ + j) * kBlock + slot % kBlock];
                widen(value, value);
            }
        } else {
            const auto child = static_cast<std::size_t>(node.nodes[c]);
            const T* const line = boxes_.data() + (child * d_ + j) * 2 * kBlock;
            for (std::size_t i = 0; i < shape_.nodes()[child].n_children; ++i) widen(line[i], line[kBlock + i]);
        }
        return {low, high};
    }

    void fill_first_rows() { first_rows_ = least_rows(shape_, rows_); }

    TreeShape shape_;
    std::size_t d_;
    std::vector<Row> rows_;
    HeldValues<T> points_;
    HeldValues<T> boxes_;          // of child c of a node and feature j: low at [(node * d + j) * 16 + c], high 8 further on
    std::vector<Row> first_rows_;  // the least row number of each child
};

}  // namespace mercer::neighbors
