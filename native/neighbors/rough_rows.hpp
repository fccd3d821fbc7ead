// Rows in single precision, one after another, which tell roughly how far a few of them are that lie here and there, and how rough
// that is. (rough_groups.hpp does it for all rows in turn, by tiles of products.)
//
// Rows and queries are shifted by a vector in their midst and scaled by a power of two, so that no coordinate of a row is above
// one, and rounded. With u = 2^-24, x a query, c a row, both rounded, s what is computed of |x - c|^2, the root of s is off by at
// most
//     e = ((d + 4) / 2 + 2) u (|x| + R) + lost,    R the largest norm of a row:
// rounding moves x and c by u |x| and u |c|, each difference and the sum of d squares lose (d + 2) u of s, and a root half of that.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/prefetch.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "neighbors/collectors.hpp"
#include "neighbors/rough_groups.hpp"

namespace mercer::neighbors {

class RoughRows {
   public:
    using S = Simd<float>;

    // Rows of x in the order of `rows`: slot s is row rows[s]. O(n d).
    template <Real T>
    RoughRows(RowMajor<const T> x, std::span<const Row> rows, Threads threads)
        : n_(x.rows), d_(x.cols), width_(S::round_up(x.cols)), shift_(x.cols), values_(n_ * width_) {
        const Threads useful = threads.for_work(static_cast<double>(n_) * static_cast<double>(d_));
        const std::size_t n_tasks = (n_ + kTask - 1) / kTask;
        std::vector<double> sums(n_tasks * d_), of_task(n_tasks);
        parallel_for(n_tasks, useful, [&](std::size_t task) {
            for (std::size_t i = task * kTask; i < std::min(task * kTask + kTask, n_); ++i)
                for (std::size_t j = 0; j < d_; ++j) sums[task * d_ + j] += static_cast<double>(x(i, j));
        });
        for (std::size_t task = 0; task < n_tasks; ++task)
            for (std::size_t j = 0; j < d_; ++j) shift_[j] += sums[task * d_ + j] / static_cast<double>(n_);
        parallel_for(n_tasks, useful, [&](std::size_t task) {
            for (std::size_t i = task * kTask; i < std::min(task * kTask + kTask, n_); ++i)
                for (std::size_t j = 0; j < d_; ++j)
                    of_task[task] = std::fmax(of_task[task], std::abs(static_cast<double>(x(i, j)) - shift_[j]));
        });
        const double largest = *std::max_element(of_task.begin(), of_task.end());
        const bool has_scale = largest > 1e-100 && largest < 1e100;
        scale_ = has_scale ? std::ldexp(1.0, -std::ilogb(largest) - 1) : 0;
        parallel_for(n_tasks, useful, [&](std::size_t task) {
            of_task[task] = 0;
            for (std::size_t slot = task * kTask; slot < std::min(task * kTask + kTask, n_); ++slot) {
                const double norm = place(x.row(static_cast<std::size_t>(rows[slot])), values_.data() + slot * width_);
                // What is no number makes the largest none either.
                of_task[task] = norm <= of_task[task] ? of_task[task] : norm;
                if (!(norm < std::numeric_limits<double>::infinity())) break;
            }
        });
        double most = 0;
        bool is_finite = has_scale;
        for (const double norm : of_task) {
            is_finite = is_finite && norm < 1e30;
            most = std::fmax(most, norm);
        }
        is_useful_ = is_finite && d_ < 1000000;
        radius_ = std::sqrt(most);
    }

    std::size_t n_rows() const { return n_; }
    std::size_t width() const { return width_; }

    // Writes a query as rows are and returns how rough the roots of its ranks are; infinity where they say nothing. O(d).
    double place_query(const double* query, float* out) const {
        const double norm = place(query, out);
        if (!is_useful_ || !(norm < 1e30)) return std::numeric_limits<double>::infinity();
        const double u = std::ldexp(1.0, -24), lost = 1e-17;
        return (static_cast<double>(d_ + 4) / 2 + 2) * u * (std::sqrt(norm) + radius_) * 1.01 + lost;
    }

    // Rough squared distances of a placed query to the rows of some slots. O(d) each.
    void measure(const float* query, std::span<const Row> slots, float* ranks) const {
        constexpr std::size_t kAhead = 8;
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (i + kAhead < slots.size()) prefetch_run(row(slots[i + kAhead]), width_);
            ranks[i] = rank(query, row(slots[i]));
        }
    }

    // No row of a larger rough rank can be among the nearest, where so many others have at most `rank`.
    static float limit(float rank, double roughness) {
        const double root = std::sqrt(static_cast<double>(rank)) + 2 * roughness;
        return round_up(root * root * (1 + 1e-6));
    }

   private:
    static constexpr std::size_t kTask = 4096;

    const float* row(Row slot) const { return values_.data() + static_cast<std::size_t>(slot) * width_; }

    template <class Value>
    double place(const Value* x, float* out) const {
        double norm = 0;
        for (std::size_t j = 0; j < d_; ++j) {
            out[j] = static_cast<float>((static_cast<double>(x[j]) - shift_[j]) * scale_);
            norm += static_cast<double>(out[j]) * out[j];
        }
        std::fill(out + d_, out + width_, 0.0F);
        return norm;
    }

    float rank(const float* a, const float* b) const {
        typename S::Vector sums{};
        for (std::size_t j = 0; j < width_; j += S::kLanes) {
            const auto difference = S::load(a + j) - S::load(b + j);
            sums += difference * difference;
        }
        alignas(64) float lanes[S::kLanes];
        S::store(lanes, sums);
#pragma GCC unroll 4
        for (std::size_t half = S::kLanes / 2; half > 0; half /= 2)
            for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
        return lanes[0];
    }

    std::size_t n_, d_, width_;  // a row with zeros behind it, up to whole vectors
    std::vector<double> shift_;
    double scale_ = 0, radius_ = 0;
    bool is_useful_ = false;
    Aligned<float> values_;
};

}  // namespace mercer::neighbors
