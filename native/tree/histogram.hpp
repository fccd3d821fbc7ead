// Histograms of gradients over bins, in whole numbers.
//
// Gradients and Hessians are rounded to multiples of a unit, a power of two chosen for each tree so that no sum over rows can
// overflow. Sums of whole numbers are exact in any order: a histogram has the same bits however the rows are shared among threads,
// and that of a node is that of its parent minus that of its sibling without loss, whatever the parent holds.
//
// What must not overflow is a sum, so the unit is a share of the mean size of a gradient, and not of the largest: with c bits for
// the number of rows (20 for a million), it is at most 2^(2 c - 61) of that mean, and 2^(c - 61) where the gradient has a word of
// its own. Where that is too coarse, because few rows make up most of the mean or because all gradients are nearly equal, what
// rounding left of each row is counted in finer levels: further words, each with a unit 2^(c - 62) times the one before.
//
// Bound: the gradients of m rows add up with an error of at most m / 2 units of the last level. Levels are added until, of all
// neighbouring rows whose gradients differ, fewer than one in 1024 differ by less than 2^8 of these units (and of the Hessians
// above zero, fewer than one in 1024 lie below 2^8 of theirs): a mean of gradients is off by at most 2^-9 of what rows differ by,
// however large one of them is. The four levels that there are at most reach 2^(5 c - 247) of the mean: a share of 1e-44 of it for
// a million rows, far less than what the gradients themselves are rounded by.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/chunk_sums.hpp"
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

// What the whole numbers in the histograms of one level stand for. The first level counts the rows too.
struct Units {
    int count_bits = 0;
    std::int64_t row = 0;  // what a row adds to the count
    double gradient = 1;
    double hessian = 1;
};

inline constexpr std::size_t kMostLevels = 4;

// Sums where every Hessian is one: the gradient above the count, in one word.
struct CountEntry {
    using Word = std::int64_t;
    static constexpr bool kHasHessian = false;

    static int gradient_bits(int count_bits) { return 62 - count_bits; }
    static Word pack(double gradient, double, const Units& units) {
        return (static_cast<Word>(gradient) << units.count_bits) + units.row;
    }
    static Sums unpack(Word word, const Units& units) {
        const auto count = static_cast<double>(word & ((Word{1} << units.count_bits) - 1));
        return {static_cast<double>(word >> units.count_bits) * units.gradient, count, count};
    }
};

// Sums of both derivatives: the gradient in one word, the Hessian above the count in another.
struct HessianEntry {
    typedef std::int64_t Word __attribute__((vector_size(16)));
    static constexpr bool kHasHessian = true;

    static int gradient_bits(int) { return 62; }
    static Word pack(double gradient, double hessian, const Units& units) {
        return Word{static_cast<std::int64_t>(gradient), (static_cast<std::int64_t>(hessian) << units.count_bits) + units.row};
    }
    static Sums unpack(Word word, const Units& units) {
        const auto count = static_cast<double>(word[1] & ((std::int64_t{1} << units.count_bits) - 1));
        return {static_cast<double>(word[0]) * units.gradient, static_cast<double>(word[1] >> units.count_bits) * units.hessian,
                count};
    }
};

namespace detail {

// Numbers that are close together, of those that can be.
struct Crowd {
    std::size_t close = 0;
    std::size_t all = 0;

    Crowd& operator+=(Crowd other) {
        close += other.close;
        all += other.all;
        return *this;
    }
    bool is_large() const { return close > all / 1024; }
};
inline constexpr double kUnitsApart = 256;  // below, numbers are close

// Neighbours that differ by more than they are rounded by.
inline Crowd crowd_of_neighbours(const double* x, std::size_t n, double least) {
    Crowd crowd;
    for (std::size_t i = 1; i < n; ++i) {
        const double apart = std::abs(x[i] - x[i - 1]);
        const bool differs = apart > 0x1p-50 * std::abs(x[i]);
        crowd.all += differs ? 1 : 0;
        crowd.close += differs & (apart < least) ? 1 : 0;
    }
    return crowd;
}

// Numbers that are not zero.
inline Crowd crowd_of_sizes(const double* x, std::size_t n, double least) {
    Crowd crowd;
    for (std::size_t i = 0; i < n; ++i) {
        crowd.all += x[i] > 0 ? 1 : 0;
        crowd.close += (x[i] > 0) & (x[i] < least) ? 1 : 0;
    }
    return crowd;
}

// The unit in which numbers whose sizes add up to less than 2^count_bits times `scaled_sum` add up to less than 2^bits.
inline double unit_for(double scaled_sum, int count_bits, int bits) {
    if (!(scaled_sum > 0)) return 1;
    int exponent = 0;
    std::frexp(scaled_sum, &exponent);  // scaled_sum < 2^exponent
    return std::ldexp(1.0, std::clamp(exponent + count_bits - bits, -1022, 1022));
}

}  // namespace detail

// The derivatives of all rows as whole numbers, level after level.
template <class Entry>
class PackedDerivatives {
   public:
    using Word = typename Entry::Word;

    explicit PackedDerivatives(std::size_t n_rows) : n_rows_(n_rows), chunks_(Chunks::of(n_rows, 8192, 256)) {}

    std::size_t n_levels() const { return units_.size(); }
    const Units& units(std::size_t level) const { return units_[level]; }
    std::span<const Units> units() const { return units_; }
    const Word* words(std::size_t level) const { return words_[level].data(); }

    // Rounds the derivatives (Hessians: none given, all one). Throws where one is not finite or a Hessian is negative. O(n) a
    // level.
    void pack(std::span<const double> gradients, std::span<const double> hessians, Threads threads) {
        threads_ = threads.for_work(static_cast<double>(n_rows_) * 2);
        const int count_bits = std::bit_width(n_rows_);
        const double scale = std::ldexp(1.0, -count_bits);  // a sum of huge numbers must not overflow where they do not
        const double gradient_sum = scaled_sum(gradients, scale);
        const double hessian_sum = scaled_sum(hessians, scale);
        require(std::isfinite(gradient_sum) && std::isfinite(hessian_sum), "a gradient or Hessian of the loss is not finite");
        Units units{count_bits, 1, detail::unit_for(gradient_sum, count_bits, Entry::gradient_bits(count_bits)),
                    detail::unit_for(hessian_sum, count_bits, 62 - count_bits)};
        units_.clear();
        add_level(units, gradients, hessians, 1 / units.gradient, 1 / units.hessian);
        const double finer = std::ldexp(1.0, 62 - count_bits);
        std::vector<double> rest_gradients, rest_hessians;  // what the levels so far leave, in units of the last
        while (n_levels() < kMostLevels && is_crowded(gradients, hessians)) {
            const double before = n_levels() == 1 ? 1 / units.gradient : finer;
            const double hessian_before = n_levels() == 1 ? 1 / units.hessian : finer;
            keep_rest(n_levels() == 1 ? gradients : rest_gradients, before, rest_gradients);
            if (!hessians.empty()) keep_rest(n_levels() == 1 ? hessians : rest_hessians, hessian_before, rest_hessians);
            const Units& last = units_.back();
            add_level({0, 0, last.gradient / finer, last.hessian / finer}, rest_gradients, rest_hessians, finer, finer);
        }
    }

   private:
    // The sum of the sizes of numbers, scaled; not finite where one of them is not.
    double scaled_sum(std::span<const double> values, double scale) const {
        if (values.empty()) return 0;
        return sum_over(chunks_, threads_, [&](std::size_t c) {
            const double* x = values.data() + chunks_.begin(c);
            return lane_sum(chunks_.end(c) - chunks_.begin(c), [x, scale](std::size_t i) { return std::abs(x[i]) * scale; });
        });
    }

    void add_level(const Units& units, std::span<const double> gradients, std::span<const double> hessians, double per_gradient,
                   double per_hessian) {
        const std::size_t level = n_levels();
        units_.push_back(units);
        if (words_.size() == level) words_.emplace_back(n_rows_);
        Word* words = words_[level].data();
        parallel_for(chunks_.count, threads_, [&](std::size_t c) {
            double least = 0;
            for (std::size_t i = chunks_.begin(c); i < chunks_.end(c); ++i) {
                const double hessian = hessians.empty() ? 0.0 : hessians[i];
                least = std::min(least, hessian);
                words[i] = Entry::pack(std::rint(gradients[i] * per_gradient), std::rint(hessian * per_hessian), units);
            }
            require(least >= 0 || level > 0, "a Hessian of the loss is negative");
        });
    }

    // Whether the last level is too coarse for these derivatives, and a finer one can be had.
    bool is_crowded(std::span<const double> gradients, std::span<const double> hessians) const {
        const Units& last = units_.back();
        if (last.gradient < 0x1p-950 || last.hessian < 0x1p-950) return false;
        using Crowds = std::array<detail::Crowd, 2>;  // of gradients and of Hessians
        ChunkParts<Crowds> crowds(chunks_);
        parallel_for(chunks_.count, threads_, [&](std::size_t c) {
            const std::size_t begin = chunks_.begin(c);
            const std::size_t n = chunks_.end(c) - begin;
            crowds[c][0] = detail::crowd_of_neighbours(gradients.data() + begin, n, detail::kUnitsApart * last.gradient);
            if (!hessians.empty())
                crowds[c][1] = detail::crowd_of_sizes(hessians.data() + begin, n, detail::kUnitsApart * last.hessian);
        });
        const Crowds all = crowds.joined([](Crowds& sum, const Crowds& part) {
            for (std::size_t k = 0; k < 2; ++k) sum[k] += part[k];
        });
        return all[0].is_large() || all[1].is_large();
    }

    // Writes what rounding values * per_unit to whole numbers leaves, without loss; `rest` may be `values`.
    void keep_rest(std::span<const double> values, double per_unit, std::vector<double>& rest) const {
        rest.resize(n_rows_);
        parallel_for(chunks_.count, threads_, [&](std::size_t c) {
            for (std::size_t i = chunks_.begin(c); i < chunks_.end(c); ++i) {
                const double whole = values[i] * per_unit;
                rest[i] = whole - std::rint(whole);
            }
        });
    }

    std::size_t n_rows_;
    Chunks chunks_;
    Threads threads_;
    std::vector<Units> units_;
    std::vector<Aligned<Word>> words_;  // of all levels that any tree has needed
};

// The histogram of one column in all levels.
template <class Entry>
struct ColumnHistogram {
    std::span<const Units> units;
    std::array<const typename Entry::Word*, kMostLevels> words{};

    Sums at(std::size_t b) const {
        return sum(b, b + 1, [](std::size_t) { return true; });
    }
    // The sums over those of the bins [begin, end) that are wanted, rounded once.
    template <class IsWanted>
    Sums sum(std::size_t begin, std::size_t end, IsWanted&& is_wanted) const {
        Sums sums;
        for (std::size_t level = 0; level < units.size(); ++level) {
            typename Entry::Word word{};
            for (std::size_t b = begin; b < end; ++b)
                if (is_wanted(b)) word += words[level][b];
            sums = sums + Entry::unpack(word, units[level]);
        }
        return sums;
    }
};

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
        body(begin, begin + binned.column(j).n_used());
    }
}

}  // namespace mercer::boosting
