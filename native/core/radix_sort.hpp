// A stable sort of records by whole-number keys, and numbers as such keys.
//
// A step sorts by the leading bits of the keys, by up to three digits from the last to the first, with one count of all digits. It
// spends its bits on the range of the keys at hand alone, so that keys that crowd together anywhere are told apart as quickly as
// evenly spread ones; the few runs that agree in all those bits are sorted by further steps.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer {

template <Real T>
using SortKey = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// An unsigned key that sorts as the number does; both zeros have the same, and NaN comes last.
template <Real T>
SortKey<T> sort_key(T value) {
    using Key = SortKey<T>;
    constexpr Key kSign = Key{1} << (8 * sizeof(T) - 1);
    if (std::isnan(value)) return static_cast<Key>(~Key{0});
    const Key bits = std::bit_cast<Key>(value + T{0});  // -0 becomes 0
    return static_cast<Key>((bits & kSign) != 0 ? ~bits : bits | kSign);
}

// The number of a key.
template <Real T>
T from_sort_key(SortKey<T> key) {
    constexpr auto kSign = SortKey<T>{1} << (8 * sizeof(T) - 1);
    return std::bit_cast<T>((key & kSign) != 0 ? key & ~kSign : ~key);
}

namespace detail {

inline constexpr int kMostDigitBits = 11;  // the counters of all digits stay in the first-level cache
inline constexpr int kMostDigits = 3;
inline constexpr std::size_t kFewRecords = 24;    // are best inserted one by one
inline constexpr std::size_t kShortRun = 1 << 9;  // is best told apart by one digit a step
inline constexpr std::size_t kLongRun = 1 << 18;  // is worth more than one thread
inline constexpr std::size_t kMostRecords = ~std::uint32_t{0};

template <class Record, class KeyOf>
class RunSorter {
   public:
    explicit RunSorter(KeyOf key_of) : key_of_(key_of) {}

    // Sorts n records at `here`, and returns where they are then: there or at `scratch`, which is as long.
    Record* sort(Record* here, Record* scratch, std::size_t n) {
        if (n <= kFewRecords) return insert_all(here, n);
        const Digits digits = plan(here, n);
        if (digits.count == 0) return here;
        Record* const spread_out = spread(here, scratch, n, digits);
        if (digits.shift > 0) finish(spread_out, spread_out == here ? scratch : here, n, digits);
        return spread_out;
    }

   private:
    using Key = std::invoke_result_t<KeyOf, const Record&>;

    // Which bits of key - least a step looks at: count * bits of them, above the last `shift`.
    struct Digits {
        Key least = 0;
        int count = 0;  // 0: all keys are equal
        int bits = 0;
        int shift = 0;

        std::size_t mask() const { return (std::size_t{1} << bits) - 1; }
        Key lead(Key key) const { return static_cast<Key>(key - least) >> shift; }
        std::size_t digit(Key key, int d) const { return static_cast<std::size_t>((key - least) >> (shift + d * bits)) & mask(); }
    };

    Record* insert_all(Record* records, std::size_t n) const {
        for (std::size_t i = 1; i < n; ++i) {
            const Record record = records[i];
            const Key key = key_of_(record);
            std::size_t place = i;
            for (; place > 0 && key < key_of_(records[place - 1]); --place) records[place] = records[place - 1];
            records[place] = record;
        }
        return records;
    }

    Digits plan(const Record* records, std::size_t n) const {
        const int bits = std::min(static_cast<int>(std::bit_width(n)) - 2, kMostDigitBits);
        constexpr int kKeyBits = 8 * sizeof(Key);
        if (kKeyBits <= kMostDigits * bits) return {0, kMostDigits, bits, 0};  // all bits of all keys: their range is no matter
        Key least = key_of_(records[0]), greatest = least;
        for (std::size_t i = 1; i < n; ++i) {
            least = std::min(least, key_of_(records[i]));
            greatest = std::max(greatest, key_of_(records[i]));
        }
        const int range = static_cast<int>(std::bit_width(static_cast<Key>(greatest - least)));
        const int count = std::min(n < kShortRun ? 1 : kMostDigits, (range + bits - 1) / bits);
        return {least, count, bits, std::max(0, range - count * bits)};
    }

    // Sorts by the given digits; those that all keys share cost no pass.
    Record* spread(Record* here, Record* scratch, std::size_t n, const Digits& digits) {
        for (int d = 0; d < digits.count; ++d) std::fill_n(counts_[d].begin(), digits.mask() + 1, 0);
        if (digits.count == kMostDigits) {
            count<kMostDigits>(here, n, digits);
        } else {
            for (int d = 0; d < digits.count; ++d) count<1>(here, n, digits, d);
        }
        for (int d = 0; d < digits.count; ++d) {
            auto& places = counts_[d];
            if (places[digits.digit(key_of_(here[0]), d)] == n) continue;
            if (n >= kLongRun) checkpoint();
            std::uint32_t total = 0;
            for (std::size_t value = 0; value <= digits.mask(); ++value) total += std::exchange(places[value], total);
            for (std::size_t i = 0; i < n; ++i) scratch[places[digits.digit(key_of_(here[i]), d)]++] = here[i];
            std::swap(here, scratch);
        }
        return here;
    }

    // Counts the values of kCount digits from the given one on.
    template <int kCount>
    void count(const Record* records, std::size_t n, const Digits& digits, int first = 0) {
        for (std::size_t i = 0; i < n; ++i) {
            const Key key = key_of_(records[i]);
#pragma GCC unroll 3
            for (int d = 0; d < kCount; ++d) ++counts_[first + d][digits.digit(key, first + d)];
        }
    }

    // Sorts, in place, the runs whose keys agree in the bits looked at so far.
    void finish(Record* records, Record* scratch, std::size_t n, const Digits& digits) {
        for (std::size_t begin = 0, end; begin < n; begin = end) {
            const Key lead = digits.lead(key_of_(records[begin]));
            end = begin + 1;
            while (end < n && digits.lead(key_of_(records[end])) == lead) ++end;
            if (end - begin == 1) continue;
            const Record* const sorted = sort(records + begin, scratch + begin, end - begin);
            if (sorted != records + begin) std::copy_n(sorted, end - begin, records + begin);
        }
    }

    KeyOf key_of_;
    std::array<std::uint32_t, std::size_t{1} << kMostDigitBits> counts_[kMostDigits];  // are done with before a run is finished
};

}  // namespace detail

// Sorts n records in rising order of key_of(record), an unsigned number; `scratch` is as long. Equal keys keep their order. Returns
// where the sorted records are: `records` or `scratch`. O(n) for keys that spread at any scale, O(n log greatest key) at worst.
template <class Record, class KeyOf>
Record* radix_sort(Record* records, Record* scratch, std::size_t n, KeyOf key_of) {
    require(n <= detail::kMostRecords, "there are too many rows to sort");
    return detail::RunSorter<Record, KeyOf>(key_of).sort(records, scratch, n);
}

// The same for vectors: `records` is sorted, and what is left in `scratch` means nothing.
template <class Record, class KeyOf>
void radix_sort(std::vector<Record>& records, std::vector<Record>& scratch, KeyOf key_of) {
    scratch.resize(records.size());
    if (radix_sort(records.data(), scratch.data(), records.size(), key_of) != records.data()) records.swap(scratch);
}

// The first on several threads, for keys of at most `most`: a pass by their leading bits makes runs that are sorted side by side.
template <class Record, class KeyOf>
Record* radix_sort(Record* records, Record* scratch, std::size_t n, KeyOf key_of, std::uint64_t most, Threads threads) {
    const Threads useful = threads.for_work(4 * static_cast<double>(n));
    if (n < detail::kLongRun || useful.count == 1) return radix_sort(records, scratch, n, key_of);
    using Offsets = std::array<std::size_t, std::size_t{1} << detail::kMostDigitBits>;
    const int shift = std::max(0, static_cast<int>(std::bit_width(most)) - detail::kMostDigitBits);
    const auto digit = [&](const Record& record) { return static_cast<std::size_t>(key_of(record) >> shift); };
    const Chunks chunks = Chunks::of(n, 1 << 14, 64);
    std::vector<Offsets> places(chunks.count + 1);
    parallel_for(chunks.count, useful, [&](std::size_t c) {
        for (std::size_t i = chunks.begin(c); i < chunks.end(c); ++i) ++places[c][digit(records[i])];
    });
    std::size_t total = 0;
    for (std::size_t d = 0; d < places[0].size(); ++d) {
        for (std::size_t c = 0; c < chunks.count; ++c) total += std::exchange(places[c][d], total);
        places[chunks.count][d] = total;  // where the run of this digit ends
    }
    parallel_for(chunks.count, useful, [&](std::size_t c) {
        for (std::size_t i = chunks.begin(c); i < chunks.end(c); ++i) scratch[places[c][digit(records[i])]++] = records[i];
    });
    const Offsets& ends = places[chunks.count];
    parallel_for(ends.size(), useful, [&](std::size_t d) {
        const std::size_t begin = d == 0 ? 0 : ends[d - 1];
        const Record* const sorted = radix_sort(scratch + begin, records + begin, ends[d] - begin, key_of);
        if (sorted != records + begin) std::copy_n(sorted, ends[d] - begin, records + begin);
    });
    return records;
}

}  // namespace mercer
