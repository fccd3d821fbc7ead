// What is made of a product or of a squared distance, on whole vectors: the last step of a kernel or of a distance, taken while a
// tile of values is in the cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/math.hpp"
#include "core/simd.hpp"

namespace mercer::pairwise {

// `function` of every lane.
template <class V, class Function>
V by_lane(V v, Function&& function) {
    for (std::size_t lane = 0; lane < sizeof(V) / sizeof(v[0]); ++lane) v[lane] = function(v[lane]);
    return v;
}

struct Same {
    template <class V>
    V operator()(V value) const {
        return value;
    }
};

// a value.
struct Scaled {
    double factor;

    template <class V>
    V operator()(V value) const {
        return value * static_cast<math::Lane<V>>(factor);
    }
};

// The distance, of its square.
struct Root {
    template <class V>
    V operator()(V value) const {
        return by_lane(value, [](auto x) { return std::sqrt(x); });
    }
};

// exp(factor value): of the squared distance or of Manhattan's, with a negative factor.
struct Exponential {
    double factor;

    template <class V>
    V operator()(V value) const {
        return math::exp(value * static_cast<math::Lane<V>>(factor));
    }
};

// (gamma value + constant)^degree.
struct Polynomial {
    double gamma, constant, degree;

    template <class V>
    V operator()(V value) const {
        using T = math::Lane<V>;
        const V base = value * static_cast<T>(gamma) + static_cast<T>(constant);
        constexpr double kMostProducts = 64;
        if (degree == std::floor(degree) && degree >= 1 && degree <= kMostProducts)
            return whole_power(base, static_cast<unsigned>(degree));
        return by_lane(base, [this](T x) { return static_cast<T>(std::pow(static_cast<double>(x), degree)); });
    }

   private:
    template <class V>
    static V whole_power(V base, unsigned power) {
        V result = math::fill<V>(1.0);
        for (; power > 1; power /= 2) {
            if (power % 2 == 1) result = result * base;
            base = base * base;
        }
        return result * base;
    }
};

// tanh(gamma value + constant).
struct Sigmoid {
    double gamma, constant;

    template <class V>
    V operator()(V value) const {
        using T = math::Lane<V>;
        return math::tanh(value * static_cast<T>(gamma) + static_cast<T>(constant));
    }
};

// A map behind one call for a line of values, so that what measures them is compiled once for all maps.
template <Real T>
class LineMap {
   public:
    template <class Map>
    LineMap(const Map& map)
        : map_(&map),
          call_([](const void* by, T* values, std::size_t n) { map_values(*static_cast<const Map*>(by), values, n); }) {}
    LineMap(const Same&) : map_(nullptr), call_(nullptr) {}

    // Overwrites n values with what the map makes of them.
    void operator()(T* values, std::size_t n) const {
        if (call_ != nullptr) call_(map_, values, n);
    }

   private:
    template <class Map>
    static void map_values(const Map& map, T* values, std::size_t n) {
        using S = Simd<T>;
        std::size_t j = 0;
        for (; j + S::kLanes <= n; j += S::kLanes) S::store(values + j, map(S::load(values + j)));
        if (j == n) return;
        T rest[S::kLanes] = {};
        std::copy_n(values + j, n - j, rest);
        S::store(rest, map(S::load(rest)));
        std::copy_n(rest, n - j, values + j);
    }

    const void* map_;
    void (*call_)(const void*, T*, std::size_t);
};

}  // namespace mercer::pairwise
