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

// The sum of a vector's lanes, by halves.
template <Real T>
[[gnu::always_inline]] inline T lane_total(typename Simd<T>::Vector v) {
    constexpr std::size_t kLanes = Simd<T>::kLanes;
    T lanes[kLanes];
    Simd<T>::store(lanes, v);
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
        for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    return lanes[0];
}

// z = (beta z +) w' a for one row a. Values behind the row are read, and count for nothing.
template <std::size_t U, Real T>
void narrow_forward(const T* a, std::size_t inputs, const NarrowCoef<T>& w, bool adds, T* z) {
    using S = Simd<T>;
    typename S::Vector sums[U] = {};
    for (std::size_t k = 0; k < inputs; k += S::kLanes) {
        const auto value = S::load(a + k);
#pragma GCC unroll 8
        for (std::size_t c = 0; c < U; ++c) sums[c] += value * S::load(w.line(c) + k);
    }
#pragma GCC unroll 8
    for (std::size_t c = 0; c < U; ++c) {
        const T sum = lane_total<T>(sums[c]);
        z[c] = adds ? z[c] + sum : sum;
    }
}

// da = (da +) w dz for one row.
template <std::size_t U, Real T>
void narrow_backward(const T* dz, std::size_t inputs, const NarrowCoef<T>& w, bool adds, T* da) {
    using S = Simd<T>;
    typename S::Vector slopes[U];
#pragma GCC unroll 8
    for (std::size_t c = 0; c < U; ++c) slopes[c] = S::broadcast(dz[c]);
    const auto at = [&](std::size_t k, typename S::Vector sum) {
#pragma GCC unroll 8
        for (std::size_t c = 0; c < U; ++c) sum += slopes[c] * S::load(w.line(c) + k);
        return sum;
    };
    std::size_t k = 0;
    if (inputs >= S::kLanes) {
        const std::size_t last = inputs - S::kLanes;  // of the last vector, which covers some places again
        const typename S::Vector last_sum = at(last, adds ? S::load(da + last) : typename S::Vector{});
        for (; k <= last; k += S::kLanes) S::store(da + k, at(k, adds ? S::load(da + k) : typename S::Vector{}));
        if (k < inputs) S::store(da + last, last_sum);
        return;
    }
    for (; k < inputs; ++k) {
        T sum = adds ? da[k] : T{0};
        for (std::size_t c = 0; c < U; ++c) sum += dz[c] * w.line(c)[k];
        da[k] = sum;
    }
}

// Adds a dz' over rows to sums, a line a unit (of NarrowCoef's stride), which stay in the first-level cache. Values behind a row
// are read, and added to what fills a line up.
template <std::size_t U, Real T>
void narrow_gradient(RowMajor<const T> a, RowMajor<const T> dz, T* sums) {
    using S = Simd<T>;
    constexpr std::size_t kRows = 4;  // at a time: so many additions for a load and a store of the sums
    const std::size_t inputs = a.cols, stride = NarrowCoef<T>::stride(inputs);
    for (std::size_t first = 0; first < a.rows; first += kRows) {
        const std::size_t n = std::min(kRows, a.rows - first);
        std::size_t k = 0;
        for (; n == kRows && k < inputs; k += S::kLanes) {
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
