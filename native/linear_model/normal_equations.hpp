// Least squares by the normal equations: the Gram matrix of [X, y, 1] in one pass, its Cholesky factor with a condition estimate,
// and the true gradient for a refinement step.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/blas.hpp"
#include "core/pack.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/column_runs.hpp"
#include "linear_model/sample.hpp"

namespace mercer::linear_model {

namespace detail {

using S = Simd<double>;
inline constexpr std::size_t kGramVectors = kVectorRegisters == 32 ? 4 : 3;
inline constexpr std::size_t kGramRows = kVectorRegisters == 32 ? 6 : 4;

// gram[i0 .. i0+R, vectors v0 .. v0+V] += block' block. The block has n rows of p values, and its products are summed in the type
// of the block.
template <std::size_t R, std::size_t V, Real P>
[[gnu::always_inline]] inline void gram_tile(const P* block, std::size_t n, std::size_t p, std::size_t i0, std::size_t v0,
                                             double* gram) {
    using L = Simd<P>;
    typename L::Vector acc[R][V] = {};
    const P* left = block + i0;
    const P* right = block + v0 * L::kLanes;
    for (std::size_t row = 0; row < n; ++row, left += p, right += p) {
        typename L::Vector b[V];
#pragma GCC unroll 8
        for (std::size_t v = 0; v < V; ++v) b[v] = L::load(right + v * L::kLanes);
#pragma GCC unroll 8
        for (std::size_t r = 0; r < R; ++r) {
            const typename L::Vector a = L::broadcast(left[r]);
#pragma GCC unroll 8
            for (std::size_t v = 0; v < V; ++v) acc[r][v] += a * b[v];
        }
    }
    for (std::size_t r = 0; r < R; ++r) {
        for (std::size_t v = 0; v < V; ++v) {
            double* target = gram + (i0 + r) * p + (v0 + v) * L::kLanes;
            if constexpr (std::same_as<P, double>) {
                L::store(target, L::load(target) + acc[r][v]);
            } else {
                for (std::size_t lane = 0; lane < L::kLanes; ++lane) target[lane] += static_cast<double>(acc[r][v][lane]);
            }
        }
    }
}

template <std::size_t R, Real P>
void gram_stripe(const P* block, std::size_t n, std::size_t p, std::size_t i0, double* gram) {
    const std::size_t n_vectors = p / Simd<P>::kLanes;
    std::size_t v = i0 / Simd<P>::kLanes;  // the upper triangle, in whole vectors
    for (; v + kGramVectors <= n_vectors; v += kGramVectors) gram_tile<R, kGramVectors>(block, n, p, i0, v, gram);
    for (; v + 2 <= n_vectors; v += 2) gram_tile<R, 2>(block, n, p, i0, v, gram);
    for (; v < n_vectors; ++v) gram_tile<R, 1>(block, n, p, i0, v, gram);
}

// The upper triangle of gram += block' block; q of the p columns are in use.
template <Real P>
void add_gram(const P* block, std::size_t n, std::size_t p, std::size_t q, double* gram) {
    std::size_t i = 0;
    for (; i + kGramRows <= q; i += kGramRows) gram_stripe<kGramRows>(block, n, p, i, gram);
    for (; i + 2 <= q; i += 2) gram_stripe<2>(block, n, p, i, gram);
    for (; i < q; ++i) gram_stripe<1>(block, n, p, i, gram);
}

// Weighted means of some rows spread over the sample: near enough to the true means to shift by, as a rule.
template <Real T>
std::vector<double> rough_means(const Sample<T>& sample) {
    std::vector<double> mean(sample.cols(), 0.0);
    const std::size_t n = std::min<std::size_t>(sample.rows(), 64);
    double total = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t row = k * sample.rows() / n;
        const double weight = sample.weights.empty() ? 1.0 : static_cast<double>(sample.weights[row]);
        if (!(weight > 0)) continue;
        total += weight;
        const double share = weight / total;
        const std::size_t d = sample.x.cols;
        for (std::size_t j = 0; j < d; ++j) mean[j] += share * (static_cast<double>(sample.x(row, j)) - mean[j]);
        for (std::size_t j = 0; j < sample.y.cols; ++j)
            mean[d + j] += share * (static_cast<double>(sample.y(row, j)) - mean[d + j]);
    }
    return mean;
}

template <Real P>
P narrowed(double value) {
    return static_cast<P>(value);
}

// Calls body(block, n, first, chunk) with rows of [X, y, 1] - shift, times the roots of the weights, as values of type P, p to a
// row.
template <Real T, Real P, class Body>
void for_each_block(const Sample<T>& sample, std::span<const P> shift, std::size_t p, const Chunks& chunks, Threads threads,
                    Body&& body) {
    const std::size_t d = sample.x.cols;
    const std::size_t q = sample.cols();
    // Blocks stay in the first-level cache; in Fortran order each is a run of every column, which has to be worth the way there.
    const std::size_t least = sample.x.has_contiguous_rows() ? 256 / sizeof(P) : 128;
    const std::size_t capacity = std::clamp<std::size_t>(24 * 1024 / (sizeof(P) * p), least, 256);
    parallel_for(chunks.count, threads, [&](std::size_t chunk) {
        Aligned<P> block(capacity * p);
        std::fill_n(block.data(), capacity * p, P{0});
        std::vector<std::size_t> rows(capacity);
        for (std::size_t first = chunks.begin(chunk); first < chunks.end(chunk); first += capacity) {
            const std::size_t n = std::min(capacity, chunks.end(chunk) - first);
            std::iota(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(n), first);
            pack_rows<T, P>(sample.x, {rows.data(), n}, shift.first(d), block.data(), p);
            pack_rows<T, P>(sample.y, {rows.data(), n}, shift.subspan(d, q - d), block.data() + d, p);
            for (std::size_t i = 0; i < n; ++i) block[i * p + q] = P{1};
            if (!sample.weights.empty()) {
                for (std::size_t i = 0; i < n; ++i) {
                    const auto root = static_cast<P>(sample.root_weight(first + i));
                    for (std::size_t j = 0; j <= q; ++j) block[i * p + j] *= root;
                }
            }
            prefetch_rows(sample.x, first + n, std::min(first + n + capacity, chunks.end(chunk)));
            body(block.data(), n, first, chunk);
        }
    });
}

inline Chunks sample_chunks(std::size_t n_rows, std::size_t n_columns, std::size_t partial_size) {
    const auto least = std::clamp<std::size_t>((std::size_t{1} << 22) / (n_columns * n_columns + 1), 512, 8192);
    const std::size_t most = std::clamp<std::size_t>(n_rows * n_columns / (8 * partial_size + 1), 4, 64);
    return Chunks::of(n_rows, least, most);
}

}  // namespace detail

namespace detail {

// As below, for a few columns.
template <Real T>
Aligned<double> shifted_gram_of_runs(const Sample<T>& sample, std::span<const double> shift, std::size_t p, Threads threads) {
    const std::size_t n_runs = sample.cols() + 1;
    const std::size_t stride = ColumnRuns::round_up(n_runs);
    const std::size_t size = n_runs * stride;
    const Chunks chunks = sample_chunks(sample.rows(), sample.cols(), size);
    Aligned<double> partial(chunks.count * size);
    const double work = static_cast<double>(sample.rows()) * static_cast<double>(n_runs * n_runs) / 4;
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        double* sums = partial.data() + chunk * size;
        std::fill_n(sums, size, 0.0);
        ColumnRuns runs(n_runs);
        for (std::size_t first = chunks.begin(chunk), n; first < chunks.end(chunk); first += n) {
            n = std::min(ColumnRuns::kRows, chunks.end(chunk) - first);
            runs.fill(sample, shift, first, n, std::min(ColumnRuns::kRows, sample.rows() - first - n));
            runs.add_products(sums);
        }
    });
    Aligned<double> total(p * p);
    for (std::size_t i = 0; i < n_runs; ++i) {
        for (std::size_t j = i; j < n_runs; ++j) {
            double& sum = total[i * p + j] = 0;
            for (std::size_t chunk = 0; chunk < chunks.count; ++chunk) sum += partial[chunk * size + j * stride + i];
        }
    }
    return total;
}

// The upper triangle of the Gram matrix of [X, y, 1] - shift, p to a row. Within a block, sums are taken in the type P.
template <Real T, Real P>
Aligned<double> shifted_gram(const Sample<T>& sample, std::span<const P> shift, std::size_t p, Threads threads) {
    if constexpr (std::same_as<P, double>) {
        if (sample.cols() < ColumnRuns::kMostRuns) return shifted_gram_of_runs(sample, shift, p, threads);
    }
    const std::size_t q = sample.cols();
    const Chunks chunks = sample_chunks(sample.rows(), q, p * p);
    Aligned<double> partial(chunks.count * p * p);
    std::fill_n(partial.data(), partial.size(), 0.0);
    const double work = static_cast<double>(sample.rows()) * static_cast<double>(q * q) / 4;
    for_each_block(sample, shift, p, chunks, threads.for_work(work),
                   [&](const P* block, std::size_t n, std::size_t, std::size_t chunk) {
                       add_gram(block, n, p, q + 1, partial.data() + chunk * p * p);
                   });
    for (std::size_t chunk = 1; chunk < chunks.count; ++chunk)
        for (std::size_t i = 0; i < p * p; ++i) partial[i] += partial[chunk * p * p + i];
    return partial;
}

}  // namespace detail

// Writes the Gram matrix of [X, y] to `gram` (both triangles, centred if asked for) and the means of its columns to `means` (zero
// if not centred). Returns the total weight. One pass over the data, and a second where the rough means were so far off that
// centring would lose more than two digits. Products are taken in the type P: with float, twice as fast, a few units of its last
// place are lost, as if X were known no better. O(n (d + t)^2).
template <Real T, Real P = double>
double centred_gram(const Sample<T>& sample, bool is_centred, RowMajor<double> gram, std::span<double> means, Threads threads) {
    const std::size_t q = sample.cols();
    const std::size_t p = Simd<P>::round_up(q + 1);
    std::vector<P> shift(q, P{0});
    if (is_centred) std::ranges::transform(detail::rough_means(sample), shift.begin(), detail::narrowed<P>);
    for (bool is_last = !is_centred;; is_last = true) {
        const Aligned<double> total = detail::shifted_gram<T, P>(sample, shift, p, threads);
        const double weight = total[q * p + q];
        bool is_lost = false;
        std::vector<double> offset(q, 0.0);
        for (std::size_t j = 0; j < q; ++j) {
            if (is_centred && weight > 0) offset[j] = total[j * p + q] / weight;
            means[j] = static_cast<double>(shift[j]) + offset[j];
            const double removed = weight * offset[j] * offset[j];
            is_lost |= removed > 100 * (total[j * p + j] - removed) && std::abs(offset[j]) > 1e-14 * std::abs(means[j]);
        }
        if (is_lost && !is_last) {
            std::ranges::transform(means, shift.begin(), detail::narrowed<P>);
            continue;
        }
        for (std::size_t i = 0; i < q; ++i) {
            for (std::size_t j = i; j < q; ++j) gram(i, j) = gram(j, i) = total[i * p + j] - weight * offset[i] * offset[j];
            if (gram(i, i) < 0) gram(i, i) = 0;
        }
        return weight;
    }
}

// Solves gram coef' = moments' for every row of `moments` (targets x features) by Cholesky after scaling the diagonal to one.
// Writes the scaled factor to `factor` (lower triangle in row-major order) and the scales to `scales`. Returns the estimated
// reciprocal condition number of the scaled matrix, or 0 where it is not positive definite (then `coef` is not written). O(d^3).
inline double solve_scaled(Matrix<const double> gram, Matrix<const double> moments, RowMajor<double> factor,
                           std::span<double> scales, RowMajor<double> coef) {
    const std::size_t d = gram.rows;
    for (std::size_t j = 0; j < d; ++j) {
        if (!(gram(j, j) > 0) || !std::isfinite(gram(j, j))) return 0;
        scales[j] = 1 / std::sqrt(gram(j, j));
    }
    double norm = 0;
    for (std::size_t i = 0; i < d; ++i) {
        double column = 0;
        for (std::size_t j = 0; j < d; ++j) {
            factor(i, j) = gram(i, j) * scales[i] * scales[j];
            column += std::abs(factor(i, j));
        }
        norm = std::max(norm, column);
    }
    if (!blas::potrf(factor)) return 0;
    for (std::size_t i = 0; i < d; ++i) std::fill(factor.row(i) + i + 1, factor.row(i) + d, 0.0);
    for (std::size_t t = 0; t < moments.rows; ++t)
        for (std::size_t j = 0; j < d; ++j) coef(t, j) = moments(t, j) * scales[j];
    blas::potrs(RowMajor<const double>{factor.data, d, d}, coef);
    for (std::size_t t = 0; t < moments.rows; ++t)
        for (std::size_t j = 0; j < d; ++j) coef(t, j) *= scales[j];
    return blas::pocon(RowMajor<const double>{factor.data, d, d}, norm);
}

namespace detail {

// The sum of a vector's lanes.
inline double sum_lanes(S::Vector v) {
    double sum = 0;
    for (std::size_t lane = 0; lane < S::kLanes; ++lane) sum += v[lane];
    return sum;
}

// sums[0 .. p] += residual * row, and sums[p] += residual^2, where residual is the product of row and `signs`; p in whole vectors.
inline void add_residual(const double* row, const double* signs, std::size_t p, double* sums) {
    S::Vector product{};
    for (std::size_t j = 0; j < p; j += S::kLanes) product += S::load(row + j) * S::load(signs + j);
    const double residual = sum_lanes(product);
    for (std::size_t j = 0; j < p; j += S::kLanes) S::store(sums + j, S::load(sums + j) + residual * S::load(row + j));
    sums[p] += residual * residual;
}

}  // namespace detail

// For the residuals r = y - means_y - X_c coef': writes X_c' W r to `gradient` (targets x features), where X_c is X minus its
// means, and r' W r to `squares`. `means` holds those of X, then of y. In double precision. O(n d t).
template <Real T>
void residual_gradient(const Sample<T>& sample, std::span<const double> means, RowMajor<const double> coef,
                       RowMajor<double> gradient, std::span<double> squares, Threads threads) {
    const std::size_t d = sample.x.cols;
    const std::size_t t = sample.y.cols;
    const std::size_t p = Simd<double>::round_up(d + t + 1);
    std::vector<double> signs(t * p, 0.0);  // a row of [X_c, y_c, 1] times this is its residual
    for (std::size_t target = 0; target < t; ++target) {
        for (std::size_t j = 0; j < d; ++j) signs[target * p + j] = -coef(target, j);
        signs[target * p + d + target] = 1;
    }
    const Chunks chunks = detail::sample_chunks(sample.rows(), d + t, t * (p + 1));
    std::vector<std::vector<double>> partial(chunks.count, std::vector<double>(t * (p + 1), 0.0));
    const double work = static_cast<double>(sample.rows()) * static_cast<double>(d * t);
    detail::for_each_block<T, double>(
        sample, means, p, chunks, threads.for_work(work), [&](const double* block, std::size_t n, std::size_t, std::size_t chunk) {
            for (std::size_t target = 0; target < t; ++target)
                for (std::size_t i = 0; i < n; ++i)
                    detail::add_residual(block + i * p, signs.data() + target * p, p, partial[chunk].data() + target * (p + 1));
        });
    for (std::size_t target = 0; target < t; ++target) {
        std::fill_n(gradient.row(target), d, 0.0);
        squares[target] = 0;
        for (const auto& sums : partial) {
            for (std::size_t j = 0; j < d; ++j) gradient(target, j) += sums[target * (p + 1) + j];
            squares[target] += sums[target * (p + 1) + p];
        }
    }
}

}  // namespace mercer::linear_model
