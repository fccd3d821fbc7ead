// Leave-one-out predictions of kernel regression, for many bandwidths from one look at each pair of rows.
//
// Rows in reach of the widest bandwidth are taken up in batches, a lane a row, and each batch goes through the bandwidths from the
// widest on, until they are too narrow for all of it. Sums are about the nearest row (targets) and the row itself (features).
// Weights of a Gaussian are relative to the nearest row's, which is one at every bandwidth, so that they never all vanish.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "kernel_regression/candidates.hpp"
#include "linear_model/symmetric.hpp"

namespace mercer::kernel_regression {

// The row nearest to each other row, and its distance.
struct NearestRows {
    std::span<const std::int64_t> rows;
    std::span<const double> distances;
};

namespace detail {

inline constexpr double kLeastLogWeight = 36.04365338911715;  // -log 2^-52: a weight below is left out

// Rows may weigh less than others before their distance is looked at: how much, in units of the logarithm.
inline double spread_of_weights(std::span<const double> weights) {
    if (weights.empty()) return 0;
    const auto [least, most] = std::minmax_element(weights.begin(), weights.end());
    return *least > 0 ? std::log(*most / *least) : 0;
}

template <class Window>
class LeftOutFit {
   public:
    LeftOutFit(const Sample& sample, std::span<const double> bandwidths, bool is_linear)
        : sample_(sample),
          n_bandwidths_(bandwidths.size()),
          n_targets_(sample.y.cols),
          d_(is_linear ? sample.x.cols : 0),
          n_products_((d_ + 1) * (d_ + 2) / 2),
          n_sums_(n_products_ + n_targets_ * (d_ + 1)),
          batch_((2 + d_ + n_targets_) * kLanes),
          sums_(n_bandwidths_ * n_sums_ * kLanes),
          totals_(n_sums_),
          solver_(d_),
          slopes_(d_),
          limit_(Window::kIsCompact ? 1 : 2 * (kLeastLogWeight + spread_of_weights(sample.weights))) {
        for (const double h : bandwidths) inverses_.push_back(1 / (h * h));
        std::fill_n(batch_.data(), batch_.size(), 0.0);  // lanes without a row weigh nothing, and must be numbers for that
        is_chain_ = !Window::kIsCompact && is_chain();
    }

    // Writes the prediction for row i without it, at every bandwidth: out[t * bandwidths + b]. O(candidates bandwidths d^2).
    void predict(std::size_t i, std::size_t number, Candidates& candidates, std::size_t nearest, double distance, double* out) {
        std::fill_n(sums_.data(), sums_.size(), 0.0);
        const double base = Window::kIsCompact ? 0.0 : distance * distance, farthest = limit_ / inverses_[0];
        candidates.for_each(number, &sample_.x(i, 0), sample_.x.col_stride, [&](std::size_t j, double squared) {
            const double relative = std::max(squared - base, 0.0);
            if (relative <= farthest && j != i) take(i, j, nearest, relative);
        });
        if (n_taken_ > 0) finish_batch();
        for (std::size_t b = 0; b < n_bandwidths_; ++b) finish(b, nearest, out);
    }

   private:
    using S = Simd<double>;
    using Vector = S::Vector;
    static constexpr std::size_t kLanes = S::kLanes;

    // Whether every second bandwidth has half the square: the weights of a Gaussian are then squares of those before, instead of
    // another exponential.
    bool is_chain() const {
        for (std::size_t b = 0; b + 2 < n_bandwidths_; ++b)
            if (!(std::abs(inverses_[b + 2] / (2 * inverses_[b]) - 1) < 1e-12)) return false;
        return true;
    }

    // The lines of a batch of rows: squared distances, own weights, targets about the nearest row's, features about row i's.
    double* line(std::size_t number) { return batch_.data() + number * kLanes; }
    Vector loaded(std::size_t number) { return S::load(line(number)); }

    void take(std::size_t i, std::size_t j, std::size_t nearest, double relative) {
        const std::size_t lane = n_taken_++;
        line(0)[lane] = relative;
        line(1)[lane] = sample_.weight(j);
        least_ = std::min(least_, relative);
        for (std::size_t t = 0; t < n_targets_; ++t) line(2 + t)[lane] = sample_.y(j, t) - sample_.y(nearest, t);
        for (std::size_t c = 0; c < d_; ++c) line(2 + n_targets_ + c)[lane] = sample_.x(j, c) - sample_.x(i, c);
        if (n_taken_ == kLanes) finish_batch();
    }

    // Adds the rows of the batch to the sums of every bandwidth that is wide enough for one of them.
    void finish_batch() {
        std::fill_n(line(1) + n_taken_, kLanes - n_taken_, 0.0);
        const Vector relative = loaded(0), own = loaded(1);
        Vector last{}, last_but_one{};
        for (std::size_t b = 0; b < n_bandwidths_ && least_ * inverses_[b] <= limit_; ++b) {
            const Vector shape = is_chain_ && b >= 2 ? last_but_one * last_but_one : Window::weight(relative * inverses_[b]);
            last_but_one = std::exchange(last, shape);
            add(own * shape, sums_.data() + b * n_sums_ * kLanes);
        }
        n_taken_ = 0;
        least_ = std::numeric_limits<double>::infinity();
    }

    static void accumulate(double*& sums, Vector value) {
        S::store(sums, S::load(sums) + value);
        sums += kLanes;
    }

    // Of z = (1, features): the products z_a z_c with c <= a, then of each target those with z.
    void add(Vector weight, double* sums) {
        accumulate(sums, weight);
        const std::size_t features = 2 + n_targets_;
        for (std::size_t a = 0; a < d_; ++a) {
            const Vector weighted = weight * loaded(features + a);
            accumulate(sums, weighted);
            for (std::size_t c = 0; c <= a; ++c) accumulate(sums, weighted * loaded(features + c));
        }
        for (std::size_t t = 0; t < n_targets_; ++t) {
            const Vector weighted = weight * loaded(2 + t);
            accumulate(sums, weighted);
            for (std::size_t a = 0; a < d_; ++a) accumulate(sums, weighted * loaded(features + a));
        }
    }

    double product(std::size_t a, std::size_t c) const { return totals_[a * (a + 1) / 2 + c]; }
    double of_target(std::size_t t, std::size_t a) const { return totals_[n_products_ + t * (d_ + 1) + a]; }

    void finish(std::size_t b, std::size_t nearest, double* out) {
        const double* const sums = sums_.data() + b * n_sums_ * kLanes;
        for (std::size_t e = 0; e < n_sums_; ++e) {
            totals_[e] = 0;
            for (std::size_t lane = 0; lane < kLanes; ++lane) totals_[e] += sums[e * kLanes + lane];
        }
        const double total = product(0, 0);
        const bool has_slopes = d_ > 0 && total > 0 && factor(total);
        for (std::size_t t = 0; t < n_targets_; ++t) {
            double value = total > 0 ? of_target(t, 0) / total : 0.0;  // an empty window: the nearest row's
            if (has_slopes) value += step_to_row(t, total);
            out[t * n_bandwidths_ + b] = value + sample_.y(nearest, t);
        }
    }

    // Factors the products of the features about their means.
    bool factor(double total) {
        double* const matrix = solver_.matrix();
        for (std::size_t a = 0; a < d_; ++a)
            for (std::size_t c = 0; c <= a; ++c)
                matrix[a * d_ + c] = matrix[c * d_ + a] = product(a + 1, c + 1) - product(a + 1, 0) * product(c + 1, 0) / total;
        return solver_.factor();
    }

    // From the mean of the features to the row itself, along the slopes of a target; zero where they are not finite.
    double step_to_row(std::size_t t, double total) {
        for (std::size_t a = 0; a < d_; ++a) slopes_[a] = of_target(t, a + 1) - product(a + 1, 0) * of_target(t, 0) / total;
        solver_.solve(slopes_.data());
        double step = 0;
        for (std::size_t a = 0; a < d_; ++a) step -= slopes_[a] * product(a + 1, 0) / total;
        return std::isfinite(step) ? step : 0.0;
    }

    const Sample& sample_;
    std::size_t n_bandwidths_, n_targets_, d_, n_products_, n_sums_;
    std::vector<double> inverses_;  // of the squared bandwidths, the widest first
    Aligned<double> batch_;
    Aligned<double> sums_;  // of each bandwidth, a vector each
    std::vector<double> totals_;
    linear_model::detail::SymmetricSolver solver_;
    std::vector<double> slopes_;
    double limit_;
    double least_ = std::numeric_limits<double>::infinity();
    std::size_t n_taken_ = 0;
    bool is_chain_ = false;
};

}  // namespace detail

// Writes the prediction for each row from `first` on without the row itself to `out` (m x (t bandwidths)), for bandwidths from the
// widest to the narrowest. A window that is empty without the row has the nearest other row's value. O(candidates bandwidths d^2).
template <class Window>
void left_out_fits(const Sample& sample, const Lists& lists, std::span<const double> bandwidths, bool is_linear,
                   const NearestRows& nearest, std::size_t first, RowMajor<double> out, Threads threads) {
    const double work = static_cast<double>(out.rows) * static_cast<double>(sample.x.rows) * static_cast<double>(bandwidths.size());
    const Chunks chunks = Chunks::of(out.rows, 4, 1024);
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        Candidates candidates(sample, lists);
        detail::LeftOutFit<Window> fit(sample, bandwidths, is_linear);
        for (std::size_t q = chunks.begin(chunk); q < chunks.end(chunk); ++q) {
            const std::size_t i = first + q;
            fit.predict(i, q, candidates, static_cast<std::size_t>(nearest.rows[i]), nearest.distances[i], out.row(q));
            checkpoint();
        }
    });
}

}  // namespace mercer::kernel_regression
