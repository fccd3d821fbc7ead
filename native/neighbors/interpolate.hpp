// Points between rows and their neighbours, as over-sampling makes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer::neighbors {

// Which rows new points lie between, and how far along: one gap a point (`gaps` has one column), or one an attribute.
struct Segments {
    std::span<const std::int64_t> starts;
    std::span<const std::int64_t> ends;
    RowMajor<const double> gaps;
};

// Writes start + gap (end - start) for each segment, in double precision; a segment whose rows are out of range is written as
// zeros, as whoever checked them may have changed them since. O(segments x d).
template <Real T>
void interpolate(RowMajor<const T> rows, RowMajor<const T> others, const Segments& segments, RowMajor<T> out, Threads threads) {
    const std::size_t d = rows.cols, gap_step = segments.gaps.cols == 1 ? 0 : 1;
    const Chunks chunks = Chunks::of(out.rows, 256, 256);
    parallel_for(chunks.count, threads.for_work(static_cast<double>(out.rows * d) * 2), [&](std::size_t chunk) {
        for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
            const auto start = static_cast<std::uint64_t>(segments.starts[i]), end = static_cast<std::uint64_t>(segments.ends[i]);
            T* const point = out.row(i);
            if (start >= rows.rows || end >= others.rows) {
                std::fill_n(point, d, T{});
                continue;
            }
            const T *const a = rows.row(start), *const b = others.row(end);
            const double* const gap = segments.gaps.row(i);
            for (std::size_t j = 0; j < d; ++j)
                point[j] = static_cast<T>(static_cast<double>(a[j]) + gap[j * gap_step] * static_cast<double>(b[j] - a[j]));
        }
    });
}

}  // namespace mercer::neighbors
