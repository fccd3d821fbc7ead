// X by columns: dense or sparse is a type, and both answer the same questions.
#pragma once

#include <cstddef>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::linear_model {

// Dense columns; fast where they are contiguous.
struct DenseColumns {
    static constexpr bool kIsDense = true;  // every column has every row, in order
    Matrix<const double> x;

    std::size_t rows() const { return x.rows; }
    std::size_t cols() const { return x.cols; }
    std::size_t n_entries() const { return x.rows * x.cols; }
    // The sum of term(row, value) over the entries of a column.
    template <class Term>
    double sum(std::size_t j, Term&& term) const {
        return lane_sum(x.rows, [&](std::size_t i) { return term(i, x(i, j)); });
    }
    template <class Body>
    void for_each(std::size_t j, Body&& body) const {
        for (std::size_t i = 0; i < x.rows; ++i) body(i, x(i, j));
    }
};

// Sparse columns: the rows of a compressed matrix are the columns of X.
struct SparseColumns {
    static constexpr bool kIsDense = false;
    Csr<double> x;

    std::size_t rows() const { return x.cols; }
    std::size_t cols() const { return x.rows; }
    std::size_t n_entries() const { return x.values.size(); }
    std::size_t row(std::size_t entry) const { return static_cast<std::size_t>(x.columns[entry]); }
    template <class Term>
    double sum(std::size_t j, Term&& term) const {
        double sums[4] = {};  // four at a time: additions need not wait for one another
        std::size_t e = x.begin(j);
        for (; e + 4 <= x.end(j); e += 4)
            for (std::size_t k = 0; k < 4; ++k) sums[k] += term(row(e + k), x.values[e + k]);
        for (; e < x.end(j); ++e) sums[0] += term(row(e), x.values[e]);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    template <class Body>
    void for_each(std::size_t j, Body&& body) const {
        for (std::size_t e = x.begin(j); e < x.end(j); ++e) body(row(e), x.values[e]);
    }
};

// out[j * n_outputs + k] = the product of column j and the values of output k (rows x n_outputs). O(entries K).
template <class Columns>
void column_products(const Columns& columns, RowMajor<const double> values, RowMajor<double> out, Threads threads) {
    const std::size_t n_outputs = values.cols;
    std::vector<double> transposed;
    const double* of_outputs = values.data;
    if (n_outputs > 1) {
        transposed.resize(values.size());
        for (std::size_t i = 0; i < values.rows; ++i)
            for (std::size_t k = 0; k < n_outputs; ++k) transposed[k * values.rows + i] = values(i, k);
        of_outputs = transposed.data();
    }
    const Chunks chunks = Chunks::of(columns.cols(), 16, 256);
    const double work = 2.0 * static_cast<double>(columns.n_entries()) * static_cast<double>(n_outputs);
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        for (std::size_t j = chunks.begin(chunk); j < chunks.end(chunk); ++j)
            for (std::size_t k = 0; k < n_outputs; ++k)
                out(j, k) = columns.sum(j, [&](std::size_t i, double v) { return v * of_outputs[k * values.rows + i]; });
    });
}

}  // namespace mercer::linear_model
