// What the search for splits speaks of, whatever the criterion.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tree/columns.hpp"
#include "tree/running_median.hpp"

namespace mercer::tree {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// When to stop, and what a split must leave on each side.
struct Limits {
    std::size_t max_depth = std::numeric_limits<std::size_t>::max();
    std::size_t min_rows_split = 2;
    std::size_t min_rows_leaf = 1;
    double min_weight_leaf = 0;
    double min_gain = 0;
    std::size_t max_leaves = 0;  // 0: as many as there come; else the split of largest gain is made first
};

// What every criterion knows of a node's rows; each adds what it needs.
struct NodeSummary {
    std::size_t n = 0;
    double weight = 0;
    double impurity = 0;
    double worth = 0;
    bool is_pure = true;
};

// Where the value of a node must lie, so that splits above it stay monotone.
struct Bounds {
    double lower = -kInfinity;
    double upper = kInfinity;
};

// A place to cut the rows of one feature in two: the first n_left steps of its order (see Ordered) go left.
struct Candidate {
    double worth = -kInfinity;
    std::size_t n_left = 0;
    bool is_missing_left = false;
};

// A split of a node: a candidate of some feature, or a set of categories that go left.
struct Split {
    Candidate at;
    std::size_t feature = 0;
    std::size_t turn = 0;          // of equal splits the one that was looked at first is better
    std::vector<Code> left_codes;  // of a split on categories
    double worth() const { return at.worth; }
    bool is_found() const { return at.worth > -kInfinity; }
    bool is_better(const Split& other) const { return at.worth != other.at.worth ? at.worth > other.at.worth : turn < other.turn; }
};

// What a split that is given comes to: its worth, and weight and value of the sides (of one output).
struct Weighed {
    std::size_t n_left = 0;
    double worth = -kInfinity;
    double left_weight = 0;
    double right_weight = 0;
    double left_value = 0;
    double right_value = 0;
};

// One feature of one node: its rows in the order of their values, those without one last. Each row is a step of the order. Rows of
// value zero may be left out of the list: they are one step then, whose rows are counted, and whose sums are what the others leave
// of the node's.
struct Ordered {
    static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

    std::span<const Row> rows;
    const Code* codes = nullptr;      // null where no two steps have the same value
    bool has_codes_by_place = false;  // in the list; else by row
    std::size_t n_known = 0;          // of the list
    int direction = 0;                // +1: the value must not fall from left to right; -1: must not rise
    std::size_t zeros_at = kNowhere;  // the step of the rows that are not in the list
    std::size_t n_zeros = 0;
    Code zeros_code = 0;

    std::size_t size() const { return rows.size() + n_zeros; }
    std::size_t n_missing() const { return rows.size() - n_known; }
    bool has_zeros() const { return zeros_at != kNowhere; }
    // Steps of rows whose value is known, and the row of one that is not that of the zeros.
    std::size_t n_steps() const { return n_known + (has_zeros() ? 1 : 0); }
    Row row(std::size_t step) const { return rows[place(step)]; }

    // How many rows the first so many steps have; the fewest steps that have so many; and the most that have no more.
    std::size_t n_rows(std::size_t n_steps) const { return n_steps <= zeros_at ? n_steps : n_steps - 1 + n_zeros; }
    std::size_t steps_of_least(std::size_t n) const {
        if (n <= zeros_at) return n;
        return n <= zeros_at + n_zeros ? zeros_at + 1 : n - n_zeros + 1;
    }
    std::size_t steps_of_most(std::size_t n) const {
        if (n <= zeros_at) return n;
        return n < zeros_at + n_zeros ? zeros_at : n - n_zeros + 1;
    }

    // Whether the values on both sides of a cut behind so many steps differ.
    bool is_border(std::size_t n_left) const { return n_left == n_steps() || codes == nullptr || code(n_left - 1) != code(n_left); }

   private:
    std::size_t place(std::size_t step) const { return step - (step > zeros_at ? 1 : 0); }
    Code code(std::size_t step) const {
        if (step == zeros_at) return zeros_code;
        return codes[has_codes_by_place ? place(step) : row(step)];
    }
};

// Half way between two values that follow one another: low <= threshold < high.
inline double middle_between(double low, double high) {
    const double middle = low / 2 + high / 2;
    return middle < high && middle >= low ? middle : low;  // also where one of them is infinite
}

// Writes the sums of a node's rows that are not in a list: what those of the list leave of the node's. `space` is memory for as
// many.
template <class Criterion>
void sum_others(const Criterion& criterion, std::span<const Row> list, const typename Criterion::Summary& node, double* out,
                double* space) {
    constexpr double kLeastShare = 0x1p-52;  // of the weight: what rounding leaves of it must not be divided by
    const std::size_t n_sums = criterion.n_sums();
    criterion.write_totals(node, out);
    std::fill_n(space, n_sums, 0.0);
    for (const Row row : list) criterion.add(row, space);
    out[0] = std::max(out[0] - space[0], kLeastShare * out[0]);
    for (std::size_t k = 1; k < n_sums; ++k) out[k] = criterion.rest(out[k], space[k]);
}

// Memory that a thread needs for scanning nodes of up to n rows.
struct Scratch {
    std::vector<double> weights;
    std::vector<double> sums;
    std::vector<double> extra;
    std::vector<Row> rows;
    std::vector<std::size_t> features;
    ListMedian list_median;
    TreeMedian tree_median;

    explicit Scratch(std::size_t n) : weights(n + 64), sums(n + 64), rows(n + 1) {}
};

}  // namespace mercer::tree
