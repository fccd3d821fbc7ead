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
        std::vector<std::size_t> n_left(chunks.count);
        parallel_for(chunks.count, threads.for_work(static_cast<double>(end - begin) * 4), [&](std::size_t c) {
            const std::size_t first = begin + chunks.begin(c);
            n_left[c] = part_chunk(first, begin + chunks.end(c), rows, bins, is_left);
        });
        std::size_t at = begin;
        for (std::size_t c = 0; c < chunks.count; ++c) {
            const std::uint32_t* from = order_.data() + begin + chunks.begin(c);
            std::copy(from, from + n_left[c], order_.data() + at);
            at += n_left[c];
        }
        const std::size_t middle = at;
        for (std::size_t c = 0; c < chunks.count; ++c) {
            const std::size_t n_right = chunks.end(c) - chunks.begin(c) - n_left[c];
            std::copy_n(spare_.data() + begin + chunks.begin(c), n_right, order_.data() + at);
            at += n_right;
        }
        return middle;
    }

   private:
    // Moves the rows that go left to the front of the chunk, the others to the spare memory. Returns how many go left.
    std::size_t part_chunk(std::size_t begin, std::size_t end, const std::uint32_t* rows, const std::uint8_t* bins,
                           const std::array<std::uint8_t, kHistogramBins>& is_left) {
        std::uint32_t* to_left = order_.data() + begin;  // in place: never ahead of what is read
        std::uint32_t* to_right = spare_.data() + begin;
        for (std::size_t i = begin; i < end; ++i) {
            if (rows != nullptr) __builtin_prefetch(bins + std::size_t{rows[std::min(i + kRowsAhead, end - 1)]} * kPanelColumns);
            const auto row = rows == nullptr ? static_cast<std::uint32_t>(i) : rows[i];
            const std::size_t goes_left = is_left[bins[std::size_t{row} * kPanelColumns]];
            *to_left = row;
            *to_right = row;
            to_left += goes_left;
            to_right += 1 - goes_left;
        }
        return static_cast<std::size_t>(to_left - (order_.data() + begin));
    }

    std::vector<std::uint32_t> given_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> spare_;
};

}  // namespace mercer::boosting
