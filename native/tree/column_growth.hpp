// What growers have in common that read full columns by row and hollow ones by their entries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "tree/growth.hpp"
#include "tree/node_rows.hpp"
#include "tree/split.hpp"

namespace mercer::tree {

// See Growth for splits and memory.
template <class Criterion, class Split, class Memory, class Columns>
class ColumnGrowth : protected GrowthBy<Criterion, Split, Memory> {
   public:
    // Rows of weight 0 take no part. `directions` is empty, or has -1, 0 or +1 for each feature.
    ColumnGrowth(const Columns& columns, const Criterion& criterion, std::span<const double> weights,
                 std::span<const std::int8_t> directions, const Limits& limits, Draw draw, Threads threads)
        : Base(criterion, directions, limits, threads),
          columns_(columns),
          draw_(draw),
          is_weighted_(!weights.empty()),
          rows_(columns.n_rows(), weights, columns.hollow().count() > 0),
          finder_(columns.hollow(), rows_) {
        require(rows_.size() > 0 && columns.count() > 0, "a tree needs rows and features");
    }
    ColumnGrowth(const ColumnGrowth&) = delete;
    ColumnGrowth& operator=(const ColumnGrowth&) = delete;

   protected:
    using Base = GrowthBy<Criterion, Split, Memory>;
    using typename Base::Lanes;
    using typename Base::Task;

    ~ColumnGrowth() = default;

    std::span<const Row> rows(const Task& task) const { return rows_.part(task.begin, task.end); }

    // How many entries the hollow columns have among the features that feature_of gives of some items.
    template <class Item, class FeatureOf>
    std::size_t n_entries(const std::vector<Item>& items, FeatureOf&& feature_of) const {
        const HollowColumns& hollow = columns_.hollow();
        std::size_t out = 0;
        for (const Item& item : items)
            if (hollow.has(feature_of(item))) out += hollow.n_entries(hollow.index(feature_of(item)));
        return out;
    }

    // Calls look(lane, memory, found) on every lane and takes the best split that they find. Returns whether one returned true.
    template <class Look>
    bool best_of_lanes(Lanes lanes, Split& best, Look&& look) const {
        std::vector<Split> found(lanes.size());
        std::vector<std::uint8_t> is_varied(lanes.size(), 0);
        this->for_lanes(lanes,
                        [&](std::size_t lane, Memory& memory) { is_varied[lane] = look(lane, memory, found[lane]) ? 1 : 0; });
        for (const Split& split : found)
            if (split.is_better(best)) best = split;
        return std::find(is_varied.begin(), is_varied.end(), 1) != is_varied.end();
    }

    const Columns& columns_;
    Draw draw_;
    bool is_weighted_;
    NodeRows rows_;
    EntryFinder finder_;
};

}  // namespace mercer::tree
