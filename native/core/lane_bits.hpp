// From comparisons of vectors to bits, of which the next one is found at once.
#pragma once

#include <cstddef>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace mercer {

// The lanes of a comparison of vectors that are true, as bits.
template <class Indices>
unsigned lane_bits(Indices is_true) {
    [[maybe_unused]] constexpr bool kHasDoubles = sizeof(is_true[0]) == 8;
#if defined(__AVX512DQ__)
    if constexpr (sizeof(Indices) == 64) {
        const auto v = reinterpret_cast<__m512i>(is_true);
        return static_cast<unsigned>(kHasDoubles ? _mm512_movepi64_mask(v) : _mm512_movepi32_mask(v));
    }
#endif
#if defined(__AVX2__)
    if constexpr (sizeof(Indices) == 32) {
        if constexpr (kHasDoubles) return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(is_true)));
        return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(is_true)));
    }
#endif
#if defined(__SSE2__)
    if constexpr (sizeof(Indices) == 16) {
        if constexpr (kHasDoubles) return static_cast<unsigned>(_mm_movemask_pd(reinterpret_cast<__m128d>(is_true)));
        return static_cast<unsigned>(_mm_movemask_ps(reinterpret_cast<__m128>(is_true)));
    }
#endif
    unsigned bits = 0;
    for (std::size_t lane = 0; lane < sizeof(Indices) / sizeof(is_true[0]); ++lane) bits |= (is_true[lane] ? 1U : 0U) << lane;
    return bits;
}

}  // namespace mercer
