// The condensed nearest neighbour rule (Hart): rows are visited in order, and those that the rows kept so far misclassify are kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "neighbors/row_distance.hpp"

namespace mercer::neighbors {

// Every row remembers its nearest among the kept ones and how many of these it has met, so that no pair is measured twice, however
// many passes there are. Before a block of rows is visited one by one, all of them meet the rows kept by then, side by side.
template <class Pairs>
class Condensation {
   public:
    // `codes`, one a row, are classes from 0 to n_classes - 1; rows vote by their n_neighbors nearest, ties going to the lower
    // class.
    Condensation(const Pairs& pairs, std::span<const std::int64_t> codes, std::size_t n_classes, std::size_t n_neighbors,
                 Threads threads)
        : pairs_(pairs),
          codes_(codes),
          n_neighbors_(n_neighbors),
          votes_(n_classes),
          n_met_(pairs.rows()),
          is_kept_(pairs.rows()),
          found_(pairs.rows() * n_neighbors, Neighbor{std::numeric_limits<double>::infinity(), kNobody}),
          threads_(threads) {}

    void keep(std::size_t row) {
        if (is_kept_[row] != 0) return;
        is_kept_[row] = 1;
        kept_.push_back(row);
    }

    // Visits the rows of `order` once and returns how many of them were kept. O(rows x kept) distances in all passes together.
    std::size_t pass(std::span<const std::int64_t> order) {
        const std::size_t n_before = kept_.size();
        for (std::size_t first = 0; first < order.size(); first += kBlockRows) {
            const auto block = order.subspan(first, std::min(kBlockRows, order.size() - first));
            const Chunks chunks = Chunks::of(block.size(), 16, 64);
            const double work = static_cast<double>(block.size()) * static_cast<double>(kept_.size()) * 8;
            parallel_for(chunks.count, threads_.for_work(work), [&](std::size_t chunk) {
                for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) meet(static_cast<std::size_t>(block[i]));
            });
            for (const std::int64_t row : block) visit(static_cast<std::size_t>(row));
        }
        return kept_.size() - n_before;
    }

    std::span<const std::size_t> kept() const { return kept_; }

   private:
    static constexpr std::size_t kBlockRows = 512;
    static constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

    struct Neighbor {
        double distance;
        std::size_t row;

        bool operator<(const Neighbor& other) const {
            return distance < other.distance || (distance == other.distance && row < other.row);
        }
    };

    // Measures a row against those kept since it was last here.
    void meet(std::size_t row) {
        Neighbor* const found = found_.data() + row * n_neighbors_;
        if (is_kept_[row] != 0) return;
        for (; n_met_[row] < kept_.size(); ++n_met_[row]) {
            const Neighbor met{pairs_(row, kept_[n_met_[row]]), kept_[n_met_[row]]};
            if (!(met < found[n_neighbors_ - 1])) continue;
            std::size_t place = n_neighbors_ - 1;
            for (; place > 0 && met < found[place - 1]; --place) found[place] = found[place - 1];
            found[place] = met;
        }
    }

    void visit(std::size_t row) {
        meet(row);
        if (is_kept_[row] == 0 && vote(row) != codes_[row]) keep(row);
    }

    std::int64_t vote(std::size_t row) {
        const Neighbor* const found = found_.data() + row * n_neighbors_;
        std::fill(votes_.begin(), votes_.end(), 0);
        for (std::size_t place = 0; place < n_neighbors_ && found[place].row != kNobody; ++place)
            ++votes_[static_cast<std::size_t>(codes_[found[place].row])];
        return std::max_element(votes_.begin(), votes_.end()) - votes_.begin();
    }

    Pairs pairs_;
    std::span<const std::int64_t> codes_;
    std::size_t n_neighbors_;
    std::vector<std::int64_t> votes_;
    std::vector<std::size_t> n_met_;
    std::vector<std::uint8_t> is_kept_;
    std::vector<Neighbor> found_;  // n_neighbors of each row, the nearest first
    std::vector<std::size_t> kept_;
    Threads threads_;
};

// Writes the rows kept to `kept`, which has room for all, in the order in which they were kept: `start` first, then what one pass
// over `order` adds, or as many passes as add any. Returns how many there are.
template <class Pairs>
std::size_t condense(const Pairs& pairs, std::span<const std::int64_t> codes, std::size_t n_classes, std::size_t n_neighbors,
                     std::span<const std::int64_t> start, std::span<const std::int64_t> order, bool until_stable,
                     std::span<std::int64_t> kept, Threads threads) {
    Condensation<Pairs> condensation(pairs, codes, n_classes, n_neighbors, threads);
    for (const std::int64_t row : start) condensation.keep(static_cast<std::size_t>(row));
    while (condensation.pass(order) > 0 && until_stable) {
    }
    std::copy(condensation.kept().begin(), condensation.kept().end(), kept.begin());
    return condensation.kept().size();
}

}  // namespace mercer::neighbors
