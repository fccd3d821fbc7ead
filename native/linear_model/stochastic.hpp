// Stochastic descent on linear models: one pass over the rows, a step on each, for several outputs (one-vs-rest classes) at once.
//
// Weights are kept as scale times a vector, so that shrinking all of them costs one multiplication (Bottou); the l1 penalty is the
// cumulative one of Tsuruoka, Tsujii and Ananiadou (2009): `tax` is what each weight owes so far, `taxes` what it has paid.
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
#include "core/interrupt.hpp"
#include "core/math.hpp"
#include "core/parallel.hpp"
#include "linear_model/stochastic_loss.hpp"
#include "linear_model/stochastic_rows.hpp"

namespace mercer::linear_model::stochastic {

enum class Schedule { kConstant, kOptimal, kInverseScaling, kPassiveAggressive1, kPassiveAggressive2 };

struct Rule {
    Loss loss;
    Schedule schedule = Schedule::kConstant;
    double eta0 = 1;
    double power_t = 0.5;
    double optimal_start = 0;  // of the optimal schedule 1 / (alpha (start + t - 1))
    double alpha = 0;
    double l2 = 0;  // the strengths of l2 |w|^2 / 2, l1 |w|_1 and lp |w|_p^p
    double l1 = 0;
    double lp = 0;
    double power = 0.5;
    double low = 0;  // the box, where low < high
    double high = 0;
    bool has_intercept = true;
    double average_from = 0;  // the step from which iterates are averaged; 0: never

    bool has_box() const { return low < high; }
    bool is_passive_aggressive() const { return schedule >= Schedule::kPassiveAggressive1; }
};

// What the rows are to be fitted to. With `positives`, y holds the codes of classes, and output k is for class positives[k].
template <Real T>
struct Targets {
    std::span<const T> y;
    std::span<const std::int32_t> positives;
    std::span<const T> weights;            // of rows; a row of weight zero is absent. Empty: all one
    RowMajor<const double> class_weights;  // for each output, of the other classes and of its own

    bool are_labels() const { return !positives.empty(); }
    double weight(std::size_t row) const { return weights.empty() ? 1.0 : static_cast<double>(weights[row]); }
    double target(std::size_t row, std::size_t output, double negative) const {
        if (!are_labels()) return static_cast<double>(y[row]);
        return static_cast<double>(y[row]) == positives[output] ? 1.0 : negative;
    }
};

// The columns of the state of an output: what a pass goes on from, and what it tells.
enum StateColumn : std::size_t {
    kIntercept,
    kAverageIntercept,
    kTime,
    kEta,
    kTax,
    kLoss,
    kPenalty,
    kSteps,
    kMistakes,
    kUpdates,
    kStateColumns
};

template <Real T>
struct Outputs {
    RowMajor<std::int32_t> order;         // of the rows, shuffled anew before each pass
    std::span<const std::int64_t> seeds;  // negative: the order stays
    RowMajor<T> coef;
    RowMajor<T> averages;  // empty where nothing is averaged
    RowMajor<T> taxes;     // empty where there is neither an l1 nor an lp penalty
    RowMajor<double> state;
};

namespace detail {

// The shuffle of scikit-learn's SGD, from the same generator (Marsaglia's xorshift, 32 bits) and draws: its order is this order.
inline void shuffle(std::span<std::int32_t> order, std::uint32_t seed) {
    const auto n = static_cast<std::uint32_t>(order.size());
    for (std::uint32_t i = 0; i + 1 < n; ++i) {
        if (seed == 0) seed = 1;
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        std::swap(order[i], order[i + (seed & 0x7fffffffu) % (n - i)]);
    }
}

// Learning rates by the number of the step, some at a time where a rate costs a power.
class Rates {
   public:
    explicit Rates(const Rule& rule, double eta) : rule_(rule), eta_(eta) {}

    double at(double t) {
        if (rule_.schedule == Schedule::kOptimal) return 1.0 / (rule_.alpha * (rule_.optimal_start + t - 1));
        if (rule_.schedule != Schedule::kInverseScaling) return eta_;
        if (!(t >= first_ && t < first_ + kBlock)) fill(t);
        return block_[static_cast<std::size_t>(t - first_)];
    }

   private:
    static constexpr std::size_t kBlock = 64;

    void fill(double t) {
        using S = Simd<double>;
        first_ = t;
        double steps[kBlock];
        for (std::size_t i = 0; i < kBlock; ++i) steps[i] = t + static_cast<double>(i);
        for (std::size_t i = 0; i < kBlock; i += S::kLanes)
            S::store(block_ + i, rule_.eta0 * math::exp(-rule_.power_t * math::log(S::load(steps + i))));
    }

    const Rule& rule_;
    double eta_;
    double first_ = -1e300;
    double block_[kBlock] = {};
};

// Collects rows and adds up their losses in whole vectors.
class LossSum {
   public:
    explicit LossSum(const Loss& loss) : loss_(loss) {}
    void add(double y, double raw) {
        y_[n_] = y;
        raw_[n_] = raw;
        if (++n_ == kBlock) flush();
    }
    double total() {
        flush();
        return sum_;
    }

   private:
    static constexpr std::size_t kBlock = 128;
    void flush() {
        sum_ += loss_.total(y_, raw_, n_);
        n_ = 0;
    }
    const Loss& loss_;
    double y_[kBlock];
    double raw_[kBlock];
    std::size_t n_ = 0;
    double sum_ = 0;
};

// How weights shrink beyond the common scale.
enum class Shrink { kNone, kTax, kPower, kBox };

// The weights of one output during a pass: coef = scale w, and average = (average_w + a w) / b.
template <class Rows, Shrink kShrink>
class Weights {
   public:
    using T = typename Rows::Value;

    Weights(const Rows& rows, const Rule& rule, T* coef, T* average, T* taxes, double tax)
        : rows_(rows), rule_(rule), n_(rows.cols()), coef_(coef), w_(n_), average_(average), taxes_(taxes), tax_(tax) {
        std::copy_n(coef, n_, w_.data());
        measure();
    }

    double predict(std::size_t row) {
        if constexpr (Rows::kIsSparse && (kShrink == Shrink::kTax || kShrink == Shrink::kPower))
            rows_.for_touched(row, [&](std::size_t j) { shrink(j); });  // what it owes from rows that it was not in
        return scale_ * static_cast<double>(rows_.dot(row, w_.data()));
    }

    double penalty() const {
        if (!has_norms()) return power_penalty_;
        return 0.5 * rule_.l2 * scale_ * scale_ * norms_.squares + rule_.l1 * scale_ * norms_.absolutes;
    }

    // coef += update x, after shrinking by the rate eta.
    void step(std::size_t row, double update, double eta) {
        if (rule_.l2 > 0) {
            scale_ *= std::max(0.0, 1.0 - rule_.l2 * eta);
            if (scale_ < kLeastScale) fold_scale();
        }
        if (update != 0.0) {
            const auto factor = static_cast<T>(update / scale_);
            if (has_norms()) {
                rows_.add_measured(row, factor, w_.data(), norms_);
            } else {
                rows_.add(row, factor, w_.data());
            }
            if (average_ != nullptr && a_ != 0.0) rows_.add(row, static_cast<T>(-a_) * factor, average_);
        }
    }

    // The k-th iterate joins the average.
    void join_average(double k) {
        if (k > 1) b_ /= 1.0 - 1.0 / k;
        a_ += b_ / k * scale_;
    }

    void shrink_touched(std::size_t row, double eta) {
        if constexpr (kShrink == Shrink::kNone) return;
        if constexpr (kShrink == Shrink::kTax) tax_ += rule_.l1 * eta;
        if constexpr (kShrink == Shrink::kPower) tax_ += rule_.lp * eta;
        if constexpr (!Rows::kIsSparse && kShrink == Shrink::kTax) {
            tax_all();
        } else {
            rows_.for_touched(row, [&](std::size_t j) { shrink(j); });
        }
    }

    // Writes the coefficients and averages back. False if one of them is not finite.
    bool finish() {
        if constexpr (Rows::kIsSparse && (kShrink == Shrink::kTax || kShrink == Shrink::kPower))
            for (std::size_t j = 0; j < n_; ++j) shrink(j);
        fold_scale();
        std::copy_n(w_.data(), n_, coef_);
        return std::all_of(coef_, coef_ + n_, [](T value) { return std::isfinite(value); });
    }

    double tax() const { return tax_; }

   private:
    static constexpr double kLeastScale = sizeof(T) == 8 ? 1e-9 : 1e-6;

    bool has_norms() const { return rule_.l2 > 0 || kShrink == Shrink::kTax; }

    void measure() {
        if (has_norms()) norms_ = Norms::of(w_.data(), n_);
        if constexpr (kShrink == Shrink::kPower) {  // once a pass: it only serves to see whether the passes still help
            double sum = 0;
            for (std::size_t j = 0; j < n_; ++j) sum += std::pow(std::abs(static_cast<double>(w_[j])), rule_.power);
            power_penalty_ = rule_.lp * sum;
        }
    }

    void fold_scale() {
        const auto scale = static_cast<T>(scale_);
        if (average_ != nullptr) {
            const auto a = static_cast<T>(a_ / b_);
            const auto share = static_cast<T>(1 / b_);
            for (std::size_t j = 0; j < n_; ++j) average_[j] = share * average_[j] + a * w_[j];
            a_ = 0;
            b_ = 1;
        }
        for (std::size_t j = 0; j < n_; ++j) w_[j] *= scale;
        norms_.squares *= scale_ * scale_;
        norms_.absolutes *= scale_;
        scale_ = 1;
    }

    void replace(std::size_t j, T value) {
        if (average_ != nullptr) average_[j] -= static_cast<T>(a_) * (value - w_[j]);
        w_[j] = value;
    }

    void shrink(std::size_t j) {
        const T before = w_[j];
        if constexpr (kShrink == Shrink::kTax) {
            if (before == 0) return;
            const double sign = before > 0 ? 1.0 : -1.0;
            const double size = std::max(0.0, std::abs(static_cast<double>(before)) - (tax_ + sign * taxes_[j]) / scale_);
            replace(j, static_cast<T>(sign * size));
            taxes_[j] += static_cast<T>(scale_ * (static_cast<double>(w_[j]) - static_cast<double>(before)));
            if constexpr (Rows::kIsSparse) {
                norms_.squares += static_cast<double>(w_[j]) * w_[j] - static_cast<double>(before) * before;
                norms_.absolutes += size - std::abs(static_cast<double>(before));
            }
        } else if constexpr (kShrink == Shrink::kPower) {  // a gradient step on lp |w|^p that stops at zero
            const double size = std::abs(static_cast<double>(before));
            const double owed = tax_ - static_cast<double>(taxes_[j]);
            taxes_[j] = static_cast<T>(tax_);
            if (size == 0 || owed <= 0) return;
            const double left = size - owed * rule_.power * std::pow(size, rule_.power - 1);
            replace(j, left > 0 ? static_cast<T>(before > 0 ? left : -left) : T{0});
        } else if constexpr (kShrink == Shrink::kBox) {
            const T clipped = std::min(std::max(before, static_cast<T>(rule_.low)), static_cast<T>(rule_.high));
            if (clipped != before) replace(j, clipped);
        }
    }

    // The tax on all weights at once, in vectors. The norms stay those from before it, as in the peer, whose stopping hangs on
    // them.
    void tax_all() {
        using S = Simd<T>;
        using V = typename S::Vector;
        const auto owed = static_cast<T>(tax_ / scale_);
        const auto inverse = static_cast<T>(1 / scale_);
        const auto scale = static_cast<T>(scale_);
        const auto a = static_cast<T>(a_);
        std::size_t j = 0;
        for (; j + S::kLanes <= n_; j += S::kLanes) {
            const V before = S::load(w_.data() + j);
            const V paid = S::load(taxes_ + j);
            const V down = before - (owed + paid * inverse);
            const V up = before + (owed - paid * inverse);
            const V after = before > 0 ? (down > 0 ? down : V{}) : before < 0 ? (up < 0 ? up : V{}) : before;
            S::store(w_.data() + j, after);
            S::store(taxes_ + j, paid + scale * (after - before));
            if (average_ != nullptr) S::store(average_ + j, S::load(average_ + j) - a * (after - before));
        }
        for (; j < n_; ++j) shrink(j);
    }

    const Rows& rows_;
    const Rule& rule_;
    std::size_t n_;
    T* coef_;
    Aligned<T> w_;
    double scale_ = 1;
    T* average_;
    double a_ = 0;
    double b_ = 1;
    T* taxes_;
    double tax_;
    Norms norms_;
    double power_penalty_ = 0;
};

// What a step adds to the intercept, and times the row to the weights, before weights of classes and rows.
inline double update_of(const Rule& rule, double y, double raw, double eta, double squared_norm) {
    if (!rule.is_passive_aggressive()) {
        constexpr double kSteepest = 1e12;  // a step beyond it would only overflow
        return -eta * std::clamp(rule.loss.slope(y, raw), -kSteepest, kSteepest);
    }
    const double value = rule.loss.value(y, raw);
    const double size = rule.schedule == Schedule::kPassiveAggressive1 ? std::min(rule.eta0, value / squared_norm)
                                                                       : value / (squared_norm + 0.5 / rule.eta0);
    return rule.loss.slope(y, raw) > 0 ? -size : size;
}

template <Shrink kShrink, class Rows, Real T>
void pass_over_rows(const Rows& rows, const Targets<T>& targets, const Rule& rule, const Outputs<T>& outputs, std::size_t k) {
    constexpr std::size_t kAhead = 6;
    const std::size_t n = rows.rows();
    std::int32_t* order = outputs.order.row(k);
    if (outputs.seeds[k] >= 0) shuffle({order, n}, static_cast<std::uint32_t>(outputs.seeds[k]));
    double* state = outputs.state.row(k);
    Weights<Rows, kShrink> weights(rows, rule, outputs.coef.row(k), outputs.averages.size() > 0 ? outputs.averages.row(k) : nullptr,
                                   outputs.taxes.size() > 0 ? outputs.taxes.row(k) : nullptr, state[kTax]);
    Rates rates(rule, state[kEta]);
    LossSum losses(rule.loss);
    const double negative = rule.loss.negative_label();
    const double class_weights[2] = {targets.class_weights(k, 0), targets.class_weights(k, 1)};
    double intercept = state[kIntercept], average_intercept = state[kAverageIntercept], t = state[kTime];
    double penalties = 0;
    double not_finite = 0;  // NaN once a value was NaN or infinite: some losses of NaN are zero
    std::size_t n_steps = 0, n_mistakes = 0, n_updates = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (i % 1024 == 0) checkpoint();
        if (i + kAhead < n) rows.prefetch(static_cast<std::size_t>(order[i + kAhead]));
        const auto row = static_cast<std::size_t>(order[i]);
        const double weight = targets.weight(row);
        if (weight == 0) continue;
        const double y = targets.target(row, k, negative);
        const double raw = weights.predict(row) + intercept;
        const double eta = rates.at(t);
        ++n_steps;
        not_finite += 0.0 * raw;
        losses.add(y, raw);
        penalties += weights.penalty();
        n_mistakes += y > 0 ? raw <= 0 : raw >= 0;
        const double squared_norm = rule.is_passive_aggressive() ? rows.squared_norm(row) : 0.0;
        if (rule.schedule == Schedule::kPassiveAggressive1 && squared_norm == 0) continue;
        const double update = update_of(rule, y, raw, eta, squared_norm) * (class_weights[y > 0] * weight);
        weights.step(row, update, eta);
        n_updates += update != 0;
        if (rule.has_intercept) intercept += update;
        weights.shrink_touched(row, eta);
        if (rule.average_from > 0 && rule.average_from <= t) {
            const double nth = t - rule.average_from + 1;
            weights.join_average(nth);
            average_intercept += (intercept - average_intercept) / nth;
        }
        ++t;
    }
    const double results[kStateColumns] = {intercept,
                                           average_intercept,
                                           t,
                                           state[kEta],
                                           weights.tax(),
                                           losses.total() + not_finite,
                                           penalties,
                                           static_cast<double>(n_steps),
                                           static_cast<double>(n_mistakes),
                                           static_cast<double>(n_updates)};
    std::copy_n(results, kStateColumns, state);
    if (!weights.finish()) state[kLoss] = std::numeric_limits<double>::quiet_NaN();
}

}  // namespace detail

// One pass of stochastic descent over all rows for each of the `active` outputs: steps in the order given (shuffled before by the
// output's seed), the coefficients, averages, taxes and state carried on from where the last pass ended. The sums of the state are
// over the pass: losses and penalties before each step, steps, rows on the wrong side, steps that changed something. Where a
// coefficient is no longer finite, the loss is NaN. Outputs run in parallel and do not depend on each other. O(n d) an output.
template <class Rows, Real T>
void descend(const Rows& rows, const Targets<T>& targets, const Rule& rule, const Outputs<T>& outputs,
             std::span<const std::int32_t> active, Threads threads) {
    using detail::pass_over_rows;
    using detail::Shrink;
    parallel_for(active.size(), threads.for_work(rows.n_entries() * static_cast<double>(active.size())), [&](std::size_t task) {
        const auto k = static_cast<std::size_t>(active[task]);
        if (rule.l1 > 0) return pass_over_rows<Shrink::kTax>(rows, targets, rule, outputs, k);
        if (rule.lp > 0) return pass_over_rows<Shrink::kPower>(rows, targets, rule, outputs, k);
        if (rule.has_box()) return pass_over_rows<Shrink::kBox>(rows, targets, rule, outputs, k);
        pass_over_rows<Shrink::kNone>(rows, targets, rule, outputs, k);
    });
}

}  // namespace mercer::linear_model::stochastic
