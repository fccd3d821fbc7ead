// Shifts and scales each column: the one transformation behind every scaler, and its inverse.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "preprocessing/lines.hpp"

namespace mercer::preprocessing {

// The operations are of two steps, each rounded. Fused to one, x scale + shift would take the least value of a column to a
// rounding error away from the end of its range, on either side of it.

// (x - shift) / scale
struct SubtractDivide {
    template <Real T>
    static T first(T x, T shift, T) {
        return x - shift;
    }
    template <Real T>
    static T second(T y, T, T scale) {
        return y / scale;
    }
};

// x scale + shift
struct MultiplyAdd {
    template <Real T>
    static T first(T x, T, T scale) {
        return x * scale;
    }
    template <Real T>
    static T second(T y, T shift, T) {
        return y + shift;
    }
};

template <Real T>
struct Limits {
    T low;
    T high;

    T clip(T y) const { return y < low ? low : y > high ? high : y; }  // NaN stays NaN
};

inline constexpr std::size_t kStep = 512;  // values that stay in the nearest cache between the two steps of an operation

// Scales n values; value i has the parameters i ParameterStride. Returns whether an infinity was among them. x may be out.
template <class Operation, std::ptrdiff_t ParameterStride, Real T>
bool scale_line(const T* x, std::ptrdiff_t x_stride, T* out, std::ptrdiff_t out_stride, std::size_t n, const T* shift,
                const T* scale, Limits<T> limits) {
    constexpr Bits<T> kMagnitude = std::numeric_limits<Bits<T>>::max() >> 1;
    constexpr Bits<T> kInfinity = std::bit_cast<Bits<T>>(std::numeric_limits<T>::infinity());
    Bits<T> has_infinity = 0;
    const auto run = [&](auto from, auto to) {
        for (std::size_t begin = 0; begin < n; begin += kStep) {
            const auto first = static_cast<std::ptrdiff_t>(begin), last = static_cast<std::ptrdiff_t>(std::min(n, begin + kStep));
            MERCER_INDEPENDENT
            for (std::ptrdiff_t i = first; i < last; ++i) {
                const T value = x[i * from];
                has_infinity |= (std::bit_cast<Bits<T>>(value) & kMagnitude) == kInfinity;
                out[i * to] = Operation::first(value, shift[i * ParameterStride], scale[i * ParameterStride]);
            }
            std::atomic_signal_fence(std::memory_order_seq_cst);  // keeps the compiler from fusing the steps
            MERCER_INDEPENDENT
            for (std::ptrdiff_t i = first; i < last; ++i)
                out[i * to] = limits.clip(Operation::second(out[i * to], shift[i * ParameterStride], scale[i * ParameterStride]));
        }
    };
    using One = std::integral_constant<std::ptrdiff_t, 1>;
    if (x_stride == 1 && out_stride == 1) {
        run(One{}, One{});
    } else {
        run(x_stride, out_stride);
    }
    return has_infinity != 0;
}

// Writes each value of x, scaled with the parameters of its column and clipped to the limits, to the same place in `out`, which
// may be x itself. Returns whether an infinity was in x. O(n d), one pass over memory.
template <class Operation, Real T>
bool scale_columns(Matrix<const T> x, std::span<const T> shift, std::span<const T> scale, Limits<T> limits, Matrix<T> out,
                   Threads threads) {
    const bool by_columns = is_column_major(x) && is_column_major(out);
    const bool is_packed = is_packed_by_rows(x) && is_packed_by_rows(out);
    const Chunks chunks = line_chunks(x.rows, by_columns ? 1 : x.cols);
    const std::size_t n_runs = by_columns ? x.cols : 1;
    const std::size_t line = x.cols * (is_packed ? rows_per_line(x.cols, kStep / 2) : 1);
    std::vector<T> shifts(line), scales(line);  // the parameters of as many rows as a line holds
    for (std::size_t i = 0; i < line; ++i) {
        shifts[i] = shift[i % x.cols];
        scales[i] = scale[i % x.cols];
    }
    std::atomic<bool> has_infinity{false};
    parallel_for(chunks.count * n_runs, threads.for_work(n_values(x.rows, x.cols)), [&](std::size_t task) {
        const std::size_t begin = chunks.begin(task % chunks.count), end = chunks.end(task % chunks.count);
        bool found = false;
        if (by_columns) {
            const std::size_t j = task / chunks.count;
            found = scale_line<Operation, 0>(&x(begin, j), x.row_stride, &out(begin, j), out.row_stride, end - begin, &shift[j],
                                             &scale[j], limits);
        } else if (is_packed) {
            for (std::size_t i = begin * x.cols; i < end * x.cols; i += line)
                found |= scale_line<Operation, 1>(x.data + i, 1, out.data + i, 1, std::min(line, end * x.cols - i), shifts.data(),
                                                  scales.data(), limits);
        } else {
            for (std::size_t i = begin; i < end; ++i)
                found |= scale_line<Operation, 1>(x.row(i), x.col_stride, out.row(i), out.col_stride, x.cols, shifts.data(),
                                                  scales.data(), limits);
        }
        if (found) has_infinity.store(true, std::memory_order_relaxed);
    });
    return has_infinity.load();
}

}  // namespace mercer::preprocessing
