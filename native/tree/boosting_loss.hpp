// Derivatives of losses at every row, for boosting: what the next tree is grown from.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>

#include "core/chunk_sums.hpp"
#include "core/math.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "losses/loss.hpp"
#include "losses/row_loss.hpp"

namespace mercer::boosting {

namespace detail {

inline constexpr std::size_t kLossRows = 2048;  // a block, whole vectors

// Calls body(begin, n) for every block of rows and adds up what it returns, in the order of the blocks.
template <class Body>
double sum_blocks(std::size_t n_rows, double work, Threads threads, Body&& body) {
    const Chunks blocks{n_rows, (n_rows + kLossRows - 1) / kLossRows};
    return sum_over(blocks, threads.for_work(work), [&](std::size_t block) {
        const std::size_t begin = block * kLossRows;
        return body(begin, std::min(kLossRows, n_rows - begin));
    });
}

}  // namespace detail

// Writes weight times the derivatives of every row's loss, the second ones only where there is room for them (empty: left out).
// Returns the sum of weight times loss. O(n).
inline double loss_derivatives(const losses::RowLoss& loss, std::span<const double> y, std::span<const double> weights,
                               std::span<const double> raw, std::span<double> gradients, std::span<double> hessians,
                               Threads threads) {
    using detail::kLossRows;
    const auto work = static_cast<double>(y.size()) * 10;
    return detail::sum_blocks(y.size(), work, threads, [&](std::size_t begin, std::size_t n) {
        alignas(64) std::array<double, kLossRows> raw_block, gradient_block, hessian_block;
        const bool is_whole = n == kLossRows;  // else the loss may write past the end
        const double* from = raw.data() + begin;
        if (!is_whole) {
            raw_block.fill(0);
            std::copy_n(from, n, raw_block.begin());
            from = raw_block.data();
        }
        double* gradient = is_whole ? gradients.data() + begin : gradient_block.data();
        double* hessian = is_whole && !hessians.empty() ? hessians.data() + begin : hessian_block.data();
        const double sum =
            loss.apply(y.data() + begin, weights.empty() ? nullptr : weights.data() + begin, from, n, gradient, hessian);
        if (!is_whole) {
            std::copy_n(gradient, n, gradients.begin() + static_cast<std::ptrdiff_t>(begin));
            if (!hessians.empty()) std::copy_n(hessian, n, hessians.begin() + static_cast<std::ptrdiff_t>(begin));
        }
        return sum;
    });
}

// The same for the cross-entropy of softmax: lines of raw and of both outputs are classes, columns are rows of X. The second
// derivatives are those of each class alone, p (1 - p). O(n k).
inline double softmax_derivatives(std::span<const std::int32_t> codes, std::span<const double> weights, RowMajor<const double> raw,
                                  RowMajor<double> gradients, RowMajor<double> hessians, Threads threads) {
    using S = Simd<double>;
    constexpr std::size_t kRows = 64;
    const auto work = static_cast<double>(raw.size()) * 15;
    return detail::sum_blocks(codes.size(), work, threads, [&](std::size_t block, std::size_t n_block) {
        double sum = 0;
        for (std::size_t begin = block; begin < block + n_block; begin += kRows) {
            const std::size_t n = std::min(kRows, block + n_block - begin);
            alignas(64) double most[kRows];
            alignas(64) double total[kRows] = {};
            alignas(64) double shifted[kRows] = {};
            std::fill_n(most, kRows, -std::numeric_limits<double>::infinity());
            for (std::size_t k = 0; k < raw.rows; ++k)
                for (std::size_t i = 0; i < n; ++i) most[i] = std::max(most[i], raw(k, begin + i));
            for (std::size_t k = 0; k < raw.rows; ++k) {
                for (std::size_t i = 0; i < n; ++i) shifted[i] = raw(k, begin + i) - most[i];
                for (std::size_t i = 0; i < n; ++i)
                    if (static_cast<std::size_t>(codes[begin + i]) == k)
                        sum -= (weights.empty() ? 1.0 : weights[begin + i]) * shifted[i];
                for (std::size_t i = 0; i < kRows; i += S::kLanes) {
                    const S::Vector e = math::exp(S::load(shifted + i));
                    S::store(shifted + i, e);
                    S::store(total + i, S::load(total + i) + e);
                }
                std::copy_n(shifted, n, gradients.row(k) + begin);
            }
            for (std::size_t i = 0; i < n; ++i) sum += (weights.empty() ? 1.0 : weights[begin + i]) * std::log(total[i]);
            for (std::size_t k = 0; k < raw.rows; ++k) {
                for (std::size_t i = 0; i < n; ++i) {
                    const double weight = weights.empty() ? 1.0 : weights[begin + i];
                    const double share = gradients(k, begin + i) / total[i];
                    const double is_own = static_cast<std::size_t>(codes[begin + i]) == k ? 1.0 : 0.0;
                    gradients(k, begin + i) = weight * (share - is_own);
                    hessians(k, begin + i) = weight * share * (1 - share);
                }
            }
        }
        return sum;
    });
}

}  // namespace mercer::boosting
