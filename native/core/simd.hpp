// Fixed-width vectors by the compiler's vector extension: one source, and each instruction-set level gets its own widths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "core/views.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace mercer {

#if defined(__AVX512F__)
inline constexpr std::size_t kVectorBytes = 64;
inline constexpr std::size_t kVectorRegisters = 32;
#elif defined(__AVX2__)
inline constexpr std::size_t kVectorBytes = 32;
inline constexpr std::size_t kVectorRegisters = 16;
#elif defined(__aarch64__)
inline constexpr std::size_t kVectorBytes = 16;
inline constexpr std::size_t kVectorRegisters = 32;
#else
inline constexpr std::size_t kVectorBytes = 16;
inline constexpr std::size_t kVectorRegisters = 16;
#endif

template <Real T>
struct Simd {
    static constexpr std::size_t kLanes = kVectorBytes / sizeof(T);
    using Index = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;  // as wide as T
    typedef T Vector __attribute__((vector_size(kVectorBytes)));
    typedef Index Indices __attribute__((vector_size(kVectorBytes)));

    static Vector load(const T* p) {
        Vector v;
        std::memcpy(&v, p, sizeof v);
        return v;
    }
    static void store(T* p, Vector v) { std::memcpy(p, &v, sizeof v); }
    static Vector broadcast(T x) { return x - Vector{}; }
    static Indices broadcast_index(Index x) { return x - Indices{}; }
    static std::size_t round_up(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }
};

namespace detail {

// Exchanges the off-diagonal s x s blocks of two vectors: one step of a transposition by halves.
template <std::size_t kStep, class Vector, std::size_t... kLane>
void exchange_blocks(Vector& a, Vector& b, std::index_sequence<kLane...>) {
    constexpr std::size_t n = sizeof...(kLane);
    const Vector low = __builtin_shufflevector(a, b, ((kLane & kStep) == 0 ? kLane : n + kLane - kStep)...);
    const Vector high = __builtin_shufflevector(a, b, ((kLane & kStep) == 0 ? kLane + kStep : n + kLane)...);
    a = low;
    b = high;
}

template <std::size_t kStep, class Vector, std::size_t n>
void transpose_from(Vector (&v)[n]) {
    if constexpr (kStep < n) {
#pragma GCC unroll 16
        for (std::size_t i = 0; i < n; ++i)
            if ((i & kStep) == 0) exchange_blocks<kStep>(v[i], v[i + kStep], std::make_index_sequence<n>());
        transpose_from<2 * kStep>(v);
    }
}

}  // namespace detail

// Transposes a square of as many vectors as a vector has lanes.
template <Real T>
void transpose(typename Simd<T>::Vector (&v)[Simd<T>::kLanes]) {
    detail::transpose_from<1>(v);
}

// Sum of term(0), …, term(n - 1) in a fixed order that the compiler can keep in vectors.
template <class Term>
double lane_sum(std::size_t n, Term&& term) {
    constexpr std::size_t kLanes = 8;
    double lanes[kLanes] = {};
    std::size_t j = 0;
    for (; j + kLanes <= n; j += kLanes) {
#pragma GCC unroll 1  // unrolled, the lanes become scalars before they can become vectors
        for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += term(j + l);
    }
    for (std::size_t l = 0; j < n; ++j, ++l) lanes[l] += term(j);
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

namespace detail {

// Asks for large pages where there is much memory: what is read here and there in it then misses no page table. As NumPy does.
inline void advise_large_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::uintptr_t kPage = 4096;
    constexpr std::size_t kLarge = std::size_t{1} << 22;
    if (bytes < kLarge) return;
    const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(data) + kPage - 1) / kPage * kPage;
    const std::uintptr_t last = (reinterpret_cast<std::uintptr_t>(data) + bytes) / kPage * kPage;
    madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // a wish: whether it is granted changes no result
#endif
}

}  // namespace detail

// Owned, 64-byte aligned scratch memory for packed panels and blocks; not initialised.
template <class T>
class Aligned {
   public:
    explicit Aligned(std::size_t n) : size_(n), data_(static_cast<T*>(::operator new(n * sizeof(T) + 1, std::align_val_t{64}))) {
        detail::advise_large_pages(data_.get(), n * sizeof(T));
    }
    T* data() const { return data_.get(); }
    T& operator[](std::size_t i) const { return data_.get()[i]; }
    std::size_t size() const { return size_; }

   private:
    struct Free {
        void operator()(T* p) const { ::operator delete(p, std::align_val_t{64}); }
    };
    std::size_t size_;
    std::unique_ptr<T, Free> data_;
};

}  // namespace mercer
