// The design of a sparse X: read in place and centred by arithmetic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "linear_model/coordinate_descent_design.hpp"

namespace mercer::linear_model {

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
        gram.mirror(first);
    }

    double dot(std::size_t place, std::span<const double> r, double level) const override {
        const std::size_t j = places_[place];
        double sum = 0;
        if (!(squares_[j] > 0)) return 0;
        for (std::size_t k = x_.begin(j); k < x_.end(j); ++k) {
            const auto row = static_cast<std::size_t>(x_.rows_of[k]);
            sum += root(row) * static_cast<double>(x_.values[k]) * r[row];
        }
        return sum - means_[j] * weight_ * level;
    }
    void add(std::size_t place, double factor, std::span<double> r, double& level) const override {
        const std::size_t j = places_[place];
        if (!(squares_[j] > 0)) return;
        for (std::size_t k = x_.begin(j); k < x_.end(j); ++k) {
            const auto row = static_cast<std::size_t>(x_.rows_of[k]);
            r[row] += factor * root(row) * static_cast<double>(x_.values[k]);
        }
        level += factor * means_[j];
    }
    void settle(std::span<double> r, double& level) const override {
        if (level == 0) return;
        for (std::size_t i = 0; i < rows(); ++i) r[i] -= level * root(i);
        level = 0;
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
    std::vector<std::size_t> places_;  // the working columns
};

}  // namespace mercer::linear_model
