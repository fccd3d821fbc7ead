// Sequential minimal optimisation on blocks of variables: the problem, and which variables a block has.
//
// All kernel machines are one problem: minimise 1/2 b'Kb + q'b over b with low <= b <= up and a fixed sum of b in each of one or
// two groups of variables. The slope of variable i is f_i = (K b)_row(i) + q_i, where `values` = K b has one number a row of the
// kernel and a row may have two variables (regression). The variables of the first group come first. At a solution no variable that
// may rise has a slope below that of one of its group that may fall; what is left of this is the violation.
//
// A block of variables that violate most is solved with its square of the kernel in the cache (svm/block_solver.hpp), and the
// values of all rows are brought up to date once a block (svm/kernel_lines.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::svm {

inline constexpr double kEndless = std::numeric_limits<double>::infinity();

// The variables of a problem.
struct DualVariables {
    std::span<const std::int32_t> rows;  // of the kernel
    std::span<const double> linear;      // q
    std::span<const double> low, up;
    std::size_t group_end;  // where the second group begins: all variables where there is one

    std::size_t size() const { return rows.size(); }
};

// Of one group: the least slope of those that may rise, and the largest of those that may fall.
struct SlopeRange {
    double least_rising = kEndless;
    double most_falling = -kEndless;

    double violation() const { return most_falling - least_rising; }
};

// Writes the slopes of all variables. O(n).
inline void write_slopes(const DualVariables& of, std::span<const double> values, std::span<double> slopes) {
    for (std::size_t i = 0; i < of.size(); ++i) slopes[i] = values[static_cast<std::size_t>(of.rows[i])] + of.linear[i];
}

inline SlopeRange slope_range(const DualVariables& of, std::span<const double> duals, std::span<const double> slopes,
                              std::size_t begin, std::size_t end) {
    using S = Simd<double>;
    using V = S::Vector;
    const V endless = S::broadcast(kEndless);
    V least = endless, most = -endless;
    std::size_t i = begin;
    for (; i + S::kLanes <= end; i += S::kLanes) {
        const V dual = S::load(&duals[i]), slope = S::load(&slopes[i]);
        const V rising = dual < S::load(&of.up[i]) ? slope : endless, falling = dual > S::load(&of.low[i]) ? slope : -endless;
        least = rising < least ? rising : least;
        most = falling > most ? falling : most;
    }
    SlopeRange range;
    for (std::size_t lane = 0; lane < S::kLanes; ++lane) {
        range.least_rising = std::min(range.least_rising, static_cast<double>(least[lane]));
        range.most_falling = std::max(range.most_falling, static_cast<double>(most[lane]));
    }
    for (; i < end; ++i) {
        if (duals[i] < of.up[i]) range.least_rising = std::min(range.least_rising, slopes[i]);
        if (duals[i] > of.low[i]) range.most_falling = std::max(range.most_falling, slopes[i]);
    }
    return range;
}

// Chooses a block: all variables where they fit, else those of `kept` first, then from each group those that violate most, as many
// that may rise as may fall, until `block` is full or none violates. Writes the numbers of the variables, the first group first and
// each in rising order, and tells how many there are, how many are of the first group, and the largest violation of all variables.
// O(n + m log m) for m variables that violate.
class BlockChoice {
   public:
    std::size_t size = 0, group_end = 0;
    double violation = 0;

    BlockChoice(const DualVariables& of, std::span<const double> duals, std::span<const double> values,
                std::span<const std::int32_t> kept, std::span<std::int32_t> block)
        : of_(of), duals_(duals), slopes_(of.size()), block_(block), is_in_(of.size(), 0) {
        write_slopes(of, values, slopes_);
        const SlopeRange first = slope_range(of, duals, slopes_, 0, of.group_end);
        const SlopeRange second = slope_range(of, duals, slopes_, of.group_end, of.size());
        violation = std::max(first.violation(), second.violation());
        if (of.size() <= block.size()) {  // a few places shared out among groups could part every pair
            for (std::size_t i = 0; i < of.size(); ++i) add(i);
        } else {
            for (const std::int32_t i : kept) add(static_cast<std::size_t>(i));
            const bool has_two = of.group_end < of.size();
            if (has_two) take_violators(second, of.group_end, of.size(), (block.size() - size) / 2);
            take_violators(first, 0, of.group_end, block.size() - size);
        }
        std::sort(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(size));
        while (group_end < size && static_cast<std::size_t>(block[group_end]) < of.group_end) ++group_end;
    }

   private:
    struct Violator {
        double slope;
        std::int32_t number;
    };

    void add(std::size_t i) {
        if (is_in_[i] != 0 || size == block_.size()) return;
        is_in_[i] = 1;
        block_[size++] = static_cast<std::int32_t>(i);
    }

    void take_violators(const SlopeRange& range, std::size_t begin, std::size_t end, std::size_t room) {
        if (!(range.violation() > 0)) return;
        std::vector<Violator> rising, falling;
        for (std::size_t i = begin; i < end; ++i) {
            if (is_in_[i] != 0) continue;
            const Violator own{slopes_[i], static_cast<std::int32_t>(i)};
            if (duals_[i] < of_.up[i] && own.slope < range.most_falling) rising.push_back(own);
            if (duals_[i] > of_.low[i] && own.slope > range.least_rising) falling.push_back(own);
        }
        keep_first(rising, room, [](const Violator& a, const Violator& b) {
            return a.slope != b.slope ? a.slope < b.slope : a.number < b.number;
        });
        keep_first(falling, room, [](const Violator& a, const Violator& b) {
            return a.slope != b.slope ? a.slope > b.slope : a.number < b.number;
        });
        const std::size_t end_of_room = std::min(size + room, block_.size());
        for (std::size_t k = 0; k < std::max(rising.size(), falling.size()) && size < end_of_room; ++k) {
            if (k < rising.size()) add(static_cast<std::size_t>(rising[k].number));
            if (k < falling.size() && size < end_of_room) add(static_cast<std::size_t>(falling[k].number));
        }
    }

    template <class Before>
    static void keep_first(std::vector<Violator>& violators, std::size_t n, const Before& before) {
        if (violators.size() > n) {
            std::nth_element(violators.begin(), violators.begin() + static_cast<std::ptrdiff_t>(n), violators.end(), before);
            violators.resize(n);
        }
        std::sort(violators.begin(), violators.end(), before);
    }

    const DualVariables& of_;
    std::span<const double> duals_;
    std::vector<double> slopes_;
    std::span<std::int32_t> block_;
    std::vector<std::uint8_t> is_in_;
};

// The part of a block that stays for the next one, `kept`.size() of it at most: of variables that are new in it (not among those
// kept before) the free ones, then the others, then likewise those kept before; within each kind the first. Returns how many.
inline std::size_t keep_part(const DualVariables& of, std::span<const double> duals, std::span<const std::int32_t> block,
                             std::span<const std::int32_t> kept_before, std::span<std::int32_t> kept) {
    std::array<std::vector<std::int32_t>, 4> kinds;
    for (const std::int32_t number : block) {
        const auto i = static_cast<std::size_t>(number);
        const bool is_free = duals[i] > of.low[i] && duals[i] < of.up[i];
        const bool is_new = !std::binary_search(kept_before.begin(), kept_before.end(), number);
        kinds[(is_new ? 0 : 2) + (is_free ? 0 : 1)].push_back(number);
    }
    std::size_t size = 0;
    for (const auto& kind : kinds) {
        const std::size_t n = std::min(kind.size(), kept.size() - size);
        std::copy_n(kind.begin(), n, kept.begin() + static_cast<std::ptrdiff_t>(size));
        size += n;
    }
    std::sort(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(size));
    return size;
}

}  // namespace mercer::svm
