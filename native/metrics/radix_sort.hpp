// A stable sort of records by whole-number keys, by their leading digits first.
//
// Each step looks for the range of the keys at hand and spends its digit on that range alone, so that keys that crowd together
// anywhere are told apart as quickly as evenly spread ones, and equal keys end the work.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"

namespace mercer::metrics {

namespace detail {

inline constexpr int kMostBits = 11;     // of a digit: the counters of a step stay in the first-level cache
inline constexpr std::size_t kFew = 24;  // records that are best inserted one by one
inline constexpr std::size_t kLong = 1 << 16;

// A digit: the leading bits of keys from `least` to `greatest`, never more than kMostBits of them.
struct Digit {
    std::uint64_t least = 0;
    int shift = 0;

    static Digit of(std::uint64_t least, std::uint64_t greatest, int n_bits) {
        return {least, std::max(0, static_cast<int>(std::bit_width(greatest - least)) - n_bits)};
    }
    std::size_t operator()(std::uint64_t key) const { return static_cast<std::size_t>((key - least) >> shift); }
};

using Offsets = std::array<std::size_t, std::size_t{1} << kMostBits>;

template <class Record>
void insert_all(const Record* from, Record* to, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const Record record = from[i];
        std::size_t place = i;
        for (; place > 0 && record.sort_key() < to[place - 1].sort_key(); --place) to[place] = to[place - 1];
        to[place] = record;
    }
}

// Sorts n records at `here`; the result is left there or, if wanted, at `there`, which is scratch memory otherwise.
template <class Record>
void sort_run(Record* here, Record* there, std::size_t n, bool wanted_there) {
    if (n <= kFew) return insert_all(here, wanted_there ? there : here, n);
    if (n >= kLong) checkpoint();
    std::uint64_t least = here[0].sort_key(), greatest = least;
    for (std::size_t i = 1; i < n; ++i) {
        least = std::min(least, here[i].sort_key());
        greatest = std::max(greatest, here[i].sort_key());
    }
    if (least == greatest) {
        if (wanted_there) std::copy(here, here + n, there);
        return;
    }
    const Digit digit = Digit::of(least, greatest, std::min(static_cast<int>(std::bit_width(n)) - 2, kMostBits));
    const std::size_t n_digits = digit(greatest) + 1;
    Offsets places;
    std::fill(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n_digits), 0);
    for (std::size_t i = 0; i < n; ++i) ++places[digit(here[i].sort_key())];
    std::size_t total = 0;
    for (std::size_t d = 0; d < n_digits; ++d) total += std::exchange(places[d], total);
    for (std::size_t i = 0; i < n; ++i) there[places[digit(here[i].sort_key())]++] = here[i];
    for (std::size_t d = 0, begin = 0; d < n_digits; begin = places[d++])
        if (places[d] > begin) sort_run(there + begin, here + begin, places[d] - begin, !wanted_there);
}

}  // namespace detail

// Sorts n records, whose keys (`sort_key()`) are at most `most`, in rising order of their keys; `scratch` is as long.
// Equal keys keep their order. O(n) for keys that spread at any scale, O(n log most) at worst.
template <class Record>
void sort_records(Record* records, Record* scratch, std::size_t n, std::uint64_t most, Threads threads) {
    if (n < detail::kLong) return detail::sort_run(records, scratch, n, false);
    const auto digit = detail::Digit::of(0, most, detail::kMostBits);
    const Chunks chunks = Chunks::of(n, 1 << 14, 64);
    const Threads useful = threads.for_work(4 * static_cast<double>(n));
    std::vector<detail::Offsets> places(chunks.count + 1);
    parallel_for(chunks.count, useful, [&](std::size_t c) {
        for (std::size_t i = chunks.begin(c); i < chunks.end(c); ++i) ++places[c][digit(records[i].sort_key())];
    });
    std::size_t total = 0;
    for (std::size_t d = 0; d < places[0].size(); ++d) {
        for (std::size_t c = 0; c < chunks.count; ++c) total += std::exchange(places[c][d], total);
        places[chunks.count][d] = total;  // where the run of this digit ends
    }
    parallel_for(chunks.count, useful, [&](std::size_t c) {
        for (std::size_t i = chunks.begin(c); i < chunks.end(c); ++i)
            scratch[places[c][digit(records[i].sort_key())]++] = records[i];
    });
    const detail::Offsets& ends = places[chunks.count];
    parallel_for(ends.size(), useful, [&](std::size_t d) {
        const std::size_t begin = d == 0 ? 0 : ends[d - 1];
        if (ends[d] > begin) detail::sort_run(scratch + begin, records + begin, ends[d] - begin, true);
    });
}

}  // namespace mercer::metrics
