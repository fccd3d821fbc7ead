// Losses of (y, raw), where raw is the linear value of a row: scalar formulas that work on one number or on a vector of rows.
//
// A loss is a small value with one function, at(y, raw), that gives the loss with its first and second derivative in raw; what
// the caller does not use, the compiler drops. Second derivatives are those of a convex loss: they are never negative. At a kink
// the derivative is a subgradient, and the second derivative of a piecewise linear loss is zero.
#pragma once

#include <concepts>

#include "core/math.hpp"

namespace mercer::losses {

template <class V>
struct Point {
    V value;
    V gradient;
    V hessian;
};

template <class L>
concept Loss = requires(const L loss, double y, math::Vector rows) {
    { loss.at(y, y) } -> std::same_as<Point<double>>;
    { loss.at(rows, rows) } -> std::same_as<Point<math::Vector>>;
};

// (raw - y)^2 / 2.
struct Squared {
    template <class V>
    Point<V> at(V y, V raw) const {
        const V r = raw - y;
        return {0.5 * r * r, r, math::fill<V>(1.0)};
    }
};

// log(1 + e^raw) - y raw, for y in [0, 1]: the negative log likelihood of y under the probability 1 / (1 + e^-raw).
struct Logistic {
    template <class V>
    Point<V> at(V y, V raw) const {
        const V small = math::exp(-math::abs(raw));  // never overflows
        const V inverse = 1.0 / (1.0 + small);
        const V tail = small * inverse;              // the probability of the less likely class
        const V missed = raw >= 0.0 ? 1.0 - y : -y;  // nothing is lost to cancellation where the fit is good
        return {math::log1p(small) + missed * raw, raw >= 0.0 ? missed - tail : tail + missed, tail * inverse};
    }
};

// e^raw - y raw, for y >= 0: half the Poisson deviance under the log link, up to a term of y.
struct Poisson {
    template <class V>
    Point<V> at(V y, V raw) const {
        const V mean = math::exp(raw);
        return {mean - y * raw, mean - y, mean};
    }
};

// raw + y e^-raw, for y > 0: half the gamma deviance under the log link, up to a term of y.
struct Gamma {
    template <class V>
    Point<V> at(V y, V raw) const {
        const V ratio = y * math::exp(-raw);
        return {raw + ratio, 1.0 - ratio, ratio};
    }
};

// Half the Tweedie deviance of power p (not 1, not 2) under the log link, up to a term of y. Convex for p in [1, 2]; outside, the
// expected second derivative stands for the second derivative, which may be negative.
struct Tweedie {
    double power;

    template <class V>
    Point<V> at(V y, V raw) const {
        const V up = math::exp((2.0 - power) * raw);
        const V down = y * math::exp((1.0 - power) * raw);
        const V exact = (2.0 - power) * up - (1.0 - power) * down;
        return {up / (2.0 - power) - down / (1.0 - power), up - down, power >= 1 && power <= 2 ? exact : up};
    }
};

// r^2 / 2 for |r| <= delta, delta (|r| - delta / 2) beyond.
struct Huber {
    double delta;

    template <class V>
    Point<V> at(V y, V raw) const {
        const V r = raw - y;
        const V clipped = math::max(math::min(r, math::fill<V>(delta)), math::fill<V>(-delta));
        return {clipped * (r - 0.5 * clipped), clipped, math::abs(r) <= delta ? math::fill<V>(1.0) : V{}};
    }
};

// log cosh r.
struct LogCosh {
    template <class V>
    Point<V> at(V y, V raw) const {
        const V r = raw - y;
        const V small = math::exp(-2.0 * math::abs(r));
        const V inverse = 1.0 / (1.0 + small);
        const V tanh = (1.0 - small) * inverse;
        const V value = math::abs(r) + math::log1p(small) - 0.69314718055994530942;
        return {value, r >= 0.0 ? tanh : -tanh, 4.0 * small * inverse * inverse};
    }
};

// max(0, 1 - y raw)^2, for y in {-1, 1}.
struct SquaredHinge {
    template <class V>
    Point<V> at(V y, V raw) const {
        const V slack = math::max(1.0 - y * raw, V{});
        return {slack * slack, -2.0 * y * slack, slack > 0.0 ? math::fill<V>(2.0) : V{}};
    }
};

// max(0, |r| - epsilon)^2.
struct SquaredEpsilonInsensitive {
    double epsilon;

    template <class V>
    Point<V> at(V y, V raw) const {
        const V r = raw - y;
        const V excess = math::max(math::abs(r) - epsilon, V{});
        return {excess * excess, r >= 0.0 ? 2.0 * excess : -2.0 * excess, excess > 0.0 ? math::fill<V>(2.0) : V{}};
    }
};

// max(0, 1 - y raw), for y in {-1, 1}; at the kink the subgradient is that of the left side, -y.
struct Hinge {
    template <class V>
    Point<V> at(V y, V raw) const {
        const V slack = 1.0 - y * raw;
        return {math::max(slack, V{}), slack >= 0.0 ? -y : V{}, V{}};
    }
};

// max(0, -y raw), for y in {-1, 1}; at raw = 0 the subgradient is -y, so that a start at zero moves.
struct Perceptron {
    template <class V>
    Point<V> at(V y, V raw) const {
        const V margin = y * raw;
        return {math::max(-margin, V{}), margin <= 0.0 ? -y : V{}, V{}};
    }
};

// The squared hinge, made linear below a margin of -1: max(0, 1 - m)^2 for m >= -1, else -4 m, with m = y raw.
struct ModifiedHuber {
    template <class V>
    Point<V> at(V y, V raw) const {
        const V margin = y * raw;
        const V slack = math::max(1.0 - margin, V{});
        const V is_steep = margin < -1.0 ? math::fill<V>(1.0) : V{};
        return {margin < -1.0 ? -4.0 * margin : slack * slack, margin < -1.0 ? -4.0 * y : -2.0 * y * slack,
                slack > 0.0 ? 2.0 * (1.0 - is_steep) : V{}};
    }
};

// e^(-y raw), for y in {-1, 1}.
struct Exponential {
    template <class V>
    Point<V> at(V y, V raw) const {
        const V value = math::exp(-y * raw);
        return {value, -y * value, value};
    }
};

// max(0, |r| - epsilon); with epsilon = 0 the absolute loss.
struct EpsilonInsensitive {
    double epsilon;

    template <class V>
    Point<V> at(V y, V raw) const {
        const V r = raw - y;
        const V sign = r > 0.0 ? math::fill<V>(1.0) : math::fill<V>(-1.0);
        return {math::max(math::abs(r) - epsilon, V{}), math::abs(r) > epsilon ? sign : V{}, V{}};
    }
};

// quantile max(y - raw, 0) + (1 - quantile) max(raw - y, 0).
struct Pinball {
    double quantile;

    template <class V>
    Point<V> at(V y, V raw) const {
        const V r = raw - y;
        const V above = math::fill<V>(1.0 - quantile);
        const V below = math::fill<V>(-quantile);
        const V slope = r > 0.0 ? above : r < 0.0 ? below : V{};
        return {slope * r, slope, V{}};
    }
};

}  // namespace mercer::losses
