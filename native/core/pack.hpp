// Copies rows into contiguous scratch memory, shifted: the only place where a kernel touches the user's layout.
#pragma once

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
    for (std::size_t j = 0; j < x.cols; ++j) {  // column by column: Fortran order reads contiguously
        const Out offset = shift.empty() ? Out{0} : shift[j];
        for (std::size_t i = 0; i < rows.size(); ++i) out[i * ld + j] = static_cast<Out>(x(rows[i], j)) - offset;
    }
}

}  // namespace mercer
