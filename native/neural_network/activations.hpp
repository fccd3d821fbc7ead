// Activations of units and their slopes, over whole lines in vectors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/math.hpp"
#include "core/simd.hpp"

namespace mercer::neural_network {

enum class Activation { kIdentity, kLogistic, kTanh, kRelu, kLeakyRelu, kGelu, kHeaviside };

inline Activation activation_of(std::string_view name) {
    constexpr std::pair<std::string_view, Activation> kNames[] = {
        {"identity", Activation::kIdentity},   {"logistic", Activation::kLogistic},    {"tanh", Activation::kTanh},
        {"relu", Activation::kRelu},           {"leaky_relu", Activation::kLeakyRelu}, {"gelu", Activation::kGelu},
        {"heaviside", Activation::kHeaviside},
    };
    const auto* const found = std::ranges::find(kNames, name, &std::pair<std::string_view, Activation>::first);
    require(found != std::end(kNames), "the name of the activation is not known");
    return found->second;
}

inline constexpr double kLeak = 0.01;  // slope of the leaky ReLU below zero

namespace detail {

// out[j] = map(a[j], b[j]) for n places, in whole vectors. The last one covers some places again, with what they held before; a
// line shorter than a vector is padded.
template <Real T, class Map>
void map_line(const T* a, const T* b, T* out, std::size_t n, Map&& map) {
    using S = Simd<T>;
    std::size_t j = 0;
    if (n >= S::kLanes) {
        const std::size_t last = n - S::kLanes;
        const auto last_a = S::load(a + last), last_b = S::load(b + last);  // out may be one of them
        for (; j <= last; j += S::kLanes) S::store(out + j, map(S::load(a + j), S::load(b + j)));
        if (j < n) S::store(out + last, map(last_a, last_b));
        return;
    }
    T rest[3][S::kLanes] = {};
    std::copy(a + j, a + n, rest[0]);
    std::copy(b + j, b + n, rest[1]);
    S::store(rest[2], map(S::load(rest[0]), S::load(rest[1])));
    std::copy_n(rest[2], n - j, out + j);
}

// Phi(z), the normal distribution function: by the C library, which has erfc for one number only.
template <class V>
V normal_probability(V z) {
    V result;
    for (std::size_t lane = 0; lane < sizeof(V) / sizeof(z[0]); ++lane)
        result[lane] = std::erfc(z[lane] * math::Lane<V>(-std::numbers::sqrt2 / 2)) / 2;
    return result;
}

// Calls body with the formulas h(z) and h'(z), the latter told z and h(z).
template <class V, class Body>
void with_formulas(Activation activation, Body&& body) {
    const V one = math::fill<V>(1), zero = {};
    switch (activation) {
        case Activation::kIdentity:
            return body([](V z) { return z; }, [=](V, V) { return one; });
        case Activation::kLogistic:
            return body([=](V z) { return one / (one + math::exp(-z)); }, [=](V, V h) { return h * (one - h); });
        case Activation::kTanh:
            return body([](V z) { return math::tanh(z); }, [=](V, V h) { return one - h * h; });
        case Activation::kRelu:  // NaN stays NaN
            return body([=](V z) { return z < zero ? zero : z; }, [=](V, V h) { return h > zero ? one : zero; });
        case Activation::kLeakyRelu: {
            const V leak = math::fill<V>(kLeak);
            return body([=](V z) { return z < zero ? leak * z : z; }, [=](V, V h) { return h > zero ? one : leak; });
        }
        case Activation::kGelu:
            return body([](V z) { return z * normal_probability(z); },
                        [](V z, V) {
                            const V density = math::fill<V>(0.39894228040143267794) * math::exp(math::fill<V>(-0.5) * z * z);
                            return normal_probability(z) + z * density;
                        });
        case Activation::kHeaviside:  // without a slope: nothing can be learnt through it
            return body([=](V z) { return z < zero ? zero : one; }, [=](V, V) { return zero; });
    }
}

}  // namespace detail

// Whether the slope is a formula of the value alone, so that nothing need be kept of z.
inline bool slope_follows_from_value(Activation activation) { return activation != Activation::kGelu; }

// z = h(z + bias) over n units of a row; writes the slopes h'(z + bias) where there is room for them (null: left out).
template <Real T>
void activate(Activation activation, T* z, const T* bias, T* slopes, std::size_t n) {
    using V = typename Simd<T>::Vector;
    detail::with_formulas<V>(activation, [&](auto&& value, auto&& slope) {
        if (slopes != nullptr)
            detail::map_line(z, bias, slopes, n, [&](V raw, V shift) { return slope(raw + shift, value(raw + shift)); });
        detail::map_line(z, bias, z, n, [&](V raw, V shift) { return value(raw + shift); });
    });
}

// delta = delta h'(z) over n units of a row, from their values h(z).
template <Real T>
void multiply_by_slope(Activation activation, const T* values, T* delta, std::size_t n) {
    using V = typename Simd<T>::Vector;
    if (activation == Activation::kIdentity) return;
    detail::with_formulas<V>(activation, [&](auto&&, auto&& slope) {
        detail::map_line(delta, values, delta, n, [&](V d, V h) { return d * slope(h, h); });
    });
}

// delta = delta slope over n units.
template <Real T>
void multiply(const T* slopes, T* delta, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) delta[j] *= slopes[j];
}

}  // namespace mercer::neural_network
