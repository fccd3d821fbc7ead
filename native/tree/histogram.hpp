// Histograms of gradients over bins, in whole numbers.
//
// Gradients and Hessians are rounded to multiples of a unit, a power of two chosen for each tree so that no sum over all rows can
// overflow. Sums of whole numbers are exact in any order: a histogram has the same bits however the rows are shared among threads,
// and that of a node is that of its parent minus that of its sibling without loss. With c bits for the number of rows, a gradient
// keeps 63 - 2 c bits or more of the largest (29 for 100 000 rows), far finer than what rows differ by.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "tree/bins.hpp"

namespace mercer::boosting {

inline constexpr std::size_t kHistogramBins = 256;                         // of a column
inline constexpr std::size_t kPanelBins = kPanelColumns * kHistogramBins;  // of a panel

// Rows of a node lie apart in memory: so many rows before one is needed, it is asked for.
inline constexpr std::size_t kRowsAhead = 32;

// What is known of some rows: the sums of their gradients and Hessians, and their number.
struct Sums {
    double gradient = 0;
    double hessian = 0;
    double count = 0;

    friend Sums operator+(Sums a, Sums b) { return {a.gradient + b.gradient, a.hessian + b.hessian, a.count + b.count}; }
    friend Sums operator-(Sums a, Sums b) { return {a.gradient - b.gradient, a.hessian - b.hessian, a.count - b.count}; }
};

// What a whole number in a histogram stands for.
struct Units {
    int count_bits = 1;
    double gradient = 1;
    double hessian = 1;
};

// Sums where every Hessian is one: the gradient above the count, in one word.
struct CountEntry {
    using Word = std::int64_t;
    static constexpr bool kHasHessian = false;

    static int gradient_bits(int count_bits) { return 63 - 2 * count_bits; }
    static Word pack(double gradient, double, const Units& units) { return (static_cast<Word>(gradient) << units.count_bits) + 1; }
    static Sums unpack(Word word, const Units& units) {
        const auto count = static_cast<double>(word & ((Word{1} << units.count_bits) - 1));
        return {static_cast<double>(word >> units.count_bits) * units.gradient, count, count};
    }
};

// Sums of both derivatives: the gradient in one word, the Hessian above the count in another.
struct HessianEntry {
    typedef std::int64_t Word __attribute__((vector_size(16)));
    static constexpr bool kHasHessian = true;

    static int gradient_bits(int count_bits) { return 62 - count_bits; }
    static Word pack(double gradient, double hessian, const Units& units) {
        return Word{static_cast<std::int64_t>(gradient), (static_cast<std::int64_t>(hessian) << units.count_bits) + 1};
    }
    static Sums unpack(Word word, const Units& units) {
        const auto count = static_cast<double>(word[1] & ((std::int64_t{1} << units.count_bits) - 1));
        return {static_cast<double>(word[0]) * units.gradient, static_cast<double>(word[1] >> units.count_bits) * units.hessian,
                count};
    }
};

namespace detail {

// The largest power of two p such that values up to `largest` come out below 2^bits when divided by its inverse.
inline double unit_for(double largest, int bits) {
    if (!(largest > 0)) return 1;
    int exponent = 0;
    std::frexp(largest, &exponent);  // largest < 2^exponent
    return std::ldexp(1.0, std::max(exponent - bits, -1022));
}

inline double rounded(double x) {
    constexpr double kRounder = 0x1.8p52;  // adding it leaves no digits behind the point, where there were few enough before it
    return std::abs(x) < 0x1p51 ? (x + kRounder) - kRounder : x;
}

}  // namespace detail

// Rounds the derivatives of all rows (Hessians: none given, all one) into `words`. Throws where one is not finite or a Hessian is
// negative. O(n).
template <class Entry>
Units pack_derivatives(std::span<const double> gradients, std::span<const double> hessians, typename Entry::Word* words,
                       Threads threads) {
    const std::size_t n = gradients.size();
    const auto chunks = Chunks::of(n, 8192, 256);
    const Threads useful = threads.for_work(static_cast<double>(n) * 2);
    std::vector<double> largest(2 * chunks.count);
    parallel_for(chunks.count, useful, [&](std::size_t c) {
        const std::size_t begin = chunks.begin(c);
        const auto count = chunks.end(c) - begin;
        const auto largest_of = [count](const double* x) {  // NaN counts as infinity; lanes let the compiler use vectors
            constexpr std::size_t kLanes = 8;
            double most[kLanes] = {};
            for (std::size_t i = 0; i < count; ++i) {
                const double size = std::abs(x[i]);
                double& lane = most[i % kLanes];
                lane = size <= lane ? lane : size == size ? size : std::numeric_limits<double>::infinity();
            }
            return *std::max_element(most, most + kLanes);
        };
        largest[2 * c] = largest_of(gradients.data() + begin);
        if (!hessians.empty()) largest[2 * c + 1] = largest_of(hessians.data() + begin);
    });
    double most_gradient = 0;
    double most_hessian = 0;
    for (std::size_t c = 0; c < chunks.count; ++c) {
        most_gradient = std::max(most_gradient, largest[2 * c]);
        most_hessian = std::max(most_hessian, largest[2 * c + 1]);
    }
    require(std::isfinite(most_gradient) && std::isfinite(most_hessian), "a gradient or Hessian of the loss is not finite");
    Units units;
    units.count_bits = std::bit_width(n);
    units.gradient = detail::unit_for(most_gradient, Entry::gradient_bits(units.count_bits));
    units.hessian = detail::unit_for(most_hessian, 63 - 2 * units.count_bits);
    const double per_gradient = 1 / units.gradient;
    const double per_hessian = 1 / units.hessian;
    parallel_for(chunks.count, useful, [&](std::size_t c) {
        double least = 0;
        for (std::size_t i = chunks.begin(c); i < chunks.end(c); ++i) {
            const double hessian = hessians.empty() ? 1.0 : hessians[i];
            least = std::min(least, hessian);
            words[i] = Entry::pack(detail::rounded(gradients[i] * per_gradient), detail::rounded(hessian * per_hessian), units);
        }
        require(least >= 0, "a Hessian of the loss is negative");
    });
    return units;
}

namespace detail {

// Adds the rows to the histogram of a panel of which kColumns are used.
template <std::size_t kColumns, class Word>
void add_rows(const std::uint8_t* panel, const Word* words, const std::uint32_t* rows, std::size_t n, Word* histogram) {
    const auto add = [&](std::size_t row, Word word) {
        std::uint64_t bins;
        std::memcpy(&bins, panel + row * kPanelColumns, sizeof bins);
#pragma GCC unroll 8
        for (std::size_t j = 0; j < kColumns; ++j) histogram[j * kHistogramBins + ((bins >> (8 * j)) & 255)] += word;
    };
    if (rows == nullptr) {
        for (std::size_t i = 0; i < n; ++i) add(i, words[i]);
        return;
    }
    std::size_t i = 0;
    for (; i + kRowsAhead < n; ++i) {
        __builtin_prefetch(panel + std::size_t{rows[i + kRowsAhead]} * kPanelColumns);
        add(rows[i], words[i]);
    }
    for (; i < n; ++i) add(rows[i], words[i]);
}

}  // namespace detail

// Adds n rows to the histogram of panel p: those given, or (null) those from `first` on. `words` are in the order of the rows.
// O(n).
template <class Entry>
void add_to_histogram(const BinnedRows& binned, std::size_t p, const typename Entry::Word* words, const std::uint32_t* rows,
                      std::size_t first, std::size_t n, typename Entry::Word* histogram) {
    const std::uint8_t* panel = binned.panel(p) + (rows == nullptr ? first * kPanelColumns : 0);
    switch (std::min(kPanelColumns, binned.n_columns() - p * kPanelColumns)) {
        case 1:
            return detail::add_rows<1>(panel, words, rows, n, histogram);
        case 2:
            return detail::add_rows<2>(panel, words, rows, n, histogram);
        case 3:
            return detail::add_rows<3>(panel, words, rows, n, histogram);
        case 4:
            return detail::add_rows<4>(panel, words, rows, n, histogram);
        case 5:
            return detail::add_rows<5>(panel, words, rows, n, histogram);
        case 6:
            return detail::add_rows<6>(panel, words, rows, n, histogram);
        case 7:
            return detail::add_rows<7>(panel, words, rows, n, histogram);
        default:
            return detail::add_rows<8>(panel, words, rows, n, histogram);
    }
}

// The bins of panel p that can hold anything, one run a column: calls body(begin, end).
template <class Body>
void for_each_used_bin(const BinnedRows& binned, std::size_t p, Body&& body) {
    const std::size_t first = p * kPanelColumns;
    for (std::size_t j = first; j < std::min(first + kPanelColumns, binned.n_columns()); ++j) {
        const std::size_t begin = (j - first) * kHistogramBins;
        body(begin, begin + binned.column(j).n_bins + (binned.column(j).has_missing ? 1 : 0));
    }
}

}  // namespace mercer::boosting
