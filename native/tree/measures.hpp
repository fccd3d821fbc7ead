// What a set of rows with one target is worth, by its weight w and the weighted sum s of its targets. The formulas work on one
// number and on vectors of candidates.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/math.hpp"
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

}  // namespace mercer::tree
