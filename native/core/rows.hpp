// Rows of X, dense or sparse, in one role. A kernel is a template over Rows and asks it for
//   rows.rows(), rows.cols(), rows.n_entries()     how many there are, and how many numbers they hold
//   rows.dot(i, w), rows.squared_norm(i)           summed in double precision, in a fixed order; dot(i, w, start) from a start
//   rows.add(i, factor, target)                    target += factor x_i, in the type of the target
//   rows.for_each(i, body)                         body(column, value) for the entries of a row
//   rows.prefetch(i)                               asks for a row that will be visited soon
// A family that needs more of them derives its own (cluster/rows.hpp, linear_model/stochastic_rows.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/prefetch.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer {

// Dense rows, read in place through any strides, seen shifted by a common vector where there is one.
template <Real T>
struct DenseRows {
    using Value = T;
    static constexpr bool kIsSparse = false;
    Matrix<const T> x;
    std::span<const T> shift = {};

    std::size_t rows() const { return x.rows; }
    std::size_t cols() const { return x.cols; }
    std::size_t n_entries() const { return x.rows * x.cols; }
    T at(std::size_t i, std::size_t j) const { return x(i, j) - (shift.empty() ? T{0} : shift[j]); }

    template <class W>
    double dot(std::size_t i, const W* w) const {
        return sum_over(i, [&](std::size_t j, T value) { return static_cast<double>(value) * static_cast<double>(w[j]); });
    }
    template <class W>
    double dot(std::size_t i, const W* w, double start) const {
        return start + dot(i, w);
    }
    double squared_norm(std::size_t i) const {
        return sum_over(i, [](std::size_t, T value) { return static_cast<double>(value) * value; });
    }
    template <Real A>
    void add(std::size_t i, A factor, A* target) const {
        for_each(i, [&](std::size_t j, T value) { target[j] += factor * static_cast<A>(value); });
    }
    // The sum of term(column, value) over a row.
    template <class Term>
    double sum_over(std::size_t i, Term&& term) const {
        return with_values(i, [&](auto&& value) { return lane_sum(x.cols, [&](std::size_t j) { return term(j, value(j)); }); });
    }
    template <class Body>
    void for_each(std::size_t i, Body&& body) const {
        with_values(i, [&](auto&& value) {
            for (std::size_t j = 0; j < x.cols; ++j) body(j, value(j));
        });
    }
    void prefetch(std::size_t i) const {
        if (x.has_contiguous_rows()) prefetch_run(x.row(i), x.cols);
    }

   private:
    // Calls body(value), where value(j) is the number in column j: a loop of its own for each memory order, so that it can run in
    // vectors.
    template <class Body>
    auto with_values(std::size_t i, Body&& body) const {
        if (!x.has_contiguous_rows()) return body([this, i](std::size_t j) { return at(i, j); });
        const T* const source = x.row(i);
        if (shift.empty()) return body([source](std::size_t j) { return source[j]; });
        return body([source, shifts = shift.data()](std::size_t j) { return source[j] - shifts[j]; });
    }
};

// Compressed sparse rows: never shifted, which would fill them.
template <Real T>
struct CsrRows {
    using Value = T;
    static constexpr bool kIsSparse = true;
    Csr<T> x;

    std::size_t rows() const { return x.rows; }
    std::size_t cols() const { return x.cols; }
    std::size_t n_entries() const { return static_cast<std::size_t>(x.row_starts.back()); }

    template <class W>
    double dot(std::size_t i, const W* w, double start = 0) const {
        // Four at a time: additions need not wait for one another. With the end in a variable of its own, the same loop took an
        // eighth longer in dual descent on text.
        const auto term = [&](std::size_t e) { return static_cast<double>(x.values[e]) * static_cast<double>(w[x.columns[e]]); };
        double sums[4] = {start};
        std::size_t e = x.begin(i);
        for (; e + 4 <= x.end(i); e += 4)
            for (std::size_t k = 0; k < 4; ++k) sums[k] += term(e + k);
        for (; e < x.end(i); ++e) sums[0] += term(e);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    double squared_norm(std::size_t i) const {
        const T* const values = x.values.data() + x.begin(i);
        return lane_sum(x.end(i) - x.begin(i), [&](std::size_t e) { return static_cast<double>(values[e]) * values[e]; });
    }
    template <Real A>
    void add(std::size_t i, A factor, A* target) const {
        for_each(i, [&](std::size_t j, T value) { target[j] += factor * static_cast<A>(value); });
    }
    template <class Body>
    void for_each(std::size_t i, Body&& body) const {
        const std::size_t end = x.end(i);
        for (std::size_t e = x.begin(i); e < end; ++e) body(static_cast<std::size_t>(x.columns[e]), x.values[e]);
    }
    void prefetch(std::size_t i) const {
        const std::size_t first = x.begin(i), n = x.end(i) - first;
        prefetch_run(x.values.data() + first, n);
        prefetch_run(x.columns.data() + first, n);
    }
};

}  // namespace mercer
