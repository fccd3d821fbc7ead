// What is kept of the distances of a group of rows: the nearest target, or all of them (core/distance.hpp). Searches among many
// rows have collectors of their own (neighbors/collectors.hpp, neighbors/screen.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer {

// A tile is kGroupVectors vectors of rows by kTileTargets targets; its sums fill most of the registers.
inline constexpr std::size_t kGroupVectors = kVectorRegisters == 32 ? 4 : 2;
inline constexpr std::size_t kTileTargets = 6;  // measure_some has a case for each number up to it

template <Real T>
inline constexpr std::size_t kGroupRows = kGroupVectors * Simd<T>::kLanes;

inline constexpr std::size_t kMostGroups = 8;  // that are measured together

template <Real T>
using GroupVectors = typename Simd<T>::Vector[kGroupVectors];

// A collector can be copied and has
//   take(target, values)     the values of one target, for all rows of the group; targets come in their order

// The nearest target of one row. `second` is the value of the next nearest: infinity where there is none or it was not kept.
template <Real T>
struct Found {
    std::int32_t target;
    T best;
    T second;
};

// Keeps the best value of each row and its target, and the second best if asked for. Ties go to the lower index, as in NumPy.
template <Real T, bool kWithSecond>
class Nearest {
   public:
    using S = Simd<T>;

    Nearest() {
        for (std::size_t v = 0; v < kGroupVectors; ++v) {
            best_[v] = second_[v] = S::broadcast(std::numeric_limits<T>::infinity());
            target_[v] = S::broadcast_index(0);
        }
    }

    [[gnu::always_inline]] void take(std::size_t target, const GroupVectors<T>& values) {
        const typename S::Indices index = S::broadcast_index(static_cast<typename S::Index>(target));
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kGroupVectors; ++v) {
            const auto is_better = values[v] < best_[v];
            if constexpr (kWithSecond) {
                const typename S::Vector loser = is_better ? best_[v] : values[v];
                second_[v] = loser < second_[v] ? loser : second_[v];
            }
            best_[v] = is_better ? values[v] : best_[v];
            target_[v] = is_better ? index : target_[v];
        }
    }

    void write(std::size_t n_rows, Found<T>* found) const {
        for (std::size_t i = 0; i < n_rows; ++i) {
            const std::size_t v = i / S::kLanes, lane = i % S::kLanes;
            found[i] = {static_cast<std::int32_t>(target_[v][lane]), best_[v][lane], second_[v][lane]};
        }
    }

   private:
    GroupVectors<T> best_;
    GroupVectors<T> second_;
    typename S::Indices target_[kGroupVectors];
};

// Writes the values of row i to out[i * ld + target].
template <Real T>
struct WriteAll {
    T* out;
    std::size_t ld;
    std::size_t n_rows;

    void take(std::size_t target, const GroupVectors<T>& values) const {
        for (std::size_t i = 0; i < n_rows; ++i) out[i * ld + target] = values[i / Simd<T>::kLanes][i % Simd<T>::kLanes];
    }
};

}  // namespace mercer
