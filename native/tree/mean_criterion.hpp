// Criteria for several regression targets a row: what a set of rows is worth is the mean over the targets.
//
// A set is summed up by its weight and the weighted sum of each target; the measures are those of one target.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "core/views.hpp"
#include "tree/pair_criterion.hpp"
#include "tree/split.hpp"

namespace mercer::tree {

// What a node's rows come to, whatever the measure.
struct MeanSummary : NodeSummary {
    std::vector<double> sums;
};

template <class Measure>
class MeanCriterion {
   public:
    using Summary = MeanSummary;

    // `y` (rows x outputs), of which `offsets` were taken off beforehand.
    MeanCriterion(RowMajor<const double> y, std::span<const double> offsets, std::span<const double> weights)
        : y_(y), offsets_(offsets), weights_(weights) {}

    static constexpr double kScale = Measure::kScale;
    std::size_t n_values() const { return y_.cols; }

    Summary summarise(std::span<const Row> rows) const {
        Summary out{{.n = rows.size()}, std::vector<double>(y_.cols, 0.0)};
        if (rows.empty()) return out;
        std::vector<double> terms(y_.cols, 0.0);
        const double* first = y_.row(rows.front());
        for (const Row row : rows) {
            const double w = weight_of(row);
            const double* y = y_.row(row);
            out.weight += w;
            for (std::size_t o = 0; o < y_.cols; ++o) {
                out.sums[o] += w * y[o];
                terms[o] += w * Measure::term(y[o]);
                out.is_pure &= y[o] == first[o];
            }
        }
        out.worth = worth_of(out.weight, out.sums.data());
        if (out.is_pure) return out;
        for (std::size_t o = 0; o < y_.cols; ++o) out.impurity += Measure::impurity(out.weight, out.sums[o], terms[o]);
        out.impurity /= static_cast<double>(y_.cols);
        return out;
    }

    double middle(const Summary&, const Summary&) const { return 0; }  // no bounds for more than one target

    void write_values(const Summary& node, const Bounds&, double* values) const {
        for (std::size_t o = 0; o < y_.cols; ++o) values[o] = node.sums[o] / node.weight + offsets_[o];
    }

    // The best cut of a feature's ordered rows: O(rows x outputs).
    Candidate scan(const Ordered& feature, const Summary& node, const Bounds&, bool, const Limits& limits, Scratch& scratch) const {
        Candidate best;
        search(feature, node, limits, scratch, false, best);
        if (feature.n_missing() > 0) search(feature, node, limits, scratch, true, best);
        return best;
    }

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
    static double rest(double total, double part) { return rest_of<Measure>(total, part); }
    double worth(const double* sums) const { return worth_of(sums[0], sums + 1); }
    std::size_t n_keys() const { return y_.cols; }  // categories are tried in the order of each target's mean
    double key(const double* sums, std::size_t k) const { return sums[1 + k] / sums[0]; }

   private:
    double weight_of(Row row) const { return weights_.empty() ? 1.0 : weights_[row]; }

    double worth_of(double weight, const double* sums) const {
        double worth = 0;
        if constexpr (std::is_same_v<Measure, SquaredError>) {  // one division for all outputs
            for (std::size_t o = 0; o < y_.cols; ++o) worth += sums[o] * sums[o];
            return worth / (weight * static_cast<double>(y_.cols));
        }
        for (std::size_t o = 0; o < y_.cols; ++o) worth += Measure::worth(weight, sums[o]);
        return worth / static_cast<double>(y_.cols);
    }

    void search(const Ordered& feature, const Summary& node, const Limits& limits, Scratch& scratch, bool is_missing_left,
                Candidate& best) const {
        feature.has_zeros() ? search_in<true>(feature, node, limits, scratch, is_missing_left, best)
                            : search_in<false>(feature, node, limits, scratch, is_missing_left, best);
    }

    template <bool kHasZeros>
    void search_in(const Ordered& feature, const Summary& node, const Limits& limits, Scratch& scratch, bool is_missing_left,
                   Candidate& best) const {
        scratch.extra.assign(y_.cols + 3 * n_sums(), 0.0);
        double* left = scratch.extra.data();
        double* right = left + n_sums();
        double* zeros = right + y_.cols;
        if constexpr (kHasZeros) sum_others(*this, feature.rows, node, zeros, zeros + n_sums());
        const std::size_t n = feature.size();
        const std::size_t n_extra = is_missing_left ? feature.n_missing() : 0;
        for (std::size_t i = feature.rows.size() - n_extra; i < feature.rows.size(); ++i) add(feature.rows[i], left);
        const std::size_t least = std::max<std::size_t>(limits.min_rows_leaf, 1);
        const std::size_t last = feature.n_steps() - (is_missing_left || feature.n_missing() == 0 ? 1 : 0);
        for (std::size_t step = 0; step < last; ++step) {
            if (kHasZeros && step == feature.zeros_at) {
                for (std::size_t k = 0; k < n_sums(); ++k) left[k] += zeros[k];
            } else {
                add(kHasZeros ? feature.row(step) : feature.rows[step], left);
            }
            const std::size_t n_left = (kHasZeros ? feature.n_rows(step + 1) : step + 1) + n_extra;
            const double right_weight = node.weight - left[0];
            if (n_left < least || n - n_left < least) continue;
            if (left[0] < limits.min_weight_leaf || right_weight < limits.min_weight_leaf) continue;
            for (std::size_t o = 0; o < y_.cols; ++o) right[o] = rest_of<Measure>(node.sums[o], left[1 + o]);
            const double value = worth_of(left[0], left + 1) + worth_of(right_weight, right);
            if (value > best.worth && feature.is_border(step + 1)) best = {value, step + 1, is_missing_left};
        }
    }

    RowMajor<const double> y_;
    std::span<const double> offsets_;
    std::span<const double> weights_;
};

}  // namespace mercer::tree
