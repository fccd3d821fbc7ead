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

#include "core/cholesky.hpp"
#include "core/lapack.hpp"
#include "core/pack.hpp"
#include "core/parallel.hpp"
#include "core/product.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/column_runs.hpp"
#include "linear_model/sample.hpp"

namespace mercer::linear_model {

namespace detail {

using S = Simd<double>;

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
        const std::size_t size = capacity * p + Panel<P>::kRows;  // what `add_gram_of_rows` wants behind the last row
        Aligned<P> block(size);
        std::fill_n(block.data(), size, P{0});
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

// gram(i, j) = gram(j, i) -= weight offset_i offset_j for i <= j, from the upper triangle; no square is negative. O(q^2).
inline void remove_means(RowMajor<double> gram, double weight, std::span<const double> offset, Threads threads) {
    const std::size_t q = gram.rows;
    const Matrix<double> view{gram.data, q, q, static_cast<std::ptrdiff_t>(q), 1};
    constexpr std::size_t kBand = 64;
    parallel_for((q + kBand - 1) / kBand, threads.for_work(static_cast<double>(q * q)), [&](std::size_t band) {
        const std::size_t first = band * kBand, last = std::min(first + kBand, q);
        for (std::size_t i = first; i < last; ++i) {
            for (std::size_t j = i; j < q; ++j) gram(i, j) -= weight * offset[i] * offset[j];
            if (gram(i, i) < 0) gram(i, i) = 0;
        }
        mercer::detail::mirror_tile(view, first, first, last - first, q - first);
    });
}

// What a pass over the sample [X, y] - shift leaves: the upper triangle of its Gram matrix (q x q, in `gram`) and its weighted
// sums.
struct ShiftedSums {
    double weight = 0;
    std::vector<double> sums;  // one a column
};

// As below, for a few columns.
template <Real T>
ShiftedSums shifted_gram_of_runs(const Sample<T>& sample, std::span<const double> shift, RowMajor<double> gram, Threads threads) {
    const std::size_t q = sample.cols(), n_runs = q + 1;
    const std::size_t stride = ColumnRuns::round_up(n_runs);
    const std::size_t size = n_runs * stride;
    const Chunks chunks = sample_chunks(sample.rows(), q, size);
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
    const auto total = [&](std::size_t i, std::size_t j) {
        double sum = 0;
        for (std::size_t chunk = 0; chunk < chunks.count; ++chunk) sum += partial[chunk * size + j * stride + i];
        return sum;
    };
    ShiftedSums found{total(q, q), std::vector<double>(q)};
    for (std::size_t i = 0; i < q; ++i) {
        found.sums[i] = total(i, q);
        for (std::size_t j = i; j < q; ++j) gram(i, j) = total(i, j);
    }
    return found;
}

// [X, y] - shift, times the roots of the weights, as a factor of a product; its columns' weighted sums are taken on the way.
template <Real T, Real P>
class SampleSource {
   public:
    SampleSource(const Sample<T>& sample, std::span<const P> shift)
        : roots_(sample.weights.empty() ? 0 : sample.rows()),
          columns_{{sample.x, shift.first(sample.x.cols), roots_}, {sample.y, shift.subspan(sample.x.cols), roots_}},
          n_pieces_((sample.rows() + kPieceDepth - 1) / kPieceDepth),
          stride_(Panel<P>::count(sample.cols()) * Panel<P>::kWidth),
          sums_(n_pieces_ * stride_) {
        for (std::size_t i = 0; i < roots_.size(); ++i) roots_[i] = static_cast<P>(sample.root_weight(i));
    }
    SampleSource(const SampleSource&) = delete;
    SampleSource& operator=(const SampleSource&) = delete;

    std::size_t depth() const { return columns_.depth(); }
    std::size_t width() const { return columns_.width(); }

    void pack(std::size_t first, std::size_t last, std::size_t begin, std::size_t end, PanelLines<P> lines) const {
        columns_.pack(first, last, begin, end, lines);
        P* const sums = sums_.data() + first / kPieceDepth * stride_ + begin;
        for (std::size_t p = 0; p < Panel<P>::count(end - begin); ++p) add_lines(lines.panel(p), first, last, sums + p * kWidth);
    }

    // O(columns rows / kPieceDepth).
    std::vector<double> sums() const {
        std::vector<double> total(width(), 0.0);
        for (std::size_t piece = 0; piece < n_pieces_; ++piece)
            for (std::size_t j = 0; j < total.size(); ++j) total[j] += static_cast<double>(sums_[piece * stride_ + j]);
        return total;
    }

   private:
    using L = Simd<P>;
    static constexpr std::size_t kWidth = Panel<P>::kWidth;

    void add_lines(const P* line, std::size_t first, std::size_t last, P* sums) const {
        typename L::Vector total[Panel<P>::kVectors] = {};
        for (std::size_t k = first; k < last; ++k, line += kWidth) {
            const typename L::Vector root = L::broadcast(roots_.empty() ? P{1} : roots_[k]);
            for (std::size_t v = 0; v < Panel<P>::kVectors; ++v) total[v] += root * L::load(line + v * L::kLanes);
        }
        for (std::size_t v = 0; v < Panel<P>::kVectors; ++v) L::store(sums + v * L::kLanes, total[v]);
    }

    std::vector<P> roots_;  // empty: all one
    JoinedSource<P, StridedSource<T, P>, StridedSource<T, P>> columns_;
    std::size_t n_pieces_;
    std::size_t stride_;
    Aligned<P> sums_;
};

// Writes the Gram matrix of [X, y] - shift to `gram`, at least its upper triangle. Within a block of rows, sums are taken in the
// type P.
template <Real T, Real P>
ShiftedSums shifted_gram(const Sample<T>& sample, std::span<const P> shift, RowMajor<double> gram, Threads threads) {
    if constexpr (std::same_as<P, double>) {
        if (sample.cols() < ColumnRuns::kMostRuns) return shifted_gram_of_runs(sample, shift, gram, threads);
    }
    const std::size_t q = sample.cols();
    const SampleSource<T, P> source(sample, shift);
    gram_product<P, double>(source, 1.0, 0.0, {gram.data, q, q, static_cast<std::ptrdiff_t>(q), 1}, threads);
    ShiftedSums found{static_cast<double>(sample.rows()), source.sums()};
    if (!sample.weights.empty())
        found.weight = std::accumulate(sample.weights.begin(), sample.weights.end(), 0.0,
                                       [](double sum, T w) { return sum + static_cast<double>(w); });
    return found;
}

}  // namespace detail

// Writes the Gram matrix of [X, y] to `gram` (both triangles, centred if asked for) and the means of its columns to `means` (zero
// if not centred). Returns the total weight. One pass over the data, and a second where the rough means were so far off that
// centring would lose more than two digits. Products are taken in the type P: with float, twice as fast, a few units of its last
// place are lost, as if X were known no better. O(n (d + t)^2).
template <Real T, Real P = double>
double centred_gram(const Sample<T>& sample, bool is_centred, RowMajor<double> gram, std::span<double> means, Threads threads) {
    const std::size_t q = sample.cols();
    std::vector<P> shift(q, P{0});
    if (is_centred) std::ranges::transform(detail::rough_means(sample), shift.begin(), detail::narrowed<P>);
    for (bool is_last = !is_centred;; is_last = true) {
        const auto [weight, sums] = detail::shifted_gram<T, P>(sample, shift, gram, threads);
        bool is_lost = false;
        std::vector<double> offset(q, 0.0);
        for (std::size_t j = 0; j < q; ++j) {
            if (is_centred && weight > 0) offset[j] = sums[j] / weight;
            means[j] = static_cast<double>(shift[j]) + offset[j];
            const double removed = weight * offset[j] * offset[j];
            is_lost |= removed > 100 * (gram(j, j) - removed) && std::abs(offset[j]) > 1e-14 * std::abs(means[j]);
        }
        if (is_lost && !is_last) {
            std::ranges::transform(means, shift.begin(), detail::narrowed<P>);
            continue;
        }
        detail::remove_means(gram, weight, offset, threads);
        return weight;
    }
}

// Solves gram coef' = moments' for every row of `moments` (targets x features) by Cholesky after scaling the diagonal to one.
// Writes the scaled factor to `factor` (lower triangle in row-major order) and the scales to `scales`. Returns the estimated
// reciprocal condition number of the scaled matrix, or 0 where it is not positive definite (then `coef` is not written). O(d^3).
inline double solve_scaled(Matrix<const double> gram, Matrix<const double> moments, RowMajor<double> factor,
                           std::span<double> scales, RowMajor<double> coef, Threads threads) {
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
    const Matrix<double> l{factor.data, d, d, static_cast<std::ptrdiff_t>(d), 1};
    if (!factor_cholesky(l, threads)) return 0;
    for (std::size_t i = 0; i < d; ++i) std::fill(factor.row(i) + i + 1, factor.row(i) + d, 0.0);
    for (std::size_t t = 0; t < moments.rows; ++t)
        for (std::size_t j = 0; j < d; ++j) coef(t, j) = moments(t, j) * scales[j];
    const Matrix<const double> fixed{l.data, d, d, l.row_stride, 1};
    const Matrix<double> sides{coef.data, coef.rows, d, static_cast<std::ptrdiff_t>(d), 1};
    solve_lower(fixed, sides, threads);
    solve_lower_transposed(fixed, sides, threads);
    for (std::size_t t = 0; t < moments.rows; ++t)
        for (std::size_t j = 0; j < d; ++j) coef(t, j) *= scales[j];
    return lapack::pocon(RowMajor<const double>{factor.data, d, d}, norm);
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
