// The cross-entropy of softmax over linear values, summed over rows: value, gradient and the curvature of the classes.
//
// A row belongs to the class `code` and has a linear value for each of K outputs. With a reference, there is one class more, of
// code K and value zero: one output with a reference is binary logistic regression. Everything is summed in double precision.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/block_products.hpp"
#include "core/chunk_sums.hpp"
#include "core/math.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/linear_loss.hpp"

namespace mercer::linear_model {

// Which class each row belongs to, and how much it counts.
struct LabelledRows {
    std::span<const std::int32_t> codes;
    std::span<const double> weights;  // empty: all one
    bool has_reference = false;
};

namespace detail {

// Softmax of a block of rows: scratch memory for up to `capacity` of them.
class SoftmaxBlock {
   public:
    SoftmaxBlock(std::size_t n_outputs, std::size_t capacity)
        : n_outputs_(n_outputs),
          stride_(S::round_up(capacity)),
          scores_(n_outputs * stride_),
          weighted_(n_outputs * stride_),
          codes_(stride_),
          weights_(stride_) {}

    // Turns the linear values raw[i * width + k] of rows [first, first + n) into the slopes of their loss, adds the loss to
    // `value` and the sum of weight (diag(p) - p p') over the rows, for the probabilities p, to the lower triangle `curvature`.
    void apply(const LabelledRows& rows, std::size_t first, std::size_t n, double* raw, std::size_t width, double& value,
               double* curvature) {
        gather(rows, first, n, raw, width);
        for (std::size_t i = 0; i < n; i += S::kLanes) value += step(i, rows.has_reference);
        for (std::size_t k = 0; k < n_outputs_; ++k) add_curvature(k, n, curvature + k * n_outputs_);
        for (std::size_t k = 0; k < n_outputs_; ++k)
            for (std::size_t i = 0; i < n; ++i) raw[i * width + k] = slope(k, i);
    }

   private:
    // Copies the block, one line an output, and fills it up to whole vectors with rows of weight zero.
    void gather(const LabelledRows& rows, std::size_t first, std::size_t n, const double* raw, std::size_t width) {
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            double* line = scores_.data() + k * stride_;
            for (std::size_t i = 0; i < n; ++i) line[i] = raw[i * width + k];
            std::fill(line + n, line + S::round_up(n), 0.0);
        }
        for (std::size_t i = 0; i < n; ++i) {
            codes_[i] = static_cast<double>(rows.codes[first + i]);
            weights_[i] = rows.weights.empty() ? 1.0 : rows.weights[first + i];
        }
        for (std::size_t i = n; i < S::round_up(n); ++i) codes_[i] = weights_[i] = 0;
    }

    // One vector of rows: scores become probabilities, `weighted_` weight times them. Returns the rows' loss. The largest score is
    // taken out of the sum of the exponentials, so that nothing is lost where a row is nearly certain.
    double step(std::size_t i, bool has_reference) {
        const S::Vector code = S::load(&codes_[i]);
        const S::Vector weight = S::load(&weights_[i]);
        S::Vector top = has_reference ? S::Vector{} : S::load(&scores_[i]);
        S::Vector winner = S::broadcast(has_reference ? static_cast<double>(n_outputs_) : 0.0);
        S::Vector own{};
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const S::Vector score = S::load(&scores_[k * stride_ + i]);
            const S::Vector label = S::broadcast(static_cast<double>(k));
            winner = score > top ? label : winner;
            top = score > top ? score : top;
            own = code == label ? score : own;
        }
        const S::Vector of_reference = math::exp(-top);
        S::Vector rest = has_reference ? (winner == static_cast<double>(n_outputs_) ? S::Vector{} : of_reference) : S::Vector{};
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            double* score = &scores_[k * stride_ + i];
            const S::Vector e = math::exp(S::load(score) - top);
            S::store(score, e);
            rest += winner == static_cast<double>(k) ? S::Vector{} : e;
        }
        const S::Vector inverse = 1.0 / (1.0 + rest);
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            double* score = &scores_[k * stride_ + i];
            const S::Vector p = S::load(score) * inverse;
            S::store(score, p);
            S::store(&weighted_[k * stride_ + i], weight == 0.0 ? S::Vector{} : weight * p);
        }
        // The label's own slope is minus the probability of all the others.
        S::Vector missed{};
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const S::Vector p = S::load(&scores_[k * stride_ + i]);
            missed = code == static_cast<double>(k) ? (winner == code ? rest * inverse : 1.0 - p) : missed;
        }
        S::store(&weights_[i], weight == 0.0 ? S::Vector{} : weight * missed);  // no longer needed as a weight
        const S::Vector loss = math::log1p(rest) + (top - own);
        const S::Vector counted = weight == 0.0 ? S::Vector{} : weight * loss;
        double sum = 0;
        for (std::size_t lane = 0; lane < S::kLanes; ++lane) sum += counted[lane];
        return sum;
    }

    double slope(std::size_t k, std::size_t i) const {
        return codes_[i] == static_cast<double>(k) ? -weights_[i] : weighted_[k * stride_ + i];
    }

    void add_curvature(std::size_t k, std::size_t n, double* line) const {
        const double* weighted = &weighted_[k * stride_];
        S::Vector total{};
        for (std::size_t i = 0; i < n; i += S::kLanes) total += S::load(weighted + i);
        for (std::size_t l = 0; l <= k; ++l) {
            S::Vector sum = l == k ? -total : S::Vector{};
            for (std::size_t i = 0; i < n; i += S::kLanes) sum += S::load(weighted + i) * S::load(&scores_[l * stride_ + i]);
            line[l] -= sum_lanes(sum);
        }
    }

    std::size_t n_outputs_;
    std::size_t stride_;
    Aligned<double> scores_;    // then probabilities
    Aligned<double> weighted_;  // weight times probability
    Aligned<double> codes_;
    Aligned<double> weights_;
};

// Mirrors the lower triangle at `offset` of the sums to `curvature`, and returns the value, which is the first of them.
inline double write_curvature(std::span<const double> sums, std::size_t offset, RowMajor<double> curvature) {
    for (std::size_t k = 0; k < curvature.rows; ++k)
        for (std::size_t l = 0; l <= k; ++l) curvature(k, l) = curvature(l, k) = sums[offset + k * curvature.cols + l];
    return sums[0];
}

}  // namespace detail

// Returns the sum of weight times cross-entropy over the rows, for the linear values (x - shift)' coef_k + intercept_k, and writes
// its gradient (K x (d + 1), the intercept last, as in `coef`) and `curvature` (K x K): the sum of weight (diag(p) - p p'), the
// Hessian in the intercepts. One pass over X. O(n K (d + K)).
template <Real T>
double softmax_loss(Matrix<const T> x, std::span<const double> shift, const LabelledRows& labels, RowMajor<const double> coef,
                    RowMajor<double> gradient, RowMajor<double> curvature, Threads threads) {
    const std::size_t q = x.cols + 1, n_outputs = coef.rows;
    const std::size_t p = Simd<double>::round_up(q);
    const std::size_t width = Simd<double>::round_up(n_outputs);
    std::vector<double> transposed(p * width, 0.0);
    for (std::size_t k = 0; k < n_outputs; ++k)
        for (std::size_t j = 0; j < q; ++j) transposed[j * width + k] = coef(k, j);
    const Chunks chunks = detail::sample_chunks(x.rows, q, n_outputs * p + n_outputs * n_outputs);
    const std::size_t size = 1 + n_outputs * p + n_outputs * n_outputs;  // value, gradient, curvature
    ChunkSums<double> sums(chunks, size);
    const double work = static_cast<double>(x.rows) * static_cast<double>(n_outputs * (2 * q + 20));
    detail::for_each_row_block(
        x, shift, p, chunks, threads.for_work(work), [&](double* block, std::size_t n, std::size_t first, std::size_t chunk) {
            Aligned<double> raw(n * width);
            double* part = sums[chunk];
            multiply_block(block, n, p, transposed.data(), width, p, raw.data());
            detail::SoftmaxBlock(n_outputs, n).apply(labels, first, n, raw.data(), width, part[0], part + 1 + n_outputs * p);
            add_outer(raw.data(), width, n_outputs, block, n, p, part + 1);
        });
    const auto total = sums.total();
    for (std::size_t k = 0; k < n_outputs; ++k) std::copy_n(total.data() + 1 + k * p, q, gradient.row(k));
    return detail::write_curvature(total, 1 + n_outputs * p, curvature);
}

// The same for given linear values (n x K), for rows that are not dense: writes the slopes of the rows (n x K). O(n K^2).
inline double softmax_of_values(const LabelledRows& labels, RowMajor<const double> raw, RowMajor<double> slopes,
                                RowMajor<double> curvature, Threads threads) {
    constexpr std::size_t kBlock = 256;
    const std::size_t n_outputs = raw.cols, size = 1 + n_outputs * n_outputs;
    const Chunks chunks = Chunks::of(raw.rows, 4096, 64);
    ChunkSums<double> sums(chunks, size);
    const double work = static_cast<double>(raw.rows) * static_cast<double>(n_outputs * (20 + n_outputs / 2));
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        detail::SoftmaxBlock block(n_outputs, kBlock);
        double* part = sums[chunk];
        for (std::size_t first = chunks.begin(chunk); first < chunks.end(chunk); first += kBlock) {
            const std::size_t n = std::min(kBlock, chunks.end(chunk) - first);
            std::copy_n(raw.row(first), n * n_outputs, slopes.row(first));
            block.apply(labels, first, n, slopes.row(first), n_outputs, part[0], part + 1);
        }
    });
    return detail::write_curvature(sums.total(), 1, curvature);
}

}  // namespace mercer::linear_model
