// How a distance grows feature by feature, for as many rows at a time as a group has (core/distance.hpp).
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer {

// How a value starts, given the target's constant for metrics that have one, and what a feature adds to it.
template <class M, class T>
concept Metric = requires(const M& metric, typename Simd<T>::Vector v, T constant) {
    { metric.start(&constant) } -> std::convertible_to<T>;
    { metric.add(v, v, v) } -> std::convertible_to<typename Simd<T>::Vector>;
};

namespace detail {

template <class Vector>
Vector absolute(Vector v) {
    return v < Vector{} ? -v : v;
}

}  // namespace detail

// |c|^2 / 2 - x.c for a target c with the constant |c|^2 / 2. It orders targets as the distance does and costs one multiply-add:
// |x - c|^2 = |x|^2 + 2 score. Shift both sides by a common vector first (the mean of the data), so that it does not cancel for
// data far from the origin. With constants of zero, it is minus the inner product.
struct Score {
    template <Real T>
    static T start(const T* constant) {
        return *constant;
    }
    template <class Vector>
    static Vector add(Vector sum, Vector row, Vector target) {
        return sum - target * row;
    }
};

// - x.c, of which whoever collects makes what it needs: norms of the rows, one a lane, are added there.
struct MinusProduct {
    template <Real T>
    static T start(const T*) {
        return 0;
    }
    template <class Vector>
    static Vector add(Vector sum, Vector row, Vector target) {
        return sum - target * row;
    }
};

// |x - c|^2 itself, from the differences: twice the work, and exactly zero where a row equals a target.
struct SquaredEuclidean {
    template <Real T>
    static T start(const T*) {
        return 0;
    }
    template <class Vector>
    static Vector add(Vector sum, Vector row, Vector target) {
        const Vector difference = row - target;
        return sum + difference * difference;
    }
};

struct Manhattan {
    template <Real T>
    static T start(const T*) {
        return 0;
    }
    template <class Vector>
    static Vector add(Vector sum, Vector row, Vector target) {
        return sum + detail::absolute(row - target);
    }
};

struct Chebyshev {
    template <Real T>
    static T start(const T*) {
        return 0;
    }
    template <class Vector>
    static Vector add(Vector largest, Vector row, Vector target) {
        const Vector difference = detail::absolute(row - target);
        return difference > largest ? difference : largest;
    }
};

}  // namespace mercer
