// Quantiles of the columns of a matrix, dense or sparse. NaN means missing and is left out, column by column.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "preprocessing/lines.hpp"

namespace mercer::preprocessing {

// Finds values by rank in a column that does not fit a cache. The leading bits of the numbers, counted in one pass, say in which
// bucket each wanted rank lies; a second pass gathers those buckets, and only their few values are partitioned. O(n) on average.
template <Real T>
class Bucketed {
   public:
    Bucketed(std::span<const T> values, std::span<const std::size_t> ranks)
        : n_(values.size()), shift_(8 * sizeof(T) - (n_ < 65536 ? 13 : 16)), ends_(bucket(kNan) + 1), slots_(ends_.size()) {
        for (const T value : values) ++ends_[bucket(value)];
        std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
        for (const std::size_t rank : ranks) {
            want(bucket_of_rank(rank));
            want(bucket_of_rank(successor(rank)));
        }
        for (const T value : values)
            if (const auto slot = slots_[bucket(value)]) gathered_[slot - 1].push_back(value);
    }

    // The value of that rank, counted from 0, and its successor in order (itself, for the last).
    std::pair<T, T> pair_at(std::size_t rank) { return {value_at(rank), value_at(successor(rank))}; }

   private:
    static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();  // its bucket is behind that of every number

    // The order of the buckets is the order of the numbers: the bits of a positive number, the inverted bits of a negative one.
    std::size_t bucket(T value) const {
        const auto bits = std::bit_cast<Bits<T>>(value);
        constexpr auto kSign = Bits<T>{1} << (8 * sizeof(T) - 1);
        return static_cast<std::size_t>((bits & kSign ? ~bits : bits | kSign) >> shift_);
    }
    std::size_t bucket_of_rank(std::size_t rank) const {
        return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), rank) - ends_.begin());
    }
    std::size_t successor(std::size_t rank) const { return std::min(rank + 1, n_ - 1); }

    void want(std::size_t b) {
        if (slots_[b] != 0) return;
        gathered_.emplace_back().reserve(ends_[b] - (b == 0 ? 0 : ends_[b - 1]));
        slots_[b] = static_cast<std::uint8_t>(gathered_.size());
    }

    T value_at(std::size_t rank) {
        const std::size_t b = bucket_of_rank(rank);
        auto& values = gathered_[slots_[b] - 1u];
        const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank - (b == 0 ? 0 : ends_[b - 1]));
        std::nth_element(values.begin(), place, values.end());
        return *place;
    }

    std::size_t n_;
    unsigned shift_;
    std::vector<std::size_t> ends_;    // for each bucket, the number of values in it and before it
    std::vector<std::uint8_t> slots_;  // for each bucket, 1 + its place in gathered_; 0: not wanted
    std::vector<std::vector<T>> gathered_;
};

// The same for a column that fits a cache: partitions it once a rank, in place.
template <Real T>
class Partitioned {
   public:
    explicit Partitioned(std::span<T> values) : values_(values) {}

    std::pair<T, T> pair_at(std::size_t rank) const {
        const auto place = values_.begin() + static_cast<std::ptrdiff_t>(rank);
        std::nth_element(values_.begin(), place, values_.end());
        return {*place, rank + 1 < values_.size() ? *std::min_element(place + 1, values_.end()) : *place};
    }

   private:
    std::span<T> values_;
};

// The same for a sparse column: its sorted entries, with the zeros between counted, not stored.
template <Real T>
class WithZeros {
   public:
    WithZeros(std::vector<T> entries, std::size_t n_zeros) : entries_(std::move(entries)), n_zeros_(n_zeros) {
        std::sort(entries_.begin(), entries_.end());
        n_negative_ = static_cast<std::size_t>(std::lower_bound(entries_.begin(), entries_.end(), T{0}) - entries_.begin());
    }

    std::size_t size() const { return entries_.size() + n_zeros_; }
    std::pair<T, T> pair_at(std::size_t rank) const { return {value_at(rank), value_at(std::min(rank + 1, size() - 1))}; }

   private:
    T value_at(std::size_t rank) const {
        if (rank < n_negative_) return entries_[rank];
        return rank < n_negative_ + n_zeros_ ? T{0} : entries_[rank - n_zeros_];
    }

    std::vector<T> entries_;
    std::size_t n_zeros_;
    std::size_t n_negative_;
};

// NumPy's default quantile: rank q (n - 1), on a straight line between two values where that is not whole.
struct Place {
    std::size_t rank = 0;
    double share = 0;

    static Place of(double q, std::size_t n) {
        const double place = q * static_cast<double>(n - 1);
        return {std::min(static_cast<std::size_t>(place), n - 1), place - std::floor(place)};
    }

    template <Real T>
    double between(std::pair<T, T> values) const {
        const double low = values.first, high = values.second;
        if (share == 0) return low;
        if (share == 0.5) return std::midpoint(low, high);
        return share < 0.5 ? low + (high - low) * share : high - (high - low) * (1 - share);
    }
};

// Writes the quantiles of n values in that order; NaN where there is none.
template <class Order>
void write_ordered(Order order, std::size_t n, std::span<const double> qs, double* out, std::size_t out_stride) {
    for (std::size_t k = 0; k < qs.size(); ++k) {
        const Place place = n == 0 ? Place{} : Place::of(qs[k], n);
        out[k * out_stride] = n == 0 ? std::numeric_limits<double>::quiet_NaN() : place.between(order.pair_at(place.rank));
    }
}

// Writes the quantiles of the values that are present. May reorder them.
template <Real T>
void write_quantiles(std::span<T> present, std::span<const double> qs, double* out, std::size_t out_stride) {
    constexpr std::size_t kSmall = 4096;
    if (present.size() <= kSmall) return write_ordered(Partitioned<T>(present), present.size(), qs, out, out_stride);
    std::vector<std::size_t> ranks;
    for (const double q : qs) ranks.push_back(Place::of(q, present.size()).rank);
    write_ordered(Bucketed<T>(present, ranks), present.size(), qs, out, out_stride);
}

// The values present in a few neighbouring columns, each column contiguous.
template <Real T>
class GatheredColumns {
   public:
    GatheredColumns(std::size_t n_rows, std::size_t most_columns)
        : n_rows_(n_rows), values_(n_rows * most_columns), n_present_(most_columns) {}

    // Returns whether an infinity was among the values.
    bool gather(Matrix<const T> x, std::size_t first, std::size_t n_columns) {
        constexpr std::size_t kRows = 128;  // few enough that their cache lines are still near for the next column
        std::fill(n_present_.begin(), n_present_.end(), 0);
        bool has_infinity = false;
        for (std::size_t begin = 0; begin < x.rows; begin += kRows) {
            const std::size_t end = std::min(begin + kRows, x.rows);
            for (std::size_t c = 0; c < n_columns; ++c) {
                T* out = column(c).data() + n_present_[c];
                for (std::size_t i = begin; i < end; ++i) {
                    const T value = x(i, first + c);
                    *out = value;  // overwritten by the next if it is missing
                    out += value == value;
                    has_infinity |= std::isinf(value);
                }
                n_present_[c] = static_cast<std::size_t>(out - column(c).data());
            }
        }
        return has_infinity;
    }
    std::span<T> column(std::size_t c) { return {values_.data() + c * n_rows_, n_present_[c]}; }

   private:
    std::size_t n_rows_;
    Aligned<T> values_;
    std::vector<std::size_t> n_present_;
};

// Writes quantile qs[k] (in [0, 1]) of column j to out(k, j). Returns whether an infinity was in x. O(n d) on average; scratch
// memory for as many columns as share a cache line, for each thread.
template <Real T>
bool column_quantiles(Matrix<const T> x, std::span<const double> qs, RowMajor<double> out, Threads threads) {
    const std::size_t width = std::min(x.cols, is_column_major(x) ? 1 : 64 / sizeof(T));
    const std::size_t n_groups = width == 0 ? 0 : (x.cols + width - 1) / width;
    const Threads useful = threads.for_work(8 * n_values(x.rows, x.cols));
    std::atomic<std::size_t> next{0};
    std::atomic<bool> has_infinity{false};
    parallel_for(std::min<std::size_t>(n_groups, useful.count), useful, [&](std::size_t) {
        GatheredColumns<T> columns(x.rows, width);  // one for each thread, not each task: fresh memory is slow
        for (std::size_t group; (group = next.fetch_add(1)) < n_groups;) {
            const std::size_t first = group * width, n_columns = std::min(width, x.cols - first);
            if (columns.gather(x, first, n_columns)) has_infinity.store(true, std::memory_order_relaxed);
            for (std::size_t c = 0; c < n_columns; ++c) {
                checkpoint();
                write_quantiles(columns.column(c), qs, out.data + first + c, out.cols);
            }
        }
    });
    return has_infinity.load();
}

// The same for sparse columns: column j has the entries of `values` from starts[j] to starts[j + 1], and zeros. O(nnz log nnz).
template <Real T>
bool column_quantiles(std::span<const T> values, std::span<const std::int32_t> starts, std::size_t n_rows,
                      std::span<const double> qs, RowMajor<double> out, Threads threads) {
    std::atomic<bool> has_infinity{false};
    parallel_for(out.cols, threads.for_work(32 * static_cast<double>(values.size())), [&](std::size_t j) {
        const auto entries =
            values.subspan(static_cast<std::size_t>(starts[j]), static_cast<std::size_t>(starts[j + 1] - starts[j]));
        std::vector<T> present;
        std::copy_if(entries.begin(), entries.end(), std::back_inserter(present), [](T value) { return value == value; });
        WithZeros<T> order(std::move(present), n_rows - entries.size());
        const std::size_t n = order.size();
        write_ordered(std::move(order), n, qs, out.data + j, out.cols);
        if (std::any_of(entries.begin(), entries.end(), [](T value) { return std::isinf(value); }))
            has_infinity.store(true, std::memory_order_relaxed);
    });
    return has_infinity.load();
}

}  // namespace mercer::preprocessing
