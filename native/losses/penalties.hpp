// Penalties on coefficients, one small struct each: what a coordinate-descent solver is a template over.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

namespace mercer::losses {

// A penalty is a sum over coefficients of value(w) >= 0 with value(0) = 0.
//   prox(z, h)      the minimiser over w of h/2 (w - z)^2 + value(w), for a curvature h > 0;
//   distance(w, g)  how far -g, for a gradient g of the smooth part, is from the (limiting) subdifferential of value at w;
//   threshold(h)    the largest |g| that leaves a zero coefficient at zero: prox(g / h, h) = 0;
//   strength(g)     how hard a gradient of the smooth part pulls at a zero coefficient, to be compared with the threshold.
template <class P>
concept Penalty = requires(const P& penalty, double w, double z, double h, double g) {
    { penalty.value(w) } -> std::same_as<double>;
    { penalty.prox(z, h) } -> std::same_as<double>;
    { penalty.distance(w, g) } -> std::same_as<double>;
    { penalty.threshold(h) } -> std::same_as<double>;
    { P::strength(g) } -> std::same_as<double>;
};

// Penalties l1 |w| + l2/2 w^2, restricted or not: the quadratic problem then has a dual to measure the gap by.
template <class P>
concept HasDual = Penalty<P> && requires(const P& penalty) {
    { penalty.l1 } -> std::convertible_to<double>;
    { penalty.l2 } -> std::convertible_to<double>;
};

inline double soft_threshold(double z, double t) { return z > t ? z - t : z < -t ? z + t : 0.0; }

// l1 |w|
struct L1 {
    double l1 = 0;
    static constexpr double l2 = 0;

    double value(double w) const { return l1 * std::abs(w); }
    double prox(double z, double h) const { return soft_threshold(z, l1 / h); }
    double distance(double w, double g) const {
        return w == 0 ? std::max(std::abs(g) - l1, 0.0) : std::abs(g + std::copysign(l1, w));
    }
    double threshold(double) const { return l1; }
    static double strength(double g) { return std::abs(g); }
};

// l1 |w| + l2/2 w^2
struct ElasticNet {
    double l1 = 0;
    double l2 = 0;

    double value(double w) const { return l1 * std::abs(w) + l2 / 2 * w * w; }
    double prox(double z, double h) const { return soft_threshold(h * z, l1) / (h + l2); }
    double distance(double w, double g) const { return L1{l1}.distance(w, g + l2 * w); }
    double threshold(double) const { return l1; }
    static double strength(double g) { return std::abs(g); }
};

// A convex penalty on w >= 0, infinite elsewhere.
template <Penalty P>
struct Positive : P {
    double value(double w) const { return w < 0 ? std::numeric_limits<double>::infinity() : P::value(w); }
    double prox(double z, double h) const { return z > 0 ? P::prox(z, h) : 0.0; }
    double distance(double w, double g) const {
        return w > 0 ? P::distance(w, g) : std::max(-g - this->threshold(1), 0.0);  // at zero the constraint takes any push down
    }
    static double strength(double g) { return g; }
};

// 0 on [low, high], infinite elsewhere; low <= 0 <= high.
struct Box {
    double low = 0;
    double high = 0;

    double value(double w) const { return w < low || w > high ? std::numeric_limits<double>::infinity() : 0.0; }
    double prox(double z, double) const { return std::min(std::max(z, low), high); }
    double distance(double w, double g) const {
        if (w <= low && w >= high) return 0;
        return w <= low ? std::max(-g, 0.0) : w >= high ? std::max(g, 0.0) : std::abs(g);
    }
    double threshold(double) const { return 0; }
    static double strength(double g) { return std::abs(g); }
};

// scale |w|^p with 0 < p < 1: not convex, and its prox jumps from zero to a least size.
struct Lp {
    double scale = 0;
    double p = 0.5;

    double value(double w) const { return w == 0 ? 0.0 : scale * std::pow(std::abs(w), p); }

    // The least size of a prox that is not zero.
    double jump(double h) const { return std::pow(2 * scale * (1 - p) / h, 1 / (2 - p)); }

    double threshold(double h) const {
        if (!(scale > 0)) return 0;
        const double least = jump(h);
        return h * least + scale * p * std::pow(least, p - 1);
    }

    // Beyond the threshold, the larger root of w - |z| + scale p w^(p-1) / h, which is convex in w: Newton's method from |z| falls
    // to it monotonically.
    double prox(double z, double h) const {
        const double size = std::abs(z);
        if (!(scale > 0)) return z;
        if (!(h * size > threshold(h))) return 0;
        const double ratio = scale * p / h;
        double w = size;
        for (int step = 0; step < 60; ++step) {
            const double power = ratio * std::pow(w, p - 1);
            const double next = w - (w - size + power) / (1 + (p - 1) * power / w);
            if (!(next < w)) break;
            w = next;
        }
        return std::copysign(w, z);
    }
    double distance(double w, double g) const {  // at zero every slope is a limiting subgradient
        return w == 0 ? 0.0 : std::abs(g + std::copysign(scale * p * std::pow(std::abs(w), p - 1), w));
    }
    static double strength(double g) { return std::abs(g); }
};

// l1 ||w|| + l2/2 ||w||^2 for a group w of coefficients: the elastic net of its norm. Its prox scales the group.
struct GroupL2 : ElasticNet {};

}  // namespace mercer::losses
