// A ball tree for every metric behind which there is a length that obeys the triangle inequality: points in the order of the
// leaves, and of every node's children a centre and the radius of the ball around it that holds its points.
//
// A range is halved at the median along the line between two points far from each other: one far from any, and one far from that.
// The bound of a ball is |query - centre| - radius; it is lowered by what rounding may have added, so that no point is missed.
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
#include "neighbors/any_metric.hpp"
#include "neighbors/arrange.hpp"
#include "neighbors/blocks.hpp"
#include "neighbors/collectors.hpp"
#include "neighbors/far_points.hpp"
#include "neighbors/shape.hpp"
#include "neighbors/traverse.hpp"

namespace mercer::neighbors {

template <Real T>
class BallTree {
   public:
    using Value = T;

    // Builds the tree of the rows of x, to be searched by this metric and no other. O(n d log n).
    BallTree(Matrix<const T> x, std::size_t leaf_points, const AnyMetric& metric, Threads threads)
        : shape_(x.rows, leaf_points),
          d_(x.cols),
          points_(round_to_blocks(x.rows) * x.cols),
          centres_(n_centre_values()),
          radii_(shape_.nodes().size() * kBlock) {
        require(x.cols >= 1, "there must be a column");
        const Threads useful = threads.for_work(static_cast<double>(x.rows) * static_cast<double>(x.cols) * 8);
        const auto fill = [&](std::span<const Row> rows, SplitKeys& keys) { fill_far_keys(x, rows, keys); };
        rows_ = arrange_rows(shape_, fill, useful);
        fill_blocks(x, std::span<const Row>(rows_), points_.own(), useful);
        parallel_for(shape_.nodes().size(), useful, [&](std::size_t id) { fill_balls(metric, id); });
        fill_first_rows();
    }

    // From arrays of an earlier tree, checked: `rows` names each row once. The others stay where they are: what they hold can make
    // answers wrong, but nothing else.
    BallTree(std::size_t leaf_points, std::vector<Row> rows, std::span<const T> points, std::span<const double> centres,
             std::span<const double> radii, std::size_t d)
        : shape_(rows.size(), leaf_points), d_(d), rows_(std::move(rows)), points_(points), centres_(centres), radii_(radii) {
        require(d >= 1 && d <= std::numeric_limits<std::size_t>::max() / (16 * sizeof(double)) / round_to_blocks(rows_.size()),
                "ball tree: the number of features is out of range");
        require(points_.size() == round_to_blocks(rows_.size()) * d, "ball tree: the points have the wrong size");
        require(centres_.size() == n_centre_values() && radii_.size() == shape_.nodes().size() * kBlock,
                "ball tree: the balls have the wrong size");
        require_permutation(rows_);
        fill_first_rows();
    }

    std::size_t n_points() const { return rows_.size(); }
    std::size_t n_features() const { return d_; }
    const TreeShape& shape() const { return shape_; }
    Blocks<T> points() const { return {points_.data(), rows_.data(), rows_.size(), d_}; }
    std::span<const Row> rows() const { return rows_; }  // by slot
    std::span<const T> point_values() const { return points_.all(); }
    std::span<const double> centres() const { return centres_.all(); }
    std::span<const double> radii() const { return radii_.all(); }
    Row first_row(std::size_t node, std::size_t child) const { return first_rows_[node * kBlock + child]; }

    // Ranks below those of all points of a node's children; below zero, the deeper a query lies within a ball. O(d).
    template <std::size_t kD, class M>
    [[gnu::always_inline]] BlockValues bound_children(const M& metric, const double* query, std::size_t node) const {
        BlockValues values = measure_block<kD>(metric, query, centres_.data() + node * d_ * kBlock, d_);
        const Vector less = Doubles::broadcast(1 - slack(metric.power()));
        const Vector infinity = Doubles::broadcast(std::numeric_limits<double>::infinity());
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kParts; ++v) {
            const Vector length = metric.length(values.part[v]);
            const Vector gap = length * less - Doubles::load(radii_.data() + node * kBlock + v * Doubles::kLanes);
            const Vector outside = metric.rank_of_length(gap > Vector{} ? gap : Vector{}) * less;
            const Vector bound = gap > Vector{} ? outside : gap;
            values.part[v] = length < infinity ? (bound == bound ? bound : -infinity) : -infinity;  // beyond what can be said
        }
        return values;
    }
    // Ranks above those of all points of a node's children. O(d).
    template <class M>
    BlockValues bound_children_above(const M& metric, const double* query, std::size_t node) const {
        BlockValues values = measure_block<0>(metric, query, centres_.data() + node * d_ * kBlock, d_);
        const Vector more = Doubles::broadcast(1 + slack(metric.power()));
        for (std::size_t v = 0; v < kParts; ++v) {
            const Vector radius = Doubles::load(radii_.data() + node * kBlock + v * Doubles::kLanes);
            values.part[v] = metric.rank_of_length(metric.length(values.part[v]) * more + radius) * more;
        }
        return values;
    }

    // Offers the points near `query` (d values) to a collector.
    template <class M, class Collector>
    std::size_t search(const M& metric, const double* query, Collector& collector) const {
        return traverse<0>(*this, metric, query, collector);
    }

   private:
    std::size_t n_centre_values() const { return shape_.nodes().size() * d_ * kBlock; }

    // The largest relative error of a length and of a rank, which is its power: of sums of d terms, with room to spare.
    double slack(double power) const {
        return std::fmin((static_cast<double>(d_) + 32 + 4 * power) * std::numeric_limits<double>::epsilon(), 1.0);
    }
    // What ranks that underflow may hide of a length.
    double hidden(double power) const {
        return 4 * std::pow(static_cast<double>(d_) * 4 * std::numeric_limits<double>::denorm_min(), 1 / power);
    }

    void fill_balls(const AnyMetric& metric, std::size_t id) {
        const ShapeNode& node = shape_.nodes()[id];
        const double more = 1 + 2 * slack(metric.power()), least = hidden(metric.power());
        std::vector<double> centre(d_);
        for (std::size_t c = 0; c < node.n_children; ++c) {
            const SlotRange range = node.child(c);
            if (metric.has_means()) {
                find_mean(points(), range, centre.data());
            } else {
                find_median(points(), range, centre.data());
            }
            for (std::size_t j = 0; j < d_; ++j) centres_.own()[(id * d_ + j) * kBlock + c] = centre[j];
            radii_.own()[id * kBlock + c] = find_radius(metric, range, centre.data()) * more + least;
        }
    }

    double find_radius(const AnyMetric& metric, SlotRange range, const double* centre) const {
        double largest = 0;
        for (std::size_t slot = range.begin; slot < range.end; slot += kBlock) {
            const BlockValues ranks = measure_block<0>(metric, centre, points_.data() + slot * d_, d_);
            for (std::size_t lane = 0; lane < std::min(kBlock, range.end - slot); ++lane)
                if (!(ranks[lane] <= largest)) largest = ranks[lane];
        }
        const double radius = metric.length(largest);
        return radius == radius ? radius : std::numeric_limits<double>::infinity();
    }

    void fill_first_rows() { first_rows_ = least_rows(shape_, rows_); }

    TreeShape shape_;
    std::size_t d_;
    std::vector<Row> rows_;
    HeldValues<T> points_;
    HeldValues<double> centres_;   // of child c of a node and feature j: [(node * d + j) * 8 + c]
    HeldValues<double> radii_;     // of child c of a node: [node * 8 + c]
    std::vector<Row> first_rows_;  // the least row number of each child
};

}  // namespace mercer::neighbors
