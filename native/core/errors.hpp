// How a kernel says no. std::invalid_argument arrives in Python as ValueError, std::bad_alloc as MemoryError.
#pragma once

namespace mercer {

// Throws std::invalid_argument; in a source file, since what is thrown would be compiled at every place that asks for something.
[[noreturn, gnu::cold]] void refuse(const char* message);

inline void require(bool condition, const char* message) {
    if (!condition) refuse(message);
}

}  // namespace mercer
