// Who asks: given rows of either precision, or the searched points themselves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/views.hpp"
#include "neighbors/blocks.hpp"

namespace mercer::neighbors {

// Rows of either precision; one of the two is empty.
struct GivenQueries {
    Matrix<const float> singles;
    Matrix<const double> doubles;

    std::size_t rows() const { return singles.rows + doubles.rows; }
    std::size_t cols() const { return doubles.data ? doubles.cols : singles.cols; }
    void copy_row(std::size_t i, double* out) const {
        if (doubles.data) {
            copy(doubles, i, out);
        } else {
            copy(singles, i, out);
        }
    }

   private:
    template <class T>
    static void copy(const Matrix<const T>& x, std::size_t i, double* out) {
        const T* const row = x.row(i);
        if (x.col_stride == 1) {
            for (std::size_t j = 0; j < x.cols; ++j) out[j] = row[j];
        } else {
            for (std::size_t j = 0; j < x.cols; ++j) out[j] = row[static_cast<std::ptrdiff_t>(j) * x.col_stride];
        }
    }
};

// The queries in the order in which they are worked on: neighbours one after another, so that what one read the next one finds in
// the cache. `place` is where its answer goes, and for points that ask of themselves it is their row too.
template <class Index>
class QueryOrder {
   public:
    QueryOrder(const Index& index, const GivenQueries* given, std::vector<std::uint32_t> order)
        : index_(index), given_(given), order_(std::move(order)) {}

    std::size_t size() const { return given_ ? given_->rows() : index_.n_points(); }
    std::size_t place(std::size_t i) const {
        if (given_) return order_.empty() ? i : order_[i];
        return static_cast<std::size_t>(index_.rows()[i]);
    }
    void copy(std::size_t i, double* out) const {
        if (given_) {
            given_->copy_row(place(i), out);
        } else {
            index_.points().copy_point(i, out);
        }
    }
    Row itself(std::size_t i) const { return given_ ? kNoRow : index_.rows()[i]; }

   private:
    const Index& index_;
    const GivenQueries* given_;
    std::vector<std::uint32_t> order_;
};

}  // namespace mercer::neighbors
