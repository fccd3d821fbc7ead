// Distances from a group of rows to centres: a register-tiled product, fused with what is done with the result.
//
// A group holds as many rows as fill kGroupVectors vectors, feature by feature, so that each lane is a row: the search for the
// nearest centre then runs in registers, without sums or searches across lanes.
//
// Two measures share one tile. kScore is |c|^2 / 2 - x.c, which orders the centres as the distance does and costs one
// multiply-add: |x - c|^2 = |x|^2 + 2 score. kSquared is |x - c|^2 itself, from the differences: twice the work, and exactly
// zero where a row equals a centre. Rows and centres are shifted by a common vector (the mean of the data) beforehand, so that
// the score does not cancel for data far from the origin.
//
// Computing values and collecting them are two things: a collector is given the values of one centre at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

enum class Measure { kScore, kSquared };

// A tile is kGroupVectors vectors of rows by kTileCentres centres; its accumulators fill most of the registers.
inline constexpr std::size_t kGroupVectors = kVectorRegisters == 32 ? 4 : 2;
inline constexpr std::size_t kTileCentres = 6;  // measure_some has a case for each number up to it

template <Real T>
inline constexpr std::size_t kGroupRows = kGroupVectors * Simd<T>::kLanes;

template <Real T>
using GroupVectors = typename Simd<T>::Vector[kGroupVectors];

// Half the squared norm of each centre.
template <Real T>
std::vector<T> half_norms(RowMajor<const T> centres) {
    std::vector<T> norms(centres.rows);
    for (std::size_t c = 0; c < centres.rows; ++c) {
        const T* centre = centres.row(c);
        norms[c] =
            static_cast<T>(lane_sum(centres.cols, [&](std::size_t j) { return static_cast<double>(centre[j]) * centre[j]; }) / 2);
    }
    return norms;
}

// The squared distance between two points of d coordinates.
template <Real T>
double squared_distance(const T* p, const T* q, std::size_t d) {
    return lane_sum(d, [&](std::size_t j) {
        const double difference = static_cast<double>(p[j]) - static_cast<double>(q[j]);
        return difference * difference;
    });
}

// The nearest centre of one row. `second` is the value of the next nearest: infinity where there is none or it was not kept.
template <Real T>
struct Found {
    std::int32_t centre;
    T best;
    T second;
};

// Keeps the best value of each row and its centre, and the second best if asked for. Ties go to the lower index, as in NumPy.
template <Real T, bool kWithSecond>
class Nearest {
   public:
    using S = Simd<T>;

    Nearest() {
        for (std::size_t v = 0; v < kGroupVectors; ++v) {
            best_[v] = second_[v] = S::broadcast(std::numeric_limits<T>::infinity());
            centre_[v] = S::broadcast_index(0);
        }
    }

    [[gnu::always_inline]] void take(std::size_t centre, const GroupVectors<T>& values) {
        const typename S::Indices index = S::broadcast_index(static_cast<typename S::Index>(centre));
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kGroupVectors; ++v) {
            const auto is_better = values[v] < best_[v];
            if constexpr (kWithSecond) {
                const typename S::Vector loser = is_better ? best_[v] : values[v];
                second_[v] = loser < second_[v] ? loser : second_[v];
            }
            best_[v] = is_better ? values[v] : best_[v];
            centre_[v] = is_better ? index : centre_[v];
        }
    }

    void write(std::size_t n_rows, Found<T>* found) const {
        for (std::size_t i = 0; i < n_rows; ++i) {
            const std::size_t v = i / S::kLanes, lane = i % S::kLanes;
            found[i] = {static_cast<std::int32_t>(centre_[v][lane]), best_[v][lane], second_[v][lane]};
        }
    }

   private:
    GroupVectors<T> best_;
    GroupVectors<T> second_;
    typename S::Indices centre_[kGroupVectors];
};

// Writes the values of row i to out[i * ld + centre].
template <Real T>
struct WriteAll {
    T* out;
    std::size_t ld;
    std::size_t n_rows;

    void take(std::size_t centre, const GroupVectors<T>& values) const {
        for (std::size_t i = 0; i < n_rows; ++i) out[i * ld + centre] = values[i / Simd<T>::kLanes][i % Simd<T>::kLanes];
    }
};

namespace detail {

// One tile: the group against n consecutive centres. O(n d) vector operations.
template <Measure kMeasure, std::size_t n, Real T, class Collector>
[[gnu::always_inline]] inline void measure_tile(const T* group, RowMajor<const T> centres, const T* half_norm, std::size_t first,
                                                Collector& collector) {
    using S = Simd<T>;
    GroupVectors<T> acc[n];
#pragma GCC unroll 8
    for (std::size_t c = 0; c < n; ++c)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kGroupVectors; ++v)
            acc[c][v] = S::broadcast(kMeasure == Measure::kScore ? half_norm[first + c] : T{0});
    const T* line = group;
    const T* centre = centres.row(first);
    for (std::size_t j = 0; j < centres.cols; ++j, line += kGroupRows<T>) {
        GroupVectors<T> row;
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kGroupVectors; ++v) row[v] = S::load(line + v * S::kLanes);
#pragma GCC unroll 8
        for (std::size_t c = 0; c < n; ++c) {
            const typename S::Vector value = S::broadcast(centre[c * centres.cols + j]);
#pragma GCC unroll 8
            for (std::size_t v = 0; v < kGroupVectors; ++v) {
                if constexpr (kMeasure == Measure::kScore) {
                    acc[c][v] -= value * row[v];
                } else {
                    const typename S::Vector difference = row[v] - value;
                    acc[c][v] += difference * difference;
                }
            }
        }
    }
#pragma GCC unroll 8
    for (std::size_t c = 0; c < n; ++c) collector.take(first + c, acc[c]);
}

}  // namespace detail

namespace detail {

// A tile of n centres, for n up to kTileCentres.
template <Measure kMeasure, Real T, class Collector>
void measure_some(std::size_t n, const T* group, RowMajor<const T> centres, const T* half_norm, std::size_t first,
                  Collector& collector) {
    switch (n) {
        case 6:
            measure_tile<kMeasure, 6>(group, centres, half_norm, first, collector);
            break;
        case 5:
            measure_tile<kMeasure, 5>(group, centres, half_norm, first, collector);
            break;
        case 4:
            measure_tile<kMeasure, 4>(group, centres, half_norm, first, collector);
            break;
        case 3:
            measure_tile<kMeasure, 3>(group, centres, half_norm, first, collector);
            break;
        case 2:
            measure_tile<kMeasure, 2>(group, centres, half_norm, first, collector);
            break;
        case 1:
            measure_tile<kMeasure, 1>(group, centres, half_norm, first, collector);
            break;
        default:
            break;
    }
}

}  // namespace detail

// Measures a group against all centres and gives the values to the collector. The last two tiles are of about the same width: a
// narrow one would wait for its own additions. O(k d) vector operations.
template <Measure kMeasure, Real T, class Collector>
void measure_group(const T* group, RowMajor<const T> centres, const T* half_norm, Collector& collector) {
    std::size_t c = 0;
    for (; centres.rows - c > 2 * kTileCentres; c += kTileCentres)
        detail::measure_tile<kMeasure, kTileCentres>(group, centres, half_norm, c, collector);
    const std::size_t left = centres.rows - c;
    const std::size_t n = left > kTileCentres ? (left + 1) / 2 : left;
    detail::measure_some<kMeasure>(n, group, centres, half_norm, c, collector);
    detail::measure_some<kMeasure>(left - n, group, centres, half_norm, c + n, collector);
}

}  // namespace mercer::cluster
