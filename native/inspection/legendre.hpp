// The rule of Gauss and Legendre on (0, 1).
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace mercer::inspection {

struct Rule {
    std::vector<double> t, one_minus_t, weights;
};

// n nodes integrate polynomials of degree 2 n - 1 exactly. Both t and 1 - t are given: near the ends neither is to be had from the
// other. Newton's method on the Legendre polynomial, in long double; O(n^2).
inline Rule gauss_legendre(std::size_t n) {
    Rule rule{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
    for (std::size_t i = 0; i < (n + 1) / 2; ++i) {
        const auto size = static_cast<long double>(n);
        long double z = std::cos(std::numbers::pi_v<long double> * (static_cast<long double>(i) + 0.75L) / (size + 0.5L));
        long double slope = 0;
        for (int round = 0; round < 100; ++round) {
            long double p = 1, before = 0;
            for (std::size_t k = 1; k <= n; ++k) {
                const auto degree = static_cast<long double>(k);
                const long double next = ((2 * degree - 1) * z * p - (degree - 1) * before) / degree;
                before = p;
                p = next;
            }
            slope = size * (z * p - before) / (z * z - 1);
            const long double change = p / slope;
            z -= change;
            if (std::abs(change) < 1e-18L) break;
        }
        const long double weight = 1 / ((1 - z * z) * slope * slope);
        const std::size_t mirrored = n - 1 - i;
        rule.t[mirrored] = rule.one_minus_t[i] = static_cast<double>((1 + z) / 2);
        rule.t[i] = rule.one_minus_t[mirrored] = static_cast<double>((1 - z) / 2);
        rule.weights[i] = rule.weights[mirrored] = static_cast<double>(weight);
    }
    return rule;
}

}  // namespace mercer::inspection
