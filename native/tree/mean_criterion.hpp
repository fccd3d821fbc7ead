// Criteria for several regression targets a row: what a set of rows is worth is the mean over the targets.
//
// A set is summed up by its weight and the weighted sum of each target; the measures are those of one target (measures.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/views.hpp"
#include "tree/split.hpp"

namespace mercer::tree {

enum class MeanMeasure { kSquaredError, kHalfPoisson };

struct MeanSummary : NodeSummary {
    std::vector<double> sums;
};

class MeanCriterion {
   public:
    using Summary = MeanSummary;

    // `y` (rows x outputs), of which `offsets` were taken off beforehand.
    static std::unique_ptr<const MeanCriterion> make(MeanMeasure measure, RowMajor<const double> y, std::span<const double> offsets,
                                                     std::span<const double> weights);
    virtual ~MeanCriterion() = default;

    virtual double scale() const = 0;
    std::size_t n_values() const { return y_.cols; }

    virtual Summary summarise(std::span<const Row> rows) const = 0;

    double middle(const Summary&, const Summary&) const { return 0; }  // no bounds for more than one target

    void write_values(const Summary& node, const Bounds&, double* values) const {
        for (std::size_t o = 0; o < y_.cols; ++o) values[o] = node.sums[o] / node.weight + offsets_[o];
    }

    // The best cut of a feature's ordered rows: O(rows x outputs).
    virtual Candidate scan(const Ordered& feature, const Summary& node, const Bounds& bounds, bool is_bounded, const Limits& limits,
                           Scratch& scratch) const = 0;

    // Sums of a set of rows: its weight, then the sum of every target.
    std::size_t n_sums() const { return 1 + y_.cols; }
    void add(Row row, double* sums) const {
        const double w = weight_of(row);
        const double* y = y_.row(row);
        sums[0] += w;
        for (std::size_t o = 0; o < y_.cols; ++o) sums[1 + o] += w * y[o];
    }
    void write_totals(const Summary& node, double* sums) const {
        sums[0] = node.weight;
        std::copy_n(node.sums.data(), y_.cols, sums + 1);
    }
    virtual double rest(double total, double part) const = 0;
    virtual double worth(const double* sums) const = 0;
    std::size_t n_keys() const { return y_.cols; }  // categories are tried in the order of each target's mean
    double key(const double* sums, std::size_t k) const { return sums[1 + k] / sums[0]; }

   protected:
    MeanCriterion(RowMajor<const double> y, std::span<const double> offsets, std::span<const double> weights)
        : y_(y), offsets_(offsets), weights_(weights) {}

    double weight_of(Row row) const { return weights_.empty() ? 1.0 : weights_[row]; }

    RowMajor<const double> y_;
    std::span<const double> offsets_;
    std::span<const double> weights_;
};

}  // namespace mercer::tree
