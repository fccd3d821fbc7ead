// Products of rows with vectors and with one another, in double precision. Sums by columns for a single vector run on one thread:
// more would need a copy of the sums for each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/chunk_sums.hpp"
#include "core/interrupt.hpp"
#include "core/rows.hpp"

namespace mercer {

namespace detail {

inline constexpr std::size_t kRowsBetweenLooks = 4096;

}  // namespace detail

// Writes X v + constant to `values`, one for each row. O(entries).
template <class Rows>
void row_values(const Rows& rows, std::span<const double> vector, double constant, std::span<double> values, Threads threads) {
    const Chunks chunks = Chunks::of(rows.rows(), 1024, 256);
    parallel_for(chunks.count, threads.for_work(static_cast<double>(rows.n_entries())), [&](std::size_t chunk) {
        for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) values[i] = rows.dot(i, vector.data(), constant);
    });
}

// Writes X' v to `sums`, one for each column, added up in the order of the rows. O(entries + columns).
template <class Rows>
void column_sums(const Rows& rows, std::span<const double> vector, std::span<double> sums) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
        if (i % detail::kRowsBetweenLooks == 0) checkpoint();
        rows.add(i, vector[i], sums.data());
    }
}

// Writes the weighted sums of the columns and of their squares. O(entries + columns).
template <class Rows>
void moment_sums(const Rows& rows, std::span<const double> weights, std::span<double> sums, std::span<double> squares) {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(squares.begin(), squares.end(), 0.0);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
        if (i % detail::kRowsBetweenLooks == 0) checkpoint();
        rows.for_each(i, [&](std::size_t j, double value) {
            const double weighted = weights[i] * value;
            sums[j] += weighted;
            squares[j] += weighted * value;
        });
    }
}

// Writes the product of X' diag(curvatures) X, which is never formed, with `vector` to `product`, for rows (x, 1): both end with
// the intercept's entry. Each row is read once, and rows without curvature not at all. O(entries of the rows with curvature).
template <class Rows>
void curvature_product(const Rows& rows, std::span<const double> curvatures, std::span<const double> vector,
                       std::span<double> product) {
    std::fill(product.begin(), product.end(), 0.0);
    const std::size_t d = rows.cols();
    for (std::size_t i = 0; i < rows.rows(); ++i) {
        if (i % detail::kRowsBetweenLooks == 0) checkpoint();
        if (curvatures[i] == 0) continue;
        const double slope = curvatures[i] * (rows.dot(i, vector.data()) + vector[d]);
        rows.add(i, slope, product.data());
        product[d] += slope;
    }
}

// Writes X' diag(w) X, of d x d, for sparse rows X; `weights` may be empty. O(sum over rows of the square of their entries, and
// d^2 a chunk). Each row is copied before it is used: what is counted and what is indexed by is read once.
template <Real T>
void weighted_products(const CsrRows<T>& rows, std::span<const double> weights, RowMajor<double> products, Threads threads) {
    const std::size_t d = rows.cols(), square = d * d;
    const std::size_t most_chunks = std::clamp<std::size_t>((std::size_t{1} << 21) / std::max<std::size_t>(square, 1), 1, 16);
    const Chunks chunks = Chunks::of(rows.rows(), 512, most_chunks);
    ChunkSums<double> sums(chunks, std::span<double>(products.data, square));
    const auto n_entries = static_cast<double>(rows.n_entries());
    const double density = n_entries / static_cast<double>(std::max<std::size_t>(rows.rows(), 1));
    parallel_for(chunks.count, threads.for_work(n_entries * density), [&](std::size_t chunk) {
        double* const part = sums[chunk];
        std::vector<std::pair<std::size_t, double>> row;
        for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            row.clear();
            rows.for_each(i, [&](std::size_t j, double value) {
                if (j < d) row.emplace_back(j, value);
            });
            const double w = weights.empty() ? 1.0 : weights[i];
            for (std::size_t a = 0; a < row.size(); ++a) {
                double* line = part + row[a].first * d;
                const double scaled = w * row[a].second;
                for (std::size_t b = a; b < row.size(); ++b) line[row[b].first] += scaled * row[b].second;
            }
        }
    });
    sums.total();
    // Rows that are sorted wrote above the diagonal alone; of others, one of the two places may hold a part of the sum.
    for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t j = i + 1; j < d; ++j) {
            const double both = products(i, j) + products(j, i);
            products(i, j) = products(j, i) = both;
        }
    }
}

}  // namespace mercer
