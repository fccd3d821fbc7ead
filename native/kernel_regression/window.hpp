// What a row weighs by its distance, as the share u^2 = d^2 / h^2 of the bandwidth h: on one number or on a vector.
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>

#include "core/math.hpp"
#include "core/simd.hpp"

namespace mercer::kernel_regression {

// A window is a function of u^2 and says
//   kIsCompact    whether rows beyond the bandwidth weigh nothing

// exp(-u^2 / 2).
struct GaussianWindow {
    static constexpr bool kIsCompact = false;

    template <class V>
    static V weight(V squared) {
        return math::exp(squared * -0.5);
    }
};

// 1 up to the bandwidth, which counts.
struct BoxWindow {
    static constexpr bool kIsCompact = true;

    template <class V>
    static V weight(V squared) {
        return squared <= math::fill<V>(1.0) ? math::fill<V>(1.0) : V{};
    }
};

// 1 - u^2.
struct EpanechnikovWindow {
    static constexpr bool kIsCompact = true;

    template <class V>
    static V weight(V squared) {
        return math::max(1.0 - squared, V{});
    }
};

// (1 - u^3)^3.
struct TricubeWindow {
    static constexpr bool kIsCompact = true;

    template <class V>
    static V weight(V squared) {
        V root = squared;
        if constexpr (std::is_arithmetic_v<V>) {
            root = std::sqrt(squared);
        } else {
            for (std::size_t lane = 0; lane < Simd<double>::kLanes; ++lane) root[lane] = std::sqrt(squared[lane]);
        }
        const V left = math::max(1.0 - squared * root, V{});
        return left * left * left;
    }
};

}  // namespace mercer::kernel_regression
