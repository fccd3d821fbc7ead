// The best split of a node, read off its histograms.
//
// With G and H the sums of gradients and Hessians, a leaf of value w changes the loss by G w + (H + l2) w^2 / 2 to second order.
// The gain of a split is what it lowers the least such change by, less the cost of a leaf:
//     1/2 [G_L^2 / (H_L + l2) + G_R^2 / (H_R + l2) - G^2 / (H + l2)] - leaf_cost,
// with values held within bounds where a constraint sets some. It is computed from the slopes that are left at the node's own
// value w, A_L = G_L + (H_L + l2) w and A_R likewise, as
//     1/2 [A_L^2 / (H_L + l2) + A_R^2 / (H_R + l2)] - 1/2 l2 w^2 - leaf_cost,
// the same without the difference of large terms: where all gradients of a node have much in common, as they have when another
// target has drawn the first prediction away, the terms above would agree in all digits.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/math.hpp"
#include "core/simd.hpp"
#include "tree/bins.hpp"
#include "tree/histogram.hpp"
#include "tree/node.hpp"

namespace mercer::boosting {

using tree::Node;
using tree::Word;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kLeastHessian = 1e-3;  // of a child, as in the peers: below, a leaf's value would be wild

// The share of G and of H w by which slopes may be wrong, being their difference: gains that differ by no more than that makes of
// them are equal, and the first wins.
inline constexpr double kTie = 1e-12;

struct SplitRules {
    double l2 = 0;
    double leaf_cost = 0;
    double least_rows = 1;  // of a child
};

// Where values of leaves must lie.
struct Bounds {
    double low = -kInfinity;
    double high = kInfinity;
    bool is_free() const { return low == -kInfinity && high == kInfinity; }
};

// The categories that go left, one bit each; the bin of missing values among them.
using CategorySet = std::array<Word, 8>;

struct Split {
    double gain = 0;  // a split is one whose gain is positive
    std::uint32_t feature = 0;
    std::uint32_t bin = 0;  // the last that goes left, of numbers
    bool is_missing_left = false;
    bool is_categorical = false;
    CategorySet categories{};
    Sums left, right;

    // Whether a bin goes left; `n_bins` is that of the missing values.
    bool sends_left(std::size_t b, std::size_t n_bins) const {
        if (is_categorical) return ((categories[b / 32] >> (b % 32)) & 1) != 0;
        return b == n_bins ? is_missing_left : b <= bin;
    }
};

inline double leaf_value(const Sums& sums, double l2, const Bounds& bounds) {
    const double curvature = sums.hessian + l2;
    const double value = curvature > 0 ? -sums.gradient / curvature : 0.0;
    return std::clamp(value, bounds.low, bounds.high);
}

// The change of the loss by a leaf of this value.
inline double leaf_change(const Sums& sums, double l2, double value) {
    return value * (sums.gradient + 0.5 * (sums.hessian + l2) * value);
}

namespace detail {

using S = Simd<double>;

// A node whose split is sought.
struct Candidate {
    Sums sums;
    Bounds bounds;
    double value = 0;   // were it a leaf
    double change = 0;  // of the loss, were it a leaf

    // What a split costs before it gains anything: the second leaf, and the penalty of its value.
    double cost(const SplitRules& rules) const { return rules.leaf_cost + 0.5 * rules.l2 * value * value; }
    // By how much gains of this size may be wrong.
    double tolerance(double gain) const {
        const double root = std::sqrt(std::max(gain, 0.0)) + kTie * std::sqrt(std::abs(change));
        return kTie * root * (root + std::sqrt(std::abs(change)));
    }
    // Whether a split is worth more than the best so far (none: zero), by more than rounding makes of nothing.
    bool is_better(double gain, double best, const SplitRules& rules) const {
        return gain - best > tolerance(best) + kTie * cost(rules);
    }
};

// The sums of all bins up to each, of one column, and the gains of splitting there.
class Scan {
   public:
    template <class Entry>
    void accumulate(const ColumnHistogram<Entry>& histogram, std::size_t n) {
        typename Entry::Word sum{};
        for (std::size_t b = 0; b < n; ++b) {
            sum += histogram.words[0][b];
            const Sums sums = Entry::unpack(sum, histogram.units[0]);
            gradient_[b] = sums.gradient;
            hessian_[b] = sums.hessian;
            count_[b] = sums.count;
        }
        has_after_ = histogram.units.size() > 1;
        if (has_after_) accumulate_levels(histogram, n);
    }

    // The first of n places with the largest gain, where the missing values go left or right. Gains are before the cost of the
    // split; -infinity where a side is too small or the constraint is broken.
    std::size_t best(const Candidate& node, const SplitRules& rules, int monotone, Sums missing, bool is_missing_left,
                     std::size_t n, double& gain) {
        const Sums extra = is_missing_left ? missing : Sums{};
        const Sums extra_after = is_missing_left ? Sums{} : missing;
        const bool is_plain = monotone == 0 && node.bounds.is_free();
        const Bounds room{node.bounds.low - node.value, node.bounds.high - node.value};
        S::Vector most = S::broadcast(-kInfinity);
        for (std::size_t b = 0; b < n; b += S::kLanes) {
            const S::Vector gl = S::load(gradient_.data() + b) + extra.gradient;
            const S::Vector hl = S::load(hessian_.data() + b) + extra.hessian;
            const S::Vector nl = S::load(count_.data() + b) + extra.count;
            const S::Vector gr = has_after_ ? S::load(gradient_after_.data() + b) + extra_after.gradient : node.sums.gradient - gl;
            const S::Vector hr = has_after_ ? S::load(hessian_after_.data() + b) + extra_after.hessian : node.sums.hessian - hl;
            const S::Vector nr = node.sums.count - nl;
            const S::Vector cl = hl + rules.l2;
            const S::Vector cr = hr + rules.l2;
            const S::Vector al = gl + cl * node.value;
            const S::Vector ar = gr + cr * node.value;
            S::Vector gains = is_plain ? plain_gain(al, cl, ar, cr) : bounded_gain(al, cl, ar, cr, room, monotone);
            const auto fits = (nl >= rules.least_rows) & (nr >= rules.least_rows) & (hl >= kLeastHessian) & (hr >= kLeastHessian);
            gains = fits ? gains : S::broadcast(-kInfinity);
            S::store(gains_.data() + b, gains);
            if (b + S::kLanes > n) {
                std::fill(gains_.begin() + static_cast<std::ptrdiff_t>(n),
                          gains_.begin() + static_cast<std::ptrdiff_t>(b + S::kLanes), -kInfinity);
                gains = S::load(gains_.data() + b);
            }
            most = gains > most ? gains : most;
        }
        gain = -kInfinity;
        for (std::size_t l = 0; l < S::kLanes; ++l) gain = std::max(gain, static_cast<double>(most[l]));
        if (gain == -kInfinity) return n;
        const double least = gain - node.tolerance(gain);
        const auto end = gains_.begin() + static_cast<std::ptrdiff_t>(n);
        return static_cast<std::size_t>(std::find_if(gains_.begin(), end, [&](double g) { return g >= least; }) - gains_.begin());
    }

   private:
    // Adds the finer levels, and adds up the bins after each place too: one huge Hessian on the left would swallow those on the
    // right in the difference from the node's.
    template <class Entry>
    void accumulate_levels(const ColumnHistogram<Entry>& histogram, std::size_t n) {
        std::fill_n(gradient_after_.begin(), n, 0.0);
        std::fill_n(hessian_after_.begin(), n, 0.0);
        for (std::size_t level = 0; level < histogram.units.size(); ++level) {
            const Units& units = histogram.units[level];
            typename Entry::Word sum{};
            for (std::size_t b = 0; b < n && level > 0; ++b) {
                sum += histogram.words[level][b];
                const Sums sums = Entry::unpack(sum, units);
                gradient_[b] += sums.gradient;
                hessian_[b] += sums.hessian;
            }
            sum = typename Entry::Word{};
            for (std::size_t b = n; b-- > 0; sum += histogram.words[level][b]) {
                const Sums sums = Entry::unpack(sum, units);
                gradient_after_[b] += sums.gradient;
                hessian_after_[b] += sums.hessian;
            }
        }
    }

    // The gain over the node's value on both sides, in one division.
    static S::Vector plain_gain(S::Vector al, S::Vector cl, S::Vector ar, S::Vector cr) {
        return (al * al * cr + ar * ar * cl) / (cl * cr) * 0.5;
    }
    // The same where values may leave that of the node by so much only.
    static S::Vector bounded_gain(S::Vector al, S::Vector cl, S::Vector ar, S::Vector cr, const Bounds& room, int monotone) {
        const auto clip = [&](S::Vector v) { return math::max(math::min(v, S::broadcast(room.high)), S::broadcast(room.low)); };
        const S::Vector wl = clip(-al / cl);
        const S::Vector wr = clip(-ar / cr);
        const S::Vector gain = -wl * (al + 0.5 * cl * wl) - wr * (ar + 0.5 * cr * wr);
        const S::Vector never = S::broadcast(-kInfinity);
        if (monotone > 0) return wl > wr ? never : gain;
        if (monotone < 0) return wl < wr ? never : gain;
        return gain;
    }

    static constexpr std::size_t kRoom = kHistogramBins + S::kLanes;
    alignas(64) std::array<double, kRoom> gradient_{}, hessian_{}, count_{}, gains_{};
    alignas(64) std::array<double, kRoom> gradient_after_{}, hessian_after_{};  // of the bins after each, where there are levels
    bool has_after_ = false;
};

}  // namespace detail

// Finds the best split of one column of numbers and keeps it if it beats `best`, but for the sums of its sides. O(bins).
template <class Entry>
void find_number_split(const ColumnHistogram<Entry>& histogram, const ColumnBins& column, const detail::Candidate& node,
                       const SplitRules& rules, int monotone, std::uint32_t feature, detail::Scan& scan, Split& best) {
    const std::size_t n = column.n_bins;
    scan.accumulate(histogram, n);
    const Sums missing = column.has_missing ? histogram.at(n) : Sums{};
    // Missing values on the right, where they may be all there is; then on the left.
    for (const bool is_missing_left : {false, true}) {
        if (is_missing_left && !(missing.count > 0)) continue;
        double gain = 0;
        const std::size_t n_places = n - (is_missing_left || !column.has_missing ? 1 : 0);
        const std::size_t at = scan.best(node, rules, monotone, missing, is_missing_left, n_places, gain);
        gain -= node.cost(rules);
        if (at < n_places && node.is_better(gain, best.gain, rules))
            best = {gain, feature, static_cast<std::uint32_t>(at), is_missing_left, false, {}, {}, {}};
    }
}

// Finds the best split of one column of categories and keeps it if it beats `best`, but for the sums of its sides. The categories
// are sorted by the value a leaf of them would have, and cut in two; those with few rows stay on the right, with the larger part.
// O(bins log bins).
template <class Entry>
void find_category_split(const ColumnHistogram<Entry>& histogram, const ColumnBins& column, const detail::Candidate& node,
                         const SplitRules& rules, std::uint32_t feature, Split& best) {
    constexpr double kSmoothing = 10;  // rows' worth of Hessian that pull a category's value to zero; fewer rows are left out
    struct Category {
        double value;
        std::uint32_t bin;
        Sums sums;
    };
    std::array<Category, kHistogramBins> found;
    std::size_t n_found = 0;
    const double rows_per_hessian = node.sums.hessian > 0 ? node.sums.count / node.sums.hessian : 0.0;
    for (std::size_t b = 0; b < column.n_used(); ++b) {
        const Sums sums = histogram.at(b);
        if (sums.hessian * rows_per_hessian < kSmoothing) continue;
        found[n_found++] = {sums.gradient / (sums.hessian + kSmoothing), static_cast<std::uint32_t>(b), sums};
    }
    if (n_found < 2) return;
    std::sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(n_found),
              [](const Category& a, const Category& b) { return a.value != b.value ? a.value < b.value : a.bin < b.bin; });
    const Bounds room{node.bounds.low - node.value, node.bounds.high - node.value};
    const auto gain_of = [&](const Sums& side) {  // over the node's value
        const Sums left_over{side.gradient + (side.hessian + rules.l2) * node.value, side.hessian, side.count};
        return -leaf_change(left_over, rules.l2, leaf_value(left_over, rules.l2, room));
    };
    for (const bool is_backward : {false, true}) {
        const std::size_t n_cuts = (n_found + 1) / 2 - (is_backward ? 1 : 0);
        Sums left;
        CategorySet set{};
        for (std::size_t i = 0; i < n_cuts; ++i) {
            const Category& category = found[is_backward ? n_found - 1 - i : i];
            left = left + category.sums;
            set[category.bin / 32] |= Word{1} << (category.bin % 32);
            const Sums right = node.sums - left;
            if (left.count < rules.least_rows || left.hessian < kLeastHessian) continue;
            if (right.count < rules.least_rows || right.hessian < kLeastHessian) break;
            const double gain = gain_of(left) + gain_of(right) - node.cost(rules);
            if (node.is_better(gain, best.gain, rules)) {
                const bool is_missing_left = ((set[column.n_bins / 32] >> (column.n_bins % 32)) & 1) != 0;
                best = {gain, feature, 0, column.has_missing && is_missing_left, true, set, {}, {}};
            }
        }
    }
}

}  // namespace mercer::boosting
