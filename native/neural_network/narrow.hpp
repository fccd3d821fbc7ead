// Layers of few units, as outputs are: products too narrow to be worth packing anything for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::neural_network {

inline constexpr std::size_t kMostNarrow = 8;  // units: their sums stay in registers

namespace detail {

// Calls body with the number of units as a constant.
template <std::size_t U = kMostNarrow, class Body>
void with_units(std::size_t units, const Body& body) {
    if constexpr (U > 1) {
        if (units < U) return with_units<U - 1>(units, body);
    }
    body.template operator()<U>();
}

}  // namespace detail

// The coefficients of a narrow layer, a line a unit, each padded to whole vectors with zeros.
template <Real T>
class NarrowCoef {
   public:
    NarrowCoef(Matrix<const T> w, T* memory) : stride_(stride(w.rows)), data_(memory) {
        for (std::size_t c = 0; c < w.cols; ++c) {
            T* const line = memory + c * stride_;
            for (std::size_t k = 0; k < w.rows; ++k) line[k] = w(k, c);
            std::fill(line + w.rows, line + stride_, T{0});
        }
    }

    static std::size_t stride(std::size_t inputs) { return Simd<T>::round_up(inputs); }
    const T* line(std::size_t unit) const { return data_ + unit * stride_; }

   private:
    std::size_t stride_;
    const T* data_;
};

// z = (beta z +) w' a for one row a. Values behind the row are read, and count for nothing.
template <std::size_t U, Real T>
void narrow_forward(const T* a, std::size_t inputs, const NarrowCoef<T>& w, bool adds, T* z) {
    using S = Simd<T>;
    typename S::Vector sums[U] = {};
    std::size_t k = 0;
    for (; k + S::kLanes <= inputs; k += S::kLanes) {
        const auto value = S::load(a + k);
#pragma GCC unroll 8
        for (std::size_t c = 0; c < U; ++c) sums[c] += value * S::load(w.line(c) + k);
    }
    for (std::size_t c = 0; c < U; ++c) {
        T sum = 0;
        for (std::size_t lane = 0; lane < S::kLanes; ++lane) sum += sums[c][lane];
        for (std::size_t rest = k; rest < inputs; ++rest) sum += a[rest] * w.line(c)[rest];
        z[c] = adds ? z[c] + sum : sum;
    }
}

// da = (da +) w dz for one row.
template <std::size_t U, Real T>
void narrow_backward(const T* dz, std::size_t inputs, const NarrowCoef<T>& w, bool adds, T* da) {
    using S = Simd<T>;
    std::size_t k = 0;
    for (; k + S::kLanes <= inputs; k += S::kLanes) {
        auto sum = adds ? S::load(da + k) : typename S::Vector{};
#pragma GCC unroll 8
        for (std::size_t c = 0; c < U; ++c) sum += S::broadcast(dz[c]) * S::load(w.line(c) + k);
        S::store(da + k, sum);
    }
    for (; k < inputs; ++k) {
        T sum = adds ? da[k] : T{0};
        for (std::size_t c = 0; c < U; ++c) sum += dz[c] * w.line(c)[k];
        da[k] = sum;
    }
}

// Adds a dz' over rows to sums, a line a unit (of NarrowCoef's stride), which stay in the first-level cache.
template <std::size_t U, Real T>
void narrow_gradient(RowMajor<const T> a, RowMajor<const T> dz, T* sums) {
    using S = Simd<T>;
    constexpr std::size_t kRows = 4;  // at a time: so many additions for a load and a store of the sums
    const std::size_t inputs = a.cols, stride = NarrowCoef<T>::stride(inputs);
    for (std::size_t first = 0; first < a.rows; first += kRows) {
        const std::size_t n = std::min(kRows, a.rows - first);
        std::size_t k = 0;
        for (; n == kRows && k + S::kLanes <= inputs; k += S::kLanes) {
            typename S::Vector values[kRows];
#pragma GCC unroll 4
            for (std::size_t r = 0; r < kRows; ++r) values[r] = S::load(a.row(first + r) + k);
#pragma GCC unroll 8
            for (std::size_t c = 0; c < U; ++c) {
                auto sum = S::load(sums + c * stride + k);
#pragma GCC unroll 4
                for (std::size_t r = 0; r < kRows; ++r) sum += S::broadcast(dz(first + r, c)) * values[r];
                S::store(sums + c * stride + k, sum);
            }
        }
        for (; k < inputs; ++k)
            for (std::size_t c = 0; c < U; ++c)
                for (std::size_t r = 0; r < n; ++r) sums[c * stride + k] += a(first + r, k) * dz(first + r, c);
    }
}

}  // namespace mercer::neural_network
