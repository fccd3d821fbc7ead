// A loss for one row at a time, chosen at run time: what a step of stochastic descent asks of it. The choice costs a call that the
// processor predicts, against tens of nanoseconds for a row, and keeps the loops over rows to one copy.
#pragma once

#include <cmath>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "core/errors.hpp"
#include "losses/loss.hpp"

namespace mercer::linear_model::stochastic {

// The law of Widrow and Hoff with h = sign, sign(0) = 0: the derivative is h(raw) - y, and |raw| - y raw is what it derives from.
struct SignError {
    template <class V>
    losses::Point<V> at(V y, V raw) const {
        const V sign = raw > 0.0 ? math::fill<V>(1.0) : raw < 0.0 ? math::fill<V>(-1.0) : V{};
        return {math::abs(raw) - y * raw, sign - y, V{}};
    }
};

// The same law with h = tanh: log(1 + e^(-2 y raw)), for y in {-1, 1}.
struct TanhError {
    template <class V>
    losses::Point<V> at(V y, V raw) const {
        const losses::Point<V> point = losses::Logistic{}.at(0.5 * (y + 1.0), 2.0 * raw);
        return {point.value, 2.0 * point.gradient, 4.0 * point.hessian};
    }
};

class Loss {
   public:
    // The loss of that name; `parameter` is the delta of Huber, the epsilon of the insensitive losses, the quantile of pinball.
    static Loss of(std::string_view name, double parameter);

    double slope(double y, double raw) const { return slope_(parameter_, y, raw); }
    double value(double y, double raw) const { return value_(parameter_, y, raw); }
    // The sum of the losses of n rows, in whole vectors as far as they go.
    double total(const double* y, const double* raw, std::size_t n) const { return total_(parameter_, y, raw, n); }
    // The least value that the loss has for this y.
    double least(double y) const { return least_(y); }
    // What stands for the class that an output is not for: 0 or -1.
    double negative_label() const { return negative_label_; }

   private:
    template <class L>
    static L made(double parameter) {
        if constexpr (std::is_empty_v<L>) {
            return L{};
        } else {
            return L{parameter};
        }
    }
    template <class L>
    static double sum(double parameter, const double* y, const double* raw, std::size_t n) {
        using S = Simd<double>;
        const L loss = made<L>(parameter);
        S::Vector lanes{};
        std::size_t i = 0;
        for (; i + S::kLanes <= n; i += S::kLanes) lanes += loss.at(S::load(y + i), S::load(raw + i)).value;
        double sum = 0;
        for (std::size_t lane = 0; lane < S::kLanes; ++lane) sum += lanes[lane];
        for (; i < n; ++i) sum += loss.at(y[i], raw[i]).value;
        return sum;
    }
    template <class L>
    static Loss with(double parameter) {
        Loss made_loss;
        made_loss.parameter_ = parameter;
        made_loss.slope_ = [](double p, double y, double raw) { return made<L>(p).at(y, raw).gradient; };
        made_loss.value_ = [](double p, double y, double raw) { return made<L>(p).at(y, raw).value; };
        made_loss.total_ = &sum<L>;
        if constexpr (std::is_same_v<L, losses::Logistic>) made_loss.negative_label_ = 0;
        if constexpr (std::is_same_v<L, losses::Poisson>)
            made_loss.least_ = [](double y) { return y > 0 ? y - y * std::log(y) : 0; };
        if constexpr (std::is_same_v<L, losses::Gamma>) made_loss.least_ = [](double y) { return 1 + std::log(y); };
        return made_loss;
    }

    double parameter_ = 0;
    double negative_label_ = -1;
    double (*slope_)(double, double, double) = nullptr;
    double (*value_)(double, double, double) = nullptr;
    double (*total_)(double, const double*, const double*, std::size_t) = nullptr;
    double (*least_)(double) = [](double) { return 0.0; };
};

inline Loss Loss::of(std::string_view name, double parameter) {
    if (name == "hinge") return with<losses::Hinge>(parameter);
    if (name == "squared_hinge") return with<losses::SquaredHinge>(parameter);
    if (name == "modified_huber") return with<losses::ModifiedHuber>(parameter);
    if (name == "logistic") return with<losses::Logistic>(parameter);
    if (name == "exponential") return with<losses::Exponential>(parameter);
    if (name == "perceptron") return with<losses::Perceptron>(parameter);
    if (name == "squared") return with<losses::Squared>(parameter);
    if (name == "absolute") return with<losses::EpsilonInsensitive>(0.0);
    if (name == "huber") return with<losses::Huber>(parameter);
    if (name == "log_cosh") return with<losses::LogCosh>(parameter);
    if (name == "epsilon_insensitive") return with<losses::EpsilonInsensitive>(parameter);
    if (name == "squared_epsilon_insensitive") return with<losses::SquaredEpsilonInsensitive>(parameter);
    if (name == "pinball") return with<losses::Pinball>(parameter);
    if (name == "poisson") return with<losses::Poisson>(parameter);
    if (name == "gamma") return with<losses::Gamma>(parameter);
    if (name == "sign_error") return with<SignError>(parameter);
    if (name == "tanh_error") return with<TanhError>(parameter);
    require(false, "the name of the loss is not known");
    return {};
}

}  // namespace mercer::linear_model::stochastic
