// Locally weighted regression: one small weighted least-squares problem for each query.
//
// A training row x of weight s weighs s exp(-|x - query|^2 / tau^2) in the problem of a query. Weights are taken relative to the
// largest, so that they never all vanish however far the query is, and rows below 2^-52 of it are left out. Everything is relative
// to the heaviest row, so that nothing is lost where the data, or the query, are far from zero.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/math.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/normal_equations.hpp"
#include "linear_model/symmetric.hpp"

namespace mercer::linear_model {

// The rows to learn from: x (n x d), y (n x t), and the logarithms of their weights (empty: all zero).
template <Real T>
struct Neighbourhood {
    Matrix<const T> x;
    Matrix<const T> y;
    std::span<const double> log_weights;
    double tau;
    bool is_linear;  // a linear fit around the query, or else a constant
};

namespace detail {

inline constexpr double kLeastLogWeight = -36.04365338911715;  // log 2^-52

template <Real T>
class LocalFit {
   public:
    explicit LocalFit(const Neighbourhood<T>& rows)
        : rows_(rows),
          d_(rows.is_linear ? rows.x.cols : 0),
          q_(d_ + 1 + rows.y.cols),
          p_(S::round_up(q_)),
          logs_(S::round_up(rows.x.rows)),
          block_(kBlock * p_),
          gram_(p_ * p_),
          solver_(d_) {}

    // Writes the prediction for one query to `out`, a value for each target. O(n d + m d^2) for m rows that count.
    void predict(const T* query, std::ptrdiff_t stride, T* out) {
        find_weights(query, stride);
        take_roots();
        std::fill_n(gram_.data(), p_ * p_, 0.0);
        std::size_t filled = 0;
        for (std::size_t i = 0; i < rows_.x.rows; ++i) {
            if (!(logs_[i] > 0)) continue;
            fill_row(i, logs_[i], block_.data() + filled * p_);
            if (++filled == kBlock) add_block(filled);
        }
        if (filled > 0) add_block(filled);
        const bool is_solved = d_ > 0 && solve_slopes();
        for (std::size_t t = 0; t < rows_.y.cols; ++t) {
            const double total = gram_[d_ * p_ + d_];
            double value = gram_[d_ * p_ + d_ + 1 + t] / total;
            for (std::size_t j = 0; is_solved && j < d_; ++j) {
                const double from_mean = (static_cast<double>(query[static_cast<std::ptrdiff_t>(j) * stride]) -
                                          static_cast<double>(rows_.x(nearest_, j))) -
                                         gram_[j * p_ + d_] / total;
                value += slopes_[t * d_ + j] * from_mean;
            }
            out[t] = static_cast<T>(value + static_cast<double>(rows_.y(nearest_, t)));
        }
    }

   private:
    static constexpr std::size_t kBlock = 512;

    // logs_[i] = the logarithm of the weight of row i, that of the heaviest row being zero; nearest_ = the heaviest row.
    void find_weights(const T* query, std::ptrdiff_t stride) {
        const std::size_t n = rows_.x.rows;
        std::fill_n(logs_.data(), n, 0.0);
        add_squares(query, stride, 1 / rows_.tau);
        double best = shift_to_largest();
        if (best > -std::numeric_limits<double>::infinity()) return;
        // Every distance overflows: in units of the largest, those that are nearest count and no others.
        double largest = 0;
        for (std::size_t j = 0; j < rows_.x.cols; ++j)
            for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(difference(i, j, query, stride)));
        std::fill_n(logs_.data(), n, 0.0);
        add_squares(query, stride, 1 / largest);
        shift_to_largest();
        for (std::size_t i = 0; i < n; ++i)
            if (logs_[i] < 0) logs_[i] = -std::numeric_limits<double>::infinity();
    }

    double difference(std::size_t i, std::size_t j, const T* query, std::ptrdiff_t stride) const {
        return static_cast<double>(rows_.x(i, j)) - static_cast<double>(query[static_cast<std::ptrdiff_t>(j) * stride]);
    }

    // logs_[i] -= |(x_i - query) scale|^2.
    void add_squares(const T* query, std::ptrdiff_t stride, double scale) {
        const std::size_t n = rows_.x.rows;
        for (std::size_t j = 0; j < rows_.x.cols; ++j) {
            const double at = static_cast<double>(query[static_cast<std::ptrdiff_t>(j) * stride]);
            const T* column = &rows_.x(0, j);
            const std::ptrdiff_t step = rows_.x.row_stride;
            if (step == 1) {
                for (std::size_t i = 0; i < n; ++i) {
                    const double z = (static_cast<double>(column[i]) - at) * scale;
                    logs_[i] -= z * z;
                }
            } else {
                for (std::size_t i = 0; i < n; ++i) {
                    const double z = (static_cast<double>(column[static_cast<std::ptrdiff_t>(i) * step]) - at) * scale;
                    logs_[i] -= z * z;
                }
            }
        }
    }

    // Adds the logarithms of the weights, subtracts the largest sum and returns it.
    double shift_to_largest() {
        const std::size_t n = rows_.x.rows;
        if (!rows_.log_weights.empty())
            for (std::size_t i = 0; i < n; ++i) logs_[i] += rows_.log_weights[i];
        nearest_ = static_cast<std::size_t>(std::max_element(logs_.data(), logs_.data() + n) - logs_.data());
        const double best = logs_[nearest_];
        for (std::size_t i = 0; i < n; ++i) logs_[i] -= best;
        return best;
    }

    // logs_[i] becomes the root of the weight itself; zero where the row is left out.
    void take_roots() {
        std::fill(logs_.data() + rows_.x.rows, logs_.data() + logs_.size(), -std::numeric_limits<double>::infinity());
        for (std::size_t i = 0; i < logs_.size(); i += S::kLanes) {
            const S::Vector log = S::load(logs_.data() + i);
            S::store(logs_.data() + i, log >= kLeastLogWeight ? math::exp(0.5 * log) : S::Vector{});
        }
    }

    // (x - nearest x, 1, y - nearest y) times the root of the weight.
    void fill_row(std::size_t i, double root, double* out) {
        for (std::size_t j = 0; j < d_; ++j)
            out[j] = root * (static_cast<double>(rows_.x(i, j)) - static_cast<double>(rows_.x(nearest_, j)));
        out[d_] = root;
        for (std::size_t t = 0; t < rows_.y.cols; ++t)
            out[d_ + 1 + t] = root * (static_cast<double>(rows_.y(i, t)) - static_cast<double>(rows_.y(nearest_, t)));
    }

    void add_block(std::size_t& filled) {
        const auto stride = static_cast<std::ptrdiff_t>(p_);
        gram_product<double, double>(StridedSource<double, double>{{block_.data(), filled, q_, stride, 1}}, 1.0, 1.0,
                                     {gram_.data(), q_, q_, stride, 1}, {1});
        filled = 0;
    }

    // The slopes of each target about the weighted means, of least norm where there are many; false where they are not finite.
    bool solve_slopes() {
        const double total = gram_[d_ * p_ + d_];
        double* matrix = solver_.matrix();
        for (std::size_t i = 0; i < d_; ++i)
            for (std::size_t j = i; j < d_; ++j)
                matrix[i * d_ + j] = matrix[j * d_ + i] = gram_[i * p_ + j] - gram_[i * p_ + d_] * gram_[j * p_ + d_] / total;
        if (!solver_.factor()) return false;
        slopes_.resize(rows_.y.cols * d_);
        for (std::size_t t = 0; t < rows_.y.cols; ++t) {
            double* slope = slopes_.data() + t * d_;
            for (std::size_t j = 0; j < d_; ++j)
                slope[j] = gram_[j * p_ + d_ + 1 + t] - gram_[j * p_ + d_] * gram_[d_ * p_ + d_ + 1 + t] / total;
            solver_.solve(slope);
        }
        return std::all_of(slopes_.begin(), slopes_.end(), [](double slope) { return std::isfinite(slope); });
    }

    const Neighbourhood<T>& rows_;
    std::size_t d_;
    std::size_t q_;
    std::size_t p_;
    Aligned<double> logs_;
    Aligned<double> block_;
    Aligned<double> gram_;
    SymmetricSolver solver_;
    std::vector<double> slopes_;
    std::size_t nearest_ = 0;
};

}  // namespace detail

// Writes a prediction for each query and target to `out` (m x t). O(m n d + k d^2) for the k pairs of query and row that count.
template <Real T>
void locally_weighted(const Neighbourhood<T>& rows, Matrix<const T> queries, RowMajor<T> out, Threads threads) {
    const double work = static_cast<double>(queries.rows) * static_cast<double>(rows.x.rows) *
                        static_cast<double>((rows.is_linear ? rows.x.cols * rows.x.cols / 4 : 0) + rows.x.cols + 4);
    const Chunks chunks = Chunks::of(queries.rows, 4, 4096);
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        detail::LocalFit<T> fit(rows);
        for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i)
            fit.predict(queries.row(i), queries.col_stride, out.row(i));
    });
}

}  // namespace mercer::linear_model
