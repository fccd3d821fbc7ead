// Products of the columns of sparse rows, as a dense matrix.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer::linear_model {

// Writes X' diag(w) X, of d x d, for sparse rows X; `weights` may be empty. O(sum over rows of the square of their entries, and
// d^2 a chunk). Each row is copied before it is used: what is counted and what is indexed by is read once.
template <Real T>
void sparse_products(Csr<T> x, std::span<const double> weights, RowMajor<double> products, Threads threads) {
    const std::size_t d = x.cols, square = d * d;
    const std::size_t most_chunks = std::clamp<std::size_t>((std::size_t{1} << 21) / std::max<std::size_t>(square, 1), 1, 16);
    const Chunks chunks = Chunks::of(x.rows, 512, most_chunks);
    std::vector<double> partial((chunks.count - 1) * square);
    std::fill_n(products.data, square, 0.0);
    const double density = static_cast<double>(x.values.size()) / static_cast<double>(std::max<std::size_t>(x.rows, 1));
    parallel_for(chunks.count, threads.for_work(static_cast<double>(x.values.size()) * density), [&](std::size_t chunk) {
        double* sums = chunk == 0 ? products.data : partial.data() + (chunk - 1) * square;
        std::vector<std::pair<std::size_t, double>> row;
        for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            row.clear();
            const std::size_t end = std::min(x.end(i), std::min(x.values.size(), x.columns.size()));
            for (std::size_t k = x.begin(i); k < end; ++k) {
                const auto j = static_cast<std::size_t>(x.columns[k]);
                if (j < d) row.emplace_back(j, static_cast<double>(x.values[k]));
            }
            const double w = weights.empty() ? 1.0 : weights[i];
            for (std::size_t a = 0; a < row.size(); ++a) {
                double* line = sums + row[a].first * d;
                const double scaled = w * row[a].second;
                for (std::size_t b = a; b < row.size(); ++b) line[row[b].first] += scaled * row[b].second;
            }
        }
    });
    for (std::size_t chunk = 1; chunk < chunks.count; ++chunk) {
        const double* sums = partial.data() + (chunk - 1) * square;
        for (std::size_t k = 0; k < square; ++k) products.data[k] += sums[k];
    }
    // Rows that are sorted wrote above the diagonal alone; of others, one of the two places may hold a part of the sum.
    for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t j = i + 1; j < d; ++j) {
            const double both = products.data[i * d + j] + products.data[j * d + i];
            products.data[i * d + j] = products.data[j * d + i] = both;
        }
    }
}

}  // namespace mercer::linear_model
