// The rows of a growing tree, in such an order that every node's rows lie together.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "tree/bins.hpp"
#include "tree/histogram.hpp"

namespace mercer::boosting {

class RowOrder {
   public:
    // The rows to start with, in rising order; none given: 0 … n_rows - 1.
    RowOrder(std::size_t n_rows, std::vector<std::uint32_t> given)
        : given_(std::move(given)), order_(given_.empty() ? n_rows : given_.size()), spare_(order_.size()) {}

    std::size_t size() const { return order_.size(); }
    // The rows of all nodes but the root, which may not be written yet.
    const std::uint32_t* data() const { return order_.data(); }
    // The rows of the root; null where they are 0, 1, 2, ….
    const std::uint32_t* root() const { return given_.empty() ? nullptr : given_.data(); }

    // Writes the rows of a root that is not split.
    void fill() {
        if (given_.empty()) {
            std::iota(order_.begin(), order_.end(), 0u);
        } else {
            order_ = given_;
        }
    }

    // Parts the run [begin, end) by `is_left`, which says for each bin whether it goes left; both sides keep their order. `rows`
    // are data() or root(), `bins` those of a column. Returns where the right side begins. O(rows).
    std::size_t part(std::size_t begin, std::size_t end, const std::uint32_t* rows, const std::uint8_t* bins,
                     const std::array<std::uint8_t, kHistogramBins>& is_left, Threads threads) {
        const auto chunks = Chunks::of(end - begin, 16384, 64);
        const auto n_rows = static_cast<double>(end - begin);
        std::vector<std::size_t> n_left(chunks.count);
        parallel_for(chunks.count, threads.for_work(4 * n_rows), [&](std::size_t c) {
            n_left[c] = part_chunk(begin + chunks.begin(c), begin + chunks.end(c), rows, bins, is_left);
        });
        std::vector<std::size_t> left_starts(chunks.count);
        std::exclusive_scan(n_left.begin(), n_left.end(), left_starts.begin(), begin);
        const std::size_t middle = left_starts.back() + n_left.back();
        parallel_for(chunks.count, threads.for_work(n_rows), [&](std::size_t c) {
            const std::uint32_t* from = spare_.data() + begin + chunks.begin(c);
            const std::size_t n_left_before = left_starts[c] - begin;
            std::copy_n(from, n_left[c], order_.data() + left_starts[c]);
            std::reverse_copy(from + n_left[c], from + chunks.end(c) - chunks.begin(c),
                              order_.data() + middle + chunks.begin(c) - n_left_before);
        });
        return middle;
    }

   private:
    // Writes the rows of a chunk to its place in the spare memory: those that go left from the front on, the others from the back
    // on. Returns how many go left.
    std::size_t part_chunk(std::size_t begin, std::size_t end, const std::uint32_t* rows, const std::uint8_t* bins,
                           const std::array<std::uint8_t, kHistogramBins>& is_left) {
        std::uint32_t* left = spare_.data() + begin;
        std::uint32_t* right = spare_.data() + end;
        for (std::size_t i = begin; i < end; ++i) {
            if (rows != nullptr) __builtin_prefetch(bins + std::size_t{rows[std::min(i + kRowsAhead, end - 1)]} * kPanelColumns);
            const auto row = rows == nullptr ? static_cast<std::uint32_t>(i) : rows[i];
            const std::size_t goes_left = is_left[bins[std::size_t{row} * kPanelColumns]];
            *left = row;  // without branches: of the two places, which are free, one is taken
            right[-1] = row;
            left += goes_left;
            right -= 1 - goes_left;
        }
        return static_cast<std::size_t>(left - (spare_.data() + begin));
    }

    std::vector<std::uint32_t> given_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> spare_;
};

}  // namespace mercer::boosting
