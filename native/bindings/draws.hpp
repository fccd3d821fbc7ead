// What a call may ask of a bootstrap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/errors.hpp"

namespace mercer::bindings {

// A bound far above any use, so that no call runs for ever.
inline void require_draws(std::int64_t n_draws, std::size_t n_rows) {
    require(0 <= n_draws && static_cast<std::uint64_t>(n_draws) <= 1000 * static_cast<std::uint64_t>(n_rows),
            "there are at most 1000 draws a row");
}

}  // namespace mercer::bindings
