// Metrics beyond Minkowski's, in the same words (metric.hpp): quotients of sums, counts of differences, tables of booleans, and
// Euclidean distances of rows with gaps.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "neighbors/metric.hpp"

namespace mercer::neighbors {

namespace detail {

template <class V>
V quotient(V above, V below) {  // 0 / 0 = 0
    return below > V{} ? above / below : V{};
}

}  // namespace detail

// What obeys the triangle inequality as it is.
struct PlainLength {
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

// The share of features that differ. The rank counts them, and is exact.
struct Hamming : PlainLength {
    static constexpr bool kIsAxial = true;

    double n_features = 1;

    template <class V>
    V start() const {
        return V{};
    }
    template <class V>
    void add(V& count, V query, V point, std::size_t) const {
        count = count + (query != point ? spread<V>(1) : V{});
    }
    template <class V>
    V rank(const V& count) const {
        return count;
    }
    double distance(double rank) const { return rank / n_features; }
    double rank_of(double distance) const { return distance * n_features; }
};

// sum |x_j - y_j| / (|x_j| + |y_j|), where features that are zero in both add nothing.
struct Canberra : PlainLength {
    static constexpr bool kIsAxial = false;

    template <class V>
    V start() const {
        return V{};
    }
    template <class V>
    void add(V& sum, V query, V point, std::size_t) const {
        using mercer::detail::absolute;
        sum = sum + detail::quotient<V>(absolute(query - point), absolute(query) + absolute(point));
    }
    template <class V>
    V rank(const V& sum) const {
        return sum;
    }
    double distance(double rank) const { return rank; }
    double rank_of(double distance) const { return distance; }
};

// B = sum |x_j - y_j| / sum (|x_j| + |y_j|), which does not obey the triangle inequality. The rank is 2 B / (1 + B), which has the
// same order and does: it is Steinhaus's transform of the Manhattan distance.
struct BrayCurtis : PlainLength {
    static constexpr bool kIsAxial = false;

    template <class V>
    struct Sums {
        V differences{}, sizes{};
    };

    template <class V>
    Sums<V> start() const {
        return {};
    }
    template <class V>
    void add(Sums<V>& sums, V query, V point, std::size_t) const {
        using mercer::detail::absolute;
        sums.differences = sums.differences + absolute(query - point);
        sums.sizes = sums.sizes + (absolute(query) + absolute(point));
    }
    template <class V>
    V rank(const Sums<V>& sums) const {
        return detail::quotient<V>(2 * sums.differences, sums.differences + sums.sizes);
    }
    double distance(double rank) const { return rank / (2 - rank); }
    double rank_of(double distance) const { return 2 * distance / (1 + distance); }
};

// What the table of two rows of booleans (0 or 1) says of them. n features, of which `both` are true in both rows and R differ.
enum class TableFormula { kJaccard, kDice, kSokalSneath, kRogersTanimoto, kRussellRao, kMatching, kKulsinski, kYule };

// Ranks are of three kinds, from which the distances follow: R / (both + R), Steinhaus's transform of the number of differences
// (Jaccard, Dice, Sokal-Sneath); the number R (Rogers-Tanimoto, matching); and what is no function of a metric, as it is
// (Russell-Rao obeys the triangle inequality all the same; Kulsinski and Yule do not).
struct TableDistance : PlainLength {
    static constexpr bool kIsAxial = false;

    TableFormula formula = TableFormula::kJaccard;
    double n_features = 1;

    template <class V>
    struct Counts {
        V both{}, first{}, second{};
    };

    template <class V>
    Counts<V> start() const {
        return {};
    }
    template <class V>
    void add(Counts<V>& counts, V query, V point, std::size_t) const {
        counts.both = counts.both + query * point;
        counts.first = counts.first + query;
        counts.second = counts.second + point;
    }
    template <class V>
    V rank(const Counts<V>& counts) const {
        const V only_first = counts.first - counts.both, only_second = counts.second - counts.both;
        const V differ = only_first + only_second, n = spread<V>(n_features);
        switch (formula) {
            case TableFormula::kRogersTanimoto:
            case TableFormula::kMatching:
                return differ;
            case TableFormula::kRussellRao:
                return (n - counts.both) / n;
            case TableFormula::kKulsinski:
                return (differ - counts.both + n) / (differ + n);
            case TableFormula::kYule: {
                const V crossed = only_first * only_second, neither = n - counts.both - differ;
                return detail::quotient<V>(2 * crossed, counts.both * neither + crossed);
            }
            default:
                return detail::quotient<V>(differ, counts.both + differ);
        }
    }
    double distance(double rank) const {
        switch (formula) {
            case TableFormula::kDice:
                return rank / (2 - rank);
            case TableFormula::kSokalSneath:
                return 2 * rank / (1 + rank);
            case TableFormula::kRogersTanimoto:
                return 2 * rank / (n_features + rank);
            case TableFormula::kMatching:
                return rank / n_features;
            default:
                return rank;
        }
    }
    double rank_of(double distance) const {
        if (distance >= 1) return std::numeric_limits<double>::infinity();
        switch (formula) {
            case TableFormula::kDice:
                return 2 * distance / (1 + distance);
            case TableFormula::kSokalSneath:
                return distance / (2 - distance);
            case TableFormula::kRogersTanimoto:
                return n_features * distance / (2 - distance);
            case TableFormula::kMatching:
                return distance * n_features;
            default:
                return distance;
        }
    }
};

// Euclidean distance over the features that neither row lacks (NaN), scaled up to all of them. Rows that share none come last, at
// a distance of NaN.
struct GappedEuclidean {
    static constexpr bool kIsAxial = false;

    double n_features = 1;

    template <class V>
    struct Sums {
        V squares{}, count{};
    };

    template <class V>
    Sums<V> start() const {
        return {};
    }
    template <class V>
    void add(Sums<V>& sums, V query, V point, std::size_t) const {
        const V difference = query - point;
        const auto is_there = difference == difference;
        sums.squares = sums.squares + (is_there ? difference * difference : V{});
        sums.count = sums.count + (is_there ? spread<V>(1) : V{});
    }
    template <class V>
    V rank(const Sums<V>& sums) const {
        const V scaled = sums.squares / sums.count * spread<V>(n_features);
        return sums.count > V{} ? scaled : spread<V>(std::numeric_limits<double>::infinity());
    }
    double distance(double rank) const { return std::isinf(rank) ? std::numeric_limits<double>::quiet_NaN() : std::sqrt(rank); }
    double rank_of(double distance) const { return distance * distance; }
};

}  // namespace mercer::neighbors
