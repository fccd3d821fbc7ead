#include "tree/pair_criterion.hpp"

#include <array>

#include "core/errors.hpp"
#include "core/simd.hpp"
#include "tree/measures.hpp"

namespace mercer::tree {

namespace {

template <class Measure>
class PairBy final : public PairCriterion {
   public:
    PairBy(std::span<const double> y, std::span<const Pair> pairs, double offset, bool is_classification)
        : PairCriterion(y, pairs, offset, is_classification) {}

    double scale() const override { return Measure::kScale; }

    Summary summarise(std::span<const Row> rows) const override {
        Summary out{{.n = rows.size()}};
        if (rows.empty()) return out;
        double least = y_[rows.front()];
        double most = least;
        double squares = 0;
        for (const Row row : rows) {
            const double y = y_[row];
            const Pair pair = pair_of(row);
            least = std::min(least, y);
            most = std::max(most, y);
            out.weight += pair[0];
            out.sum += pair[1];
            squares += pair[0] * Measure::term(y);
        }
        out.is_pure = least == most;
        out.impurity = out.is_pure ? 0.0 : Measure::impurity(out.weight, out.sum, squares);
        out.worth = Measure::worth(out.weight, out.sum);
        return out;
    }

    Candidate scan(const Ordered& feature, const Summary& node, const Bounds& bounds, bool is_bounded, const Limits& limits,
                   Scratch& scratch) const override {
        add_up(feature, node, scratch);
        const Cuts cuts{feature, node, bounds, limits, scratch, is_bounded};
        Candidate best;
        const std::size_t n = feature.size();
        const std::size_t least = std::max<std::size_t>(limits.min_rows_leaf, 1);
        if (n < 2 * least) return best;
        const std::size_t n_steps = feature.n_steps();
        search(cuts, feature.steps_of_least(least), std::min(feature.steps_of_most(n - least), n_steps), false, best);
        if (feature.n_missing() > 0) {
            const std::size_t first = least > feature.n_missing() ? least - feature.n_missing() : 1;
            const std::size_t last = n - least - std::min(feature.n_missing(), n - least);
            search(cuts, feature.steps_of_least(first), std::min(feature.steps_of_most(last), n_steps - 1), true, best);
        }
        return best;
    }

    double worth(const double* sums) const override { return Measure::worth(sums[0], sums[1]); }
    double rest(double total, double part) const override { return rest_of<Measure>(total, part); }

   private:
    using S = Simd<double>;

    struct Cuts {
        const Ordered& feature;
        const Summary& node;
        const Bounds& bounds;
        const Limits& limits;
        const Scratch& scratch;
        bool is_bounded;
    };

    // Running sums over the steps: of the targets, and of the weights where steps weigh differently.
    void add_up(const Ordered& feature, const Summary& node, Scratch& scratch) const {
        if (feature.has_zeros()) return add_up_with_zeros(feature, node, scratch);
        double* sums = scratch.sums.data();
        double* weights = scratch.weights.data();
        if (pairs_.empty()) {
            double sum = 0;
            for (std::size_t i = 0; i < feature.n_known; ++i) {
                sum += y_[feature.rows[i]];
                sums[i] = sum;
            }
            return;
        }
        Pair total{};
        for (std::size_t i = 0; i < feature.n_known; ++i) {
            total += pairs_[feature.rows[i]];
            weights[i] = total[0];
            sums[i] = total[1];
        }
    }

    void add_up_with_zeros(const Ordered& feature, const Summary& node, Scratch& scratch) const {
        std::array<double, 2> zeros;
        std::array<double, 2> space;
        sum_others(*this, feature.rows, node, zeros.data(), space.data());
        Pair total{};
        for (std::size_t step = 0; step < feature.n_steps(); ++step) {
            total += step == feature.zeros_at ? Pair{zeros[0], zeros[1]} : pair_of(feature.row(step));
            scratch.weights[step] = total[0];
            scratch.sums[step] = total[1];
        }
    }

    void search(const Cuts& cuts, std::size_t first, std::size_t last, bool is_missing_left, Candidate& best) const {
        const bool has_demands = cuts.is_bounded || cuts.limits.min_weight_leaf > 0;
        if (pairs_.empty() && !cuts.feature.has_zeros()) {
            has_demands ? search_in<false, true>(cuts, first, last, is_missing_left, best)
                        : search_in<false, false>(cuts, first, last, is_missing_left, best);
        } else {
            has_demands ? search_in<true, true>(cuts, first, last, is_missing_left, best)
                        : search_in<true, false>(cuts, first, last, is_missing_left, best);
        }
    }

    // Looks at the cuts with first .. last steps on the left, a block at a time; borders are looked for only in blocks that
    // hold something better than the best so far.
    template <bool kIsWeighted, bool kHasDemands>
    void search_in(const Cuts& cuts, std::size_t first, std::size_t last, bool is_missing_left, Candidate& best) const {
        constexpr std::size_t kBlock = 8 * S::kLanes;
        alignas(64) double worths[kBlock];
        const double* sums = cuts.scratch.sums.data();
        const double* weights = cuts.scratch.weights.data();
        const std::size_t n_steps = cuts.feature.n_steps();
        double extra_weight = 0;
        double extra_sum = 0;
        if (is_missing_left) {
            extra_weight = cuts.node.weight - (kIsWeighted ? weights[n_steps - 1] : static_cast<double>(n_steps));
            extra_sum = rest_of<Measure>(cuts.node.sum, sums[n_steps - 1]);
        }
        typename S::Vector steps;
        for (std::size_t l = 0; l < S::kLanes; ++l) steps[l] = static_cast<double>(l);
        for (std::size_t start = first; start <= last; start += kBlock) {
            const std::size_t count = std::min(kBlock, last + 1 - start);
            typename S::Vector most = S::broadcast(-kInfinity);
            for (std::size_t k = 0; k < count; k += S::kLanes) {
                const std::size_t i = start + k - 1;
                const auto w = (kIsWeighted ? S::load(weights + i) : steps + static_cast<double>(i + 1)) + extra_weight;
                const auto s = S::load(sums + i) + extra_sum;
                auto value = Measure::worth(w, s) + Measure::worth(cuts.node.weight - w, rest_of<Measure>(cuts.node.sum, s));
                if constexpr (kHasDemands) value = is_allowed(cuts, w, s) ? value : S::broadcast(-kInfinity);
                S::store(worths + k, value);
                most = value > most ? value : most;
            }
            bool is_promising = false;
            for (std::size_t l = 0; l < S::kLanes; ++l) is_promising |= most[l] > best.worth;
            if (!is_promising) continue;
            for (std::size_t k = 0; k < count; ++k)
                if (worths[k] > best.worth && cuts.feature.is_border(start + k)) best = {worths[k], start + k, is_missing_left};
        }
    }

    static auto is_allowed(const Cuts& cuts, typename S::Vector w, typename S::Vector s) {
        const auto right = cuts.node.weight - w;
        auto out = (w >= cuts.limits.min_weight_leaf) & (right >= cuts.limits.min_weight_leaf);
        if (cuts.is_bounded && cuts.feature.direction != 0) {  // splits on other features leave the bounds to write_values
            const auto a = s / w;
            const auto b = (cuts.node.sum - s) / right;
            out &= (a >= cuts.bounds.lower) & (a <= cuts.bounds.upper) & (b >= cuts.bounds.lower) & (b <= cuts.bounds.upper);
            out &= (a - b) * static_cast<double>(cuts.feature.direction) <= 0;
        }
        return out;
    }
};

}  // namespace

std::unique_ptr<const PairCriterion> PairCriterion::make(PairMeasure measure, std::span<const double> y,
                                                         std::span<const Pair> pairs, double offset, bool is_classification) {
    switch (measure) {
        case PairMeasure::kGini:
            return std::make_unique<PairBy<PairGini>>(y, pairs, offset, is_classification);
        case PairMeasure::kEntropy:
            return std::make_unique<PairBy<PairEntropy>>(y, pairs, offset, is_classification);
        case PairMeasure::kMisclassification:
            return std::make_unique<PairBy<PairMisclassification>>(y, pairs, offset, is_classification);
        case PairMeasure::kSquaredError:
            return std::make_unique<PairBy<SquaredError>>(y, pairs, offset, is_classification);
        case PairMeasure::kHalfPoisson:
            return std::make_unique<PairBy<HalfPoisson>>(y, pairs, offset, is_classification);
    }
    refuse("there is no such measure");
}

}  // namespace mercer::tree
