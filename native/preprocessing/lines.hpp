// How the kernels of this family walk a matrix: along memory, whatever its order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/parallel.hpp"
#include "core/views.hpp"

// Says of the loop that follows that its steps do not depend on each other, though input and output may be the same memory.
#if defined(__clang__)
#define MERCER_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define MERCER_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace mercer::preprocessing {

// The bits of a number as an integer of its size: comparing them is something the compiler vectorises.
template <Real T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
bool is_packed_by_rows(Matrix<T> x) {
    return x.has_contiguous_rows() && (x.row_stride == static_cast<std::ptrdiff_t>(x.cols) || x.rows <= 1);
}

// Whether neighbours in a column are nearer to each other than neighbours in a row.
template <class T>
bool is_column_major(Matrix<T> x) {
    const auto size = [](std::ptrdiff_t stride) { return stride < 0 ? -stride : stride; };
    return x.cols > 1 && (x.rows <= 1 ? x.col_stride != 1 : size(x.row_stride) < size(x.col_stride));
}

// Narrow rows are taken several at a time, so that the inner loops are long enough to fill vectors.
inline std::size_t rows_per_line(std::size_t n_columns, std::size_t line = 64) {
    return std::max<std::size_t>(line / std::max<std::size_t>(n_columns, 1), 1);
}

// Tasks of some 64 thousand values: long enough to be worth a task, short enough to share out.
inline Chunks line_chunks(std::size_t n_rows, std::size_t n_columns) {
    return Chunks::of(n_rows, std::max<std::size_t>(65536 / std::max<std::size_t>(n_columns, 1), 1), 4096);
}

inline double n_values(std::size_t rows, std::size_t cols) { return static_cast<double>(rows) * static_cast<double>(cols); }

}  // namespace mercer::preprocessing
