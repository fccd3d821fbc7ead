// The least and the greatest value of each column. NaN means missing and is left out, column by column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "preprocessing/lines.hpp"

namespace mercer::preprocessing {

inline constexpr std::size_t kColumnsTogether = 1024;

// Least and greatest values; (inf, -inf) where none was seen.
template <Real T>
struct Ranges {
    std::vector<T> low;
    std::vector<T> high;

    explicit Ranges(std::size_t n) : low(n, std::numeric_limits<T>::infinity()), high(n, -std::numeric_limits<T>::infinity()) {}

    void add(std::size_t j, T least, T greatest) {  // a comparison with NaN is false: NaN changes nothing
        low[j] = least < low[j] ? least : low[j];
        high[j] = greatest > high[j] ? greatest : high[j];
    }
};

// Adds n contiguous values, value i to the range i modulo their number `width`.
template <Real T>
void add_line(const T* x, std::size_t n, T* low, T* high, std::size_t width) {
    for (std::size_t first = 0; first < n; first += width) {
        const T* values = x + first;
        const std::size_t m = std::min(width, n - first);
        MERCER_INDEPENDENT
        for (std::size_t i = 0; i < m; ++i) {
            low[i] = values[i] < low[i] ? values[i] : low[i];
            high[i] = values[i] > high[i] ? values[i] : high[i];
        }
    }
}

// Adds the given rows of some columns of x to their ranges.
template <Real T>
void add_rows(Matrix<const T> x, std::size_t begin, std::size_t end, std::size_t first_column, std::size_t end_column,
              Ranges<T>& ranges) {
    const std::size_t width = end_column - first_column;
    if (width == x.cols && is_packed_by_rows(x) && rows_per_line(x.cols) > 1) {
        Ranges<T> line(x.cols * rows_per_line(x.cols));
        add_line(x.row(begin), (end - begin) * x.cols, line.low.data(), line.high.data(), line.low.size());
        for (std::size_t i = 0; i < line.low.size(); ++i) ranges.add(i % x.cols, line.low[i], line.high[i]);
    } else if (x.has_contiguous_rows()) {
        T *low = ranges.low.data() + first_column, *high = ranges.high.data() + first_column;
        for (std::size_t i = begin; i < end; ++i) add_line(x.row(i) + first_column, width, low, high, width);
    } else {
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t j = first_column; j < end_column; ++j) ranges.add(j, x(i, j), x(i, j));
    }
}

// Adds rows of one column to its range.
template <Real T>
void add_column(Matrix<const T> x, std::size_t begin, std::size_t end, std::size_t j, Ranges<T>& ranges) {
    if (x.row_stride == 1) {
        Ranges<T> line(rows_per_line(1));
        add_line(&x(begin, j), end - begin, line.low.data(), line.high.data(), line.low.size());
        for (std::size_t i = 0; i < line.low.size(); ++i) ranges.add(j, line.low[i], line.high[i]);
    } else {
        for (std::size_t i = begin; i < end; ++i) ranges.add(j, x(i, j), x(i, j));
    }
}

// Writes the least and greatest value of each column to `low` and `high`; NaN to both where a column has none. An infinity in X
// is always among them. O(n d), one pass over memory.
template <Real T>
void column_ranges(Matrix<const T> x, std::span<T> low, std::span<T> high, Threads threads) {
    // By rows, a task takes a block of columns whose ranges stay in the first cache, so that wide X has few partial ranges.
    const bool by_columns = is_column_major(x);
    const std::size_t width = by_columns ? 1 : std::clamp<std::size_t>(x.cols, 1, kColumnsTogether);
    const Chunks chunks = line_chunks(x.rows, width);
    const std::size_t n_blocks = (x.cols + width - 1) / width;
    std::vector<Ranges<T>> partial(chunks.count, Ranges<T>(x.cols));
    parallel_for(chunks.count * n_blocks, threads.for_work(n_values(x.rows, x.cols)), [&](std::size_t task) {
        const std::size_t chunk = task % chunks.count, first = task / chunks.count * width;
        if (by_columns) {
            add_column(x, chunks.begin(chunk), chunks.end(chunk), first, partial[chunk]);
        } else {
            add_rows(x, chunks.begin(chunk), chunks.end(chunk), first, std::min(first + width, x.cols), partial[chunk]);
        }
    });
    for (std::size_t chunk = 1; chunk < chunks.count; ++chunk)
        for (std::size_t j = 0; j < x.cols; ++j) partial[0].add(j, partial[chunk].low[j], partial[chunk].high[j]);
    for (std::size_t j = 0; j < x.cols; ++j) {
        const bool is_empty = partial[0].low[j] > partial[0].high[j];
        low[j] = is_empty ? std::numeric_limits<T>::quiet_NaN() : partial[0].low[j];
        high[j] = is_empty ? std::numeric_limits<T>::quiet_NaN() : partial[0].high[j];
    }
}

}  // namespace mercer::preprocessing
