#include "tree/class_criterion.hpp"

#include <type_traits>

#include "core/errors.hpp"
#include "tree/measures.hpp"

namespace mercer::tree {

namespace {

// Each measure: what a class of weight x adds to the worth (a sum over classes), how the sum and the set's weight make the worth,
// and the impurity of a set from its weight and worth.
struct ClassGini {
    static constexpr double kScale = 1;
    static double term(double x) { return x * x; }
    static double worth(double w, double sum) { return sum / w; }
    static double impurity(double w, double worth) { return 1 - worth / w; }
};

struct ClassEntropy {  // in bits
    static constexpr double kScale = PairEntropy::kScale;
    static double term(double x) { return detail::x_log_x(x); }
    static double worth(double w, double sum) { return sum - detail::x_log_x(w); }
    static double impurity(double w, double worth) { return -kScale * worth / w; }
};

struct ClassMisclassification {  // its sum is not one over classes but their largest weight: see ClassBy::Side
    static constexpr double kScale = 1;
    static double term(double x) { return x; }
    static double worth(double, double most) { return most; }
    static double impurity(double w, double worth) { return 1 - worth / w; }
};

template <class Measure>
class ClassBy final : public ClassCriterion {
   public:
    ClassBy(RowMajor<const std::int32_t> codes, std::size_t n_classes, std::span<const double> weights)
        : ClassCriterion(codes, n_classes, weights) {}

    double scale() const override { return Measure::kScale; }

    Summary summarise(std::span<const Row> rows) const override {
        Summary out{{.n = rows.size()}, std::vector<double>(n_values(), 0.0)};
        if (rows.empty()) return out;
        const std::int32_t* first = codes_.row(rows.front());
        for (const Row row : rows) {
            const double w = weight_of(row);
            const std::int32_t* classes = codes_.row(row);
            out.weight += w;
            for (std::size_t o = 0; o < codes_.cols; ++o) {
                out.totals[o * n_classes_ + static_cast<std::size_t>(classes[o])] += w;
                out.is_pure &= classes[o] == first[o];
            }
        }
        out.worth = worth_of(out.weight, out.totals.data());
        out.impurity = out.is_pure ? 0.0 : Measure::impurity(out.weight, out.worth);
        return out;
    }

    Candidate scan(const Ordered& feature, const Summary& node, const Bounds&, bool, const Limits& limits,
                   Scratch& scratch) const override {
        Candidate best;
        search(feature, node, limits, scratch, false, best);
        if (feature.n_missing() > 0) search(feature, node, limits, scratch, true, best);
        return best;
    }

    double worth(const double* sums) const override { return worth_of(sums[0], sums + 1); }

   private:
    static constexpr bool kIsMost = std::is_same_v<Measure, ClassMisclassification>;

    // One side of a cut: class weights and the sum that the measure needs over them.
    struct Side {
        double* totals;
        double weight;
        double sum;
    };

    double sum_of(const double* totals) const {
        double sum = 0;
        for (std::size_t o = 0; o < codes_.cols; ++o) {
            const double* classes = totals + o * n_classes_;
            if constexpr (kIsMost) {
                sum += *std::max_element(classes, classes + n_classes_);
            } else {
                for (std::size_t k = 0; k < n_classes_; ++k) sum += Measure::term(classes[k]);
            }
        }
        return sum;
    }

    // The mean over the outputs.
    double finish(double weight, double sum) const {
        const auto n_outputs = static_cast<double>(codes_.cols);
        if constexpr (std::is_same_v<Measure, ClassEntropy>) return Measure::worth(weight, sum / n_outputs);
        return Measure::worth(weight, sum) / n_outputs;
    }
    double worth_of(double weight, const double* totals) const { return weight > 0 ? finish(weight, sum_of(totals)) : 0.0; }

    void move(Row row, Side& from, Side& to) const {
        const double w = weight_of(row);
        from.weight -= w;
        to.weight += w;
        for (std::size_t o = 0; o < codes_.cols; ++o) {
            const std::size_t k = place(row, o);
            if constexpr (!kIsMost) {
                from.sum += Measure::term(from.totals[k] - w) - Measure::term(from.totals[k]);
                to.sum += Measure::term(to.totals[k] + w) - Measure::term(to.totals[k]);
            }
            from.totals[k] -= w;
            to.totals[k] += w;
        }
    }

    void move_zeros(const double* zeros, Side& from, Side& to) const {
        from.weight -= zeros[0];
        to.weight += zeros[0];
        for (std::size_t k = 0; k < n_values(); ++k) {
            from.totals[k] = rest(from.totals[k], zeros[1 + k]);
            to.totals[k] += zeros[1 + k];
        }
        from.sum = sum_of(from.totals);
        to.sum = sum_of(to.totals);
    }

    void search(const Ordered& feature, const Summary& node, const Limits& limits, Scratch& scratch, bool is_missing_left,
                Candidate& best) const {
        feature.has_zeros() ? search_in<true>(feature, node, limits, scratch, is_missing_left, best)
                            : search_in<false>(feature, node, limits, scratch, is_missing_left, best);
    }

    template <bool kHasZeros>
    void search_in(const Ordered& feature, const Summary& node, const Limits& limits, Scratch& scratch, bool is_missing_left,
                   Candidate& best) const {
        const std::size_t size = n_values();
        scratch.extra.assign(2 * size + 2 * n_sums(), 0.0);
        Side left{scratch.extra.data(), 0, 0};
        Side right{scratch.extra.data() + size, node.weight, 0};
        std::copy_n(node.totals.data(), size, right.totals);
        right.sum = sum_of(right.totals);
        left.sum = sum_of(left.totals);
        double* zeros = right.totals + size;
        if constexpr (kHasZeros) sum_others(*this, feature.rows, node, zeros, zeros + n_sums());
        const std::size_t n = feature.size();
        std::size_t n_extra = 0;
        if (is_missing_left) {
            n_extra = feature.n_missing();
            for (std::size_t i = feature.n_known; i < feature.rows.size(); ++i) move(feature.rows[i], right, left);
        }
        const std::size_t least = std::max<std::size_t>(limits.min_rows_leaf, 1);
        const std::size_t last = feature.n_steps() - (is_missing_left || feature.n_missing() == 0 ? 1 : 0);
        for (std::size_t step = 0; step < last; ++step) {
            if (kHasZeros && step == feature.zeros_at) {
                move_zeros(zeros, right, left);
            } else {
                move(kHasZeros ? feature.row(step) : feature.rows[step], right, left);
            }
            const std::size_t n_left = (kHasZeros ? feature.n_rows(step + 1) : step + 1) + n_extra;
            if (n_left < least || n - n_left < least) continue;
            if (left.weight < limits.min_weight_leaf || right.weight < limits.min_weight_leaf) continue;
            if constexpr (kIsMost) {
                left.sum = sum_of(left.totals);
                right.sum = sum_of(right.totals);
            }
            const double value = finish(left.weight, left.sum) + finish(right.weight, right.sum);
            if (value > best.worth && feature.is_border(step + 1)) best = {value, step + 1, is_missing_left};
        }
    }
};

}  // namespace

std::unique_ptr<const ClassCriterion> ClassCriterion::make(ClassMeasure measure, RowMajor<const std::int32_t> codes,
                                                           std::size_t n_classes, std::span<const double> weights) {
    switch (measure) {
        case ClassMeasure::kGini:
            return std::make_unique<ClassBy<ClassGini>>(codes, n_classes, weights);
        case ClassMeasure::kEntropy:
            return std::make_unique<ClassBy<ClassEntropy>>(codes, n_classes, weights);
        case ClassMeasure::kMisclassification:
            return std::make_unique<ClassBy<ClassMisclassification>>(codes, n_classes, weights);
    }
    refuse("there is no such measure");
}

}  // namespace mercer::tree
