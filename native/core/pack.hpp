// Copies rows into contiguous scratch memory, shifted: the only place where a kernel touches the user's layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/views.hpp"

namespace mercer {

// Writes the given rows of x, minus `shift` (empty: none), to `out` with leading dimension `ld` >= x.cols. The input and the
// output may be of different types. O(n d).
template <Real In, Real Out>
void pack_rows(Matrix<const In> x, std::span<const std::size_t> rows, std::span<const Out> shift, Out* out, std::size_t ld) {
    if (x.has_contiguous_rows()) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const In* source = x.row(rows[i]);
            Out* target = out + i * ld;
            if (shift.empty()) {
                for (std::size_t j = 0; j < x.cols; ++j) target[j] = static_cast<Out>(source[j]);
            } else {
                for (std::size_t j = 0; j < x.cols; ++j) target[j] = static_cast<Out>(source[j]) - shift[j];
            }
        }
        return;
    }
    // A few columns at a time: Fortran order is read along its columns, and a line of the output is written whole.
    constexpr std::size_t kColumns = 8;
    for (std::size_t first = 0; first < x.cols; first += kColumns) {
        const std::size_t n = std::min(kColumns, x.cols - first);
        Out offset[kColumns] = {};
        if (!shift.empty()) std::copy_n(shift.data() + first, n, offset);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const In* source = &x(rows[i], first);
            Out* target = out + i * ld + first;
            if (n == kColumns) {
                for (std::size_t j = 0; j < kColumns; ++j)
                    target[j] = static_cast<Out>(source[static_cast<std::ptrdiff_t>(j) * x.col_stride]) - offset[j];
            } else {
                for (std::size_t j = 0; j < n; ++j)
                    target[j] = static_cast<Out>(source[static_cast<std::ptrdiff_t>(j) * x.col_stride]) - offset[j];
            }
        }
    }
}

}  // namespace mercer
