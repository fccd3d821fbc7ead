// No tree: all points in the order of their rows, measured one and all.
#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "core/errors.hpp"
#include "core/views.hpp"
#include "neighbors/blocks.hpp"
#include "neighbors/shape.hpp"

namespace mercer::neighbors {

template <Real T>
class FlatPoints {
   public:
    using Value = T;

    FlatPoints(Matrix<const T> x, Threads threads) : d_(x.cols), rows_(x.rows), points_(round_to_blocks(x.rows) * x.cols) {
        require(x.rows >= 1 && x.rows <= TreeShape::kMostPoints && x.cols >= 1, "there must be a row and a column");
        std::iota(rows_.begin(), rows_.end(), Row{0});
        fill_blocks(x, std::span<const Row>(rows_), points_.data(), threads);
    }

    std::size_t n_points() const { return rows_.size(); }
    std::size_t n_features() const { return d_; }
    Blocks<T> points() const { return {points_.data(), rows_.data(), rows_.size(), d_}; }
    std::span<const Row> rows() const { return rows_; }
    std::span<const T> point_values() const { return points_; }

   private:
    std::size_t d_;
    std::vector<Row> rows_;
    std::vector<T> points_;
};

}  // namespace mercer::neighbors
