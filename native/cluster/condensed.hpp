// Dissimilarities of all pairs in half a matrix: the rows of the lower triangle, one after the other.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

// Row i holds those to 0, …, i - 1.
struct Condensed {
    double* data;
    std::size_t n;

    static std::size_t size(std::size_t n) { return n * (n - (n == 0 ? 0 : 1)) / 2; }
    double* row(std::size_t i) const { return data + size(i); }
    double& at(std::size_t i, std::size_t j) const { return i > j ? row(i)[j] : row(j)[i]; }
};

// Copies a block of whole rows of a square matrix, from row `first` on; what stands on and above the diagonal is not read. O(size).
inline void condense_rows(RowMajor<const double> block, std::size_t first, const Condensed& out, Threads threads) {
    constexpr std::size_t kTask = 16;
    const double work = static_cast<double>(block.rows) * static_cast<double>(first + block.rows);
    parallel_for((block.rows + kTask - 1) / kTask, threads.for_work(work), [&](std::size_t task) {
        for (std::size_t i = task * kTask; i < std::min((task + 1) * kTask, block.rows); ++i)
            std::copy_n(block.row(i), first + i, out.row(first + i));
    });
}

}  // namespace mercer::cluster
