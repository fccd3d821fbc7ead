// Memory that will be read soon, asked for while other work goes on: rows in random order are what no processor foresees.
#pragma once

#include <algorithm>
#include <cstddef>

namespace mercer {

// GCC takes a function that only prefetches for one without effects and drops every call of it; the empty assembly is an effect.
inline void prefetch(const void* place) {
    __builtin_prefetch(place);
    asm volatile("");
}

// Asks for n numbers that lie together, up to a page of them: more would push out what is in use, and the processor follows a long
// run by itself.
template <class T>
void prefetch_run(const T* first, std::size_t n) {
    constexpr std::size_t kLine = 64, kPage = 4096;
    const std::size_t bytes = std::min(n * sizeof(T), kPage);
    if (bytes == 0) return;
    const char* const start = reinterpret_cast<const char*>(first);
    for (std::size_t at = 0; at < bytes; at += kLine) prefetch(start + at);
    prefetch(start + bytes - 1);  // the last line, where the run does not begin at the beginning of one
}

}  // namespace mercer
