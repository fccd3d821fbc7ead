// What stochastic descent asks of rows beside their role in core/rows.hpp:
//   rows.own_dot(row, w)                          the product in the precision of X, where that is faster
//   rows.add_to_weights(row, factor, w)           w += factor x in that precision
//   rows.add_measured(row, factor, w, norms)      the same, with the norms of w kept up to date
//   rows.for_touched(row, body)                   body(j) for every column that a step on this row may change
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/rows.hpp"
#include "core/simd.hpp"

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

// Dense rows whose numbers lie together, at any distance from row to row, and without a shift.
template <Real T>
struct DenseRows : mercer::DenseRows<T> {
    T own_dot(std::size_t row, const T* w) const { return detail::dot(this->x.row(row), w, this->x.cols); }
    void add_to_weights(std::size_t row, T factor, T* w) const {
        Norms unused;
        detail::add_from<false, Simd<T>::kLanes>(this->x.row(row), factor, w, this->x.cols, unused);
    }
    void add_measured(std::size_t row, T factor, T* w, Norms& norms) const {
        norms = {};
        detail::add_from<true, Simd<T>::kLanes>(this->x.row(row), factor, w, this->x.cols, norms);
    }
    template <class Body>
    void for_touched(std::size_t, Body&& body) const {
        for (std::size_t j = 0; j < this->x.cols; ++j) body(j);
    }
};

template <Real T>
struct CsrRows : mercer::CsrRows<T> {
    T own_dot(std::size_t row, const T* w) const { return static_cast<T>(this->dot(row, w)); }
    void add_to_weights(std::size_t row, T factor, T* w) const { this->add(row, factor, w); }
    void add_measured(std::size_t row, T factor, T* w, Norms& norms) const {
        double squares = 0, absolutes = 0;  // of their own: the compiler cannot know that norms are not weights
        this->for_each(row, [&](std::size_t j, T value) {
            const double before = w[j];
            w[j] += factor * value;
            const double after = w[j];
            squares += (after - before) * (after + before);
            absolutes += std::abs(after) - std::abs(before);
        });
        norms.squares += squares;
        norms.absolutes += absolutes;
    }
    // The product of a row and a vector, and the squared norm of the row on the way: the loop waits for weights from all over the
    // memory anyway.
    double dot_and_norm(std::size_t row, const T* w, double& squared_norm) const {
        const T* values = this->x.values.data();
        const std::int32_t* columns = this->x.columns.data();
        double sums[4] = {}, squares[4] = {};
        const auto take = [&](std::size_t e, std::size_t i) {
            const double value = values[e];
            sums[i] += value * static_cast<double>(w[columns[e]]);
            squares[i] += value * value;
        };
        std::size_t e = this->x.begin(row);
        const std::size_t end = this->x.end(row);
        for (; e + 4 <= end; e += 4)
            for (std::size_t i = 0; i < 4; ++i) take(e + i, i);
        for (; e < end; ++e) take(e, 0);
        squared_norm = (squares[0] + squares[1]) + (squares[2] + squares[3]);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    template <class Body>
    void for_touched(std::size_t row, Body&& body) const {
        this->for_each(row, [&](std::size_t j, T) { body(j); });
    }
};

}  // namespace mercer::linear_model::stochastic
