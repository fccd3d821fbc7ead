// Criteria for classes: any number of them, and any number of outputs, each with classes of its own.
//
// A set of rows is summed up by its weight and the weight of every class of every output; what it is worth is the mean over the
// outputs. A scan moves one row at a time from right to left and mends the sums that change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/views.hpp"
#include "tree/split.hpp"

namespace mercer::tree {

enum class ClassMeasure { kGini, kEntropy, kMisclassification };

struct ClassSummary : NodeSummary {
    std::vector<double> totals;
};

class ClassCriterion {
   public:
    using Summary = ClassSummary;

    // `codes` (rows x outputs) are below n_classes, the largest number of classes that any output has.
    static std::unique_ptr<const ClassCriterion> make(ClassMeasure measure, RowMajor<const std::int32_t> codes,
                                                      std::size_t n_classes, std::span<const double> weights);
    virtual ~ClassCriterion() = default;

    virtual double scale() const = 0;
    std::size_t n_values() const { return codes_.cols * n_classes_; }

    virtual Summary summarise(std::span<const Row> rows) const = 0;

    double middle(const Summary&, const Summary&) const { return 0; }  // no bounds for more than two classes

    void write_values(const Summary& node, const Bounds&, double* values) const {
        for (std::size_t k = 0; k < n_values(); ++k) values[k] = node.totals[k] / node.weight;
    }

    virtual Candidate scan(const Ordered& feature, const Summary& node, const Bounds& bounds, bool is_bounded, const Limits& limits,
                           Scratch& scratch) const = 0;

    // Sums of a set of rows: its weight, then the weight of every class.
    std::size_t n_sums() const { return 1 + n_values(); }
    void add(Row row, double* sums) const {
        const double w = weight_of(row);
        sums[0] += w;
        for (std::size_t o = 0; o < codes_.cols; ++o) sums[1 + place(row, o)] += w;
    }
    void write_totals(const Summary& node, double* sums) const {
        sums[0] = node.weight;
        std::copy_n(node.totals.data(), n_values(), sums + 1);
    }
    static double rest(double total, double part) { return std::max(total - part, 0.0); }
    virtual double worth(const double* sums) const = 0;
    std::size_t n_keys() const { return n_values(); }  // categories are tried in the order of each class's share
    double key(const double* sums, std::size_t k) const { return sums[1 + k] / sums[0]; }

   protected:
    ClassCriterion(RowMajor<const std::int32_t> codes, std::size_t n_classes, std::span<const double> weights)
        : codes_(codes), n_classes_(n_classes), weights_(weights) {}

    double weight_of(Row row) const { return weights_.empty() ? 1.0 : weights_[row]; }
    std::size_t place(Row row, std::size_t output) const {
        return output * n_classes_ + static_cast<std::size_t>(codes_(row, output));
    }

    RowMajor<const std::int32_t> codes_;
    std::size_t n_classes_;
    std::span<const double> weights_;
};

}  // namespace mercer::tree
