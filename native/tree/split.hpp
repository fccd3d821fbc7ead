// What the search for splits speaks of, whatever the criterion.
#pragma once

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

// Where the value of a node must lie, so that splits above it stay monotone.
struct Bounds {
    double lower = -kInfinity;
    double upper = kInfinity;
};

// A place to cut the rows of one feature in two: the first n_left of those whose value is known go left.
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

// One feature of one node: its rows in the order of their values, those without one last.
struct Ordered {
    std::span<const Row> rows;
    const Code* codes = nullptr;  // by row; null where no two rows have the same value
    std::size_t n_known = 0;
    int direction = 0;  // +1: the value must not fall from left to right; -1: must not rise

    std::size_t n_missing() const { return rows.size() - n_known; }
    bool is_border(std::size_t n_left) const {
        return n_left == n_known || codes == nullptr || codes[rows[n_left - 1]] != codes[rows[n_left]];
    }
};

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
