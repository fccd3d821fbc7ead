// What a merge makes of dissimilarities: the formulas of Lance and Williams.
#pragma once

#include <cmath>
#include <concepts>

namespace mercer::cluster {

// Two clusters, how many points each has, and how far they are apart.
struct Pair {
    double size_a, size_b, between;
};

// A linkage says how far a merged pair is from a cluster c, given how far a and b are, and reads heights off dissimilarities:
// where these are squared, heights are their roots. A reducible one brings no cluster nearer to the merged pair than it was to
// the nearer of the two: then every reciprocal pair of nearest neighbours may be merged, in any order.
template <class L>
concept Linkage = requires(const Pair& pair, double x) {
    { L::merged(x, x, pair, x) } -> std::same_as<double>;
    { L::kIsSquared } -> std::convertible_to<bool>;
};

struct SingleLink {
    static constexpr bool kIsSquared = false;
    static double merged(double ac, double bc, const Pair&, double) { return ac < bc ? ac : bc; }
};
struct CompleteLink {
    static constexpr bool kIsSquared = false;
    static double merged(double ac, double bc, const Pair&, double) { return ac > bc ? ac : bc; }
};
struct AverageLink {
    static constexpr bool kIsSquared = false;
    static double merged(double ac, double bc, const Pair& pair, double) {
        return (pair.size_a * ac + pair.size_b * bc) / (pair.size_a + pair.size_b);
    }
};
struct WeightedLink {
    static constexpr bool kIsSquared = false;
    static double merged(double ac, double bc, const Pair&, double) { return (ac + bc) / 2; }
};
struct WardLink {
    static constexpr bool kIsSquared = true;
    static double merged(double ac, double bc, const Pair& pair, double size_c) {
        const double sum = (pair.size_a + size_c) * ac + (pair.size_b + size_c) * bc - size_c * pair.between;
        return sum / (pair.size_a + pair.size_b + size_c);
    }
};

// These two are not reducible: a merged pair may be nearer to a cluster than the two were to each other (an inversion).
struct CentroidLink {
    static constexpr bool kIsSquared = true;
    static double merged(double ac, double bc, const Pair& pair, double) {
        const double share_a = pair.size_a / (pair.size_a + pair.size_b), share_b = 1 - share_a;
        return share_a * ac + share_b * bc - share_a * share_b * pair.between;
    }
};
struct MedianLink {
    static constexpr bool kIsSquared = true;
    static double merged(double ac, double bc, const Pair& pair, double) { return (ac + bc) / 2 - pair.between / 4; }
};

template <Linkage L>
double height_of(double dissimilarity) {
    if constexpr (!L::kIsSquared) return dissimilarity;
    return std::sqrt(dissimilarity > 0 ? dissimilarity : 0);  // rounding may leave less
}

}  // namespace mercer::cluster
