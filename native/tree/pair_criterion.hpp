// Criteria for targets of one number a row: two classes (0 and 1) or one regression target.
//
// A set of rows is summed up by its weight w and the weighted sum s of its targets. A measure (measures.hpp) says what a set (w, s)
// is worth; the best split has the largest sum over its two sides. Growers are compiled once for all measures: they ask for the
// best cut of a whole feature, which is worth a virtual call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include "tree/split.hpp"

namespace mercer::tree {

enum class PairMeasure { kGini, kEntropy, kMisclassification, kSquaredError, kHalfPoisson };

// A weight and a weighted target, added in one instruction: most of the time of a scan goes into fetching and adding these.
typedef double Pair __attribute__((vector_size(16)));

struct PairSummary : NodeSummary {
    double sum = 0;
};

class PairCriterion {
   public:
    using Summary = PairSummary;

    // `y` by row, and `pairs` of (w, w y), which are read together; none: all weigh one. `offset` was taken off the targets
    // beforehand.
    static std::unique_ptr<const PairCriterion> make(PairMeasure measure, std::span<const double> y, std::span<const Pair> pairs,
                                                     double offset, bool is_classification);
    virtual ~PairCriterion() = default;

    virtual double scale() const = 0;
    std::size_t n_values() const { return n_values_; }

    virtual Summary summarise(std::span<const Row> rows) const = 0;

    // The middle between what two sides predict: a bound for the nodes below either, where a constraint holds.
    double middle(const Summary& left, const Summary& right) const {
        return (left.sum / left.weight + right.sum / right.weight) / 2;
    }

    void write_values(const Summary& node, const Bounds& bounds, double* values) const {
        const double mean = std::clamp(node.sum / node.weight, bounds.lower, bounds.upper) + offset_;
        if (n_values_ == 2) values[0] = 1 - mean;
        values[n_values_ - 1] = mean;
    }

    // The best cut of a feature's ordered rows.
    virtual Candidate scan(const Ordered& feature, const Summary& node, const Bounds& bounds, bool is_bounded, const Limits& limits,
                           Scratch& scratch) const = 0;

    // Sums of a set of rows that may be added to others': weight, then the sum of the targets.
    static constexpr std::size_t n_sums() { return 2; }
    void add(Row row, double* sums) const {
        const Pair pair = pair_of(row);
        sums[0] += pair[0];
        sums[1] += pair[1];
    }
    static void write_totals(const Summary& node, double* sums) {
        sums[0] = node.weight;
        sums[1] = node.sum;
    }
    virtual double worth(const double* sums) const = 0;
    virtual double rest(double total, double part) const = 0;
    // Categories in the order of this key hold the best of all splits into two sets (Fisher, Breiman).
    static constexpr std::size_t n_keys() { return 1; }
    static double key(const double* sums, std::size_t) { return sums[1] / sums[0]; }

   protected:
    PairCriterion(std::span<const double> y, std::span<const Pair> pairs, double offset, bool is_classification)
        : y_(y), pairs_(pairs), offset_(offset), n_values_(is_classification ? 2 : 1) {}

    Pair pair_of(Row row) const { return pairs_.empty() ? Pair{1.0, y_[row]} : pairs_[row]; }

    std::span<const double> y_;
    std::span<const Pair> pairs_;
    double offset_;
    std::size_t n_values_;
};

}  // namespace mercer::tree
