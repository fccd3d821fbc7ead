// Distances between two sets of rows: register tiles, blocked over both sides, fused with what is done with the values.
//
// The rows of one side come in groups that fill kGroupVectors vectors, feature by feature, so that each lane is a row: what is
// sought among the rows of the other side (the targets) is then found in registers, without sums or searches across lanes. Some
// groups are measured against a block of targets at a time, both of which stay in the second-level cache.
//
// Two things are separate. A metric says how values grow feature by feature. A collector is given the values of a group for one
// target after another, in their order.
//
// Sums run over the features in order, whatever the blocks: a value's bits depend on its row and its target alone.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "core/collectors.hpp"
#include "core/metric.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer {

// ---- targets

// Half the squared norm of each row.
template <Real T>
std::vector<T> half_norms(RowMajor<const T> rows) {
    std::vector<T> norms(rows.rows);
    for (std::size_t c = 0; c < rows.rows; ++c) {
        const T* row = rows.row(c);
        norms[c] = static_cast<T>(lane_sum(rows.cols, [&](std::size_t j) { return static_cast<double>(row[j]) * row[j]; }) / 2);
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

template <Real T>
struct Targets {
    RowMajor<const T> values;
    const T* constants = nullptr;  // one a target, for metrics that have any
};

// ---- tiles

namespace detail {

// The sums of one tile: the group against n consecutive targets. O(n d) vector operations.
template <std::size_t n, class M, Real T>
[[gnu::always_inline]] inline void sum_tile(const M& metric, const T* group, const Targets<T>& targets, std::size_t first,
                                            GroupVectors<T> (&sums)[n]) {
    using S = Simd<T>;
    const std::size_t d = targets.values.cols;
#pragma GCC unroll 8
    for (std::size_t c = 0; c < n; ++c)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kGroupVectors; ++v) sums[c][v] = S::broadcast(metric.start(targets.constants + first + c));
    const T* line = group;
    const T* target = targets.values.row(first);
    for (std::size_t j = 0; j < d; ++j, line += kGroupRows<T>) {
        GroupVectors<T> row;
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kGroupVectors; ++v) row[v] = S::load(line + v * S::kLanes);
#pragma GCC unroll 8
        for (std::size_t c = 0; c < n; ++c) {
            const typename S::Vector value = S::broadcast(target[c * d + j]);
#pragma GCC unroll 8
            for (std::size_t v = 0; v < kGroupVectors; ++v) sums[c][v] = metric.add(sums[c][v], row[v], value);
        }
    }
}

// The same, left in memory. Not inlined: what its caller calls would cost it its registers.
template <std::size_t n, class M, Real T>
[[gnu::noinline]] void store_tile(const M& metric, const T* group, const Targets<T>& targets, std::size_t first,
                                  GroupVectors<T> (&out)[n]) {
    GroupVectors<T> sums[n];
    sum_tile<n>(metric, group, targets, first, sums);
#pragma GCC unroll 8
    for (std::size_t c = 0; c < n; ++c)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kGroupVectors; ++v) out[c][v] = sums[c][v];
}

// One tile, whose values are taken by the collector: from registers, or from memory where it says that it calls functions.
template <std::size_t n, class M, Real T, class Collector>
[[gnu::always_inline]] inline void measure_tile(const M& metric, const T* group, const Targets<T>& targets, std::size_t first,
                                                Collector& collector) {
    GroupVectors<T> sums[n];
    if constexpr (requires { Collector::kCallsFunctions; }) {
        store_tile<n>(metric, group, targets, first, sums);
    } else {
        sum_tile<n>(metric, group, targets, first, sums);
    }
#pragma GCC unroll 8
    for (std::size_t c = 0; c < n; ++c) collector.take(first + c, sums[c]);
}

// A tile of n targets, for n up to kTileTargets.
template <class M, Real T, class Collector>
void measure_some(std::size_t n, const M& metric, const T* group, const Targets<T>& targets, std::size_t first,
                  Collector& collector) {
    switch (n) {
        case 6:
            return measure_tile<6>(metric, group, targets, first, collector);
        case 5:
            return measure_tile<5>(metric, group, targets, first, collector);
        case 4:
            return measure_tile<4>(metric, group, targets, first, collector);
        case 3:
            return measure_tile<3>(metric, group, targets, first, collector);
        case 2:
            return measure_tile<2>(metric, group, targets, first, collector);
        case 1:
            return measure_tile<1>(metric, group, targets, first, collector);
        default:
            return;
    }
}

// A group against the targets [first, last). The last two tiles are of about the same width: a narrow one would wait for its own
// additions. O((last - first) d) vector operations.
template <class M, Real T, class Collector>
void measure_group(const M& metric, const T* group, const Targets<T>& targets, std::size_t first, std::size_t last,
                   Collector& collector) {
    for (; last - first > 2 * kTileTargets; first += kTileTargets)
        measure_tile<kTileTargets>(metric, group, targets, first, collector);
    const std::size_t left = last - first;
    const std::size_t n = left > kTileTargets ? (left + 1) / 2 : left;
    measure_some(n, metric, group, targets, first, collector);
    measure_some(left - n, metric, group, targets, first + n, collector);
}

}  // namespace detail

// Rows packed into groups, shifted. Lanes without a row hold what the last row holds.
template <Real T>
class RowGroups {
   public:
    explicit RowGroups(std::size_t n_features)
        : d_(n_features), rows_(Simd<T>::kLanes * d_), groups_(most_groups(d_) * d_ * kGroupRows<T>) {}

    // How many rows to take up at a time for so many targets: one group where the targets stay in the cache anyhow, else as many
    // as share it with a block of targets.
    static std::size_t capacity(std::size_t d, std::size_t n_targets) {
        return kGroupRows<T> * (n_targets <= target_block(d) ? 1 : most_groups(d));
    }

    // Takes up rows of x minus `shift` (empty: none), at most kMostGroups groups of them. O(rows d).
    void fill(Matrix<const T> x, std::span<const T> shift, std::span<const std::size_t> ids) {
        n_groups_ = (ids.size() + kGroupRows<T> - 1) / kGroupRows<T>;
        const T* lines[Simd<T>::kLanes];
        // Long rows are copied one after the other first: reading memory in order is twice as fast as some of each row in turn.
        const bool needs_copy = !x.has_contiguous_rows() || d_ * sizeof(T) >= 256;
        for (std::size_t g = 0; g < n_groups_; ++g) {
            for (std::size_t first = 0; first < kGroupRows<T>; first += Simd<T>::kLanes) {
                for (std::size_t lane = 0; lane < Simd<T>::kLanes; ++lane) {
                    const std::size_t row = ids[std::min(g * kGroupRows<T> + first + lane, ids.size() - 1)];
                    lines[lane] = needs_copy ? copy_shifted(x, shift, row, lane) : x.row(row);
                }
                transpose_lines(lines, needs_copy || shift.empty() ? nullptr : shift.data(), group(g) + first);
            }
        }
    }

    // Measures all groups against all targets: `start(g)` makes the collector of group g, and `finish(g, collector)` takes it back.
    // O(rows targets d).
    template <class M, class Start, class Finish>
        requires Metric<M, T>
    void measure(const M& metric, const Targets<T>& targets, Start&& start, Finish&& finish) const {
        const std::size_t k = targets.values.rows;
        if (n_groups_ == 1) {
            auto collector = start(std::size_t{0});
            detail::measure_group(metric, groups_.data(), targets, 0, k, collector);
            return finish(std::size_t{0}, collector);
        }
        std::vector<decltype(start(std::size_t{0}))> collectors;
        collectors.reserve(n_groups_);
        for (std::size_t g = 0; g < n_groups_; ++g) collectors.push_back(start(g));
        for (std::size_t first = 0, block = target_block(d_); first < k; first += block) {
            for (std::size_t g = 0; g < n_groups_; ++g) {
                auto collector = collectors[g];  // its state in registers
                detail::measure_group(metric, group(g), targets, first, std::min(first + block, k), collector);
                collectors[g] = collector;
            }
        }
        for (std::size_t g = 0; g < n_groups_; ++g) finish(g, collectors[g]);
    }

   private:
    static constexpr std::size_t kCacheBytes = std::size_t{1} << 17;  // of groups, and of a block of targets

    static std::size_t most_groups(std::size_t d) {
        return std::clamp<std::size_t>(kCacheBytes / (d * kGroupRows<T> * sizeof(T) + 1), 1, kMostGroups);
    }
    static std::size_t target_block(std::size_t d) {
        return std::max<std::size_t>(kCacheBytes / (d * sizeof(T) + 1) / kTileTargets, 8) * kTileTargets;
    }
    T* group(std::size_t g) const { return groups_.data() + g * d_ * kGroupRows<T>; }

    const T* copy_shifted(Matrix<const T> x, std::span<const T> shift, std::size_t row, std::size_t lane) const {
        T* copy = rows_.data() + lane * d_;
        if (!x.has_contiguous_rows() || shift.empty()) {
            for (std::size_t j = 0; j < d_; ++j) copy[j] = x(row, j) - (shift.empty() ? T{0} : shift[j]);
            return copy;
        }
        const T* source = x.row(row);
        const T* offset = shift.data();
        for (std::size_t j = 0; j < d_; ++j) copy[j] = source[j] - offset[j];
        return copy;
    }

    // Not inlined, so that its pointers have the registers to themselves: a fifth of the time of few features and targets.
    [[gnu::noinline]] void transpose_lines(const T* const* lines, const T* shift, T* out) const {
        using S = Simd<T>;
        const std::size_t d = d_;  // which what is written could change, for all that the compiler knows
        std::size_t j = 0;
        for (; j + S::kLanes <= d; j += S::kLanes) {
            const typename S::Vector offset = shift ? S::load(shift + j) : typename S::Vector{};
            typename S::Vector square[S::kLanes];
#pragma GCC unroll 16
            for (std::size_t i = 0; i < S::kLanes; ++i) square[i] = S::load(lines[i] + j) - offset;
            transpose<T>(square);
#pragma GCC unroll 16
            for (std::size_t i = 0; i < S::kLanes; ++i) S::store(out + (j + i) * kGroupRows<T>, square[i]);
        }
        for (; j < d; ++j) {
            typename S::Vector line;
#pragma GCC unroll 16
            for (std::size_t i = 0; i < S::kLanes; ++i) line[i] = lines[i][j];
            S::store(out + j * kGroupRows<T>, line - S::broadcast(shift ? shift[j] : T{0}));
        }
    }

    std::size_t d_;
    std::size_t n_groups_ = 0;
    Aligned<T> rows_;  // as many as a vector has lanes
    Aligned<T> groups_;
};

// Measures every row of x against every target. For each group of rows from `first` on, `start(first, n)` makes its collector and
// `finish(first, n, collector)` takes it back, on any thread. O(rows targets d).
template <Real T, class M, class Start, class Finish>
void measure_rows(const M& metric, Matrix<const T> x, const Targets<T>& targets, Start&& start, Finish&& finish, Threads threads) {
    const std::size_t capacity = RowGroups<T>::capacity(x.cols, targets.values.rows);
    const std::size_t n_parts = (x.rows + capacity - 1) / capacity;
    const double work = static_cast<double>(x.rows) * static_cast<double>(targets.values.rows) * static_cast<double>(x.cols) / 4;
    const Chunks chunks = Chunks::of(n_parts, 1, 256);
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        RowGroups<T> groups(x.cols);
        std::vector<std::size_t> ids(capacity);
        for (std::size_t part = chunks.begin(chunk); part < chunks.end(chunk); ++part) {
            const std::size_t begin = part * capacity, n = std::min(capacity, x.rows - begin);
            std::iota(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n), begin);
            groups.fill(x, {}, {ids.data(), n});
            const auto size = [&](std::size_t g) { return std::min(kGroupRows<T>, n - g * kGroupRows<T>); };
            groups.measure(
                metric, targets, [&](std::size_t g) { return start(begin + g * kGroupRows<T>, size(g)); },
                [&](std::size_t g, const auto& collector) { finish(begin + g * kGroupRows<T>, size(g), collector); });
            checkpoint();
        }
    });
}

}  // namespace mercer
