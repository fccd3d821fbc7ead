// Elementary functions on whole vectors, where the standard library has them for one number only, and under the same names for
// one number: a formula written with them works on both. On vectors errors stay below 2 units in the last place.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/simd.hpp"

namespace mercer::math {

using Vector = Simd<double>::Vector;
using Indices = Simd<double>::Indices;
typedef std::uint64_t Words __attribute__((vector_size(kVectorBytes)));  // bits that may wrap around

// x in every lane of a vector, or x itself.
template <class V>
V fill(double x) {
    return x - V{};
}
inline Vector broadcast(double x) { return Simd<double>::broadcast(x); }
inline Vector max(Vector a, Vector b) { return a > b ? a : b; }
inline Vector min(Vector a, Vector b) { return a < b ? a : b; }
inline Vector abs(Vector x) { return std::bit_cast<Vector>(std::bit_cast<Indices>(x) & 0x7fffffffffffffff); }

// e^x: infinity above 709.78, zero below -708 (where the result would be denormal), NaN for NaN.
inline Vector exp(Vector x) {
    constexpr double kLog2High = 6.93147180369123816490e-01;  // ln 2 in two parts: the first times k is exact
    constexpr double kLog2Low = 1.90821492927058770002e-10;
    constexpr double kRounder = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
    const Vector clamped = max(min(x, broadcast(709.79)), broadcast(-708.4));
    const Vector shifted = clamped * 1.44269504088896340736 + kRounder;
    const Vector k = shifted - kRounder;
    const Vector r = (clamped - k * kLog2High) - k * kLog2Low;  // |r| <= ln(2) / 2
    // The Taylor series to degree 13: its error there is below 2^-57.
    Vector sum = broadcast(1.0 / 6227020800.0);
    sum = sum * r + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = sum * r * r + r + 1.0;
    // Times 2^k, in two factors because k reaches 1024.
    const Indices power = std::bit_cast<Indices>(shifted) - std::bit_cast<std::int64_t>(kRounder);
    const Indices half = power >> 1;
    const Vector scale = std::bit_cast<Vector>((half + 1023) << 52);
    const Vector rest = std::bit_cast<Vector>((power - half + 1023) << 52);
    const Vector result = sum * scale * rest;
    const Vector low = x < -708.4 ? broadcast(0.0) : result;
    const Vector high = x > 709.782712893384 ? broadcast(std::numeric_limits<double>::infinity()) : low;
    return x == x ? high : x;
}

// log x for normal x > 0; -infinity at 0, NaN below.
inline Vector log(Vector x) {
    constexpr double kLog2High = 6.93147180369123816490e-01;
    constexpr double kLog2Low = 1.90821492927058770002e-10;
    // x = 2^k m with m in [sqrt(1/2), sqrt(2)): move the exponent field so that it changes at sqrt(1/2).
    const Words bits = std::bit_cast<Words>(x);
    constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
    const Indices k_bits = std::bit_cast<Indices>(bits - kRootHalf) >> 52;
    const Vector m = std::bit_cast<Vector>(bits - (std::bit_cast<Words>(k_bits) << 52));
    const Vector k = __builtin_convertvector(k_bits, Vector);
    const Vector f = m - 1.0;
    // log(1 + f) = 2 atanh(s) with s = f / (2 + f), arranged to add the small parts first; minimax coefficients of fdlibm.
    const Vector s = f / (2.0 + f);
    const Vector z = s * s;
    Vector series = broadcast(1.479819860511658591e-01);
    series = series * z + 1.531383769920937332e-01;
    series = series * z + 1.818357216161805012e-01;
    series = series * z + 2.222219843214978396e-01;
    series = series * z + 2.857142874366239149e-01;
    series = series * z + 3.999999999940941908e-01;
    series = series * z + 6.666666666666735130e-01;
    const Vector half_square = 0.5 * f * f;
    const Vector result = k * kLog2High - ((half_square - (s * (half_square + series * z) + k * kLog2Low)) - f);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const Vector at_zero = x == 0.0 ? broadcast(-kInfinity) : broadcast(std::numeric_limits<double>::quiet_NaN());
    const Vector beyond = x == kInfinity ? x : at_zero;
    return (x > 0.0) & (x < kInfinity) ? result : beyond;
}

// log(1 + x) for x >= 0, without loss for small x.
inline Vector log1p(Vector x) {
    const Vector u = 1.0 + x;
    const Vector lost = x - (u - 1.0);
    return x > 1e300 ? x : log(u) + lost / u;
}

inline double max(double a, double b) { return a > b ? a : b; }
inline double min(double a, double b) { return a < b ? a : b; }
inline double abs(double x) { return std::abs(x); }
inline double exp(double x) { return std::exp(x); }
inline double log(double x) { return std::log(x); }
inline double log1p(double x) { return std::log1p(x); }

}  // namespace mercer::math
