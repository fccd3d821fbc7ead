// Metrics as the search measures them: sums that grow feature by feature, in double precision, for one pair of points or for a
// vector of pairs. Their order is that of the distances (the rank); the distance itself is taken of what is kept alone.
//
// Every rank of a pair comes from the same operations in the same order, whatever searched for it: it has the same bits. Ranks of
// axial metrics are monotone in each difference, rounding included, so that the rank of the nearest corner of a box never exceeds
// the rank of a point within it.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <numbers>

#include "core/metric.hpp"
#include "core/simd.hpp"

namespace mercer::neighbors {

using Doubles = Simd<double>;
using Vector = Doubles::Vector;

// A value in every lane; a plain number is its own only lane.
template <class V>
V spread(double x) {
    if constexpr (std::same_as<V, double>) {
        return x;
    } else {
        return Doubles::broadcast(x);
    }
}

// `function` of every lane.
template <class V, class Function>
V by_lane(V v, Function&& function) {
    if constexpr (std::same_as<V, double>) {
        return function(v);
    } else {
        for (std::size_t lane = 0; lane < Doubles::kLanes; ++lane) v[lane] = function(v[lane]);
        return v;
    }
}

template <class M>
concept RankedDistance = requires(const M& metric, double x) {
    { metric.distance(x) } -> std::convertible_to<double>;
    { metric.rank_of(x) } -> std::convertible_to<double>;  // of a distance, up to rounding
};

template <class M>
concept SearchMetric = RankedDistance<M> && requires(const M& metric, Vector v, decltype(metric.template start<Vector>())& sums) {
    metric.add(sums, v, v, std::size_t{0});
    { metric.rank(sums) } -> std::convertible_to<Vector>;
    { M::kIsAxial } -> std::convertible_to<bool>;  // grows with each difference of coordinates, and asks of nothing else
};

// What balls are made of: the length behind a rank, which obeys the triangle inequality, and the power of it that the rank is.
template <class M>
concept BallMetric = RankedDistance<M> && requires(const M& metric, Vector v) {
    { metric.length(v) } -> std::convertible_to<Vector>;
    { metric.rank_of_length(v) } -> std::convertible_to<Vector>;
    { metric.power() } -> std::convertible_to<double>;
};

// What is read off a squared Euclidean length. Cosine and great-circle distances are read off the chords of unit vectors.
enum class Reading { kRoot, kSquare, kHalfSquare, kArc };

struct Euclidean {
    static constexpr bool kIsAxial = true;

    Reading reading = Reading::kRoot;

    template <class V>
    V start() const {
        return V{};
    }
    template <class V>
    void add(V& sum, V query, V point, std::size_t) const {
        const V difference = query - point;
        sum = sum + difference * difference;
    }
    template <class V>
    V rank(const V& sum) const {
        return sum;
    }
    double distance(double rank) const {
        switch (reading) {
            case Reading::kRoot:
                return std::sqrt(rank);
            case Reading::kSquare:
                return rank;
            case Reading::kHalfSquare:
                return rank / 2;
            case Reading::kArc:
                break;
        }
        return 2 * std::asin(std::fmin(std::sqrt(rank) / 2, 1.0));  // a chord of length 2 sin(arc / 2)
    }
    double rank_of(double distance) const {
        switch (reading) {
            case Reading::kRoot:
                return distance * distance;
            case Reading::kSquare:
                return distance;
            case Reading::kHalfSquare:
                return 2 * distance;
            case Reading::kArc:
                break;
        }
        if (distance >= std::numbers::pi) return std::numeric_limits<double>::infinity();
        const double half_chord = std::sin(distance / 2);
        return 4 * half_chord * half_chord;
    }
    template <class V>
    V length(V rank) const {
        return by_lane(rank, [](double x) { return std::sqrt(x); });
    }
    template <class V>
    V rank_of_length(V length) const {
        return length * length;
    }
    double power() const { return 2; }
};

struct Manhattan {
    static constexpr bool kIsAxial = true;

    template <class V>
    V start() const {
        return V{};
    }
    template <class V>
    void add(V& sum, V query, V point, std::size_t) const {
        sum = sum + mercer::detail::absolute(query - point);
    }
    template <class V>
    V rank(const V& sum) const {
        return sum;
    }
    double distance(double rank) const { return rank; }
    double rank_of(double distance) const { return distance; }
    template <class V>
    V length(V rank) const {
        return rank;
    }
    template <class V>
    V rank_of_length(V length) const {
        return length;
    }
    double power() const { return 1; }
};

struct Chebyshev {
    static constexpr bool kIsAxial = true;

    template <class V>
    V start() const {
        return V{};
    }
    template <class V>
    void add(V& largest, V query, V point, std::size_t) const {
        const V difference = mercer::detail::absolute(query - point);
        largest = difference > largest ? difference : largest;
    }
    template <class V>
    V rank(const V& largest) const {
        return largest;
    }
    double distance(double rank) const { return rank; }
    double rank_of(double distance) const { return distance; }
    template <class V>
    V length(V rank) const {
        return rank;
    }
    template <class V>
    V rank_of_length(V length) const {
        return length;
    }
    double power() const { return 1; }
};

// (sum w_j |x_j - y_j|^p)^(1/p). With weights and p = 2 it is the standardised Euclidean distance too. Without weights: w = 1.
struct Minkowski {
    static constexpr bool kIsAxial = true;

    double p;
    const double* weights = nullptr;

    template <class V>
    V start() const {
        return V{};
    }
    template <class V>
    void add(V& sum, V query, V point, std::size_t j) const {
        V difference = mercer::detail::absolute(query - point);
        if (p == 2) {
            difference = difference * difference;
        } else if (p != 1) {
            difference = by_lane(difference, [this](double x) { return std::pow(x, p); });
        }
        sum = sum + (weights ? spread<V>(weights[j]) * difference : difference);
    }
    template <class V>
    V rank(const V& sum) const {
        return sum;
    }
    double distance(double rank) const {
        if (p == 2) return std::sqrt(rank);
        return p == 1 ? rank : std::pow(rank, 1 / p);
    }
    double rank_of(double distance) const {
        if (p == 2) return distance * distance;
        return p == 1 ? distance : std::pow(distance, p);
    }
    // Below p = 1 the sum itself obeys the triangle inequality, and its root does not.
    template <class V>
    V length(V rank) const {
        if (p <= 1) return rank;
        return by_lane(rank, [this](double x) { return distance(x); });
    }
    template <class V>
    V rank_of_length(V length) const {
        if (p <= 1) return length;
        return by_lane(length, [this](double x) { return rank_of(x); });
    }
    double power() const { return std::fmax(p, 1.0); }
};

// The largest rank whose distance is at most `radius`; below zero where there is none. What is within a radius is then asked of
// ranks, and answered as the distances that users see would answer it.
template <RankedDistance M>
double rank_within(const M& metric, double radius) {
    if (!(radius >= 0)) return -1;
    if (std::isinf(radius)) return radius;
    constexpr int kMostSteps = 64;
    const double infinity = std::numeric_limits<double>::infinity();
    double rank = metric.rank_of(radius);
    for (int step = 0; step < kMostSteps && rank > 0 && metric.distance(rank) > radius; ++step) rank = std::nextafter(rank, 0.0);
    for (int step = 0; step < kMostSteps; ++step) {
        const double next = std::nextafter(rank, infinity);
        if (metric.distance(next) > radius) break;
        rank = next;
    }
    return rank;
}

}  // namespace mercer::neighbors
