// The rows of a growing tree's nodes, and the entries that hollow columns have in the rows of one node.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tree/hollow_columns.hpp"

namespace mercer::tree {

// The rows of a tree in such an order that those of a node lie together, rising.
class NodeRows {
   public:
    // Rows of weight 0 take no part; no weights: all rows do. Only where it is asked to does this know the places of rows.
    NodeRows(std::size_t n_rows, std::span<const double> weights, bool knows_places) {
        rows_.reserve(n_rows);
        for (std::size_t i = 0; i < n_rows; ++i)
            if (weights.empty() || weights[i] != 0) rows_.push_back(static_cast<Row>(i));
        if (!knows_places) return;
        places_.assign(n_rows, kNowhere);
        for (std::size_t i = 0; i < rows_.size(); ++i) places_[rows_[i]] = static_cast<std::uint32_t>(i);
    }

    std::size_t size() const { return rows_.size(); }
    std::span<const Row> all() const { return rows_; }
    std::span<const Row> part(std::size_t begin, std::size_t end) const { return std::span(rows_).subspan(begin, end - begin); }

    // Where a row lies. Another thread may be moving it within a node of its own: that it is not in this one's it says all the
    // same.
    std::uint32_t place(Row row) const {
        return std::atomic_ref<std::uint32_t>(const_cast<std::uint32_t&>(places_[row])).load(std::memory_order_relaxed);
    }

    // Puts the rows of a node, which lie from `begin` on, in another order.
    void arrange(std::size_t begin, std::span<const Row> rows) {
        std::copy(rows.begin(), rows.end(), rows_.begin() + static_cast<std::ptrdiff_t>(begin));
        if (places_.empty()) return;
        for (std::size_t i = 0; i < rows.size(); ++i)
            std::atomic_ref<std::uint32_t>(places_[rows[i]])
                .store(static_cast<std::uint32_t>(begin + i), std::memory_order_relaxed);
    }

   private:
    static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

    std::vector<Row> rows_;
    std::vector<std::uint32_t> places_;  // by row
};

// The entries of all hollow columns in the rows of one node, by column.
class NodeEntries {
   public:
    // Takes the entries of the node that lies from `begin` to `end`. O(entries in its rows).
    void collect(const HollowColumns& columns, const NodeRows& nodes, std::size_t begin, std::size_t end) {
        const auto rows = nodes.part(begin, end);
        for (const std::uint32_t column : met_) counts_[column] = 0;
        met_.clear();
        counts_.resize(columns.count());
        ends_.resize(columns.count());
        begin_ = begin;
        end_ = end;
        for (const Row row : rows) {
            for (const auto& entry : columns.entries(row))
                if (counts_[entry.column]++ == 0) met_.push_back(entry.column);
        }
        std::size_t total = 0;
        for (const std::uint32_t column : met_) {
            ends_[column] = total;
            total += counts_[column];
        }
        places_.resize(total);
        for (const Row row : rows)
            for (const auto& entry : columns.entries(row)) places_[ends_[entry.column]++] = entry.place;
    }

    // Whether these are the entries of a node. No two nodes lie at the same place, and a node's rows do not change.
    bool are_of(std::size_t begin, std::size_t end) const { return begin == begin_ && end == end_; }
    // The columns that have an entry.
    std::span<const std::uint32_t> met() const { return met_; }
    // The places of a column's entries, in any order.
    std::span<const std::uint32_t> places(std::size_t column) const {
        return {places_.data() + ends_[column] - counts_[column], counts_[column]};
    }
    std::size_t count(std::size_t column) const { return counts_[column]; }

   private:
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::vector<std::uint32_t> counts_;
    std::vector<std::size_t> ends_;
    std::vector<std::uint32_t> met_;
    std::vector<std::uint32_t> places_;
};

// Finds the entries of a node in two ways. By column: all entries of the column are asked whether their row is in the node; they
// come in the order of their values. By row: the entries of the node's rows are collected for all columns at once, which costs
// kCostByRow times as much an entry, sorting included, but nothing for columns without one.
class EntryFinder {
   public:
    EntryFinder(const HollowColumns& columns, const NodeRows& rows) : columns_(columns), rows_(rows) {}

    // Gets ready for a node that lies from `begin` to `end`, and for so many columns with so many entries, by the cheaper way.
    void prepare(std::size_t begin, std::size_t end, std::size_t n_columns, std::size_t n_in_columns, NodeEntries& memory) const {
        const std::size_t most = (n_in_columns + kCostOfColumn * n_columns) / kCostByRow;
        if (most == 0 || columns_.count() == 0) return;
        std::size_t n_in_rows = 0;
        for (const Row row : rows_.part(begin, end)) {
            n_in_rows += columns_.entries(row).size();
            if (n_in_rows >= most) return;
        }
        collect(begin, end, memory);
    }

    // Collects the entries by row, unless they are there.
    void collect(std::size_t begin, std::size_t end, NodeEntries& memory) const {
        if (columns_.count() > 0 && !memory.are_of(begin, end)) memory.collect(columns_, rows_, begin, end);
    }

    // Writes the places of a column's entries in the node, which are no more than the node has rows; there is room for one more.
    // Returns how many they are; in the order of their values if `is_sorted`.
    std::size_t find(std::size_t column, std::size_t begin, std::size_t end, const NodeEntries& collected, bool is_sorted,
                     std::uint32_t* out) const {
        if (collected.are_of(begin, end)) {
            const auto places = collected.places(column);
            std::copy(places.begin(), places.end(), out);
            if (is_sorted) sort(out, places.size());
            return places.size();
        }
        const auto rows = columns_[column].rows;
        const std::size_t size = end - begin;
        std::size_t n = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {  // without branches: whether a row is in the node cannot be foretold
            out[n] = static_cast<std::uint32_t>(i);
            n += std::size_t{rows_.place(rows[i])} - begin < size;
        }
        return n;
    }

    // Whether any hollow column has two values in a node of so many rows, by its collected entries.
    bool any_varies(std::size_t n_rows, const NodeEntries& collected) const {
        return std::any_of(collected.met().begin(), collected.met().end(),
                           [&](std::uint32_t column) { return varies(column, n_rows, collected); });
    }

   private:
    bool varies(std::size_t column, std::size_t n_rows, const NodeEntries& collected) const {
        const auto places = collected.places(column);
        if (places.size() < n_rows) return true;
        const auto [first, last] = std::minmax_element(places.begin(), places.end());
        const auto values = columns_[column].values;
        return std::isnan(values[*last]) ? !std::isnan(values[*first]) : is_above(values[*last], values[*first]);
    }

    static constexpr std::size_t kCostByRow = 4;  // in entries that are asked for their row
    static constexpr std::size_t kCostOfColumn = 8;
    static constexpr std::size_t kFew = 24;

    static void sort(std::uint32_t* places, std::size_t n) {
        if (n > kFew) return std::sort(places, places + n);
        for (std::size_t i = 1; i < n; ++i) {
            const std::uint32_t place = places[i];
            std::size_t at = i;
            for (; at > 0 && place < places[at - 1]; --at) places[at] = places[at - 1];
            places[at] = place;
        }
    }

    const HollowColumns& columns_;
    const NodeRows& rows_;
};

}  // namespace mercer::tree
