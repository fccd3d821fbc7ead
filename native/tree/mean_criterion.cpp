#include "tree/mean_criterion.hpp"

#include <type_traits>

#include "tree/measures.hpp"

namespace mercer::tree {

namespace {

template <class Measure>
class MeansBy final : public MeanCriterion {
   public:
    MeansBy(RowMajor<const double> y, std::span<const double> offsets, std::span<const double> weights)
        : MeanCriterion(y, offsets, weights) {}

    double scale() const override { return Measure::kScale; }

    Summary summarise(std::span<const Row> rows) const override {
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

    Candidate scan(const Ordered& feature, const Summary& node, const Bounds&, bool, const Limits& limits,
                   Scratch& scratch) const override {
        Candidate best;
        search(feature, node, limits, scratch, false, best);
        if (feature.n_missing() > 0) search(feature, node, limits, scratch, true, best);
        return best;
    }

    double rest(double total, double part) const override { return rest_of<Measure>(total, part); }
    double worth(const double* sums) const override { return worth_of(sums[0], sums + 1); }

   private:
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
};

}  // namespace

std::unique_ptr<const MeanCriterion> MeanCriterion::make(MeanMeasure measure, RowMajor<const double> y,
                                                         std::span<const double> offsets, std::span<const double> weights) {
    if (measure == MeanMeasure::kSquaredError) return std::make_unique<MeansBy<SquaredError>>(y, offsets, weights);
    return std::make_unique<MeansBy<HalfPoisson>>(y, offsets, weights);
}

}  // namespace mercer::tree
