// The criterion of absolute error: a set of rows predicts the weighted median of its targets, and its impurity is the mean absolute
// deviation from it; of several targets, the mean over them.
//
// Medians do not add up. A scan takes rows away from the node, from either end of the feature's order, and mends the median and the
// deviations as it goes; the ranks of the node's targets are found once for all features.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/views.hpp"
#include "tree/split.hpp"

namespace mercer::tree {

class AbsoluteCriterion {
   public:
    struct Summary : NodeSummary {
        bool has_like_weights = true;
        std::vector<double> medians;  // one an output
        std::vector<double> sorted;   // of each output the targets in their order, less the median
        std::vector<double> weights;  // in the same order; empty where all are one
    };

    // `y` is rows x outputs; `weights` (empty: all one) by row.
    AbsoluteCriterion(RowMajor<const double> y, std::span<const double> weights)
        : y_(y), weights_(weights), ranks_(y.rows * y.cols) {}

    static constexpr double scale() { return 1; }
    std::size_t n_values() const { return y_.cols; }

    // Writes the ranks of the rows' targets as well: they are those of the last node that a row was in. Nodes that several threads
    // work on have no row in common.
    Summary summarise(std::span<const Row> rows) const;

    double middle(const Summary& left, const Summary& right) const { return (left.medians[0] + right.medians[0]) / 2; }

    void write_values(const Summary& node, const Bounds& bounds, double* values) const {
        for (std::size_t o = 0; o < y_.cols; ++o) values[o] = std::clamp(node.medians[o], bounds.lower, bounds.upper);
    }

    // The best cut of a feature's ordered rows: O(n) where the weights are alike, else O(n log n).
    Candidate scan(const Ordered& feature, const Summary& node, const Bounds& bounds, bool is_bounded, const Limits& limits,
                   Scratch& scratch) const;

    // Two given sides of a node, by its ranks: O(n), nothing is sorted. `space` is memory.
    Weighed weigh(std::span<const Row> left, std::span<const Row> right, const Summary& node, std::vector<double>& space) const;

    std::size_t n_outputs() const { return y_.cols; }

    // The weighted median of an output alone, by the node's ranks: no target is compared again.
    double median_of(std::span<const Row> rows, std::size_t o) const;

   private:
    static constexpr double kAlike = 16;  // weights are alike where none is so many times another

    struct Cuts {
        const Ordered& feature;
        const Summary& node;
        const Bounds& bounds;
        const Limits& limits;
        bool is_bounded;
    };

    double weight_of(Row row) const { return weights_.empty() ? 1.0 : weights_[row]; }

    void weigh(std::span<const Row> rows, Summary& out) const;

    // Of rows in the order of their targets: where the running weight passes half; where it meets half, the middle of two.
    double find_median(std::span<const Row> order, std::size_t o, double total) const;
    // Ranks the rows by an output. Returns the sum of the deviations from the median.
    double sort_output(std::size_t o, std::vector<Row>& order, Summary& out) const;
    // The medians of two sides, `side` by rank, less the node's own.
    static std::array<double, 2> side_medians(const Summary& node, std::size_t o, std::span<const double> side,
                                              std::array<double, 2> totals);
    // The sums of deviations on both sides of every cut, and the medians where there are bounds, then the best of the cuts.
    void search(const Cuts& cuts, Scratch& scratch, bool is_missing_left, Candidate& best) const;

    // By the number of known rows on the left.
    struct Sides {
        std::span<double> deviation;
        std::span<double> left_median;
        std::span<double> right_median;
    };

    template <class Median>
    void measure(const Cuts& cuts, std::size_t o, bool is_missing_left, Median& rest, const Sides& sides) const;
    void choose(const Cuts& cuts, bool is_missing_left, const Sides& sides, Candidate& best) const;
    // The medians are those of the targets less the node's own.
    static bool is_allowed(const Cuts& cuts, double left, double right);

    RowMajor<const double> y_;
    std::span<const double> weights_;
    mutable std::vector<Row> ranks_;
};

// Categories in the order of their medians, of each output in turn; the best of the sets that begin one of these orders.
Split split_categories(const AbsoluteCriterion& criterion, const Ordered& feature, const AbsoluteCriterion::Summary& node,
                       const Limits& limits, Scratch& scratch);

}  // namespace mercer::tree
