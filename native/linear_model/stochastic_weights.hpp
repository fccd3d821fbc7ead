// The weights of one output during a pass of stochastic descent, and how a step changes them.
//
// Weights are kept as scale times a vector, so that shrinking all of them costs one multiplication (Bottou); the l1 penalty is the
// cumulative one of Tsuruoka, Tsujii and Ananiadou (2009): `tax` is what each weight owes so far, `taxes` what it has paid.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/simd.hpp"
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
    double intercept_share = 1;  // of a step that the intercept takes; 0: there is none
    double average_from = 0;     // the step from which iterates are averaged; 0: never

    bool has_box() const { return low < high; }
    bool is_passive_aggressive() const { return schedule >= Schedule::kPassiveAggressive1; }
};

namespace detail {

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
        if constexpr (kShrink == Shrink::kBox) shrink_from(0);  // a start outside of the box
        measure();
    }

    double predict(std::size_t row) {
        if constexpr (Rows::kIsSparse && (kShrink == Shrink::kTax || kShrink == Shrink::kPower)) {
            // What its weights owe from rows that they were not in.
            if constexpr (kShrink == Shrink::kTax) {
                if (average_ == nullptr) return scale_ * taxed_sum(row, T{0}, [](T x, T w) { return static_cast<double>(x) * w; });
            }
            shrink_row(row);
        }
        if constexpr (Rows::kIsSparse && kShrink == Shrink::kNone) {
            if (has_norms()) return scale_ * (dot_ = static_cast<T>(rows_.dot_and_norm(row, w_.data(), squared_norm_)));
        }
        dot_ = static_cast<double>(rows_.own_dot(row, w_.data()));
        return scale_ * dot_;
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
        const auto factor = static_cast<T>(update / scale_);
        if constexpr (Rows::kIsSparse && kShrink == Shrink::kTax) {
            if (average_ == nullptr) {  // the step and the tax in one go over the row
                tax_ += rule_.l1 * eta;
                taxed_sum(row, factor, [](T, T) { return 0.0; });
                return;
            }
        }
        if (factor != 0) add(row, factor);
        shrink_touched(row, eta);
    }

    // The k-th iterate joins the average.
    void join_average(double k) {
        if (k > 1) b_ /= 1.0 - 1.0 / k;
        a_ += b_ / k * scale_;
    }

    // Writes the coefficients and averages back. False if one of them is not finite.
    bool finish() {
        if constexpr (Rows::kIsSparse && (kShrink == Shrink::kTax || kShrink == Shrink::kPower)) shrink_from(0);
        fold_scale();
        std::copy_n(w_.data(), n_, coef_);
        return std::all_of(coef_, coef_ + n_, [](T value) { return std::isfinite(value); });
    }

    double tax() const { return tax_; }

   private:
    static constexpr double kLeastScale = sizeof(T) == 8 ? 1e-9 : 1e-6;

    void add(std::size_t row, T factor) {
        if (!has_norms()) {
            rows_.add_to_weights(row, factor, w_.data());
        } else if (Rows::kIsSparse && kShrink == Shrink::kNone) {  // |w + f x|^2 = |w|^2 + f (2 w'x + f |x|^2)
            const double f = factor;
            norms_.squares += f * (2 * dot_ + f * squared_norm_);
            rows_.add_to_weights(row, factor, w_.data());
        } else {
            rows_.add_measured(row, factor, w_.data(), norms_);
        }
        if (average_ != nullptr && a_ != 0.0) rows_.add_to_weights(row, static_cast<T>(-a_) * factor, average_);
    }

    void shrink_touched(std::size_t row, double eta) {
        if constexpr (kShrink == Shrink::kNone) return;
        if constexpr (kShrink == Shrink::kTax) tax_ += rule_.l1 * eta;
        if constexpr (kShrink == Shrink::kPower) tax_ += rule_.lp * eta;
        if constexpr (!Rows::kIsSparse && kShrink == Shrink::kTax) {
            tax_all();
        } else {
            shrink_row(row);
        }
    }

    // For every entry x of a sparse row with its weight w: adds factor x to w, has w pay its tax, and adds up term(x, w).
    template <class Term>
    double taxed_sum(std::size_t row, T factor, Term&& term) {
        T* const w = w_.data();
        T* const taxes = taxes_;
        const double tax = tax_, scale = scale_, inverse = 1 / scale_;
        double sum = 0, squares = 0, absolutes = 0;
        rows_.for_each(row, [&](std::size_t j, T x) {
            const double start = w[j];
            const double before = start + static_cast<double>(factor) * x;
            const double paid = taxes[j];
            // Without a branch, as signs come as they will; rounding must not make a debt of nothing a gift.
            const double owed = std::max(0.0, (tax + std::copysign(1.0, before) * paid) * inverse);
            const double size = std::max(0.0, std::abs(before) - owed);
            const double after = std::copysign(size, before);
            w[j] = static_cast<T>(after);
            taxes[j] = static_cast<T>(paid + scale * (after - before));
            squares += (after - start) * (after + start);
            absolutes += size - std::abs(start);
            sum += term(x, static_cast<T>(after));
        });
        norms_.squares += squares;
        norms_.absolutes += absolutes;
        return sum;
    }

    bool has_norms() const { return rule_.l2 > 0 || kShrink == Shrink::kTax; }

    // Once a pass or once in a while: not inlined.
    [[gnu::noinline]] void measure() {
        if (has_norms()) norms_ = Norms::of(w_.data(), n_);
        if constexpr (kShrink == Shrink::kPower) {  // once a pass: it only serves to see whether the passes still help
            double sum = 0;
            for (std::size_t j = 0; j < n_; ++j) sum += std::pow(std::abs(static_cast<double>(w_[j])), rule_.power);
            power_penalty_ = rule_.lp * sum;
        }
    }

    [[gnu::noinline]] void fold_scale() {
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
        dot_ *= scale_;
        norms_.absolutes *= scale_;
        scale_ = 1;
    }

    void replace(std::size_t j, T value) {
        if (average_ != nullptr) average_[j] -= static_cast<T>(a_) * (value - w_[j]);
        w_[j] = value;
    }

    void shrink_row(std::size_t row) {
        const double inverse = 1 / scale_;
        rows_.for_touched(row, [&](std::size_t j) { shrink(j, inverse); });
    }
    void shrink_from(std::size_t first) {
        for (std::size_t j = first; j < n_; ++j) shrink(j, 1 / scale_);
    }

    void shrink(std::size_t j, [[maybe_unused]] double inverse) {
        const T before = w_[j];
        if constexpr (kShrink == Shrink::kTax) {
            if (before == 0) return;
            const double sign = before > 0 ? 1.0 : -1.0;
            const double size = std::max(0.0, std::abs(static_cast<double>(before)) - (tax_ + sign * taxes_[j]) * inverse);
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
        shrink_from(j);
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
    double dot_ = 0;           // of w with the row that was predicted last
    double squared_norm_ = 0;  // of that row
    double power_penalty_ = 0;
};

}  // namespace detail

}  // namespace mercer::linear_model::stochastic
