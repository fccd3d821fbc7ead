// Dense or sparse rows as one role for stochastic descent. A kernel is a template over Rows and asks it for
//   rows.dot(row, w), rows.squared_norm(row), rows.add(row, factor, target)      with T or double weights
//   rows.add_measured(row, factor, w, norms)      the same, with the norms of w kept up to date
//   rows.for_touched(row, body)                   body(j) for every column that a step on this row may change
//   rows.for_entries(row, body)                   sparse rows only: body(j, value)
//   rows.prefetch(row)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/prefetch.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::linear_model::stochastic {

// Of a vector: the sum of squares and of absolute values.
struct Norms {
    double squares = 0;
    double absolutes = 0;

    template <Real T>
    static Norms of(const T* w, std::size_t n) {
        return {lane_sum(n, [&](std::size_t j) { return static_cast<double>(w[j]) * w[j]; }),
                lane_sum(n, [&](std::size_t j) { return std::abs(static_cast<double>(w[j])); })};
    }
};

namespace detail {

// kLanes numbers in one register, for any kLanes down to 2: rows that end inside a vector are finished by halves.
template <Real T, std::size_t kLanes>
struct Part {
    typedef T Vector __attribute__((vector_size(kLanes * sizeof(T))));

    static Vector load(const T* p) {
        Vector v;
        std::memcpy(&v, p, sizeof v);
        return v;
    }
    static void store(T* p, Vector v) { std::memcpy(p, &v, sizeof v); }
    static T sum(Vector v) {
        if constexpr (kLanes == 2) {
            return v[0] + v[1];
        } else {
            using Half = Part<T, kLanes / 2>;
            typename Half::Vector low, high;
            std::memcpy(&low, &v, sizeof low);
            std::memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
            return Half::sum(low + high);
        }
    }
};

template <std::size_t kLanes, Real T>
T dot_tail(const T* x, const T* w, std::size_t n) {
    if constexpr (kLanes == 1) {
        return n == 0 ? T{0} : x[0] * w[0];
    } else {
        using P = Part<T, kLanes>;
        if (n < kLanes) return dot_tail<kLanes / 2>(x, w, n);
        return P::sum(P::load(x) * P::load(w)) + dot_tail<kLanes / 2>(x + kLanes, w + kLanes, n - kLanes);
    }
}

template <Real T>
T dot(const T* x, const T* w, std::size_t n) {
    using P = Part<T, Simd<T>::kLanes>;
    constexpr std::size_t k = Simd<T>::kLanes;
    typename P::Vector a{}, b{}, c{}, d{};  // four sums: a multiply-add waits four cycles for the one before it
    std::size_t j = 0;
    for (; j + 4 * k <= n; j += 4 * k) {
        a += P::load(x + j) * P::load(w + j);
        b += P::load(x + j + k) * P::load(w + j + k);
        c += P::load(x + j + 2 * k) * P::load(w + j + 2 * k);
        d += P::load(x + j + 3 * k) * P::load(w + j + 3 * k);
    }
    for (; j + k <= n; j += k) a += P::load(x + j) * P::load(w + j);
    const T tail = j < n ? dot_tail<k / 2>(x + j, w + j, n - j) : T{0};
    return P::sum((a + b) + (c + d)) + tail;
}

// w += factor x, and the sums of the new squares and absolute values where kWithNorms.
template <bool kWithNorms, std::size_t kLanes, Real T>
void add_from(const T* x, T factor, T* w, std::size_t n, Norms& norms) {
    if constexpr (kLanes == 1) {
        if (n == 0) return;
        w[0] += factor * x[0];
        if constexpr (kWithNorms) {
            norms.squares += static_cast<double>(w[0]) * w[0];
            norms.absolutes += std::abs(static_cast<double>(w[0]));
        }
    } else {
        using P = Part<T, kLanes>;
        std::size_t j = 0;
        typename P::Vector squares{}, absolutes{};
        for (; j + kLanes <= n; j += kLanes) {
            const typename P::Vector sum = P::load(w + j) + factor * P::load(x + j);
            P::store(w + j, sum);
            if constexpr (kWithNorms) {
                squares += sum * sum;
                absolutes += sum < 0 ? -sum : sum;
            }
        }
        if constexpr (kWithNorms) {
            if (j > 0) {
                norms.squares += static_cast<double>(P::sum(squares));
                norms.absolutes += static_cast<double>(P::sum(absolutes));
            }
        }
        if (j < n) add_from<kWithNorms, kLanes / 2>(x + j, factor, w + j, n - j, norms);
    }
}

}  // namespace detail

// Dense rows whose numbers lie together, at any distance from row to row.
template <Real T>
struct DenseRows {
    using Value = T;
    static constexpr bool kIsSparse = false;
    Matrix<const T> x;

    std::size_t rows() const { return x.rows; }
    std::size_t cols() const { return x.cols; }
    double n_entries() const { return static_cast<double>(x.rows) * static_cast<double>(x.cols); }
    T dot(std::size_t row, const T* w) const { return detail::dot(x.row(row), w, x.cols); }
    double squared_norm(std::size_t row) const {
        const T* source = x.row(row);
        return lane_sum(x.cols, [&](std::size_t j) { return static_cast<double>(source[j]) * source[j]; });
    }
    void add(std::size_t row, T factor, T* w) const {
        Norms unused;
        detail::add_from<false, Simd<T>::kLanes>(x.row(row), factor, w, x.cols, unused);
    }
    void add_measured(std::size_t row, T factor, T* w, Norms& norms) const {
        norms = {};
        detail::add_from<true, Simd<T>::kLanes>(x.row(row), factor, w, x.cols, norms);
    }
    double wide_dot(std::size_t row, const T* w) const {
        const T* source = x.row(row);
        return lane_sum(x.cols, [&](std::size_t j) { return static_cast<double>(source[j]) * static_cast<double>(w[j]); });
    }
    void wide_add(std::size_t row, double factor, double* target) const {
        const T* source = x.row(row);
        for (std::size_t j = 0; j < x.cols; ++j) target[j] += factor * static_cast<double>(source[j]);
    }
    template <class Body>
    void for_touched(std::size_t, Body&& body) const {
        for (std::size_t j = 0; j < x.cols; ++j) body(j);
    }
    void prefetch(std::size_t row) const { prefetch_run(x.row(row), x.cols); }
};

template <Real T>
struct CsrRows {
    using Value = T;
    static constexpr bool kIsSparse = true;
    Csr<T> x;

    std::size_t rows() const { return x.rows; }
    std::size_t cols() const { return x.cols; }
    double n_entries() const { return static_cast<double>(x.row_starts.back()); }
    T dot(std::size_t row, const T* w) const { return static_cast<T>(wide_dot(row, w)); }
    double squared_norm(std::size_t row) const {
        const T* values = x.values.data() + x.begin(row);
        return lane_sum(x.end(row) - x.begin(row), [&](std::size_t e) { return static_cast<double>(values[e]) * values[e]; });
    }
    void add(std::size_t row, T factor, T* w) const {
        for (std::size_t e = x.begin(row); e < x.end(row); ++e) w[x.columns[e]] += factor * x.values[e];
    }
    void add_measured(std::size_t row, T factor, T* w, Norms& norms) const {
        double squares = 0, absolutes = 0;  // of their own: the compiler cannot know that norms are not weights
        for (std::size_t e = x.begin(row); e < x.end(row); ++e) {
            T& target = w[x.columns[e]];
            const double before = target;
            target += factor * x.values[e];
            const double after = target;
            squares += (after - before) * (after + before);
            absolutes += std::abs(after) - std::abs(before);
        }
        norms.squares += squares;
        norms.absolutes += absolutes;
    }
    double wide_dot(std::size_t row, const T* w) const {
        const T* values = x.values.data();
        const std::int32_t* columns = x.columns.data();
        const auto term = [&](std::size_t e) { return static_cast<double>(values[e]) * static_cast<double>(w[columns[e]]); };
        double sums[4] = {};
        std::size_t e = x.begin(row);
        const std::size_t end = x.end(row);
        for (; e + 4 <= end; e += 4)
            for (std::size_t i = 0; i < 4; ++i) sums[i] += term(e + i);
        for (; e < end; ++e) sums[0] += term(e);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    // The same, and the squared norm of the row on the way: the loop waits for weights from all over the memory anyway.
    double wide_dot(std::size_t row, const T* w, double& squared_norm) const {
        const T* values = x.values.data();
        const std::int32_t* columns = x.columns.data();
        double sums[4] = {}, squares[4] = {};
        const auto take = [&](std::size_t e, std::size_t i) {
            const double value = values[e];
            sums[i] += value * static_cast<double>(w[columns[e]]);
            squares[i] += value * value;
        };
        std::size_t e = x.begin(row);
        const std::size_t end = x.end(row);
        for (; e + 4 <= end; e += 4)
            for (std::size_t i = 0; i < 4; ++i) take(e + i, i);
        for (; e < end; ++e) take(e, 0);
        squared_norm = (squares[0] + squares[1]) + (squares[2] + squares[3]);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    void wide_add(std::size_t row, double factor, double* target) const {
        for (std::size_t e = x.begin(row); e < x.end(row); ++e) target[x.columns[e]] += factor * static_cast<double>(x.values[e]);
    }
    template <class Body>
    void for_touched(std::size_t row, Body&& body) const {
        for_entries(row, [&](std::size_t j, T) { body(j); });
    }
    template <class Body>
    void for_entries(std::size_t row, Body&& body) const {
        const std::size_t end = x.end(row);
        for (std::size_t e = x.begin(row); e < end; ++e) body(static_cast<std::size_t>(x.columns[e]), x.values[e]);
    }
    void prefetch(std::size_t row) const {
        const std::size_t first = x.begin(row), n = x.end(row) - first;
        prefetch_run(x.values.data() + first, n);
        prefetch_run(x.columns.data() + first, n);
    }
};

}  // namespace mercer::linear_model::stochastic
