// Locally weighted regression: one small weighted least-squares problem for each query.
//
// A training row x of weight s weighs s exp(-|x - query|^2 / tau^2) in the problem of a query. Weights are taken relative to the
// largest, so that they never all vanish however far the query is, and rows below 2^-52 of it are left out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "core/math.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/local_system.hpp"

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
        : rows_(rows), logs_(S::round_up(rows.x.rows)), system_(rows.x, rows.y, rows.is_linear) {}

    // Writes the prediction for one query to `out`, a value for each target. O(n d + m d^2) for m rows that count.
    void predict(const T* query, std::ptrdiff_t stride, T* out) {
        find_weights(query, stride);
        take_roots();
        system_.start(nearest_);
        for (std::size_t i = 0; i < rows_.x.rows; ++i)
            if (logs_[i] > 0) system_.add(i, logs_[i]);
        system_.predict(query, stride, out);
    }

   private:
    using S = Simd<double>;

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

    const Neighbourhood<T>& rows_;
    Aligned<double> logs_;
    LocalSystem<T> system_;
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
