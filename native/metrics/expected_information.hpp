// The mutual information that two labelings have by chance, given the sizes of their clusters.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/chunk_sums.hpp"
#include "core/parallel.hpp"

namespace mercer::metrics {

// So many clusters of one size.
struct SizeCount {
    std::int64_t size;
    double count;
};

inline std::vector<SizeCount> count_sizes(std::span<const std::int64_t> sizes) {
    std::vector<std::int64_t> sorted(sizes.begin(), sizes.end());
    std::sort(sorted.begin(), sorted.end());
    std::vector<SizeCount> counts;
    for (const std::int64_t size : sorted) {
        if (size <= 0) continue;
        if (counts.empty() || counts.back().size != size) counts.push_back({size, 0});
        ++counts.back().count;
    }
    return counts;
}

// E[MI] = sum over cells and overlaps m of (m / n) log(n m / (a b)) P(m), where m is hypergeometric. Sizes that occur more than
// once are summed once. O(different pairs of sizes x smaller size).
inline double expected_information(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns, std::int64_t n,
                                   Threads threads) {
    const auto a = count_sizes(rows), b = count_sizes(columns);
    std::vector<double> log_factorial(static_cast<std::size_t>(n) + 1);
    const auto total = static_cast<double>(n);
    {
        const Chunks chunks = Chunks::of(log_factorial.size(), 4096, 256);
        parallel_for(chunks.count, threads.for_work(total * 30), [&](std::size_t chunk) {
            for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
                int sign = 0;
                log_factorial[i] = ::lgamma_r(static_cast<double>(i) + 1, &sign);
            }
        });
    }
    const auto f = [&](std::int64_t x) { return log_factorial[static_cast<std::size_t>(x)]; };
    const Chunks chunks = Chunks::of(a.size(), 1, 256);
    double work = 0;
    for (const auto& row : a)
        for (const auto& column : b) work += static_cast<double>(std::min(row.size, column.size)) * 30;
    return sum_over(chunks, threads.for_work(work), [&](std::size_t chunk) {
        double sum = 0;
        for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            for (const auto& column : b) {
                const std::int64_t r = a[i].size, c = column.size;
                const double constant = f(r) + f(c) + f(n - r) + f(n - c) - f(n);
                const double odds = std::log(total) - std::log(static_cast<double>(r)) - std::log(static_cast<double>(c));
                double cell = 0;
                for (std::int64_t m = std::max<std::int64_t>(1, r + c - n); m <= std::min(r, c); ++m) {
                    const auto overlap = static_cast<double>(m);
                    cell += overlap / total * (odds + std::log(overlap)) *
                            std::exp(constant - f(m) - f(r - m) - f(c - m) - f(n - r - c + m));
                }
                sum += a[i].count * column.count * cell;
            }
        }
        return sum;
    });
}

}  // namespace mercer::metrics
