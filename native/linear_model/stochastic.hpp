// Stochastic descent on linear models: one pass over the rows, a step on each, for several outputs (one-vs-rest classes) at once.
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
#include "core/prefetch.hpp"
#include "linear_model/stochastic_loss.hpp"
#include "linear_model/stochastic_rows.hpp"
#include "linear_model/stochastic_weights.hpp"
#include "optim/schedule.hpp"

namespace mercer::linear_model::stochastic {

// What the rows are to be fitted to. With `positives`, y holds the codes of classes, and output k is for class positives[k].
template <Real T>
struct Targets {
    std::span<const T> y;
    std::span<const std::int32_t> positives;
    std::span<const T> weights;            // of rows; a row of weight zero is absent. Empty: all one
    RowMajor<const double> class_weights;  // for each output, of the other classes and of its own

    bool are_labels() const { return !positives.empty(); }
    double weight(std::size_t row) const { return weights.empty() ? 1.0 : static_cast<double>(weights[row]); }
    void prefetch(std::size_t row) const {
        mercer::prefetch(y.data() + row);
        if (!weights.empty()) mercer::prefetch(weights.data() + row);
    }
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

// What a pass calls once in a while is not inlined into each kind of pass.

// The shuffle of scikit-learn's SGD, from the same generator (Marsaglia's xorshift, 32 bits) and draws: its order is this order.
[[gnu::noinline]] inline void shuffle(std::span<std::int32_t> order, std::uint32_t seed) {
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
        const double place = t - first_;
        if (place >= 0 && place < static_cast<double>(kBlock)) return block_[static_cast<std::size_t>(place)];
        fill(t);
        return block_[0];
    }

   private:
    static constexpr std::size_t kBlock = 64;

    [[gnu::noinline]] void fill(double t) {
        using S = Simd<double>;
        first_ = t;
        const optim::InverseDecay decay{1.0, rule_.power_t};  // steps are counted from one, times from zero
        double times[kBlock];
        for (std::size_t i = 0; i < kBlock; ++i) times[i] = t - 1 + static_cast<double>(i);
        for (std::size_t i = 0; i < kBlock; i += S::kLanes) S::store(block_ + i, rule_.eta0 * decay(S::load(times + i)));
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
    [[gnu::noinline]] void flush() {
        sum_ += loss_.total(y_, raw_, n_);
        n_ = 0;
    }
    const Loss& loss_;
    double y_[kBlock];
    double raw_[kBlock];
    std::size_t n_ = 0;
    double sum_ = 0;
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
    constexpr std::size_t kAhead = 8;
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
        if (i + kAhead < n) {
            const auto next = static_cast<std::size_t>(order[i + kAhead]);
            rows.prefetch(next);
            targets.prefetch(next);
        }
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
        intercept += rule.intercept_share * update;
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

// One pass of stochastic descent over all rows for each output that is not done: steps in the order given (shuffled before by the
// output's seed), the coefficients, averages, taxes and state carried on from where the last pass ended. The sums of the state are
// over the pass: losses and penalties before each step, steps, rows on the wrong side, steps that changed something. Where a
// coefficient is no longer finite, the loss is NaN. Outputs run in parallel and do not depend on each other. O(n d) an output.
template <class Rows, Real T>
void descend(const Rows& rows, const Targets<T>& targets, const Rule& rule, const Outputs<T>& outputs,
             std::span<const std::int32_t> is_done, Threads threads) {
    using detail::pass_over_rows;
    using detail::Shrink;
    std::vector<std::size_t> active;
    for (std::size_t k = 0; k < is_done.size(); ++k)
        if (is_done[k] == 0) active.push_back(k);
    parallel_for(active.size(), threads.for_work(static_cast<double>(rows.n_entries() * active.size())), [&](std::size_t task) {
        const std::size_t k = active[task];
        if (rule.l1 > 0) return pass_over_rows<Shrink::kTax>(rows, targets, rule, outputs, k);
        if (rule.lp > 0) return pass_over_rows<Shrink::kPower>(rows, targets, rule, outputs, k);
        if (rule.has_box()) return pass_over_rows<Shrink::kBox>(rows, targets, rule, outputs, k);
        pass_over_rows<Shrink::kNone>(rows, targets, rule, outputs, k);
    });
}

}  // namespace mercer::linear_model::stochastic
