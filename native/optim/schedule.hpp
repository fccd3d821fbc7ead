// Learning-rate schedules: what the rate is multiplied by at time t = 0, 1, 2, ... The one definition of those of mercer.optim, for
// its objects, for stochastic descent and for whatever else descends natively.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "core/math.hpp"

namespace mercer::optim {

namespace detail {

// base^exponent for a positive base: of a number as the C library has it, of a vector by elementary functions.
inline double power(double base, double exponent) { return std::pow(base, exponent); }
inline math::Vector power(math::Vector base, double exponent) { return math::exp(exponent * math::log(base)); }

}  // namespace detail

// 1 / (1 + decay t)^power, of one time or of a vector of times.
struct InverseDecay {
    double decay = 1;
    double exponent = 1;

    template <class V>
    V operator()(V t) const {
        return detail::power(1.0 + decay * t, -exponent);
    }
};

// factor^floor(t / every).
struct StepDecay {
    double factor = 0.5;
    double every = 10;

    double operator()(double t) const { return std::pow(factor, std::floor(t / every)); }
};

// factor^t.
struct ExponentialDecay {
    double factor = 0.99;

    double operator()(double t) const { return std::pow(factor, t); }
};

// Half a wave from 1 at time 0 down to `least` at time n_steps, where it stays.
struct CosineDecay {
    double n_steps = 1;
    double least = 0;

    double operator()(double t) const {
        return least + (1 - least) * (1 + std::cos(std::numbers::pi * std::min(t / n_steps, 1.0))) / 2;
    }
};

}  // namespace mercer::optim
