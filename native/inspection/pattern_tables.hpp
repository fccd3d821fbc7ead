// The values of a small tree for every pattern of the bits that its groups of leaves depend on, to be looked up for each row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "inspection/leaf_games.hpp"
#include "inspection/leaf_groups.hpp"
#include "inspection/row_block.hpp"

namespace mercer::inspection {

// Of a group: a line of values for each pattern, and where they belong in the line of a row.
struct PatternTable {
    std::vector<std::uint32_t> slots;   // of the tree's features, those of the group
    std::vector<std::uint32_t> places;  // of features, or of pairs of them: i d + j for i < j
    std::vector<double> values;

    // Adds the values of a pattern to a row's line.
    void add(std::size_t pattern, double* out) const {
        const std::size_t width = places.size();
        const double* line = values.data() + pattern * width;
        for (std::size_t k = 0; k < width; ++k) out[places[k]] += line[k];
    }
};

// The shares of background rows that have each pattern, for each group; empty where there is no background.
using PatternShares = std::vector<std::vector<double>>;

// Makes tables, in memory that serves one after another.
class TableMaker {
   public:
    TableMaker(const Splits& splits, std::span<const double> values, std::size_t n_features, bool has_pairs,
               const BetaWeights& beta)
        : splits_(splits), values_(values), n_features_(n_features), has_pairs_(has_pairs), games_(beta) {}

    // `seen` has the shares of the background's patterns; path-dependent it is empty.
    PatternTable make(const LeafGroup& group, std::span<const double> seen) {
        PatternTable table = empty_table(group);
        if (table.places.empty()) return table;
        for (const GroupLeaf& leaf : group.leaves) {
            if (values_[leaf.node] == 0) continue;
            sets_.resize(group.n_patterns());
            for (std::uint32_t g = 0; g < sets_.size(); ++g) sets_[g] = leaf.satisfied(g);
            find_shares(leaf, seen);
            if (has_pairs_)
                solve_pairs(leaf, table);
            else
                solve(leaf, table);
            add_lines(table);
        }
        return table;
    }

   private:
    PatternTable empty_table(const LeafGroup& group) const {
        PatternTable table;
        for (const GroupLeaf& leaf : group.leaves)
            for (const auto& feature : leaf.features) table.slots.push_back(feature.slot);
        std::sort(table.slots.begin(), table.slots.end());
        table.slots.erase(std::unique(table.slots.begin(), table.slots.end()), table.slots.end());
        const auto& features = splits_.features();
        for (std::size_t i = 0; i < table.slots.size(); ++i) {
            const std::uint32_t feature = features[table.slots[i]];
            if (!has_pairs_) table.places.push_back(feature);
            for (std::size_t j = i + 1; has_pairs_ && j < table.slots.size(); ++j)
                table.places.push_back(feature * static_cast<std::uint32_t>(n_features_) + features[table.slots[j]]);
        }
        table.values.assign(group.n_patterns() * table.places.size(), 0.0);
        return table;
    }

    // B of `leaf_games.hpp` for every set of a leaf's features.
    void find_shares(const GroupLeaf& leaf, std::span<const double> seen) {
        shares_.assign(std::size_t{1} << leaf.features.size(), 0.0);
        if (seen.empty()) {
            shares_[0] = 1;
            for (std::size_t j = 0, size = 1; j < leaf.features.size(); ++j, size *= 2)
                for (std::size_t set = 0; set < size; ++set) shares_[set + size] = shares_[set] * leaf.features[j].share;
            return;
        }
        for (std::size_t g = 0; g < seen.size(); ++g) shares_[sets_[g]] += seen[g];
        sum_supersets(shares_);
    }

    std::size_t column(const GroupLeaf& leaf, std::size_t j, const PatternTable& table) const {
        const auto at = std::lower_bound(table.slots.begin(), table.slots.end(), leaf.features[j].slot);
        return static_cast<std::size_t>(at - table.slots.begin());
    }

    // The values of a leaf for every set of its features that a row may satisfy, and their columns in the table.
    void solve(const GroupLeaf& leaf, const PatternTable& table) {
        const std::size_t d = leaf.features.size();
        const double value = values_[leaf.node];
        lines_.resize(shares_.size() * d);
        games_.solve(shares_, [&](std::size_t p, std::size_t j, double phi) { lines_[p * d + j] = value * phi; });
        columns_.clear();
        for (std::size_t j = 0; j < d; ++j) columns_.push_back(column(leaf, j, table));
    }

    void solve_pairs(const GroupLeaf& leaf, const PatternTable& table) {
        const std::size_t d = leaf.features.size(), n_slots = table.slots.size();
        const double value = values_[leaf.node];
        lines_.clear();
        games_.solve_pairs(shares_, [&](std::size_t, std::size_t, std::size_t, double phi) { lines_.push_back(value * phi); });
        columns_.clear();
        for (std::size_t j = 1; j < d; ++j) {
            for (std::size_t i = 0; i < j; ++i) {
                const auto [low, high] = std::minmax({column(leaf, i, table), column(leaf, j, table)});
                columns_.push_back(low * n_slots - low * (low + 1) / 2 + high - low - 1);
            }
        }
    }

    void add_lines(PatternTable& table) const {
        const std::size_t n_columns = columns_.size(), width = table.places.size();
        for (std::size_t g = 0; g < sets_.size(); ++g) {
            const double* line = lines_.data() + sets_[g] * n_columns;
            double* out = table.values.data() + g * width;
            for (std::size_t k = 0; k < n_columns; ++k) out[columns_[k]] += line[k];
        }
    }

    const Splits& splits_;
    std::span<const double> values_;
    std::size_t n_features_;
    bool has_pairs_;
    LeafGames games_;
    std::vector<std::uint32_t> sets_;  // that each pattern of the group satisfies
    std::vector<std::size_t> columns_;
    std::vector<double> shares_, lines_;
};

// The shares of background rows that have each pattern of each group. O(rows x (splits + groups)).
template <Real T>
PatternShares count_patterns(const Trees::Part& tree, const Splits& splits, const LeafGroups& groups,
                             const Matrix<const T>& background) {
    PatternShares seen;
    for (const LeafGroup& group : groups) seen.emplace_back(group.n_patterns());
    std::vector<Bits> is_left;
    Bits bits[kBlockRows];
    const double share = 1 / static_cast<double>(background.rows);
    for (std::size_t begin = 0; begin < background.rows; begin += kBlockRows) {
        checkpoint();
        const RowBlock<T> block(background, begin, std::min(begin + kBlockRows, background.rows));
        block.find_ways(tree, splits, is_left);
        for (std::size_t g = 0; g < seen.size(); ++g) {
            block.find_bits(groups[g], is_left, bits);
            for (std::size_t i = 0; i < block.size(); ++i) seen[g][bits[i]] += share;
        }
    }
    return seen;
}

// The tables of one tree.
class TreeTables {
   public:
    TreeTables(Splits splits, LeafGroups groups, std::span<const double> values, std::size_t n_features, bool has_pairs,
               const PatternShares& seen, const BetaWeights& beta)
        : splits_(std::move(splits)), groups_(std::move(groups)) {
        TableMaker maker(splits_, values, n_features, has_pairs, beta);
        for (std::size_t g = 0; g < groups_.size(); ++g)
            tables_.push_back(maker.make(groups_[g], seen.empty() ? std::span<const double>{} : std::span(seen[g])));
    }

    // Adds the values of a block's rows to their lines of `out`, from `begin` on. `is_left` is scratch memory.
    template <Real T>
    void add(const Trees::Part& tree, const RowBlock<T>& block, std::vector<Bits>& is_left, std::size_t begin,
             RowMajor<double> out) const {
        Bits bits[kBlockRows];
        block.find_ways(tree, splits_, is_left);
        for (std::size_t g = 0; g < tables_.size(); ++g) {
            block.find_bits(groups_[g], is_left, bits);
            for (std::size_t i = 0; i < block.size(); ++i) tables_[g].add(bits[i], out.row(begin + i));
        }
    }

   private:
    Splits splits_;
    LeafGroups groups_;
    std::vector<PatternTable> tables_;
};

}  // namespace mercer::inspection
