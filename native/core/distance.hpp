// Distances between two sets of rows: register tiles, blocked over both sides, fused with what is done with the values.
//
// The rows of one side come in groups that fill kGroupVectors vectors, feature by feature, so that each lane is a row: what is
// sought among the rows of the other side (the targets) is then found in registers, without sums or searches across lanes. Some
// groups are measured against a block of targets at a time, both of which stay in the second-level cache.
//
// Three things are separate. A metric says how values grow feature by feature. A collector is given the values of a group for one
// target after another, in their order. A filter, around a collector, makes values endless that do not count.
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

#include "core/parallel.hpp"
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

// ---- metrics

// How a value starts, given the target's constant for metrics that have one, and what a feature adds to it.
template <class M, class T>
concept Metric = requires(const M& metric, typename Simd<T>::Vector v, T constant) {
    { metric.start(&constant) } -> std::convertible_to<T>;
    { metric.add(v, v, v) } -> std::convertible_to<typename Simd<T>::Vector>;
};

namespace detail {

template <class Vector>
Vector absolute(Vector v) {
    return v < Vector{} ? -v : v;
}

}  // namespace detail

// |c|^2 / 2 - x.c for a target c with the constant |c|^2 / 2. It orders targets as the distance does and costs one multiply-add:
// |x - c|^2 = |x|^2 + 2 score. Shift both sides by a common vector first (the mean of the data), so that it does not cancel for
// data far from the origin. With constants of zero, it is minus the inner product.
struct Score {
    template <Real T>
    static T start(const T* constant) {
        return *constant;
    }
    template <class Vector>
    static Vector add(Vector sum, Vector row, Vector target) {
        return sum - target * row;
    }
};

// |x - c|^2 itself, from the differences: twice the work, and exactly zero where a row equals a target.
struct SquaredEuclidean {
    template <Real T>
    static T start(const T*) {
        return 0;
    }
    template <class Vector>
    static Vector add(Vector sum, Vector row, Vector target) {
        const Vector difference = row - target;
        return sum + difference * difference;
    }
};

struct Manhattan {
    template <Real T>
    static T start(const T*) {
        return 0;
    }
    template <class Vector>
    static Vector add(Vector sum, Vector row, Vector target) {
        return sum + detail::absolute(row - target);
    }
};

struct Chebyshev {
    template <Real T>
    static T start(const T*) {
        return 0;
    }
    template <class Vector>
    static Vector add(Vector largest, Vector row, Vector target) {
        const Vector difference = detail::absolute(row - target);
        return difference > largest ? difference : largest;
    }
};

// The sum of |x - c|^p, of which the distance is the p-th root.
struct Minkowski {
    double p;

    template <Real T>
    static T start(const T*) {
        return 0;
    }
    template <class Vector>
    Vector add(Vector sum, Vector row, Vector target) const {
        Vector difference = detail::absolute(row - target);
        for (std::size_t lane = 0; lane < sizeof(Vector) / sizeof(difference[0]); ++lane)
            difference[lane] = std::pow(difference[lane], static_cast<std::remove_cvref_t<decltype(difference[0])>>(p));
        return sum + difference;
    }
};

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

// ---- collectors

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

// ---- filters

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

// ---- tiles

namespace detail {

// One tile: the group against n consecutive targets. O(n d) vector operations.
template <std::size_t n, class M, Real T, class Collector>
[[gnu::always_inline]] inline void measure_tile(const M& metric, const T* group, const Targets<T>& targets, std::size_t first,
                                                Collector& collector) {
    using S = Simd<T>;
    const std::size_t d = targets.values.cols;
    GroupVectors<T> sums[n];
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
