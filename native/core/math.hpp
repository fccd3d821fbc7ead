// Elementary functions on whole vectors of either precision, where the standard library has them for one number only, and under
// the same names for one number: a formula written with them works on all. On vectors errors stay below 2 units in the last place
// (tanh: 3; cos: 2 units in the last place of one).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/simd.hpp"

namespace mercer::math {

using Vector = Simd<double>::Vector;
using FloatVector = Simd<float>::Vector;
typedef std::uint64_t Words __attribute__((vector_size(kVectorBytes)));  // bits that may wrap around
typedef std::uint32_t FloatWords __attribute__((vector_size(kVectorBytes)));

// The number type of a vector.
template <class V>
using Lane = std::remove_cvref_t<decltype(V{}[0])>;

// x in every lane of a vector, or x itself.
template <class V>
V fill(double x) {
    if constexpr (std::is_arithmetic_v<V>) {
        return static_cast<V>(x);
    } else {
        return static_cast<Lane<V>>(x) - V{};
    }
}
inline Vector broadcast(double x) { return Simd<double>::broadcast(x); }
inline Vector max(Vector a, Vector b) { return a > b ? a : b; }
inline Vector min(Vector a, Vector b) { return a < b ? a : b; }
inline FloatVector max(FloatVector a, FloatVector b) { return a > b ? a : b; }
inline FloatVector min(FloatVector a, FloatVector b) { return a < b ? a : b; }

namespace detail {

// What differs between the precisions. ln 2 is in two parts, of which the first times a whole exponent is exact; adding `rounder`
// leaves the nearest whole number in the low bits; the Taylor series of e^r for |r| <= ln(2) / 2 ends below half a unit.
template <Real T>
struct Format;

template <>
struct Format<double> {
    using Bits = std::int64_t;
    using Unsigned = Words;
    static constexpr int kFraction = 52;
    static constexpr Bits kBias = 1023;
    static constexpr Bits kMagnitude = 0x7fffffffffffffff;
    static constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
    static constexpr double kRounder = 0x1.8p52;
    static constexpr double kLog2High = 6.93147180369123816490e-01;
    static constexpr double kLog2Low = 1.90821492927058770002e-10;
    static constexpr double kLeastExponent = -708.4;           // e^x would be denormal below
    static constexpr double kMostExponent = 709.782712893384;  // and infinite above
    static constexpr double kFactorials[] = {1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0,
                                             1.0 / 362880.0,     1.0 / 40320.0,     1.0 / 5040.0,     1.0 / 720.0,
                                             1.0 / 120.0,        1.0 / 24.0,        1.0 / 6.0,        0.5};
    // log(1 + f) = 2 atanh(s) with s = f / (2 + f): minimax coefficients of fdlibm, the last power first.
    static constexpr double kLogarithm[] = {1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                                            2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                                            6.666666666666735130e-01};
    static constexpr double kSaturated = 22;  // tanh is one from here on
    // pi / 2 in three parts, of which whole multiples up to the largest angle are exact, and the series of fdlibm for the sine,
    // r + r^3 (...), and the cosine, 1 - r^2 / 2 + r^4 (...), where |r| <= pi / 4.
    static constexpr double kRightAngle[] = {1.57079632673412561417e+00, 6.07710050630396597660e-11, 2.02226624879595063154e-21};
    static constexpr double kLargestAngle = 1e6;
    static constexpr double kSine[] = {1.58969099521155010221e-10,  -2.50507602534068634195e-08, 2.75573137070700676789e-06,
                                       -1.98412698298579493134e-04, 8.33333333332248946124e-03,  -1.66666666666666324348e-01};
    static constexpr double kCosine[] = {-1.13596475577881948265e-11, 2.08757232129817482790e-09,  -2.75573143513906633035e-07,
                                         2.48015872894767294178e-05,  -1.38888888888741095749e-03, 4.16666666666666019037e-02};
};

template <>
struct Format<float> {
    using Bits = std::int32_t;
    using Unsigned = FloatWords;
    static constexpr int kFraction = 23;
    static constexpr Bits kBias = 127;
    static constexpr Bits kMagnitude = 0x7fffffff;
    static constexpr std::uint32_t kRootHalf = 0x3f3504f3;
    static constexpr float kRounder = 0x1.8p23f;
    static constexpr float kLog2High = 6.9314575195e-01f;
    static constexpr float kLog2Low = 1.4286067653e-06f;
    static constexpr float kLeastExponent = -87.3f;
    static constexpr float kMostExponent = 88.72283f;
    static constexpr float kFactorials[] = {1.0f / 5040.0f, 1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f};
    static constexpr float kLogarithm[] = {0.24279078841f, 0.28498786688f, 0.40000972152f, 0.66666662693f};
    static constexpr float kSaturated = 10;
    static constexpr float kRightAngle[] = {1.5703125f, 4.837512969970703125e-4f, 7.549789954891882e-8f};
    static constexpr float kLargestAngle = 8192;
    static constexpr float kSine[] = {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
    static constexpr float kCosine[] = {2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f};
};

// The value at z of the polynomial with these coefficients, the last power first (Horner).
template <class V, class T, std::size_t n>
[[gnu::always_inline]] inline V polynomial(const T (&coefficients)[n], V z) {
    V sum = coefficients[0] - V{};
#pragma GCC unroll 16
    for (std::size_t i = 1; i < n; ++i) sum = sum * z + coefficients[i];
    return sum;
}

// x = k ln 2 + r with a whole k and |r| <= ln(2) / 2.
template <Real T>
struct Reduced {
    typename Simd<T>::Vector r;
    typename Simd<T>::Indices k;
};

template <Real T>
[[gnu::always_inline]] inline Reduced<T> reduced(typename Simd<T>::Vector x) {
    using F = Format<T>;
    using Indices = typename Simd<T>::Indices;
    const auto shifted = x * static_cast<T>(1.44269504088896340736) + F::kRounder;
    const auto k = shifted - F::kRounder;
    return {(x - k * F::kLog2High) - k * F::kLog2Low,
            std::bit_cast<Indices>(shifted) - std::bit_cast<typename F::Bits>(F::kRounder)};
}

// 2^k for normal powers.
template <Real T>
[[gnu::always_inline]] inline typename Simd<T>::Vector power_of_two(typename Simd<T>::Indices k) {
    return std::bit_cast<typename Simd<T>::Vector>((k + Format<T>::kBias) << Format<T>::kFraction);
}

template <Real T>
[[gnu::always_inline]] inline typename Simd<T>::Vector exp(typename Simd<T>::Vector x) {
    using F = Format<T>;
    using V = typename Simd<T>::Vector;
    const V clamped = max(min(x, F::kMostExponent + 1 - V{}), F::kLeastExponent - V{});
    const auto [r, k] = reduced<T>(clamped);
    const V sum = polynomial(F::kFactorials, r) * r * r + r + T{1};
    const auto half = k >> 1;  // 2^k in two factors, because k goes one beyond the exponents
    const V result = sum * power_of_two<T>(half) * power_of_two<T>(k - half);
    const V low = x < F::kLeastExponent ? V{} : result;
    const V high = x > F::kMostExponent ? std::numeric_limits<T>::infinity() - V{} : low;
    return x == x ? high : x;
}

template <Real T>
[[gnu::always_inline]] inline typename Simd<T>::Vector log(typename Simd<T>::Vector x) {
    using F = Format<T>;
    using V = typename Simd<T>::Vector;
    using Indices = typename Simd<T>::Indices;
    using Unsigned = typename F::Unsigned;
    // x = 2^k m with m in [sqrt(1/2), sqrt(2)): move the exponent field so that it changes at sqrt(1/2).
    const Unsigned bits = std::bit_cast<Unsigned>(x);
    const Indices k_bits = std::bit_cast<Indices>(bits - F::kRootHalf) >> F::kFraction;
    const V m = std::bit_cast<V>(bits - (std::bit_cast<Unsigned>(k_bits) << F::kFraction));
    const V k = __builtin_convertvector(k_bits, V);
    const V f = m - T{1};
    const V s = f / (T{2} + f);
    const V z = s * s;
    const V half_square = T{0.5} * f * f;
    // Arranged to add the small parts first.
    const V result =
        k * F::kLog2High - ((half_square - (s * (half_square + polynomial(F::kLogarithm, z) * z) + k * F::kLog2Low)) - f);
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    const V at_zero = x == T{0} ? -kInfinity - V{} : std::numeric_limits<T>::quiet_NaN() - V{};
    const V beyond = x == kInfinity ? x : at_zero;
    return (x > T{0}) & (x < kInfinity) ? result : beyond;
}

template <Real T>
[[gnu::always_inline]] inline typename Simd<T>::Vector log1p(typename Simd<T>::Vector x) {
    using V = typename Simd<T>::Vector;
    const V u = T{1} + x;
    const V lost = x - (u - T{1});
    return log<T>(u) + (x < std::numeric_limits<T>::infinity() ? lost / u : V{});
}

template <Real T>
[[gnu::always_inline]] inline typename Simd<T>::Vector abs(typename Simd<T>::Vector x) {
    return std::bit_cast<typename Simd<T>::Vector>(std::bit_cast<typename Simd<T>::Indices>(x) & Format<T>::kMagnitude);
}

// (e^(2 |x|) - 1) / (e^(2 |x|) + 1) with the sign of x; e^y - 1 = 2^k (e^r - 1) + (2^k - 1) loses nothing for small y.
template <Real T>
[[gnu::always_inline]] inline typename Simd<T>::Vector tanh(typename Simd<T>::Vector x) {
    using F = Format<T>;
    using V = typename Simd<T>::Vector;
    using Indices = typename Simd<T>::Indices;
    const V magnitude = abs<T>(x);
    const auto [r, k] = reduced<T>(T{2} * min(magnitude, F::kSaturated - V{}));
    const V scale = power_of_two<T>(k);
    const V grown = scale * (polynomial(F::kFactorials, r) * r * r + r) + (scale - T{1});
    const V result = grown / (grown + T{2});
    const Indices sign = std::bit_cast<Indices>(x) & ~F::kMagnitude;
    return x == x ? std::bit_cast<V>(std::bit_cast<Indices>(result) | sign) : x;
}

// x = k pi / 2 + r with a whole k and |r| <= pi / 4: of the sine and the cosine of r, with a sign, which k says. Angles beyond the
// largest are left to the standard library.
template <Real T>
[[gnu::always_inline]] inline typename Simd<T>::Vector cos(typename Simd<T>::Vector x) {
    using F = Format<T>;
    using V = typename Simd<T>::Vector;
    using Indices = typename Simd<T>::Indices;
    const Indices is_near = abs<T>(x) <= F::kLargestAngle;
    const V near = is_near ? x : V{};
    const V shifted = near * static_cast<T>(0.63661977236758134308) + F::kRounder;
    const V k = shifted - F::kRounder;
    const V r = ((near - k * F::kRightAngle[0]) - k * F::kRightAngle[1]) - k * F::kRightAngle[2];
    const V z = r * r;
    const V sine = r + r * z * polynomial(F::kSine, z);
    const V cosine = (T{1} - T{0.5} * z) + z * z * polynomial(F::kCosine, z);
    const Indices quarter = std::bit_cast<Indices>(shifted);
    const V size = (quarter & 1) == 0 ? cosine : sine;
    V result = ((quarter + 1) & 2) == 0 ? size : -size;
    for (std::size_t lane = 0; lane < Simd<T>::kLanes; ++lane)
        if (is_near[lane] == 0) [[unlikely]]
            result[lane] = std::cos(x[lane]);
    return result;
}

}  // namespace detail

inline Vector abs(Vector x) { return detail::abs<double>(x); }
inline FloatVector abs(FloatVector x) { return detail::abs<float>(x); }

// e^x: infinity above 709.78 (float: 88.72), zero below -708.4 (-87.3), where the result would be denormal, NaN for NaN.
inline Vector exp(Vector x) { return detail::exp<double>(x); }
inline FloatVector exp(FloatVector x) { return detail::exp<float>(x); }

// log x for normal x > 0; -infinity at 0, NaN below.
inline Vector log(Vector x) { return detail::log<double>(x); }
inline FloatVector log(FloatVector x) { return detail::log<float>(x); }

// log(1 + x) for x >= 0, without loss for small x.
inline Vector log1p(Vector x) { return detail::log1p<double>(x); }
inline FloatVector log1p(FloatVector x) { return detail::log1p<float>(x); }

inline Vector tanh(Vector x) { return detail::tanh<double>(x); }
inline FloatVector tanh(FloatVector x) { return detail::tanh<float>(x); }

inline Vector cos(Vector x) { return detail::cos<double>(x); }
inline FloatVector cos(FloatVector x) { return detail::cos<float>(x); }

inline double max(double a, double b) { return a > b ? a : b; }
inline double min(double a, double b) { return a < b ? a : b; }
inline double abs(double x) { return std::abs(x); }
inline double exp(double x) { return std::exp(x); }
inline double log(double x) { return std::log(x); }
inline double log1p(double x) { return std::log1p(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double cos(double x) { return std::cos(x); }

}  // namespace mercer::math
