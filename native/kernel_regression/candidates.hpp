// The rows that may weigh anything for each query: all of them, or lists that a search has found.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::kernel_regression {

// Rows to learn from: x by columns (n x d), y (n x t), and their weights (empty: all one).
struct Sample {
    Matrix<const double> x, y;
    std::span<const double> weights;

    double weight(std::size_t i) const { return weights.empty() ? 1.0 : weights[i]; }
};

// Lists of rows, of query q from starts[q] to starts[q + 1], with their distances. Without starts: all rows.
struct Lists {
    std::span<const std::int64_t> starts, rows;
    std::span<const double> distances;
};

// Hands the candidates of one query on, with their squared distances.
class Candidates {
   public:
    Candidates(const Sample& sample, const Lists& lists)
        : sample_(sample), lists_(lists), squares_(lists.starts.empty() ? sample.x.rows : 0) {}

    // Calls body(row, squared distance) for each, given the query and its number. O(n d), or O(the list).
    template <class Body>
    void for_each(std::size_t number, const double* query, std::ptrdiff_t stride, Body&& body) {
        if (!lists_.starts.empty()) {
            const auto end = static_cast<std::size_t>(lists_.starts[number + 1]);
            for (auto e = static_cast<std::size_t>(lists_.starts[number]); e < end; ++e)
                body(static_cast<std::size_t>(lists_.rows[e]), lists_.distances[e] * lists_.distances[e]);
            return;
        }
        measure_all(query, stride);
        for (std::size_t i = 0; i < sample_.x.rows; ++i) body(i, squares_[i]);
    }

   private:
    void measure_all(const double* query, std::ptrdiff_t stride) {
        const std::size_t n = sample_.x.rows;
        double* const squares = squares_.data();
        std::fill_n(squares, n, 0.0);
        for (std::size_t j = 0; j < sample_.x.cols; ++j) {
            const double at = query[static_cast<std::ptrdiff_t>(j) * stride];
            const double* const column = &sample_.x(0, j);  // contiguous
            for (std::size_t i = 0; i < n; ++i) squares[i] += (column[i] - at) * (column[i] - at);
        }
    }

    const Sample& sample_;
    const Lists& lists_;
    Aligned<double> squares_;
};

}  // namespace mercer::kernel_regression
