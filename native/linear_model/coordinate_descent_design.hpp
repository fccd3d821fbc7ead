// The matrix A of a least-squares problem ||b - A w||^2 as coordinate descent sees it: products of its columns, never A itself.
//
// A is X minus the means of its columns (where centred), each row times the root of its weight. Dense X is read in place in C or
// Fortran order and its working columns are copied; sparse X is read in place and centred by arithmetic. Vectors of rows hold one
// run of n values for each task. All sums are in double precision and in an order that depends on the shape alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::linear_model {

using Column = std::int32_t;

// The lower triangle of a growing Gram matrix, as a full symmetric one with a leading dimension that leaves room to grow.
class GrowingGram {
   public:
    std::size_t size() const { return size_; }
    std::size_t stride() const { return stride_; }
    double* row(std::size_t i) { return values_.data() + i * stride_; }
    const double* data() const { return values_.data(); }

    void resize(std::size_t size) {
        if (size > stride_) {
            const std::size_t stride = Simd<double>::round_up(std::max(size, 2 * stride_));
            std::vector<double> wider(stride * stride, 0.0);
            for (std::size_t i = 0; i < size_; ++i) std::copy_n(row(i), size_, wider.data() + i * stride);
            values_ = std::move(wider);
            stride_ = stride;
        }
        size_ = size;
    }

   private:
    std::vector<double> values_;
    std::size_t size_ = 0;
    std::size_t stride_ = 0;
};

class Design {
   public:
    Design(std::size_t n_rows, std::size_t n_columns) : n_rows_(n_rows), means_(n_columns, 0.0), squares_(n_columns, 0.0) {}
    virtual ~Design() = default;
    Design(const Design&) = delete;
    Design& operator=(const Design&) = delete;

    std::size_t rows() const { return n_rows_; }
    std::size_t cols() const { return means_.size(); }
    double weight() const { return weight_; }                     // of all rows
    std::span<const double> means() const { return means_; }      // of the columns of X; 0 where not centred
    std::span<const double> squares() const { return squares_; }  // of the norms of the columns of A; 0 for a constant column

    // out[j n_tasks + t] = a_j' r_t for every column. O(n d n_tasks), parallel over columns.
    virtual void correlate(std::span<const double> r, std::size_t n_tasks, std::span<double> out, Threads threads) const = 0;
    // The same for some columns only; the rest of `out` is left alone.
    virtual void correlate_some(std::span<const Column> columns, std::span<const double> r, std::size_t n_tasks,
                                std::span<double> out, Threads threads) const = 0;
    // How much dearer a column is alone than among all: what correlate_some has to be worth.
    virtual double cost_of_one() const = 0;

    // Makes these columns ready for the functions below, which know them by their place: columns are only ever added.
    virtual void add_columns(std::span<const Column> columns, Threads threads) = 0;
    // Fills the rows and columns of the Gram matrix from `first` on. O(n (size - first) size).
    virtual void fill_gram(std::size_t first, GrowingGram& gram, Threads threads) const = 0;
    virtual double dot(std::size_t place, std::span<const double> r) const = 0;         // a' r
    virtual void add(std::size_t place, double factor, std::span<double> r) const = 0;  // r += factor a

   protected:
    double root(std::size_t row) const { return roots_.empty() ? 1.0 : roots_[row]; }

    template <Real T>
    void take_weights(std::span<const T> weights) {
        weight_ = static_cast<double>(n_rows_);
        if (weights.empty()) return;
        weight_ = lane_sum(n_rows_, [&](std::size_t i) { return static_cast<double>(weights[i]); });
        roots_.resize(n_rows_);
        for (std::size_t i = 0; i < n_rows_; ++i) roots_[i] = std::sqrt(static_cast<double>(weights[i]));
    }

    // Row vectors times the roots of the weights, so that X itself can be read as it is; and the sum of each.
    struct Weighted {
        std::vector<double> scaled;
        std::span<const double> values;
        std::vector<double> sums;
    };
    Weighted weighted(std::span<const double> r, std::size_t n_tasks) const {
        Weighted result{{}, r, std::vector<double>(n_tasks)};
        if (!roots_.empty()) {
            result.scaled.resize(r.size());
            for (std::size_t t = 0; t < n_tasks; ++t)
                for (std::size_t i = 0; i < n_rows_; ++i) result.scaled[t * n_rows_ + i] = r[t * n_rows_ + i] * roots_[i];
            result.values = result.scaled;
        }
        for (std::size_t t = 0; t < n_tasks; ++t)
            result.sums[t] = lane_sum(n_rows_, [&](std::size_t i) { return result.values[t * n_rows_ + i]; });
        return result;
    }

    // A column whose norm is within rounding of its mean is constant: what is left of it would look like data.
    void drop_constant_columns(double relative) {
        for (std::size_t j = 0; j < cols(); ++j)
            if (squares_[j] <= weight_ * (means_[j] * relative) * (means_[j] * relative)) squares_[j] = 0;
    }

    std::size_t n_rows_;
    double weight_ = 0;
    std::vector<double> means_;
    std::vector<double> squares_;
    std::vector<double> roots_;  // of the weights; empty where all are one
};

namespace detail {

inline constexpr std::size_t kColumnBlock = 256;

inline Chunks column_blocks(std::size_t n_columns) {
    return {n_columns, std::max<std::size_t>((n_columns + kColumnBlock - 1) / kColumnBlock, 1)};
}

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
    S::Vector sums[R][C] = {};
    for (std::size_t i = 0; i < n; i += S::kLanes) {
        S::Vector right[C];
#pragma GCC unroll 4
        for (std::size_t c = 0; c < C; ++c) right[c] = S::load(b[c] + i);
#pragma GCC unroll 4
        for (std::size_t r = 0; r < R; ++r) {
            const S::Vector left = S::load(a[r] + i);
#pragma GCC unroll 4
            for (std::size_t c = 0; c < C; ++c) sums[r][c] += left * right[c];
        }
    }
    for (std::size_t r = 0; r < R; ++r)
        for (std::size_t c = 0; c < C; ++c) {
            double sum = 0;
            for (std::size_t lane = 0; lane < S::kLanes; ++lane) sum += sums[r][c][lane];
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
        for (std::size_t i = first; i < gram.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) gram.row(j)[i] = gram.row(i)[j];
    }

    double dot(std::size_t place, std::span<const double> r) const override {
        const double* a = packed_[place].data();
        const double* b = r.data();
        return lane_sum(rows(), [=](std::size_t i) { return a[i] * b[i]; });
    }
    void add(std::size_t place, double factor, std::span<double> r) const override {
        const double* a = packed_[place].data();
        for (std::size_t i = 0; i < rows(); ++i) r[i] += factor * a[i];
    }

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

// Compressed sparse columns. Whoever makes one has checked the structure.
template <class T>
struct Csc {
    std::span<const T> values;
    std::span<const std::int32_t> rows_of;
    std::span<const std::int32_t> column_starts;  // columns + 1 offsets
    std::size_t rows = 0;
    std::size_t cols = 0;

    std::size_t begin(std::size_t j) const { return static_cast<std::size_t>(column_starts[j]); }
    std::size_t end(std::size_t j) const { return static_cast<std::size_t>(column_starts[j + 1]); }
};

// Sparse X: its entries are read in place, and what centring changes is added to each product.
template <Real T>
class SparseDesign : public Design {
   public:
    // O(n + nnz).
    SparseDesign(Csc<T> x, std::span<const T> weights, bool is_centred) : Design(x.rows, x.cols), x_(x) {
        take_weights(weights);
        for (std::size_t j = 0; j < x.cols; ++j) measure(j, is_centred);
        // Roots times means: what centring subtracts from each row.
        if (roots_.empty())
            shifts_.assign(x.rows, 1.0);
        else
            shifts_ = roots_;
    }

    void correlate(std::span<const double> r, std::size_t n_tasks, std::span<double> out, Threads threads) const override {
        const Weighted v = weighted(r, n_tasks);
        const Chunks blocks = detail::column_blocks(cols());
        const double work = 2.0 * static_cast<double>(x_.values.size() * n_tasks);
        parallel_for(blocks.count, threads.for_work(work), [&](std::size_t block) {
            for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) correlate_one(j, v, n_tasks, out);
        });
    }

    void correlate_some(std::span<const Column> columns, std::span<const double> r, std::size_t n_tasks, std::span<double> out,
                        Threads) const override {
        const Weighted v = weighted(r, n_tasks);
        for (const Column j : columns) correlate_one(static_cast<std::size_t>(j), v, n_tasks, out);
    }

    double cost_of_one() const override { return 1.5; }

    void add_columns(std::span<const Column> columns, Threads) override {
        for (const Column j : columns) places_.push_back(static_cast<std::size_t>(j));
    }

    void fill_gram(std::size_t first, GrowingGram& gram, Threads threads) const override {
        const Chunks blocks = Chunks::of(gram.size() - first, 8, 64);
        parallel_for(blocks.count, threads, [&](std::size_t block) {
            std::vector<double> column(rows(), 0.0);
            for (std::size_t k = blocks.begin(block); k < blocks.end(block); ++k) gram_row(first + k, column, gram);
        });
        for (std::size_t i = first; i < gram.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) gram.row(j)[i] = gram.row(i)[j];
    }

    double dot(std::size_t place, std::span<const double> r) const override {
        const std::size_t j = places_[place];
        double sum = 0;
        if (!(squares_[j] > 0)) return 0;
        for (std::size_t k = x_.begin(j); k < x_.end(j); ++k) {
            const auto row = static_cast<std::size_t>(x_.rows_of[k]);
            sum += root(row) * static_cast<double>(x_.values[k]) * r[row];
        }
        if (means_[j] != 0) sum -= means_[j] * lane_sum(rows(), [&](std::size_t i) { return shifts_[i] * r[i]; });
        return sum;
    }
    void add(std::size_t place, double factor, std::span<double> r) const override {
        const std::size_t j = places_[place];
        if (!(squares_[j] > 0)) return;
        for (std::size_t k = x_.begin(j); k < x_.end(j); ++k) {
            const auto row = static_cast<std::size_t>(x_.rows_of[k]);
            r[row] += factor * root(row) * static_cast<double>(x_.values[k]);
        }
        const double shift = factor * means_[j];
        if (shift != 0)
            for (std::size_t i = 0; i < rows(); ++i) r[i] -= shift * shifts_[i];
    }

   private:
    void measure(std::size_t j, bool is_centred) {
        double sum = 0, squares = 0, weight = 0;
        for (std::size_t k = x_.begin(j); k < x_.end(j); ++k) {
            const double r = root(static_cast<std::size_t>(x_.rows_of[k]));
            sum += r * r * static_cast<double>(x_.values[k]);
            weight += r * r;
        }
        if (is_centred && weight_ > 0) means_[j] = sum / weight_;
        // About the mean: the entries, and the rows that have none.
        for (std::size_t k = x_.begin(j); k < x_.end(j); ++k) {
            const double deviation =
                root(static_cast<std::size_t>(x_.rows_of[k])) * (static_cast<double>(x_.values[k]) - means_[j]);
            squares += deviation * deviation;
        }
        const double absent = std::max(weight_ - weight, 0.0);
        squares += absent * means_[j] * means_[j];
        const double noise = 8 * std::numeric_limits<double>::epsilon() * means_[j];
        squares_[j] = squares > weight_ * noise * noise || !is_centred ? squares : 0.0;
    }

    void correlate_one(std::size_t j, const Weighted& v, std::size_t n_tasks, std::span<double> out) const {
        for (std::size_t t = 0; t < n_tasks; ++t) {
            double sum = 0;
            const double* values = v.values.data() + t * rows();
            for (std::size_t k = x_.begin(j); k < x_.end(j); ++k)
                sum += static_cast<double>(x_.values[k]) * values[static_cast<std::size_t>(x_.rows_of[k])];
            out[j * n_tasks + t] = squares_[j] > 0 ? sum - means_[j] * v.sums[t] : 0.0;
        }
    }

    // Row `place` of the Gram matrix up to the diagonal; `column` is all zero before and after.
    void gram_row(std::size_t place, std::vector<double>& column, GrowingGram& gram) const {
        const std::size_t j = places_[place];
        for (std::size_t k = x_.begin(j); k < x_.end(j); ++k) {
            const auto row = static_cast<std::size_t>(x_.rows_of[k]);
            column[row] = root(row) * root(row) * static_cast<double>(x_.values[k]);
        }
        for (std::size_t other = 0; other < place; ++other) {
            const std::size_t i = places_[other];
            double sum = 0;
            for (std::size_t k = x_.begin(i); k < x_.end(i); ++k)
                sum += static_cast<double>(x_.values[k]) * column[static_cast<std::size_t>(x_.rows_of[k])];
            const bool is_constant = !(squares_[i] > 0) || !(squares_[j] > 0);
            gram.row(place)[other] = is_constant ? 0.0 : sum - weight_ * means_[i] * means_[j];
        }
        gram.row(place)[place] = squares_[j];
        for (std::size_t k = x_.begin(j); k < x_.end(j); ++k) column[static_cast<std::size_t>(x_.rows_of[k])] = 0;
    }

    Csc<T> x_;
    std::vector<double> shifts_;       // the column of ones as A would have it: the roots of the weights
    std::vector<std::size_t> places_;  // the working columns
};

}  // namespace mercer::linear_model
