// Points for tiles of products in single precision, which tell roughly how near they are, and how rough that is.
//
// Points and queries are shifted by a vector in their midst and scaled by a power of two, so that no coordinate of a point is above
// one, and rounded. With x a query, c a point, both rounded, the rough rank is |c|^2 / 2 - x.c, which is half the squared distance
// less |x|^2 / 2. What it lacks of the exact rank, in these units, is at most
//     share (|x|^2 + |c|^2) + lost,    share = (d + 1) u / (1 - (d + 1) u) / 2 + 8 u,
// with u = 2^-24 the unit roundoff of single precision:
//   rounding x and c moves half the squared distance by (u + u^2 / 2) (|x| + |c|)^2 <= (2 u + u^2) (|x|^2 + |c|^2);
//   summing x.c is off by (d + 1) u / (1 - (d + 1) u) times the sum of |x_j c_j|, which is (|x|^2 + |c|^2) / 2 at most;
//   rounding |c|^2 / 2 and adding it is off by 3 u / 2 (|x|^2 + |c|^2);
//   the exact rank is itself rounded, in double precision, by (d + 2) 2^-53 (|x|^2 + |c|^2);
//   the rest of the eight units is for norms that are taken of rounded values.
// `lost` covers what underflow takes from any of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/collectors.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::neighbors {

inline float round_up(double x) {
    const auto rounded = static_cast<float>(x);
    return static_cast<double>(rounded) < x ? std::nextafter(rounded, std::numeric_limits<float>::infinity()) : rounded;
}

class RoughGroups {
   public:
    static constexpr std::size_t kRows = kGroupRows<float>;

    // O(n d).
    template <Real T>
    RoughGroups(RowMajor<const T> x, Threads threads)
        : n_(x.rows),
          d_(x.cols),
          shift_(x.cols),
          values_(n_groups() * kRows * x.cols),
          norms_(n_groups() * kRows),
          spreads_(n_groups() * kRows) {
        const double u = std::ldexp(1.0, -24), sum = static_cast<double>(d_ + 1) * u;
        share_ = sum / (1 - sum) / 2 + 8 * u;
        lost_ = static_cast<double>(d_) * std::ldexp(1.0, -110);
        const double largest = find_shift(x, threads);
        // Outside of these, squares in double precision may overflow or vanish, and many features leave nothing of the bound.
        is_useful_ = largest > 1e-100 && largest < 1e100 && sum < 0.1;
        scale_ = is_useful_ ? std::ldexp(1.0, -std::ilogb(largest) - 1) : 0;
        parallel_for(n_groups(), threads.for_work(static_cast<double>(n_) * static_cast<double>(d_)),
                     [&](std::size_t g) { fill_group(x, g); });
    }

    std::size_t n_groups() const { return (n_ + kRows - 1) / kRows; }
    std::size_t first_row(std::size_t g) const { return g * kRows; }
    std::size_t n_rows(std::size_t g) const { return std::min(kRows, n_ - g * kRows); }
    const float* group(std::size_t g) const { return values_.data() + g * kRows * d_; }
    // |c|^2 / 2 less this point's part of the bound: a rank is never below what is computed with it, but for the query's part.
    const float* low_norms(std::size_t g) const { return norms_.data() + g * kRows; }
    // From a lowest rank to the highest.
    float spread(std::size_t row) const { return spreads_[row]; }

    // Writes a query as tiles take it and returns its squared norm; infinity where products say nothing of it. O(d).
    double place_query(const double* query, float* out) const {
        double norm = 0;
        for (std::size_t j = 0; j < d_; ++j) {
            out[j] = static_cast<float>((query[j] - shift_[j]) * scale_);
            norm += static_cast<double>(out[j]) * out[j];
        }
        return is_useful_ && norm < 1e30 ? norm : std::numeric_limits<double>::infinity();
    }
    // What the rough rank of a point of at most this exact rank never exceeds, for a query of this squared norm.
    float limit(double rank, double norm) const { return round_up(rank * scale_ * scale_ / 2 - norm / 2 + slack(norm)); }
    // The query's part of the bound.
    double slack(double norm) const { return share_ * norm + lost_; }

   private:
    // The median of some rows, which a few far points cannot move; returns the largest distance from it along a feature.
    template <Real T>
    double find_shift(RowMajor<const T> x, Threads threads) {
        constexpr std::size_t kMost = 101;
        const std::size_t n_some = std::min(kMost, n_);
        std::vector<double> largest(d_);
        parallel_for(d_, threads.for_work(static_cast<double>(n_) * static_cast<double>(d_)), [&](std::size_t j) {
            double some[kMost];
            for (std::size_t i = 0; i < n_some; ++i) some[i] = static_cast<double>(x(i * n_ / n_some, j));
            std::nth_element(some, some + n_some / 2, some + n_some);
            shift_[j] = some[n_some / 2];
        });
        constexpr std::size_t kTask = 1024;
        std::vector<double> of_task((n_ + kTask - 1) / kTask);
        parallel_for(of_task.size(), threads.for_work(static_cast<double>(n_) * static_cast<double>(d_)), [&](std::size_t task) {
            double most = 0;
            for (std::size_t i = task * kTask; i < std::min((task + 1) * kTask, n_); ++i)
                for (std::size_t j = 0; j < d_; ++j) most = std::fmax(most, std::abs(static_cast<double>(x(i, j)) - shift_[j]));
            of_task[task] = most;
        });
        return *std::max_element(of_task.begin(), of_task.end());
    }

    template <Real T>
    void fill_group(RowMajor<const T> x, std::size_t g) {
        float* const out = values_.data() + g * kRows * d_;
        for (std::size_t lane = 0; lane < kRows; ++lane) {
            const T* const row = x.row(std::min(first_row(g) + lane, n_ - 1));
            double norm = 0;
            for (std::size_t j = 0; j < d_; ++j) {
                const auto value = static_cast<float>((static_cast<double>(row[j]) - shift_[j]) * scale_);
                out[j * kRows + lane] = value;
                norm += static_cast<double>(value) * value;
            }
            norms_[g * kRows + lane] = -round_up(share_ * norm - norm / 2);
            spreads_[g * kRows + lane] = round_up(2 * share_ * norm * (1 + 1e-6));
        }
    }

    std::size_t n_, d_;
    std::vector<double> shift_;
    double scale_ = 0, share_ = 0, lost_ = 0;
    bool is_useful_ = false;
    Aligned<float> values_;
    std::vector<float> norms_, spreads_;
};

}  // namespace mercer::neighbors
