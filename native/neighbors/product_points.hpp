// Points of many features for Euclidean searches without a tree: tiles of products say who may be wanted, and these are measured.
// Answers have the bits of the plain scan, which measures all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/distance.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/views.hpp"
#include "neighbors/metric.hpp"
#include "neighbors/rough_groups.hpp"
#include "neighbors/screen.hpp"
#include "neighbors/shape.hpp"

namespace mercer::neighbors {

struct NoGroup {
    bool operator()(std::size_t) const { return false; }
};

template <Real T>
class ProductPoints {
   public:
    using Value = T;
    static constexpr std::size_t kQueriesOfTask = 192;

    // The rows of x, as they are and rounded for the tiles: once more and half as many bytes, or twice. O(n d).
    ProductPoints(Matrix<const T> x, Threads threads)
        : n_(x.rows), d_(x.cols), values_(copy(x)), rows_(x.rows), groups_(RowMajor<const T>{values_.data(), n_, d_}, threads) {
        std::iota(rows_.begin(), rows_.end(), Row{0});
    }

    std::size_t n_points() const { return n_; }
    std::size_t n_features() const { return d_; }
    std::span<const Row> rows() const { return rows_; }
    const std::vector<T>& values() const { return values_; }  // row after row

    struct Points {
        const ProductPoints& of;
        void copy_point(std::size_t i, double* out) const { std::copy_n(of.values_.data() + i * of.d_, of.d_, out); }
    };
    Points points() const { return {*this}; }

    std::size_t n_groups() const { return groups_.n_groups(); }
    // The rows from the first to before the second are a group.
    std::pair<std::size_t, std::size_t> rows_of_group(std::size_t g) const {
        return {groups_.first_row(g), groups_.first_row(g) + groups_.n_rows(g)};
    }

    // Offers the points near each query (d values) to its collector; groups of which passes_over(group) is true hold none for any
    // of them. O(n d) a query.
    template <class Collector, class PassesOver = NoGroup>
    void ask(const Euclidean& metric, const double* queries, std::span<Collector> collectors,
             const PassesOver& passes_over = {}) const {
        Screen<T, Collector> screen(groups_, {values_.data(), n_, d_}, metric, queries, collectors);
        const Targets<float> targets{screen.rough_queries()};
        for (std::size_t g = 0; g < groups_.n_groups(); ++g) {
            if (passes_over(g)) continue;
            auto collector = screen.of_group(g);
            mercer::detail::measure_group(MinusProduct{}, groups_.group(g), targets, 0, collectors.size(), collector);
            checkpoint();
        }
        screen.finish();
    }

   private:
    static std::vector<T> copy(Matrix<const T> x) {
        require(x.rows >= 1 && x.rows <= TreeShape::kMostPoints && x.cols >= 1, "there must be a row and a column");
        std::vector<T> values(x.rows * x.cols);
        for (std::size_t i = 0; i < x.rows; ++i)
            for (std::size_t j = 0; j < x.cols; ++j) values[i * x.cols + j] = x(i, j);
        return values;
    }

    std::size_t n_, d_;
    std::vector<T> values_;
    std::vector<Row> rows_;
    RoughGroups groups_;
};

}  // namespace mercer::neighbors
