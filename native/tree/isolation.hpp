// Isolation trees: random splits, no target. A leaf's number is the length of the path that it stands for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/rng.hpp"
#include "core/views.hpp"
#include "tree/forest.hpp"
#include "tree/grown.hpp"
#include "tree/plain_columns.hpp"
#include "tree/random_grower.hpp"
#include "tree/sparse_rows.hpp"

namespace mercer::tree {

// How many splits it takes on average to isolate a row among n: that of an unsuccessful search in a binary search tree.
inline double average_path_length(double n) {
    if (n <= 1) return 0;
    if (n <= 2) return 1;
    return 2 * (std::log(n - 1) + std::numbers::egamma) - 2 * (n - 1) / n;
}

namespace detail {

// Counts rows and finds all splits alike.
struct NoCriterion {
    using Summary = NodeSummary;
    static constexpr double scale() { return 1; }
    static constexpr std::size_t n_values() { return 1; }
    Summary summarise(std::span<const Row> rows) const {
        return {.n = rows.size(), .weight = static_cast<double>(rows.size()), .impurity = 1, .is_pure = false};
    }
    double middle(const Summary&, const Summary&) const { return 0; }
    void write_values(const Summary&, const Bounds&, double* values) const { *values = 0; }
    Weighed weigh(std::span<const Row> left, std::span<const Row> right, const Summary&, std::vector<double>&) const {
        return {left.size(), 0.0, static_cast<double>(left.size()), static_cast<double>(right.size()), 0.0, 0.0};
    }
};

// Draws without replacement, every set alike (Floyd): O(count).
inline void draw_distinct(Philox& random, std::size_t n, std::span<std::int64_t> out) {
    std::unordered_set<std::int64_t> seen;
    for (std::size_t k = 0; k < out.size(); ++k) {
        const std::size_t last = n - out.size() + k;
        const auto drawn = static_cast<std::int64_t>(random.below(static_cast<std::uint32_t>(last + 1)));
        out[k] = seen.insert(drawn).second ? drawn : static_cast<std::int64_t>(last);
        seen.insert(out[k]);
    }
}

// One after another, each with a chance in proportion to its weight among those left: the largest of log(u) / w (Efraimidis and
// Spirakis). O(n).
inline void draw_distinct(Philox& random, std::span<const double> weights, std::span<std::int64_t> out) {
    std::vector<std::pair<double, std::int64_t>> keys(weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i)
        keys[i] = {weights[i] > 0 ? std::log1p(-random.uniform()) / weights[i] : -kInfinity, static_cast<std::int64_t>(i)};
    const auto end = keys.begin() + static_cast<std::ptrdiff_t>(out.size());
    std::nth_element(keys.begin(), end, keys.end(), std::greater<>());
    std::transform(keys.begin(), end, out.begin(), [](const auto& key) { return key.second; });
}

}  // namespace detail

// The rows of a tree and its features, in rising order; named by the seed alone. `weights` may be empty: all alike.
inline void draw_sample(std::uint64_t seed, std::size_t n_rows, std::size_t n_features, std::span<const double> weights,
                        bool is_repeated, std::span<std::int64_t> rows, std::span<std::int64_t> features) {
    Philox random(seed, ~std::uint64_t{0});
    detail::draw_distinct(random, n_features, features);
    if (is_repeated && weights.empty()) {
        for (std::int64_t& row : rows) row = random.below(static_cast<std::uint32_t>(n_rows));
    } else if (is_repeated) {
        const std::vector<double> cumulative = running_sums(weights);
        for (std::int64_t& row : rows) row = static_cast<std::int64_t>(draw_row(random, cumulative));
    } else if (weights.empty()) {
        detail::draw_distinct(random, n_rows, rows);
    } else {
        detail::draw_distinct(random, weights, rows);
    }
    std::sort(rows.begin(), rows.end());
    std::sort(features.begin(), features.end());
}

namespace detail {

// Some rows (rising; one that is there twice counts once) and features of X, and their columns.
template <class X>
struct Sample {
    SparseRows rows;
    PlainColumns columns;

    Sample(const X& x, std::span<const std::int64_t> rows, std::span<const std::int64_t> features)
        : rows(x, rows, features), columns(this->rows, {}, 1, Threads{1}) {}
};

template <Real T>
struct Sample<Matrix<const T>> {
    std::vector<T> values;
    PlainColumns columns;

    Sample(const Matrix<const T>& x, std::span<const std::int64_t> rows, std::span<const std::int64_t> features)
        : values(taken(x, rows, features)),
          columns(Matrix<const T>{values.data(), values.size() / features.size(), features.size(),
                                  static_cast<std::ptrdiff_t>(features.size()), 1},
                  {}, 1, Threads{1}) {}
    Sample(const Sample&) = delete;
    Sample& operator=(const Sample&) = delete;

    static std::vector<T> taken(const Matrix<const T>& x, std::span<const std::int64_t> rows,
                                std::span<const std::int64_t> features) {
        std::vector<T> out;
        out.reserve(rows.size() * features.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i > 0 && rows[i] == rows[i - 1]) continue;
            for (const std::int64_t j : features) out.push_back(x(static_cast<std::size_t>(rows[i]), static_cast<std::size_t>(j)));
        }
        return out;
    }
};

}  // namespace detail

// An isolation tree on some rows (rising; one that is there twice counts once) and features of X, a matrix or sparse rows. Each
// leaf's number is its depth and the average path length among its rows.
template <class X>
Grown grow_isolation(const X& x, std::span<const std::int64_t> rows, std::span<const std::int64_t> features, std::uint64_t seed,
                     std::size_t max_depth) {
    const detail::Sample<X> sample(x, rows, features);
    const detail::NoCriterion criterion;
    Grown out =
        RandomGrower<detail::NoCriterion>(sample.columns, criterion, {}, {}, Limits{.max_depth = max_depth}, {1, seed}, Threads{1})
            .grow();
    std::vector<std::size_t> depths(out.size(), 0);
    for (std::size_t i = 0; i < out.size(); ++i) {
        Node& node = out.nodes[i];
        if (node.is_leaf()) {
            node.threshold = static_cast<double>(depths[i]) + average_path_length(static_cast<double>(out.n_rows[i]));
            continue;
        }
        depths[i + 1] = depths[node.right] = depths[i] + 1;
        node.tag = (node.tag & ~Node::kFeature) | static_cast<std::uint32_t>(features[node.feature()]);
    }
    return out;
}

}  // namespace mercer::tree
