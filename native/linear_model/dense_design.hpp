// The design of a dense X: read in place in C or Fortran order, its working columns copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/block_products.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/coordinate_descent_design.hpp"

namespace mercer::linear_model {

namespace detail {

// sums[j] += factors[k] x(first_row + k, first + j) for n rows that are contiguous.
template <Real T>
void add_rows(Matrix<const T> x, std::size_t first, std::size_t n_columns, std::span<const double> factors, double* sums) {
    std::size_t i = 0;
    for (; i + 4 <= factors.size(); i += 4) {
        const T* a = x.row(i) + first;
        const T* b = x.row(i + 1) + first;
        const T* c = x.row(i + 2) + first;
        const T* d = x.row(i + 3) + first;
        const double fa = factors[i], fb = factors[i + 1], fc = factors[i + 2], fd = factors[i + 3];
        for (std::size_t j = 0; j < n_columns; ++j)
            sums[j] += fa * static_cast<double>(a[j]) + fb * static_cast<double>(b[j]) +
                       (fc * static_cast<double>(c[j]) + fd * static_cast<double>(d[j]));
    }
    for (; i < factors.size(); ++i)
        for (std::size_t j = 0; j < n_columns; ++j) sums[j] += factors[i] * static_cast<double>(x.row(i)[first + j]);
}

// dots[r][c] = a_r' b_c over n doubles, n in whole vectors.
template <std::size_t R, std::size_t C>
[[gnu::always_inline]] inline void dot_tile(const double* const* a, const double* const* b, std::size_t n, double (*dots)[4]) {
    using S = Simd<double>;
    S::Vector sums[C][R];
    dot_lines<R, C>([=](std::size_t r) { return a[r]; }, [=](std::size_t c) { return b[c]; }, n, sums);
    for (std::size_t r = 0; r < R; ++r)
        for (std::size_t c = 0; c < C; ++c) {
            double sum = 0;
            for (std::size_t lane = 0; lane < S::kLanes; ++lane) sum += sums[c][r][lane];
            dots[r][c] = sum;
        }
}

}  // namespace detail

// Dense X whose rows or columns are contiguous.
template <Real T>
class DenseDesign : public Design {
   public:
    // Reads X once or twice. O(n d).
    DenseDesign(Matrix<const T> x, std::span<const T> weights, bool is_centred, Threads threads)
        : Design(x.rows, x.cols), x_(x), padded_rows_(Simd<double>::round_up(x.rows)) {
        take_weights(weights);
        measure(is_centred, threads);
        if (is_centred) drop_constant_columns(8 * std::numeric_limits<double>::epsilon());
    }

    void correlate(std::span<const double> r, std::size_t n_tasks, std::span<double> out, Threads threads) const override {
        const Weighted v = weighted(r, n_tasks);
        const Chunks blocks = detail::column_blocks(cols());
        const double work = static_cast<double>(rows()) * static_cast<double>(cols() * n_tasks);
        parallel_for(blocks.count, threads.for_work(work), [&](std::size_t block) {
            const std::size_t first = blocks.begin(block), last = blocks.end(block);
            std::vector<double> sums(last - first);
            for (std::size_t t = 0; t < n_tasks; ++t) {
                const auto values = v.values.subspan(t * rows(), rows());
                if (x_.has_contiguous_rows()) {
                    std::fill(sums.begin(), sums.end(), 0.0);
                    detail::add_rows(x_, first, last - first, values, sums.data());
                } else {
                    for (std::size_t j = first; j < last; ++j) sums[j - first] = column_sum(j, values);
                }
                for (std::size_t j = first; j < last; ++j)
                    out[j * n_tasks + t] = squares_[j] > 0 ? sums[j - first] - means_[j] * v.sums[t] : 0.0;
            }
        });
    }

    void correlate_some(std::span<const Column> columns, std::span<const double> r, std::size_t n_tasks, std::span<double> out,
                        Threads threads) const override {
        const Weighted v = weighted(r, n_tasks);
        const Chunks blocks = detail::column_blocks(columns.size());
        const double work = static_cast<double>(rows()) * static_cast<double>(columns.size() * n_tasks);
        parallel_for(blocks.count, threads.for_work(work), [&](std::size_t block) {
            for (std::size_t k = blocks.begin(block); k < blocks.end(block); ++k) {
                const auto j = static_cast<std::size_t>(columns[k]);
                for (std::size_t t = 0; t < n_tasks; ++t) {
                    const double sum = column_sum(j, v.values.subspan(t * rows(), rows()));
                    out[j * n_tasks + t] = squares_[j] > 0 ? sum - means_[j] * v.sums[t] : 0.0;
                }
            }
        });
    }

    double cost_of_one() const override { return x_.has_contiguous_rows() && x_.cols > 1 ? 10.0 : 1.5; }

    void add_columns(std::span<const Column> columns, Threads threads) override {
        const std::size_t old = packed_.size();
        for (std::size_t k = 0; k < columns.size(); ++k) packed_.emplace_back(padded_rows_);
        const double work = static_cast<double>(rows()) * static_cast<double>(columns.size());
        parallel_for(columns.size(), threads.for_work(work),
                     [&](std::size_t k) { pack(static_cast<std::size_t>(columns[k]), packed_[old + k].data()); });
    }

    void fill_gram(std::size_t first, GrowingGram& gram, Threads threads) const override {
        const std::size_t n_groups = (gram.size() - first + 3) / 4;
        const double work = static_cast<double>(rows() * (gram.size() - first)) * static_cast<double>(gram.size());
        parallel_for(n_groups, threads.for_work(work), [&](std::size_t group) {
            const std::size_t i = first + 4 * group;
            for (std::size_t j = 0; j < std::min(i + 4, gram.size()); j += 4) gram_tile(i, j, gram);
        });
        gram.mirror(first);
    }

    double dot(std::size_t place, std::span<const double> r, double) const override {
        const double* a = packed_[place].data();
        const double* b = r.data();
        return lane_sum(rows(), [=](std::size_t i) { return a[i] * b[i]; });
    }
    void add(std::size_t place, double factor, std::span<double> r, double&) const override {
        const double* a = packed_[place].data();
        for (std::size_t i = 0; i < rows(); ++i) r[i] += factor * a[i];
    }
    void settle(std::span<double>, double&) const override {}  // packed columns are centred: there is no level

   private:
    double column_sum(std::size_t j, std::span<const double> values) const {
        const T* column = &x_(0, j);
        const double* v = values.data();
        if (x_.row_stride == 1) return lane_sum(rows(), [=](std::size_t i) { return static_cast<double>(column[i]) * v[i]; });
        const std::ptrdiff_t stride = x_.row_stride;
        return lane_sum(rows(),
                        [=](std::size_t i) { return static_cast<double>(column[static_cast<std::ptrdiff_t>(i) * stride]) * v[i]; });
    }

    void measure(bool is_centred, Threads threads) {
        std::vector<double> weights(rows(), 1.0);
        if (!roots_.empty())
            for (std::size_t i = 0; i < rows(); ++i) weights[i] = roots_[i] * roots_[i];
        const bool has_means = is_centred && weight_ > 0;
        const Chunks blocks = detail::column_blocks(cols());
        parallel_for(blocks.count, threads.for_work(2.0 * static_cast<double>(rows() * cols())), [&](std::size_t block) {
            const std::size_t first = blocks.begin(block), last = blocks.end(block);
            if (x_.has_contiguous_rows()) {
                measure_by_rows(first, last, weights, has_means);
            } else {
                for (std::size_t j = first; j < last; ++j) measure_column(j, weights, has_means);
            }
        });
    }

    void measure_by_rows(std::size_t first, std::size_t last, std::span<const double> weights, bool has_means) {
        if (has_means) {
            detail::add_rows(x_, first, last - first, weights, means_.data() + first);
            for (std::size_t j = first; j < last; ++j) means_[j] /= weight_;
        }
        for (std::size_t i = 0; i < rows(); ++i) {
            const T* row = x_.row(i);
            for (std::size_t j = first; j < last; ++j) {
                const double value = static_cast<double>(row[j]) - means_[j];
                squares_[j] += weights[i] * value * value;
            }
        }
    }

    // The second reading finds the column in cache.
    void measure_column(std::size_t j, std::span<const double> weights, bool has_means) {
        if (has_means) means_[j] = column_sum(j, weights) / weight_;
        const double mean = means_[j];
        const T* column = &x_(0, j);
        const std::ptrdiff_t stride = x_.row_stride;
        if (stride == 1) {
            squares_[j] = lane_sum(rows(), [=, w = weights.data()](std::size_t i) {
                const double value = static_cast<double>(column[i]) - mean;
                return w[i] * value * value;
            });
            return;
        }
        squares_[j] = lane_sum(rows(), [=, w = weights.data()](std::size_t i) {
            const double value = static_cast<double>(column[static_cast<std::ptrdiff_t>(i) * stride]) - mean;
            return w[i] * value * value;
        });
    }

    void pack(std::size_t j, double* out) const {
        std::fill(out + rows(), out + padded_rows_, 0.0);
        const double used = squares_[j] > 0 ? 1.0 : 0.0;
        for (std::size_t i = 0; i < rows(); ++i) out[i] = used * root(i) * (static_cast<double>(x_(i, j)) - means_[j]);
    }

    // Entries (i .. i+4, j .. j+4), as far as they exist.
    void gram_tile(std::size_t i, std::size_t j, GrowingGram& gram) const {
        const std::size_t n_left = std::min<std::size_t>(4, gram.size() - i), n_right = std::min<std::size_t>(4, gram.size() - j);
        const double* left[4];
        const double* right[4];
        double dots[4][4];
        for (std::size_t k = 0; k < 4; ++k) {  // what is missing at the edge repeats the last column
            left[k] = packed_[i + std::min(k, n_left - 1)].data();
            right[k] = packed_[j + std::min(k, n_right - 1)].data();
        }
        if constexpr (kVectorRegisters == 32) {
            detail::dot_tile<4, 4>(left, right, padded_rows_, dots);
        } else {
            detail::dot_tile<2, 4>(left, right, padded_rows_, dots);
            detail::dot_tile<2, 4>(left + 2, right, padded_rows_, dots + 2);
        }
        for (std::size_t a = 0; a < n_left; ++a)
            for (std::size_t b = 0; b < n_right; ++b) gram.row(i + a)[j + b] = dots[a][b];
    }

    Matrix<const T> x_;
    std::size_t padded_rows_;
    std::vector<Aligned<double>> packed_;  // the working columns of A, padded with zeros
};

}  // namespace mercer::linear_model
