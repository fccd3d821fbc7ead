// Huber's regression with a concomitant scale: the objective summed over rows, with its derivatives in coefficients and scale.
//
// A row of residual r = y - x' w - b and weight s adds s sigma (1 + H(r / sigma)), where H(z) = z^2 for |z| <= epsilon and
// epsilon (2 |z| - epsilon) beyond: jointly convex in (w, b, sigma), because it is the perspective of a convex function.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "linear_model/linear_loss.hpp"

namespace mercer::linear_model {

struct HuberScale {
    double epsilon;
    double sigma;
};

namespace detail {

// What a block of rows has to tell: the sums of their values and of the derivatives in sigma, and the parts below for each row.
struct HuberBlock {
    static constexpr std::size_t kCapacity = 256;  // a block has at most as many rows
    double raw[kCapacity];
    double slopes[kCapacity];      // derivatives in the linear value
    double curvatures[kCapacity];  // second derivatives in the linear value: zero for outliers
    double ratios[kCapacity];      // r / sigma, clipped to epsilon
    double value = 0;
    double of_sigma = 0;

    // Reads `raw`. `weights` may be null (all one). O(n).
    void apply(const double* y, const double* weights, std::size_t n, HuberScale scale) {
        const double inverse = 1 / scale.sigma;
        for (std::size_t i = 0; i < n; ++i) {
            const double s = weights != nullptr ? weights[i] : 1.0;
            const double z = (y[i] - raw[i]) * inverse;
            const double clipped = std::max(std::min(z, scale.epsilon), -scale.epsilon);
            const bool is_present = s != 0;  // a row of weight zero is absent, whatever its loss
            value += is_present ? s * scale.sigma * (1 + clipped * (2 * z - clipped)) : 0.0;
            of_sigma += is_present ? s * (1 - clipped * clipped) : 0.0;
            slopes[i] = is_present ? -2 * s * clipped : 0.0;
            curvatures[i] = is_present && std::abs(z) <= scale.epsilon ? 2 * s * inverse : 0.0;
            ratios[i] = is_present ? clipped : 0.0;
        }
    }
};

}  // namespace detail

// Returns the sum over the rows and writes its gradient in the d coefficients, the intercept and sigma, in this order, and its
// Hessian unless `hessian` is empty. Rows are (x - shift, 1). `weights` may be empty (all one). O(n d) or, with the Hessian,
// O(n d^2).
template <Real T>
double huber_loss(Matrix<const T> x, std::span<const double> shift, std::span<const double> y, std::span<const double> weights,
                  HuberScale scale, std::span<const double> coef, std::span<double> gradient, RowMajor<double> hessian,
                  Threads threads) {
    const std::size_t q = x.cols + 2;  // the Hessian is a Gram matrix of rows (x - shift, 1, r / sigma)
    const std::size_t p = Simd<double>::round_up(q);
    const bool has_hessian = hessian.rows > 0;
    std::vector<double> padded(p, 0.0);
    std::copy(coef.begin(), coef.end(), padded.begin());
    const Chunks chunks = detail::sample_chunks(x.rows, q, has_hessian ? std::min(p, detail::kFewColumns) * p : p);
    detail::LossSums sums(chunks, q, has_hessian);
    const bool has_pass = has_hessian && !sums.has_hessian();
    std::vector<double> curvatures(has_pass ? x.rows : 0), further(has_pass ? 2 * x.rows : 0);
    const double work = static_cast<double>(x.rows) * static_cast<double>(sums.has_hessian() ? q * q / 4 + 4 * q : 2 * q);
    detail::for_each_row_block(x, shift, p, chunks, threads.for_work(work),
                               [&](double* block, std::size_t n, std::size_t first, std::size_t chunk) {
                                   for (std::size_t i = 0; i < n; ++i) block[i * p + q - 1] = 0;  // the last block left its ratios
                                   detail::HuberBlock rows;
                                   detail::block_values(block, n, p, padded.data(), rows.raw);
                                   rows.apply(y.data() + first, weights.empty() ? nullptr : weights.data() + first, n, scale);
                                   sums.value(chunk) += rows.value;
                                   detail::add_slopes(block, n, p, rows.slopes, sums.gradient(chunk));
                                   sums.gradient(chunk)[q - 1] += rows.of_sigma;
                                   if (sums.has_hessian()) {
                                       for (std::size_t i = 0; i < n; ++i) block[i * p + q - 1] = rows.ratios[i];
                                       sums.add_hessian(chunk, block, n, rows.curvatures);
                                   }
                                   if (!has_pass) return;
                                   std::copy_n(rows.curvatures, n, curvatures.data() + first);
                                   for (std::size_t i = 0; i < n; ++i) {
                                       further[2 * (first + i)] = 1;
                                       further[2 * (first + i) + 1] = rows.ratios[i];
                                   }
                               });
    if (has_pass) detail::write_hessian(x, shift, {further.data(), x.rows, 2, 2, 1}, curvatures, hessian, threads);
    return sums.write(gradient, hessian).value;
}

}  // namespace mercer::linear_model
