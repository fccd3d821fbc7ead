// A loss chosen at run time, applied to many rows at a time: the choice is made once a block, the loop knows its loss.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>

#include "core/errors.hpp"
#include "losses/loss.hpp"

namespace mercer::losses {

class RowLoss {
   public:
    virtual ~RowLoss() = default;

    // Adds up weight times loss over n rows; writes weight times the derivatives to `gradient` and `hessian`. `weights` may be
    // null (all one). All arrays but y and weights have room for n rounded up to whole vectors. O(n).
    virtual double apply(const double* y, const double* weights, const double* raw, std::size_t n, double* gradient,
                         double* hessian) const = 0;
};

namespace detail {

template <Loss L>
class RowLossOf final : public RowLoss {
   public:
    explicit RowLossOf(L loss) : loss_(loss) {}

    double apply(const double* y, const double* weights, const double* raw, std::size_t n, double* gradient,
                 double* hessian) const override {
        using S = Simd<double>;
        S::Vector sum{};
        const auto step = [&](std::size_t i, S::Vector target, S::Vector weight) {
            const Point<S::Vector> point = loss_.at(target, S::load(raw + i));
            // A row of weight zero is absent, whatever its loss.
            sum += weight == 0.0 ? S::Vector{} : weight * point.value;
            S::store(gradient + i, weight == 0.0 ? S::Vector{} : weight * point.gradient);
            S::store(hessian + i, weight == 0.0 ? S::Vector{} : weight * point.hessian);
        };
        std::size_t i = 0;
        for (; i + S::kLanes <= n; i += S::kLanes)
            step(i, S::load(y + i), weights != nullptr ? S::load(weights + i) : S::broadcast(1.0));
        if (i < n) {  // the last rows, padded with rows of weight zero
            double target[S::kLanes];
            double weight[S::kLanes] = {};
            std::fill_n(target, S::kLanes, y[i]);
            std::copy(y + i, y + n, target);
            for (std::size_t k = 0; i + k < n; ++k) weight[k] = weights != nullptr ? weights[i + k] : 1.0;
            step(i, S::load(target), S::load(weight));
        }
        double total = 0;
        for (std::size_t lane = 0; lane < S::kLanes; ++lane) total += sum[lane];
        return total;
    }

   private:
    L loss_;
};

template <Loss L>
std::unique_ptr<RowLoss> row_loss(L loss) {
    return std::make_unique<RowLossOf<L>>(loss);
}

}  // namespace detail

// The losses by name; `parameter` is the power of Tweedie, the delta of Huber, the epsilon of the insensitive losses, the quantile
// of pinball.
inline std::unique_ptr<RowLoss> make_row_loss(std::string_view name, double parameter) {
    if (name == "squared") return detail::row_loss(Squared{});
    if (name == "logistic") return detail::row_loss(Logistic{});
    if (name == "poisson") return detail::row_loss(Poisson{});
    if (name == "gamma") return detail::row_loss(Gamma{});
    if (name == "tweedie") return detail::row_loss(Tweedie{parameter});
    if (name == "huber") return detail::row_loss(Huber{parameter});
    if (name == "log_cosh") return detail::row_loss(LogCosh{});
    if (name == "squared_hinge") return detail::row_loss(SquaredHinge{});
    if (name == "squared_epsilon_insensitive") return detail::row_loss(SquaredEpsilonInsensitive{parameter});
    if (name == "absolute") return detail::row_loss(EpsilonInsensitive{0});
    if (name == "epsilon_insensitive") return detail::row_loss(EpsilonInsensitive{parameter});
    if (name == "pinball") return detail::row_loss(Pinball{parameter});
    if (name == "hinge") return detail::row_loss(Hinge{});
    if (name == "perceptron") return detail::row_loss(Perceptron{});
    if (name == "modified_huber") return detail::row_loss(ModifiedHuber{});
    if (name == "exponential") return detail::row_loss(Exponential{});
    require(false, "the name of the loss is not known");
    return nullptr;
}

}  // namespace mercer::losses
