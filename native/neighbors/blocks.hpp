// Points in blocks of eight, feature after feature, so that each lane of a vector is a point: eight of them are measured at a time,
// without sums across lanes. A block has eight points at every instruction-set level: files of trees are the same for all.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/lane_bits.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "neighbors/collectors.hpp"
#include "neighbors/metric.hpp"

namespace mercer::neighbors {

inline constexpr std::size_t kBlock = 8;
inline constexpr std::size_t kParts = kBlock / Doubles::kLanes;  // vectors of a block
static_assert(kBlock % Doubles::kLanes == 0);

inline std::size_t round_to_blocks(std::size_t n) { return (n + kBlock - 1) / kBlock * kBlock; }

// As many values as a vector of doubles has lanes, widened where they are single.
template <Real T>
Vector load_lanes(const T* values) {
    if constexpr (sizeof(T) == sizeof(double)) {
        return Doubles::load(values);
    } else {
        typedef float Narrow __attribute__((vector_size(sizeof(float) * Doubles::kLanes)));
        Narrow narrow;
        std::memcpy(&narrow, values, sizeof narrow);
        return __builtin_convertvector(narrow, Vector);
    }
}

inline unsigned first_lanes(std::size_t n) { return n >= kBlock ? (1U << kBlock) - 1 : (1U << n) - 1; }

// One value of each lane of a block.
struct BlockValues {
    Vector part[kParts];

    double operator[](std::size_t lane) const { return part[lane / Doubles::kLanes][lane % Doubles::kLanes]; }
    void store(double* out) const {
        for (std::size_t v = 0; v < kParts; ++v) Doubles::store(out + v * Doubles::kLanes, part[v]);
    }
    // The first of the n first lanes that no other is below; found without a branch, which could not be guessed.
    std::size_t least(std::size_t n) const {
        alignas(64) double values[kBlock];
        store(values);
        double best = values[0];
        for (std::size_t lane = 1; lane < kBlock; ++lane) best = lane < n && values[lane] < best ? values[lane] : best;
        const unsigned found = up_to(best) & first_lanes(n);
        return found == 0 ? 0 : static_cast<std::size_t>(__builtin_ctz(found));  // 0: what is no number
    }
    // Lanes that are not above x, as bits.
    unsigned up_to(double x) const {
        unsigned bits = 0;
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kParts; ++v) bits |= lane_bits(part[v] <= Doubles::broadcast(x)) << (v * Doubles::kLanes);
        return bits;
    }
};

// A feature count that is known when compiled, or 0 where it is not.
template <std::size_t kD>
constexpr std::size_t features(std::size_t d) {
    return kD == 0 ? d : kD;
}

template <Real T>
struct Blocks {
    const T* values;  // of slot s and feature j: values[(s / kBlock * d + j) * kBlock + s % kBlock]
    const Row* rows;  // of each slot
    std::size_t n;
    std::size_t d;

    const T* block(std::size_t slot) const { return values + slot * d; }  // of a slot that begins one
    void copy_point(std::size_t slot, double* out) const {
        const T* const first = block(slot / kBlock * kBlock) + slot % kBlock;
        for (std::size_t j = 0; j < d; ++j) out[j] = first[j * kBlock];
    }
};

// A metric that is chosen when a block is measured (any_metric.hpp). Every formula is in what measures by it, which is compiled
// once.
class AnyMetric;
template <class M>
concept ChosenMetric = std::same_as<M, AnyMetric>;

template <Real T>
BlockValues measure_chosen(const AnyMetric& metric, const double* query, const T* block, std::size_t d);

// The ranks of the eight points of a block, of which `query` is measured. O(d).
template <std::size_t kD, class M, Real T>
[[gnu::always_inline]] inline BlockValues measure_block(const M& metric, const double* query, const T* block, std::size_t d) {
    if constexpr (ChosenMetric<M>) {
        return measure_chosen(metric, query, block, d);
    } else {
        decltype(metric.template start<Vector>()) sums[kParts];
        for (auto& sum : sums) sum = metric.template start<Vector>();
        for (std::size_t j = 0; j < features<kD>(d); ++j) {
            const Vector q = Doubles::broadcast(query[j]);
#pragma GCC unroll 4
            for (std::size_t v = 0; v < kParts; ++v)
                metric.add(sums[v], q, load_lanes(block + j * kBlock + v * Doubles::kLanes), j);
        }
        BlockValues ranks;
        for (std::size_t v = 0; v < kParts; ++v) ranks.part[v] = metric.rank(sums[v]);
        return ranks;
    }
}

// Offers the points of slots [begin, end) that are within the collector's limit. `begin` begins a block. O((end - begin) d).
template <std::size_t kD, class M, Real T, class Collector>
void scan(const M& metric, const Blocks<T>& points, const double* query, std::size_t begin, std::size_t end, Collector& collector) {
    for (std::size_t slot = begin; slot < end; slot += kBlock) {
        const BlockValues ranks = measure_block<kD>(metric, query, points.block(slot), points.d);
        unsigned wanted = ranks.up_to(collector.limit()) & first_lanes(end - slot);
        if (wanted == 0) continue;
        alignas(64) double rank[kBlock];
        ranks.store(rank);
        for (; wanted != 0; wanted &= wanted - 1) {
            const auto lane = static_cast<std::size_t>(__builtin_ctz(wanted));
            collector.offer(rank[lane], points.rows[slot + lane]);
        }
    }
}

// Copies rows of x, in the order of `rows`, into blocks; lanes without a point hold zeros. O(n d).
template <Real T>
void fill_blocks(Matrix<const T> x, std::span<const Row> rows, T* values, Threads threads) {
    constexpr std::size_t kTask = 128 * kBlock;
    const std::size_t n = rows.size(), d = x.cols;
    parallel_for((n + kTask - 1) / kTask, threads.for_work(static_cast<double>(n) * static_cast<double>(d)), [&](std::size_t task) {
        for (std::size_t slot = task * kTask; slot < std::min((task + 1) * kTask, n); slot += kBlock) {
            T* const block = values + slot * d;
            const std::size_t n_lanes = std::min(kBlock, n - slot);
            if (n_lanes < kBlock) std::fill_n(block, kBlock * d, T{0});
            for (std::size_t lane = 0; lane < n_lanes; ++lane) {
                const auto row = static_cast<std::size_t>(rows[slot + lane]);
                for (std::size_t j = 0; j < d; ++j) block[j * kBlock + lane] = x(row, j);
            }
        }
    });
}

}  // namespace mercer::neighbors
