// Criteria for targets of one number a row: two classes (0 and 1) or one regression target.
//
// A set of rows is summed up by its weight w and the weighted sum s of its targets. A measure says what a set (w, s) is worth; the
// best split has the largest sum over its two sides. The formulas work on one number and on vectors of candidates.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "core/math.hpp"
#include "core/simd.hpp"
#include "tree/split.hpp"

namespace mercer::tree {

namespace detail {

template <class V>
V x_log_x(V x) {
    if constexpr (std::is_same_v<V, double>) {
        return x > 0 ? x * std::log(x) : 0.0;
    } else {
        return x > 0 ? x * math::log(x) : math::broadcast(0.0);
    }
}

}  // namespace detail

// Each measure: worth of a set; impurity of a set, given also q, the weighted sum of term(y); and what one unit of worth is in
// units of impurity.
struct PairGini {
    static constexpr double kScale = 1;
    static double term(double) { return 0; }
    template <class V>
    static V worth(V w, V s) {
        return (s * s + (w - s) * (w - s)) / w;
    }
    static double impurity(double w, double s, double) { return 1 - worth(w, s) / w; }
};

struct PairEntropy {  // in bits
    static constexpr double kScale = 1.442695040888963407;
    static double term(double) { return 0; }
    template <class V>
    static V worth(V w, V s) {
        return detail::x_log_x(s) + detail::x_log_x(w - s) - detail::x_log_x(w);
    }
    static double impurity(double w, double s, double) { return -kScale * worth(w, s) / w; }
};

struct PairMisclassification {
    static constexpr double kScale = 1;
    static double term(double) { return 0; }
    template <class V>
    static V worth(V w, V s) {
        return s > w - s ? s : w - s;
    }
    static double impurity(double w, double s, double) { return 1 - worth(w, s) / w; }
};

struct SquaredError {
    static constexpr double kScale = 1;
    static double term(double y) { return y * y; }
    template <class V>
    static V worth(V w, V s) {
        return s * s / w;
    }
    static double impurity(double w, double s, double q) { return std::max(q / w - (s / w) * (s / w), 0.0); }
};

struct HalfPoisson {  // half of the mean Poisson deviance; a side whose targets are all 0 predicts 0 and is refused
    static constexpr double kScale = 1;
    static double term(double y) { return detail::x_log_x(y); }
    template <class V>
    static V worth(V w, V s) {
        if constexpr (std::is_same_v<V, double>) {
            return s > 0 ? s * std::log(s / w) : -kInfinity;
        } else {
            return s > 1e-300 ? s * math::log(s / w) : math::broadcast(-kInfinity);
        }
    }
    static double impurity(double w, double s, double q) { return s > 0 ? std::max((q - s * std::log(s / w)) / w, 0.0) : 0.0; }
};

// What a part leaves of a sum. Counts are never negative, so that what rounding leaves of a side of zeros is known to be one, and
// is refused as such.
template <class Measure, class V>
V rest_of(double total, V part) {
    const V rest = total - part;
    if constexpr (!std::is_same_v<Measure, HalfPoisson>) return rest;
    return rest > 1e-13 * total ? rest : V{};
}
// A weight and a weighted target, added in one instruction: most of the time of a scan goes into fetching and adding these.
typedef double Pair __attribute__((vector_size(16)));

// What a node's rows come to, whatever the measure.
struct PairSummary : NodeSummary {
    double sum = 0;
};

template <class Measure>
class PairCriterion {
   public:
    using Summary = PairSummary;

    // `y` by row, and `pairs` of (w, w y), which are read together; none: all weigh one. `offset` was taken off the targets
    // beforehand.
    PairCriterion(std::span<const double> y, std::span<const Pair> pairs, double offset, bool is_classification)
        : y_(y), pairs_(pairs), offset_(offset), n_values_(is_classification ? 2 : 1) {}

    static constexpr double kScale = Measure::kScale;
    std::size_t n_values() const { return n_values_; }

    Summary summarise(std::span<const Row> rows) const {
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

    // The middle between what two sides predict: a bound for the nodes below either, where a constraint holds.
    double middle(const Summary& left, const Summary& right) const {
        return (left.sum / left.weight + right.sum / right.weight) / 2;
    }

    void write_values(const Summary& node, const Bounds& bounds, double* values) const {
        const double mean = std::clamp(node.sum / node.weight, bounds.lower, bounds.upper) + offset_;
        if (n_values_ == 2) values[0] = 1 - mean;
        values[n_values_ - 1] = mean;
    }

    // What the two sides of a given split are worth together.
    double worth(std::span<const Row> left, std::span<const Row> right, const Summary&) const {
        return summarise(left).worth + summarise(right).worth;
    }

    // The best cut of a feature's ordered rows.
    Candidate scan(const Ordered& feature, const Summary& node, const Bounds& bounds, bool is_bounded, const Limits& limits,
                   Scratch& scratch) const {
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
    static double worth(const double* sums) { return Measure::worth(sums[0], sums[1]); }
    static double rest(double total, double part) { return rest_of<Measure>(total, part); }
    // Categories in the order of this key hold the best of all splits into two sets (Fisher, Breiman).
    static constexpr std::size_t n_keys() { return 1; }
    static double key(const double* sums, std::size_t) { return sums[1] / sums[0]; }

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

    Pair pair_of(Row row) const { return pairs_.empty() ? Pair{1.0, y_[row]} : pairs_[row]; }

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

    std::span<const double> y_;
    std::span<const Pair> pairs_;
    double offset_;
    std::size_t n_values_;
};

}  // namespace mercer::tree
