// One small weighted least-squares problem: the rows around a query, and what they predict there.
//
// Everything is relative to one of the rows (the heaviest or the nearest), so that nothing is lost where the data, or the query,
// are far from zero.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/product.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/symmetric.hpp"

namespace mercer::linear_model {

// Rows to learn from, x (n x d) and y (n x t): a linear fit around a query, or else a constant.
template <Real T>
class LocalSystem {
   public:
    LocalSystem(Matrix<const T> x, Matrix<const T> y, bool is_linear)
        : x_(x),
          y_(y),
          d_(is_linear ? x.cols : 0),
          q_(d_ + 1 + y.cols),
          p_(Simd<double>::round_up(q_)),
          block_(kBlock * p_),
          gram_(p_ * p_),
          solver_(d_) {}

    // Begins anew, relative to a row.
    void start(std::size_t reference) {
        reference_ = reference;
        filled_ = 0;
        std::fill_n(gram_.data(), p_ * p_, 0.0);
    }

    // Adds row i, given the root of its weight: (x - x_reference, 1, y - y_reference) times it. O(d^2).
    void add(std::size_t i, double root) {
        double* const out = block_.data() + filled_ * p_;
        for (std::size_t j = 0; j < d_; ++j)
            out[j] = root * (static_cast<double>(x_(i, j)) - static_cast<double>(x_(reference_, j)));
        out[d_] = root;
        for (std::size_t t = 0; t < y_.cols; ++t)
            out[d_ + 1 + t] = root * (static_cast<double>(y_(i, t)) - static_cast<double>(y_(reference_, t)));
        if (++filled_ == kBlock) add_block();
    }

    // Writes the prediction for a query to `out`, a value for each target. O(d^3).
    void predict(const T* query, std::ptrdiff_t stride, T* out) {
        if (filled_ > 0) add_block();
        const bool is_solved = d_ > 0 && solve_slopes();
        const double total = gram_[d_ * p_ + d_];
        for (std::size_t t = 0; t < y_.cols; ++t) {
            double value = gram_[d_ * p_ + d_ + 1 + t] / total;
            for (std::size_t j = 0; is_solved && j < d_; ++j) {
                const double from_mean =
                    (static_cast<double>(query[static_cast<std::ptrdiff_t>(j) * stride]) - static_cast<double>(x_(reference_, j))) -
                    gram_[j * p_ + d_] / total;
                value += slopes_[t * d_ + j] * from_mean;
            }
            out[t] = static_cast<T>(value + static_cast<double>(y_(reference_, t)));
        }
    }

   private:
    static constexpr std::size_t kBlock = 512;

    void add_block() {
        const auto stride = static_cast<std::ptrdiff_t>(p_);
        gram_product<double, double>(StridedSource<double, double>{{block_.data(), filled_, q_, stride, 1}}, 1.0, 1.0,
                                     {gram_.data(), q_, q_, stride, 1}, {1});
        filled_ = 0;
    }

    // The slopes of each target about the weighted means, of least norm where there are many; false where they are not finite.
    bool solve_slopes() {
        const double total = gram_[d_ * p_ + d_];
        double* matrix = solver_.matrix();
        for (std::size_t i = 0; i < d_; ++i)
            for (std::size_t j = i; j < d_; ++j)
                matrix[i * d_ + j] = matrix[j * d_ + i] = gram_[i * p_ + j] - gram_[i * p_ + d_] * gram_[j * p_ + d_] / total;
        if (!solver_.factor()) return false;
        slopes_.resize(y_.cols * d_);
        for (std::size_t t = 0; t < y_.cols; ++t) {
            double* slope = slopes_.data() + t * d_;
            for (std::size_t j = 0; j < d_; ++j)
                slope[j] = gram_[j * p_ + d_ + 1 + t] - gram_[j * p_ + d_] * gram_[d_ * p_ + d_ + 1 + t] / total;
            solver_.solve(slope);
        }
        return std::all_of(slopes_.begin(), slopes_.end(), [](double slope) { return std::isfinite(slope); });
    }

    Matrix<const T> x_;
    Matrix<const T> y_;
    std::size_t d_;
    std::size_t q_;
    std::size_t p_;
    Aligned<double> block_;
    Aligned<double> gram_;
    detail::SymmetricSolver solver_;
    std::vector<double> slopes_;
    std::size_t reference_ = 0;
    std::size_t filled_ = 0;
};

}  // namespace mercer::linear_model
