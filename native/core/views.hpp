// Non-owning views over NumPy and SciPy memory. A view never copies and never frees; the caller keeps the memory alive.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mercer {

template <class T>
concept Real = std::same_as<std::remove_const_t<T>, float> || std::same_as<std::remove_const_t<T>, double>;

// A matrix with any strides (in elements), so that C-ordered, Fortran-ordered and sliced arrays are read in place.
template <class T>
struct Matrix {
    T* data = nullptr;
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::ptrdiff_t row_stride = 0;
    std::ptrdiff_t col_stride = 0;

    T& operator()(std::size_t i, std::size_t j) const {
        return data[static_cast<std::ptrdiff_t>(i) * row_stride + static_cast<std::ptrdiff_t>(j) * col_stride];
    }
    T* row(std::size_t i) const { return data + static_cast<std::ptrdiff_t>(i) * row_stride; }
    bool has_contiguous_rows() const { return col_stride == 1 || cols <= 1; }
};

// A C-contiguous matrix: what kernels allocate, and what they write to.
template <class T>
struct RowMajor {
    T* data = nullptr;
    std::size_t rows = 0;
    std::size_t cols = 0;

    T* row(std::size_t i) const { return data + i * cols; }
    T& operator()(std::size_t i, std::size_t j) const { return data[i * cols + j]; }
    std::size_t size() const { return rows * cols; }
};

// Compressed sparse rows. Whoever makes one has checked the structure (see bindings/arrays.hpp).
template <class T>
struct Csr {
    std::span<const T> values;
    std::span<const std::int32_t> columns;
    std::span<const std::int32_t> row_starts;  // rows + 1 offsets
    std::size_t rows = 0;
    std::size_t cols = 0;

    std::size_t begin(std::size_t i) const { return static_cast<std::size_t>(row_starts[i]); }
    std::size_t end(std::size_t i) const { return static_cast<std::size_t>(row_starts[i + 1]); }
};

}  // namespace mercer
