// Shapley values of sums of small trees for many rows: the values of every group of leaves are worked out once for every pattern of
// the bits that it depends on, and looked up for each row.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/parallel.hpp"
#include "inspection/pattern_tables.hpp"

namespace mercer::inspection {

namespace detail {

// Bits of a group, for n rows: more of them make for fewer and larger groups, which more rows repay. From nine on tables leave the
// nearer caches.
inline std::size_t bits_for(std::size_t n) {
    return std::clamp<std::size_t>(static_cast<std::size_t>(std::bit_width(n)), 5, 10) - 2;
}

// What tables take, roughly, in additions, and how many numbers they are.
struct TableCost {
    double to_make = 0;
    double to_look_up = 0;  // for each row
    double size = 0;

    TableCost(const Splits& splits, const LeafGroups& groups, bool has_pairs) {
        to_look_up = static_cast<double>(splits.size());
        for (const LeafGroup& group : groups) {
            double width = 0;
            for (const GroupLeaf& leaf : group.leaves) {
                const auto d = static_cast<double>(leaf.features.size());
                const double columns = has_pairs ? d * (d - 1) / 2 : d;
                const auto n_sets = static_cast<double>(std::size_t{1} << leaf.features.size());
                to_make += n_sets * (4 * d + 2 * columns) + static_cast<double>(group.n_patterns()) * (d + columns);
                width = std::max(width, columns);
            }
            to_look_up += 2 * width + static_cast<double>(group.bits.size());
            size += static_cast<double>(group.n_patterns()) * width;
        }
    }
};

}  // namespace detail

// How dear the other way is: `other(splits)` says what a tree takes for all rows, in additions.
struct TableChoice {
    bool has_pairs = false;
    std::size_t n_bits = 8;
    double n_rows = 0;
    double n_background = 0;

    static constexpr double kMostNumbers = 1 << 22;

    template <class Other>
    bool suits(const Splits& splits, const LeafGroups& groups, Other&& other) const {
        if (!groups.fits()) return false;
        const detail::TableCost cost(splits, groups, has_pairs);
        const double counting = n_background * static_cast<double>(splits.size());
        return cost.size <= kMostNumbers && cost.to_make + n_rows * cost.to_look_up + counting <= other(splits);
    }
};

// Adds the values for each row of x to `out` (a line for each row; of pairs, at (i, j) for i < j), for those trees for which tables
// are the shorter way, and returns the model of the others. Path-dependent there is no background.
template <Real T, class Other>
Model add_by_tables(const Model& model, const Matrix<const T>& x, const Matrix<const T>* background, bool has_pairs,
                    RowMajor<double> out, Threads threads, Other&& other) {
    constexpr std::size_t kTreesAtOnce = 64;
    const std::size_t n = x.rows;
    const TableChoice choice{has_pairs, detail::bits_for(n), static_cast<double>(n),
                             background == nullptr ? 0.0 : static_cast<double>(background->rows)};
    const BetaWeights beta;
    Model rest{model.trees, {}, model.cover, model.values};
    const auto chunks = Chunks::of(n, n < 16 * kBlockRows ? 32 : 4 * kBlockRows, n < 16 * kBlockRows ? 16 : n);
    for (std::size_t first = 0; first < model.count(); first += kTreesAtOnce) {
        const std::size_t count = std::min(kTreesAtOnce, model.count() - first);
        std::vector<std::unique_ptr<TreeTables>> tables(count);
        std::vector<std::uint8_t> is_left_over(count);
        parallel_for(count, threads, [&](std::size_t i) {
            const std::size_t t = model.tree(first + i);
            Splits splits = model.splits(t);
            if (splits.size() == 0) return;
            LeafGroups groups(splits, choice.n_bits);
            is_left_over[i] = !choice.suits(splits, groups, other);
            if (is_left_over[i]) return;
            const auto seen =
                background == nullptr ? PatternShares{} : count_patterns<T>(model.trees.part(t), splits, groups, *background);
            const auto values = model.of_tree(model.values, t);
            tables[i] = std::make_unique<TreeTables>(std::move(splits), std::move(groups), values, model.trees.n_features(),
                                                     has_pairs, seen, beta);
        });
        parallel_for(chunks.count, threads, [&](std::size_t chunk) {
            std::vector<Bits> is_left;
            std::vector<RowBlock<T>> blocks;
            for (std::size_t begin = chunks.begin(chunk); begin < chunks.end(chunk); begin += kBlockRows)
                blocks.emplace_back(x, begin, std::min(begin + kBlockRows, chunks.end(chunk)));
            for (std::size_t i = 0; i < count; ++i) {
                if (tables[i] == nullptr) continue;
                checkpoint();
                const auto tree = model.trees.part(model.tree(first + i));
                for (std::size_t b = 0; b < blocks.size(); ++b)
                    tables[i]->add(tree, blocks[b], is_left, chunks.begin(chunk) + b * kBlockRows, out);
            }
        });
        for (std::size_t i = 0; i < count; ++i)
            if (is_left_over[i]) rest.chosen.push_back(model.tree(first + i));
    }
    return rest;
}

// Copies what pairs (i, j) with i < j have to (j, i), in lines of d x d.
inline void mirror_pairs(RowMajor<double> out, std::size_t d, Threads threads) {
    parallel_for(out.rows, threads.for_work(static_cast<double>(out.size())), [&](std::size_t row) {
        double* pairs = out.row(row);
        for (std::size_t i = 0; i < d; ++i)
            for (std::size_t j = i + 1; j < d; ++j) pairs[j * d + i] = pairs[i * d + j];
    });
}

}  // namespace mercer::inspection
