// The matrix A of a least-squares problem ||b - A w||^2 as coordinate descent sees it: products of its columns, never A itself.
//
// A is X minus the means of its columns (where centred), each row times the root of its weight. Vectors of rows hold one run of n
// values for each task. All sums are in double precision and in an order that depends on the shape alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::linear_model {

using Column = std::int32_t;

// The lower triangle of a growing Gram matrix, as a full symmetric one with a leading dimension that leaves room to grow.
class GrowingGram {
   public:
    std::size_t size() const { return size_; }
    std::size_t stride() const { return stride_; }
    double* row(std::size_t i) { return values_.data() + i * stride_; }
    const double* data() const { return values_.data(); }

    void resize(std::size_t size) {
        if (size > stride_) {
            const std::size_t stride = Simd<double>::round_up(std::max(size, 2 * stride_));
            std::vector<double> wider(stride * stride, 0.0);
            for (std::size_t i = 0; i < size_; ++i) std::copy_n(row(i), size_, wider.data() + i * stride);
            values_ = std::move(wider);
            stride_ = stride;
        }
        size_ = size;
    }

    // Copies the entries below the diagonal, in the rows from `first` on, above it.
    void mirror(std::size_t first) {
        for (std::size_t i = first; i < size_; ++i)
            for (std::size_t j = 0; j < i; ++j) row(j)[i] = row(i)[j];
    }

   private:
    std::vector<double> values_;
    std::size_t size_ = 0;
    std::size_t stride_ = 0;
};

class Design {
   public:
    Design(std::size_t n_rows, std::size_t n_columns) : n_rows_(n_rows), means_(n_columns, 0.0), squares_(n_columns, 0.0) {}
    virtual ~Design() = default;
    Design(const Design&) = delete;
    Design& operator=(const Design&) = delete;

    std::size_t rows() const { return n_rows_; }
    std::size_t cols() const { return means_.size(); }
    double weight() const { return weight_; }                     // of all rows
    std::span<const double> means() const { return means_; }      // of the columns of X; 0 where not centred
    std::span<const double> squares() const { return squares_; }  // of the norms of the columns of A; 0 for a constant column

    // out[j n_tasks + t] = a_j' r_t for every column. O(n d n_tasks), parallel over columns.
    virtual void correlate(std::span<const double> r, std::size_t n_tasks, std::span<double> out, Threads threads) const = 0;
    // The same for some columns only; the rest of `out` is left alone.
    virtual void correlate_some(std::span<const Column> columns, std::span<const double> r, std::size_t n_tasks,
                                std::span<double> out, Threads threads) const = 0;
    // How much dearer a column is alone than among all: what correlate_some has to be worth.
    virtual double cost_of_one() const = 0;

    // Makes these columns ready for the functions below, which know them by their place: columns are only ever added.
    virtual void add_columns(std::span<const Column> columns, Threads threads) = 0;
    // Fills the rows and columns of the Gram matrix from `first` on. O(n (size - first) size).
    virtual void fill_gram(std::size_t first, GrowingGram& gram, Threads threads) const = 0;
    // Row vectors that columns are added to one by one stand for r less `level` times the roots of the weights: what centring a
    // sparse column takes off every row is one number, and is taken off by settle(). Without it they are orthogonal to the roots,
    // as b is and the columns of A are.
    virtual double dot(std::size_t place, std::span<const double> r, double level) const = 0;          // a' r
    virtual void add(std::size_t place, double factor, std::span<double> r, double& level) const = 0;  // r += factor a
    virtual void settle(std::span<double> r, double& level) const = 0;                                 // level = 0

   protected:
    double root(std::size_t row) const { return roots_.empty() ? 1.0 : roots_[row]; }

    template <Real T>
    void take_weights(std::span<const T> weights) {
        weight_ = static_cast<double>(n_rows_);
        if (weights.empty()) return;
        weight_ = lane_sum(n_rows_, [&](std::size_t i) { return static_cast<double>(weights[i]); });
        roots_.resize(n_rows_);
        for (std::size_t i = 0; i < n_rows_; ++i) roots_[i] = std::sqrt(static_cast<double>(weights[i]));
    }

    // Row vectors times the roots of the weights, so that X itself can be read as it is; and the sum of each.
    struct Weighted {
        std::vector<double> scaled;
        std::span<const double> values;
        std::vector<double> sums;
    };
    Weighted weighted(std::span<const double> r, std::size_t n_tasks) const {
        Weighted result{{}, r, std::vector<double>(n_tasks)};
        if (!roots_.empty()) {
            result.scaled.resize(r.size());
            for (std::size_t t = 0; t < n_tasks; ++t)
                for (std::size_t i = 0; i < n_rows_; ++i) result.scaled[t * n_rows_ + i] = r[t * n_rows_ + i] * roots_[i];
            result.values = result.scaled;
        }
        for (std::size_t t = 0; t < n_tasks; ++t)
            result.sums[t] = lane_sum(n_rows_, [&](std::size_t i) { return result.values[t * n_rows_ + i]; });
        return result;
    }

    // A column whose norm is within rounding of its mean is constant: what is left of it would look like data.
    void drop_constant_columns(double relative) {
        for (std::size_t j = 0; j < cols(); ++j)
            if (squares_[j] <= weight_ * (means_[j] * relative) * (means_[j] * relative)) squares_[j] = 0;
    }

    std::size_t n_rows_;
    double weight_ = 0;
    std::vector<double> means_;
    std::vector<double> squares_;
    std::vector<double> roots_;  // of the weights; empty where all are one
};

namespace detail {

inline constexpr std::size_t kColumnBlock = 256;

inline Chunks column_blocks(std::size_t n_columns) {
    return {n_columns, std::max<std::size_t>((n_columns + kColumnBlock - 1) / kColumnBlock, 1)};
}

}  // namespace detail

}  // namespace mercer::linear_model
