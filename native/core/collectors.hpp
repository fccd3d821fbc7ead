// What is kept of the distances of a group of rows: the nearest target, some, all within a radius, counts, or all of them; and a
// filter around any of these (core/distance.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

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

// Keeps the k nearest targets of each row, the nearest first and ties in the order of the targets: row i's at values[i * k] and
// targets[i * k] on. Places for which there is no target hold infinity and -1.
template <Real T>
class NearestSome {
   public:
    NearestSome(std::size_t k, std::size_t n_rows, T* values, std::int64_t* targets) : k_(k), values_(values), targets_(targets) {
        std::fill_n(values, k * n_rows, std::numeric_limits<T>::infinity());
        std::fill_n(targets, k * n_rows, std::int64_t{-1});
        for (std::size_t i = 0; i < kGroupRows<T>; ++i)  // lanes without a row never want a target
            worst_[i / kLanes][i % kLanes] =
                i < n_rows && k > 0 ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
    }

    void take(std::size_t target, const GroupVectors<T>& values) {
        for (std::size_t v = 0; v < kGroupVectors; ++v) {
            const auto is_wanted = values[v] < worst_[v];
            for (std::size_t lane = 0; lane < kLanes; ++lane)
                if (is_wanted[lane]) insert(v * kLanes + lane, values[v][lane], static_cast<std::int64_t>(target));
        }
    }

   private:
    static constexpr std::size_t kLanes = Simd<T>::kLanes;

    void insert(std::size_t row, T value, std::int64_t target) {
        T* const values = values_ + row * k_;
        std::int64_t* const targets = targets_ + row * k_;
        std::size_t place = k_ - 1;
        for (; place > 0 && value < values[place - 1]; --place) {
            values[place] = values[place - 1];
            targets[place] = targets[place - 1];
        }
        values[place] = value;
        targets[place] = target;
        worst_[row / kLanes][row % kLanes] = values[k_ - 1];
    }

    std::size_t k_;
    T* values_;
    std::int64_t* targets_;
    GroupVectors<T> worst_;
};

// One target within the radius of a row of the group.
template <Real T>
struct Hit {
    std::uint32_t row;
    std::int64_t target;
    T value;
};

// Appends all targets whose value is at most `radius` to `hits`, in the order of the targets.
template <Real T>
struct WithinRadius {
    T radius;
    std::size_t n_rows;
    std::vector<Hit<T>>* hits;

    void take(std::size_t target, const GroupVectors<T>& values) const {
        for (std::size_t i = 0; i < n_rows; ++i) {
            const T value = values[i / Simd<T>::kLanes][i % Simd<T>::kLanes];
            if (value <= radius) hits->push_back({static_cast<std::uint32_t>(i), static_cast<std::int64_t>(target), value});
        }
    }
};

// Counts the targets of each row whose value is at most `radius`.
template <Real T>
class CountWithin {
   public:
    explicit CountWithin(T radius) : radius_(radius) {}

    void take(std::size_t, const GroupVectors<T>& values) {
        for (std::size_t v = 0; v < kGroupVectors; ++v) counts_[v] -= values[v] <= radius_;  // true is minus one
    }

    void write(std::size_t n_rows, std::int64_t* counts) const {
        for (std::size_t i = 0; i < n_rows; ++i) counts[i] = counts_[i / Simd<T>::kLanes][i % Simd<T>::kLanes];
    }

   private:
    T radius_;
    typename Simd<T>::Indices counts_[kGroupVectors] = {};
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

// Around a collector: values for which the filter is false become endless. The filter is asked by row of the group and target.
template <Real T, class Collector, class Filter>
struct Filtered {
    Collector collector;
    Filter counts;
    std::size_t n_rows;

    void take(std::size_t target, const GroupVectors<T>& values) {
        GroupVectors<T> kept;
        for (std::size_t v = 0; v < kGroupVectors; ++v) kept[v] = values[v];
        for (std::size_t i = 0; i < n_rows; ++i)
            if (!counts(i, target)) kept[i / Simd<T>::kLanes][i % Simd<T>::kLanes] = std::numeric_limits<T>::infinity();
        collector.take(target, kept);
    }
};

}  // namespace mercer
