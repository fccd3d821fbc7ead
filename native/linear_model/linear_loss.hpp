// A loss of linear values, summed over rows: its value, gradient and Hessian in the coefficients. One pass over X, and
// one more for the Hessian of many columns.
//
// Rows are (x - shift, 1), so that the last coefficient is the intercept; the shift keeps the Hessian well conditioned where the
// columns are far from zero. Everything is summed in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "core/chunk_sums.hpp"
#include "core/parallel.hpp"
#include "core/product.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/normal_equations.hpp"
#include "losses/row_loss.hpp"

namespace mercer::linear_model {

// Summed over rows.
struct LossTotal {
    double value;
    double curvature;  // the second derivative in the intercept
};

namespace detail {

// raw[i] = the product of row i and coef, p doubles each.
inline void block_values(const double* block, std::size_t n, std::size_t p, const double* coef, double* raw) {
    constexpr std::size_t kRows = 4;
    std::size_t i = 0;
    for (; i + kRows <= n; i += kRows) {
        S::Vector sums[kRows] = {};
        for (std::size_t j = 0; j < p; j += S::kLanes) {
            const S::Vector c = S::load(coef + j);
#pragma GCC unroll 4
            for (std::size_t r = 0; r < kRows; ++r) sums[r] += S::load(block + (i + r) * p + j) * c;
        }
        for (std::size_t r = 0; r < kRows; ++r) raw[i + r] = sum_lanes(sums[r]);
    }
    for (; i < n; ++i) {
        S::Vector sum{};
        for (std::size_t j = 0; j < p; j += S::kLanes) sum += S::load(block + i * p + j) * S::load(coef + j);
        raw[i] = sum_lanes(sum);
    }
}

// sums[v0 .. v0+V] += the rows' vectors, times their slopes.
template <std::size_t V>
void add_slopes_tile(const double* block, std::size_t n, std::size_t p, const double* slopes, double* sums) {
    S::Vector acc[V] = {};
    for (std::size_t i = 0; i < n; ++i) {
        const S::Vector slope = S::broadcast(slopes[i]);
#pragma GCC unroll 8
        for (std::size_t v = 0; v < V; ++v) acc[v] += slope * S::load(block + i * p + v * S::kLanes);
    }
    for (std::size_t v = 0; v < V; ++v) S::store(sums + v * S::kLanes, S::load(sums + v * S::kLanes) + acc[v]);
}

// sums += slopes' block.
inline void add_slopes(const double* block, std::size_t n, std::size_t p, const double* slopes, double* sums) {
    std::size_t j = 0;
    for (; j + 8 * S::kLanes <= p; j += 8 * S::kLanes) add_slopes_tile<8>(block + j, n, p, slopes, sums + j);
    for (; j + 2 * S::kLanes <= p; j += 2 * S::kLanes) add_slopes_tile<2>(block + j, n, p, slopes, sums + j);
    for (; j < p; j += S::kLanes) add_slopes_tile<1>(block + j, n, p, slopes, sums + j);
}

// The Hessian of at most so many columns is summed along with the gradient, a result a chunk; that of more, in a pass of its own.
inline constexpr std::size_t kFewColumns = 192;

// Partial sums of each chunk of rows of q values, filled up to p: value, curvature, gradient (p) and, of few columns, the upper
// triangle of the Hessian (p x p).
class LossSums {
   public:
    LossSums(const Chunks& chunks, std::size_t q, bool wants_hessian)
        : q_(q),
          p_(S::round_up(q)),
          has_hessian_(wants_hessian && p_ <= kFewColumns),
          sums_(chunks, 2 + p_ + (has_hessian_ ? p_ * p_ : 0)) {}

    bool has_hessian() const { return has_hessian_; }
    double& value(std::size_t chunk) { return sums_[chunk][0]; }
    double& curvature(std::size_t chunk) { return sums_[chunk][1]; }
    double* gradient(std::size_t chunk) { return sums_[chunk] + 2; }
    double* hessian(std::size_t chunk) { return gradient(chunk) + p_; }

    // Adds rows of p doubles, times their curvatures; negative ones count as zero. The rows are scaled on the way.
    void add_hessian(std::size_t chunk, double* block, std::size_t n, const double* curvatures) {
        scale_rows(block, n, curvatures);
        add_gram_of_rows(block, n, p_, hessian(chunk));
    }

    // Adds the chunks up in their order, writes as many entries of the gradient as are asked for, and the Hessian of few columns,
    // and returns the rest.
    LossTotal write(std::span<double> gradient_out, RowMajor<double> hessian_out) {
        sums_.total();
        std::copy_n(gradient(0), gradient_out.size(), gradient_out.data());
        for (std::size_t i = 0; has_hessian_ && i < hessian_out.rows; ++i)
            for (std::size_t j = i; j < hessian_out.cols; ++j) hessian_out(i, j) = hessian_out(j, i) = hessian(0)[i * p_ + j];
        return {value(0), curvature(0)};
    }

   private:
    // Multiplies each row by the root of its curvature. What fills the last vector up stays zero, whatever the root.
    void scale_rows(double* block, std::size_t n, const double* curvatures) const {
        S::Indices lane{};
        for (std::size_t l = 0; l < S::kLanes; ++l) lane[l] = static_cast<S::Index>(l);
        const auto is_column = lane < S::broadcast_index(static_cast<S::Index>(q_ + S::kLanes - p_));
        for (std::size_t i = 0; i < n; ++i) {
            double* const row = block + i * p_;
            double* const last = row + p_ - S::kLanes;
            const S::Vector root = S::broadcast(std::sqrt(std::max(curvatures[i], 0.0)));
            for (double* at = row; at < last; at += S::kLanes) S::store(at, root * S::load(at));
            S::store(last, (is_column ? root : S::Vector{}) * S::load(last));
        }
    }

    std::size_t q_, p_;
    bool has_hessian_;
    ChunkSums<double> sums_;
};

// Writes the sum of h_i (x_i - shift, e_i) (x_i - shift, e_i)' over the rows to `hessian`, for rows e of further columns; negative
// curvatures h count as zero. O(n d^2).
template <Real T>
void write_hessian(Matrix<const T> x, std::span<const double> shift, Matrix<const double> further,
                   std::span<const double> curvatures, RowMajor<double> hessian, Threads threads) {
    std::vector<double> roots(x.rows);
    std::ranges::transform(curvatures, roots.begin(), [](double h) { return std::sqrt(std::max(h, 0.0)); });
    const JoinedSource<double, StridedSource<T, double>, StridedSource<double, double>> rows{{x, shift, roots},
                                                                                             {further, {}, roots}};
    gram_product<double, double>(rows, 1.0, 0.0,
                                 {hessian.data, hessian.rows, hessian.cols, static_cast<std::ptrdiff_t>(hessian.cols), 1}, threads);
}

// A column of n ones.
inline Matrix<const double> ones(std::size_t n) {
    static constexpr double kOne = 1;
    return {&kOne, n, 1, 0, 1};
}

// Calls body(block, n, first, chunk) with blocks of rows (x - shift, 1), p doubles to a row.
template <Real T, class Body>
void for_each_row_block(Matrix<const T> x, std::span<const double> shift, std::size_t p, const Chunks& chunks, Threads threads,
                        Body&& body) {
    const Sample<T> sample{x, {x.data, x.rows, 0, 0, 1}, {}};
    for_each_block(sample, shift, p, chunks, threads, body);
}

}  // namespace detail

// raw[i] = (x_i - shift)' coef + intercept, where `coef` has the intercept last. O(n d).
template <Real T>
void linear_values(Matrix<const T> x, std::span<const double> shift, std::span<const double> coef, std::span<double> raw,
                   Threads threads) {
    const std::size_t p = Simd<double>::round_up(x.cols + 1);
    std::vector<double> padded(p, 0.0);
    std::copy(coef.begin(), coef.end(), padded.begin());
    const Chunks chunks = Chunks::of(x.rows, 4096, 256);
    const double work = static_cast<double>(x.rows) * static_cast<double>(x.cols);
    detail::for_each_row_block(x, shift, p, chunks, threads.for_work(work),
                               [&](const double* block, std::size_t n, std::size_t first, std::size_t) {
                                   detail::block_values(block, n, p, padded.data(), raw.data() + first);
                               });
}

// Returns the sum of weight times loss over the rows, with its second derivative in the intercept, and writes its gradient in the
// d + 1 coefficients (the intercept last), and its Hessian unless `hessian` is empty. `weights` may be empty (all one). O(n d) or,
// with the Hessian, O(n d^2).
template <Real T>
LossTotal linear_loss(Matrix<const T> x, std::span<const double> shift, std::span<const double> y, std::span<const double> weights,
                      const losses::RowLoss& loss, std::span<const double> coef, std::span<double> gradient,
                      RowMajor<double> hessian, Threads threads) {
    const std::size_t q = x.cols + 1;
    const std::size_t p = Simd<double>::round_up(q);
    const bool has_hessian = hessian.rows > 0;
    std::vector<double> padded(p, 0.0);
    std::copy(coef.begin(), coef.end(), padded.begin());
    const Chunks chunks = detail::sample_chunks(x.rows, q, has_hessian ? std::min(p, detail::kFewColumns) * p : p);
    detail::LossSums sums(chunks, q, has_hessian);
    const bool has_pass = has_hessian && !sums.has_hessian();
    std::vector<double> all_curvatures(has_pass ? x.rows : 0);
    const double work = static_cast<double>(x.rows) * static_cast<double>(sums.has_hessian() ? q * q / 4 + 4 * q : 2 * q);
    detail::for_each_row_block(x, shift, p, chunks, threads.for_work(work),
                               [&](double* block, std::size_t n, std::size_t first, std::size_t chunk) {
                                   constexpr std::size_t kCapacity = 256 + Simd<double>::kLanes;  // a block has at most 256 rows
                                   double raw[kCapacity] = {};
                                   double slopes[kCapacity];
                                   double curvatures[kCapacity];
                                   detail::block_values(block, n, p, padded.data(), raw);
                                   const double* of_rows = weights.empty() ? nullptr : weights.data() + first;
                                   sums.value(chunk) += loss.apply(y.data() + first, of_rows, raw, n, slopes, curvatures);
                                   sums.curvature(chunk) += lane_sum(n, [&](std::size_t i) { return curvatures[i]; });
                                   detail::add_slopes(block, n, p, slopes, sums.gradient(chunk));
                                   if (sums.has_hessian()) sums.add_hessian(chunk, block, n, curvatures);
                                   if (has_pass) std::copy_n(curvatures, n, all_curvatures.data() + first);
                               });
    if (has_pass) detail::write_hessian(x, shift, detail::ones(x.rows), all_curvatures, hessian, threads);
    return sums.write(gradient, hessian);
}

// For slopes g and curvatures h >= 0 of the rows themselves: writes the sums of g_i (x_i - shift, 1) to `gradient` and of
// h_i (x_i - shift, 1) (x_i - shift, 1)' to `hessian`. For losses that have no native form. O(n d^2).
template <Real T>
void weighted_sums(Matrix<const T> x, std::span<const double> shift, std::span<const double> slopes,
                   std::span<const double> curvatures, std::span<double> gradient, RowMajor<double> hessian, Threads threads) {
    const std::size_t q = x.cols + 1;
    const std::size_t p = Simd<double>::round_up(q);
    const Chunks chunks = detail::sample_chunks(x.rows, q, std::min(p, detail::kFewColumns) * p);
    detail::LossSums sums(chunks, q, true);
    const double work = static_cast<double>(x.rows) * static_cast<double>(sums.has_hessian() ? q * q / 4 + 2 * q : q);
    detail::for_each_row_block(x, shift, p, chunks, threads.for_work(work),
                               [&](double* block, std::size_t n, std::size_t first, std::size_t chunk) {
                                   detail::add_slopes(block, n, p, slopes.data() + first, sums.gradient(chunk));
                                   if (sums.has_hessian()) sums.add_hessian(chunk, block, n, curvatures.data() + first);
                               });
    sums.write(gradient, hessian);
    if (!sums.has_hessian()) detail::write_hessian(x, shift, detail::ones(x.rows), curvatures, hessian, threads);
}

// The loss of given linear values, for rows that are not dense: returns the sum of weight times loss, writes weight times the
// derivatives of each row. O(n).
inline double loss_of_values(const losses::RowLoss& loss, std::span<const double> y, std::span<const double> weights,
                             std::span<const double> raw, std::span<double> slopes, std::span<double> curvatures, Threads threads) {
    constexpr std::size_t kBlock = 256;
    const Chunks chunks = Chunks::of(raw.size(), 4096, 256);
    return sum_over(chunks, threads.for_work(20.0 * static_cast<double>(raw.size())), [&](std::size_t chunk) {
        double value = 0;
        double in[kBlock] = {};
        double slope[kBlock];
        double curvature[kBlock];
        for (std::size_t first = chunks.begin(chunk); first < chunks.end(chunk); first += kBlock) {
            const std::size_t n = std::min(kBlock, chunks.end(chunk) - first);
            std::copy_n(raw.data() + first, n, in);
            const double* of_rows = weights.empty() ? nullptr : weights.data() + first;
            value += loss.apply(y.data() + first, of_rows, in, n, slope, curvature);
            std::copy_n(slope, n, slopes.data() + first);
            std::copy_n(curvature, n, curvatures.data() + first);
        }
        return value;
    });
}

}  // namespace mercer::linear_model
