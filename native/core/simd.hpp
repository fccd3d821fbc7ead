// Fixed-width vectors by the compiler's vector extension: one source, and each instruction-set level gets its own widths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "core/views.hpp"

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
    static Indices iota() {
        Indices v{};
        for (std::size_t lane = 0; lane < kLanes; ++lane) v[lane] = static_cast<Index>(lane);
        return v;
    }
    static std::size_t round_up(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }
};

// Owned, 64-byte aligned scratch memory for packed panels and blocks; not initialised.
template <class T>
class Aligned {
   public:
    explicit Aligned(std::size_t n) : size_(n), data_(static_cast<T*>(::operator new(n * sizeof(T) + 1, std::align_val_t{64}))) {}
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
