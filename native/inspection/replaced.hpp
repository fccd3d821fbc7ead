// What trees would say of rows that had other values in some features: shuffled columns, or the points of a grid.
//
// A row's way through a tree is walked once for all features. An alternative leaves it where it goes another way, and those that
// leave at the same node walk on together; all others end where the row itself does. Sums have the bits of a prediction of the rows
// written out, since every alternative adds the trees in their order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "inspection/alternatives.hpp"
#include "inspection/replaced_few.hpp"
#include "inspection/replacement.hpp"

namespace mercer::inspection {

namespace detail {

inline constexpr std::size_t kReplacedBlockBytes = std::size_t{1} << 19;

// A block of rows, with what each alternative puts in.
template <Real T>
class ReplacedRows {
   public:
    ReplacedRows(Matrix<const T> x, const Replacement<T>& replacement, std::size_t n_rows)
        : x_(x), replacement_(replacement), place_(replacement.group.size()), block_(n_rows * x.cols) {
        for (std::size_t f = 0; f < place_.size(); ++f) {
            if (replacement.group[f] == kNoGroup) continue;
            place_[f] = columns_.size();
            columns_.push_back(static_cast<std::size_t>(replacement.column[f]));
        }
        const bool is_shared = replacement.orders.empty();
        stride_ = is_shared ? 0 : columns_.size() * replacement.n_alternatives;
        values_.resize(columns_.size() * replacement.n_alternatives * (is_shared ? 1 : n_rows));
        if (is_shared) gather(values_.data(), [](std::size_t r) { return r; });
        is_sorted_ = is_shared && columns_.size() == 1 && is_rising(std::span<const T>(values_));
    }

    void take(std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t j = 0; j < x_.cols; ++j) block_[(i - begin) * x_.cols + j] = x_(i, j);
        if (replacement_.orders.empty()) return;
        for (std::size_t i = begin; i < end; ++i)
            gather(values_.data() + (i - begin) * stride_, [&](std::size_t r) { return replacement_.orders[r * x_.rows + i]; });
    }

    const T* row(std::size_t i) const { return block_.data() + i * x_.cols; }
    // The values of a replaced feature, one for each alternative.
    const T* values(std::size_t i, std::size_t feature) const {
        return values_.data() + i * stride_ + place_[feature] * replacement_.n_alternatives;
    }
    bool is_sorted() const { return is_sorted_; }

   private:
    template <class Donor>
    void gather(T* out, Donor&& donor) const {
        for (const std::size_t column : columns_)
            for (std::size_t r = 0; r < replacement_.n_alternatives; ++r) *out++ = replacement_.donors(donor(r), column);
    }

    Matrix<const T> x_;
    const Replacement<T>& replacement_;
    std::vector<std::size_t> place_;    // of each replaced feature
    std::vector<std::size_t> columns_;  // of the donors, by place
    std::vector<T> block_;
    std::vector<T> values_;
    std::size_t stride_ = 0;
    bool is_sorted_ = false;
};

// One tree after another adds to the sums of one row and all its alternatives.
template <Real T>
class ReplacedWalk {
   public:
    ReplacedWalk(const Trees& trees, const LeafValues& leaves, const Replacement<T>& replacement)
        : trees_(trees),
          leaves_(leaves),
          replacement_(replacement),
          on_way_(replacement.n_groups),
          stamp_(replacement.n_groups),
          numbers_(replacement.n_slots()),
          scratch_(replacement.n_alternatives) {}

    // `sums` has a line of slots (groups x alternatives) for each output.
    void add(std::size_t t, const ReplacedRows<T>& rows, std::size_t i, double* sums) {
        const auto tree = trees_.part(t);
        const T* x = rows.row(i);
        ++now_;
        left_.clear();
        std::uint32_t at = 0;
        while (!tree.nodes[at].is_leaf()) {
            const Node& node = tree.nodes[at];
            const bool is_left = goes_left(node, x[node.feature()], tree.words.data());
            const std::int32_t group = replacement_.group[node.feature()];
            const std::uint32_t other = is_left ? node.right : at + 1;
            if (group != kNoGroup) leave(tree, rows, i, node, static_cast<std::size_t>(group), is_left, other);
            at = is_left ? at + 1 : node.right;
        }
        settle(t, at, sums);
    }

   private:
    struct Branch {
        std::uint32_t node;
        Segment segment;
    };
    struct Ended {
        std::size_t slot;
        std::uint32_t leaf;
    };

    // Sends those alternatives of a group that are still with the row and go the other way from here on ways of their own.
    void leave(const Trees::Part& tree, const ReplacedRows<T>& rows, std::size_t i, const Node& node, std::size_t group,
               bool is_left, std::uint32_t other) {
        const std::size_t n = replacement_.n_alternatives;
        if (stamp_[group] != now_) {
            stamp_[group] = now_;
            on_way_[group] = {numbers_.data() + group * n, n};
            std::iota(on_way_[group].first, on_way_[group].first + n, 0u);
        }
        Segment& all = on_way_[group];
        if (all.count == 0) return;
        const std::size_t n_left =
            part(node, rows.values(i, node.feature()), tree.words.data(), all, rows.is_sorted(), scratch_.data());
        const Segment left{all.first, n_left};
        const Segment right{all.first + n_left, all.count - n_left};
        all = is_left ? left : right;
        const Segment leaving = is_left ? right : left;
        if (leaving.count > 0) follow(tree, rows, i, group, {other, leaving});
    }

    // Walks alternatives of a group from a node to their leaves.
    void follow(const Trees::Part& tree, const ReplacedRows<T>& rows, std::size_t i, std::size_t group, Branch start) {
        const T* x = rows.row(i);
        open_.assign(1, start);
        while (!open_.empty()) {
            auto [at, segment] = open_.back();
            open_.pop_back();
            while (!tree.nodes[at].is_leaf()) {
                const Node& node = tree.nodes[at];
                if (replacement_.group[node.feature()] != static_cast<std::int32_t>(group)) {
                    at = goes_left(node, x[node.feature()], tree.words.data()) ? at + 1 : node.right;
                    continue;
                }
                const T* values = rows.values(i, node.feature());
                const std::size_t n_left = part(node, values, tree.words.data(), segment, rows.is_sorted(), scratch_.data());
                if (n_left > 0 && n_left < segment.count)
                    open_.push_back({node.right, {segment.first + n_left, segment.count - n_left}});
                at = n_left > 0 ? at + 1 : node.right;
                if (n_left > 0) segment.count = n_left;
            }
            for (std::size_t k = 0; k < segment.count; ++k)
                left_.push_back({group * replacement_.n_alternatives + segment.first[k], at});
        }
    }

    // Adds a tree: the row's own leaf for all that stayed with it, and their own for those that left.
    void settle(std::size_t t, std::uint32_t leaf, double* sums) {
        const std::size_t n_slots = replacement_.n_slots();
        fresh_.clear();
        for (const Ended& ended : left_)
            leaves_.for_each(trees_, t, ended.leaf,
                             [&](std::size_t k, double value) { fresh_.push_back(sums[k * n_slots + ended.slot] + value); });
        leaves_.for_each(trees_, t, leaf, [&](std::size_t k, double value) {
            double* line = sums + k * n_slots;
            for (std::size_t s = 0; s < n_slots; ++s) line[s] += value;
        });
        const double* next = fresh_.data();
        for (const Ended& ended : left_)
            leaves_.for_each(trees_, t, ended.leaf, [&](std::size_t k, double) { sums[k * n_slots + ended.slot] = *next++; });
    }

    const Trees& trees_;
    const LeafValues& leaves_;
    const Replacement<T>& replacement_;
    std::vector<Segment> on_way_;     // of each group: who is still with the row
    std::vector<std::size_t> stamp_;  // of each group: the walk in which that was last said
    std::size_t now_ = 0;
    std::vector<std::uint32_t> numbers_;
    std::vector<std::uint32_t> scratch_;
    std::vector<Branch> open_;
    std::vector<Ended> left_;
    std::vector<double> fresh_;
};

}  // namespace detail

// Writes to `out` (slots x rows times outputs) the sums of the trees of `leaves.range` for each row of x in which a group's
// features have the values of an alternative. O(rows trees (depth + slots)) and a walk for each way that alternatives part; threads
// share the rows.
template <Real T>
void replaced_sums(const Trees& trees, const LeafValues& leaves, Matrix<const T> x, const Replacement<T>& replacement,
                   RowMajor<double> out, Threads threads) {
    using Few = tree::detail::FewLeaves<T>;
    const bool has_own_donors =
        !replacement.orders.empty();  // alternatives that all rows share seldom part, which walks make use of
    if (has_own_donors && leaves.lines.rows == 0 && Few::suits(trees, leaves.range, x.rows))
        return detail::ReplacedFewLeaves<T>(trees, leaves, replacement).write_sums(x, out, threads);
    const std::size_t n_slots = replacement.n_slots();
    const std::size_t n_outputs = leaves.n_outputs;
    const std::size_t row_bytes = n_slots * n_outputs * sizeof(double) + (n_slots + x.cols) * sizeof(T);
    const std::size_t size = std::clamp<std::size_t>(detail::kReplacedBlockBytes / row_bytes, 8, 256);
    const auto work = static_cast<double>(x.rows) * static_cast<double>(leaves.range.count()) * static_cast<double>(n_slots + 20);
    const auto shares = Chunks::of((x.rows + size - 1) / size, 1, 256);
    parallel_for(shares.count, threads.for_work(work), [&](std::size_t share) {
        detail::ReplacedRows<T> rows(x, replacement, size);
        detail::ReplacedWalk<T> walk(trees, leaves, replacement);
        std::vector<double> sums;
        for (std::size_t b = shares.begin(share); b < shares.end(share); ++b) {
            const std::size_t begin = b * size;
            const std::size_t end = std::min(begin + size, x.rows);
            rows.take(begin, end);
            sums.assign((end - begin) * n_outputs * n_slots, 0.0);
            for (std::size_t t = leaves.range.first; t < leaves.range.last; ++t) {
                checkpoint();
                for (std::size_t i = 0; i < end - begin; ++i) walk.add(t, rows, i, sums.data() + i * n_outputs * n_slots);
            }
            for (std::size_t s = 0; s < n_slots; ++s)
                for (std::size_t i = begin; i < end; ++i)
                    for (std::size_t k = 0; k < n_outputs; ++k)
                        out(s, i * n_outputs + k) = sums[((i - begin) * n_outputs + k) * n_slots + s];
        }
    });
}

}  // namespace mercer::inspection
