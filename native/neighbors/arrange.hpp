// The order of a tree's points: ranges are halved at the median of a key of each point until they are leaves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "neighbors/shape.hpp"

namespace mercer::neighbors {

// A key scaled to 32 bits, and the point: to select among whole numbers is fast, and safe whatever the values are. Halves need not
// be exact, as the bounds of a node are taken of the points that it got.
class SplitKeys {
   public:
    // Key of every row by `key(row)`, which lies between low and high.
    template <class Key>
    void fill(std::span<const Row> rows, double low, double high, Key&& key) {
        keys_.resize(rows.size());
        constexpr double kSteps = 4294967295.0;
        const double scale = high > low ? kSteps / (high - low) : 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double place = (static_cast<double>(key(static_cast<std::size_t>(rows[i]))) - low) * scale;
            const auto step = static_cast<std::uint64_t>(place > 0 ? std::min(place, kSteps) : 0);  // NaN: 0
            keys_[i] = step << 32 | static_cast<std::uint32_t>(rows[i]);
        }
    }
    // Puts the least `n_first` of them first.
    void halve(std::size_t n_first, std::span<Row> rows) {
        std::nth_element(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(n_first), keys_.end());
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Row>(keys_[i] & 0xffffffff);
    }

   private:
    std::vector<std::uint64_t> keys_;
};

// The rows of x by slot. `fill(rows, keys)` gives the keys that a range is halved by. Ranges of a level are halved side by side.
// O(n d log n).
template <class Fill>
std::vector<Row> arrange_rows(const TreeShape& shape, Fill&& fill, Threads threads) {
    std::vector<Row> rows(shape.n_points());
    std::iota(rows.begin(), rows.end(), Row{0});
    std::vector<SlotRange> level{{0, rows.size()}};
    while (!level.empty()) {
        // What is small is finished by its own task, level after level in the cache.
        constexpr std::size_t kSmall = 4096;
        std::vector<std::vector<SlotRange>> next(level.size());
        parallel_for(level.size(), threads, [&](std::size_t task) {
            SplitKeys keys;
            std::vector<SlotRange> pending{level[task]};
            while (!pending.empty()) {
                const SlotRange range = pending.back();
                pending.pop_back();
                if (shape.is_leaf(range)) continue;
                const std::span<Row> some(rows.data() + range.begin, range.size());
                const std::size_t middle = TreeShape::middle(range);
                fill(std::span<const Row>(some), keys);
                keys.halve(middle - range.begin, some);
                auto& later = range.size() <= kSmall ? pending : next[task];
                later.push_back({range.begin, middle});
                later.push_back({middle, range.end});
            }
        });
        std::vector<SlotRange> all;
        for (const auto& some : next) all.insert(all.end(), some.begin(), some.end());
        level = std::move(all);
    }
    return rows;
}

}  // namespace mercer::neighbors
