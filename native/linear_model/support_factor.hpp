// The Cholesky factor of a Gram matrix restricted to a set of columns that changes by one column at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "core/simd.hpp"

namespace mercer::linear_model {

// R upper triangular with R' R = A' A + ridge I for the columns of A in the set, in the order of their arrival. By rows, so that
// every operation runs along them. In a fixed order of its own: BLAS would round differently with other threads.
class SupportFactor {
   public:
    std::size_t size() const { return columns_.size(); }
    double ridge() const { return ridge_; }
    std::span<const std::size_t> columns() const { return columns_; }
    bool has(std::size_t column) const { return column < is_member_.size() && is_member_[column] != 0; }

    // An empty set.
    void reset(double ridge) {
        ridge_ = ridge;
        columns_.clear();
        std::fill(is_member_.begin(), is_member_.end(), char{0});
    }

    // `products` are those of the column with the set's columns, and `square` with itself. False, and nothing done, where rounding
    // leaves nothing of the column but what the others already span. O(size^2).
    bool add(std::size_t column, std::span<const double> products, double square) {
        const std::size_t n = size();
        reserve(n + 1);
        work_.assign(products.begin(), products.end());
        for (std::size_t i = 0; i < n; ++i) {
            const double z = work_[i] /= row(i)[i];
            const double* r = row(i);
            for (std::size_t k = i + 1; k < n; ++k) work_[k] -= z * r[k];
        }
        const double rest = square + ridge_ - lane_sum(n, [&](std::size_t k) { return work_[k] * work_[k]; });
        if (!(rest > ridge_ / 2) || !std::isfinite(rest)) return false;
        for (std::size_t i = 0; i < n; ++i) row(i)[n] = work_[i];
        row(n)[n] = std::sqrt(rest);
        columns_.push_back(column);
        if (column >= is_member_.size()) is_member_.resize(column + 1, 0);
        is_member_[column] = 1;
        return true;
    }

    // Without the column at this place R has an entry below the diagonal in each row after it: rotations take them away. O(size^2).
    void remove(std::size_t place) {
        const std::size_t n = size() - 1;
        is_member_[columns_[place]] = 0;
        columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(place));
        for (std::size_t i = 0; i <= n; ++i) {
            const std::size_t first = std::max(place + 1, i);
            std::copy(row(i) + first, row(i) + n + 1, row(i) + first - 1);
        }
        for (std::size_t i = place; i < n; ++i) rotate(row(i), row(i + 1), i, n);
    }

    // Overwrites b, in the order of columns(), with the solution of R' R x = b. O(size^2).
    void solve(std::span<double> b) const {
        const std::size_t n = size();
        for (std::size_t i = 0; i < n; ++i) {
            const double* r = row(i);
            const double z = b[i] /= r[i];
            for (std::size_t k = i + 1; k < n; ++k) b[k] -= z * r[k];
        }
        for (std::size_t i = n; i-- > 0;) {
            const double* r = row(i) + i + 1;
            const double* x = b.data() + i + 1;
            b[i] = (b[i] - lane_sum(n - i - 1, [&](std::size_t k) { return r[k] * x[k]; })) / row(i)[i];
        }
    }

   private:
    double* row(std::size_t i) { return upper_.data() + i * stride_; }
    const double* row(std::size_t i) const { return upper_.data() + i * stride_; }

    // Turns the rows such that below[first] vanishes and above[first] is positive.
    static void rotate(double* above, double* below, std::size_t first, std::size_t last) {
        const double length = std::hypot(above[first], below[first]);
        const double c = above[first] / length, s = below[first] / length;
        above[first] = length;
        for (std::size_t k = first + 1; k < last; ++k) {
            const double a = above[k], b = below[k];
            above[k] = c * a + s * b;
            below[k] = c * b - s * a;
        }
    }

    void reserve(std::size_t n) {
        if (n <= stride_) return;
        const std::size_t stride = std::max<std::size_t>(2 * stride_, 64);
        std::vector<double> wider(stride * stride);
        for (std::size_t i = 0; i < size(); ++i) std::copy(row(i) + i, row(i) + size(), wider.data() + i * stride + i);
        upper_ = std::move(wider);
        stride_ = stride;
    }

    std::vector<double> upper_;
    std::size_t stride_ = 0;
    double ridge_ = 0;
    std::vector<std::size_t> columns_;
    std::vector<char> is_member_;
    std::vector<double> work_;
};

}  // namespace mercer::linear_model
