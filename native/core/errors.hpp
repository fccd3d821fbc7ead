// How a kernel says no. std::invalid_argument arrives in Python as ValueError, std::bad_alloc as MemoryError.
#pragma once

#include <stdexcept>
#include <string>

namespace mercer {

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

}  // namespace mercer
