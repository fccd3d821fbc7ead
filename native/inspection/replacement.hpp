// What takes the place of what in the rows that trees are asked about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/views.hpp"

namespace mercer::inspection {

inline constexpr std::int32_t kNoGroup = -1;

// Features of a group are replaced together, and the groups one at a time.
template <Real T>
struct Replacement {
    std::span<const std::int32_t> group;    // of each feature, or kNoGroup
    std::span<const std::int32_t> column;   // of `donors`, for each feature that has a group
    Matrix<const T> donors;                 // where values are taken from
    std::span<const std::uint32_t> orders;  // alternatives x rows: the donor of each. Empty: donor r is alternative r of all rows
    std::size_t n_groups = 0;
    std::size_t n_alternatives = 0;

    std::size_t n_slots() const { return n_groups * n_alternatives; }
    // The value that alternative r puts in the place of a feature of row i, of n_rows.
    T value(std::size_t r, std::size_t i, std::size_t n_rows, std::size_t feature) const {
        const std::size_t donor = orders.empty() ? r : orders[r * n_rows + i];
        return donors(donor, static_cast<std::size_t>(column[feature]));
    }
};

}  // namespace mercer::inspection
