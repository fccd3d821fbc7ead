// Centred rows A = diag(roots of weights) (X - 1 means'), never formed: products with A and A', and A A' for X with more columns
// than rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "core/chunk_sums.hpp"
#include "core/parallel.hpp"
#include "core/product.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/normal_equations.hpp"

namespace mercer::linear_model {

template <Real T>
struct CentredRows {
    Matrix<const T> x;
    std::span<const T> weights;     // empty: all one
    std::span<const double> means;  // one a column

    double weight(std::size_t row) const { return weights.empty() ? 1.0 : static_cast<double>(weights[row]); }
    double root(std::size_t row) const { return weights.empty() ? 1.0 : std::sqrt(weight(row)); }
};

namespace detail {

// Calls body(value of x(row, j), j) for the columns [first, last), so that contiguous rows are read as vectors.
template <Real T, class Body>
[[gnu::always_inline]] inline void for_columns(Matrix<const T> x, std::size_t row, std::size_t first, std::size_t last,
                                               Body&& body) {
    if (x.has_contiguous_rows()) {
        const T* source = x.row(row);
        for (std::size_t j = first; j < last; ++j) body(static_cast<double>(source[j]), j);
    } else {
        for (std::size_t j = first; j < last; ++j) body(static_cast<double>(x(row, j)), j);
    }
}

// The columns of A as lines of a product, each as long as A has rows. Columns are taken about their first value, in full precision,
// before they are centred: a narrow type loses nothing to columns far from zero, and constant columns are exactly zero. Their means
// are found as they are packed, so that X is read once.
template <Real T, Real P>
class ColumnSource {
   public:
    // Writes the weighted means of the columns to `means` if they are to be centred, else zero.
    ColumnSource(Matrix<const T> x, std::span<const T> weights, bool is_centred, std::span<double> means)
        : columns_{{x.data, x.cols, x.rows, x.col_stride, x.row_stride}},
          is_centred_(is_centred),
          means_(means),
          weights_(padded(x.rows)),
          roots_(padded(x.rows)) {
        const CentredRows<T> a{x, weights, means};
        std::fill_n(weights_.data(), weights_.size(), 0.0);
        std::fill_n(roots_.data(), roots_.size(), P{0});
        for (std::size_t i = 0; i < x.rows; ++i) {
            weights_[i] = a.weight(i);
            roots_[i] = static_cast<P>(a.root(i));
            total_ += weights_[i];
        }
        while (origin_ + 1 < x.rows && !(weights_[origin_] > 0)) ++origin_;
    }

    std::size_t depth() const { return columns_.depth(); }
    std::size_t width() const { return columns_.width(); }

    // All columns of the product at once, as symmetric products ask for them: a mean needs all rows.
    void pack(std::size_t first, std::size_t last, std::size_t begin, std::size_t end, PanelLines<P> lines) const {
        columns_.pack(first, last, begin, end, lines);
        const std::size_t n_panels = Panel<P>::count(end - begin);
        for (std::size_t k = first; k < last; ++k) {
            const P base = is_centred_ ? static_cast<P>(columns_.x(k, origin_)) : P{0};
            const double sum = is_centred_ ? deviation(lines, (k - first) * kWidth, n_panels, base) : 0.0;
            const double offset = is_centred_ ? sum / total_ : 0.0;
            means_[k] = static_cast<double>(base) + offset;
            for (std::size_t p = 0; p < n_panels; ++p)
                centre(lines.panel(p) + (k - first) * kWidth, roots_.data() + p * kWidth, base, static_cast<P>(offset));
        }
    }

   private:
    static constexpr std::size_t kWidth = Panel<P>::kWidth;
    static std::size_t padded(std::size_t n) { return Panel<P>::count(n) * kWidth; }

    // The weighted sum of a line less its base, over all panels.
    double deviation(PanelLines<P> lines, std::size_t at, std::size_t n_panels, P base) const {
        double sums[kWidth] = {};
        for (std::size_t p = 0; p < n_panels; ++p) {
            const P* const line = lines.panel(p) + at;
            const double* const weights = weights_.data() + p * kWidth;
            for (std::size_t c = 0; c < kWidth; ++c)
                sums[c] += weights[c] * (static_cast<double>(line[c]) - static_cast<double>(base));
        }
        return std::accumulate(sums, sums + kWidth, 0.0);
    }
    static void centre(P* line, const P* roots, P base, P offset) {
        for (std::size_t c = 0; c < kWidth; ++c) line[c] = ((line[c] - base) - offset) * roots[c];
    }

    StridedSource<T, P> columns_;
    bool is_centred_;
    std::span<double> means_;
    Aligned<double> weights_;  // zero beyond the rows
    Aligned<P> roots_;
    double total_ = 0;
    std::size_t origin_ = 0;
};

}  // namespace detail

// Writes A A' to `gram` (rows x rows, both triangles) and the means of the columns to `means` (zero if not centred): each block of
// columns is read once. Products are taken in the type P: with float, twice as fast, as if A were known to single precision alone.
// O(n^2 d).
template <Real T, Real P = double>
void row_gram(Matrix<const T> x, std::span<const T> weights, bool is_centred, RowMajor<double> gram, std::span<double> means,
              Threads threads) {
    const auto n = static_cast<std::ptrdiff_t>(x.rows);
    gram_product<P, double>(detail::ColumnSource<T, P>(x, weights, is_centred, means), 1.0, 0.0, {gram.data, x.rows, x.rows, n, 1},
                            threads);
}

// Writes A coef' to `values` (targets x rows), for the rows of `coef` (targets x columns). In double precision. O(n d t).
template <Real T>
void apply_rows(const CentredRows<T>& a, RowMajor<const double> coef, RowMajor<double> values, Threads threads) {
    const std::size_t d = a.x.cols;
    const Chunks chunks = Chunks::of(a.x.rows, std::max<std::size_t>(32768 / (d + 1), 1), 64);
    const double work = static_cast<double>(a.x.rows) * static_cast<double>(d * coef.rows);
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            for (std::size_t t = 0; t < coef.rows; ++t) {
                const double* w = coef.row(t);
                const T* source = a.x.row(i);
                const double sum =
                    a.x.has_contiguous_rows()
                        ? lane_sum(d, [&](std::size_t j) { return (static_cast<double>(source[j]) - a.means[j]) * w[j]; })
                        : lane_sum(d, [&](std::size_t j) { return (static_cast<double>(a.x(i, j)) - a.means[j]) * w[j]; });
                values(t, i) = sum * a.root(i);
            }
        }
    });
}

// Writes A' v to each row of `coef` (targets x columns), for the rows v of `duals` (targets x rows). In double precision. O(n d t).
template <Real T>
void apply_columns(const CentredRows<T>& a, RowMajor<const double> duals, RowMajor<double> coef, Threads threads) {
    const std::size_t d = a.x.cols;
    const std::size_t size = duals.rows * d;
    const Chunks bands = Chunks::of(a.x.rows, 2048, std::clamp<std::size_t>(a.x.rows / 64, 1, 16));
    const Chunks columns = Chunks::of(d, 256, 64);
    ChunkSums<double> parts(bands, std::span<double>(coef.data, size));
    const double work = static_cast<double>(a.x.rows) * static_cast<double>(size);
    parallel_for(bands.count * columns.count, threads.for_work(work), [&](std::size_t task) {
        const std::size_t band = task / columns.count;
        const std::size_t first = columns.begin(task % columns.count);
        const std::size_t last = columns.end(task % columns.count);
        for (std::size_t i = bands.begin(band); i < bands.end(band); ++i) {
            const double root = a.root(i);
            for (std::size_t t = 0; t < duals.rows; ++t) {
                const double dual = duals(t, i) * root;
                double* sums = parts[band] + t * d;
                detail::for_columns(a.x, i, first, last,
                                    [&](double value, std::size_t j) { sums[j] += dual * (value - a.means[j]); });
            }
        }
    });
    parts.total();
}

}  // namespace mercer::linear_model
