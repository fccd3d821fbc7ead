// Rows by groups: the classes of a target, or clusters. The group of each row is its code; rows of weight zero are in none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"

namespace mercer::preprocessing {

// The rows of one group after those of another, each in their order, and runs of them that are tasks. O(n + groups).
class GroupRows {
   public:
    // Rows [begin, end) of `rows()`, which are of one group.
    struct Run {
        std::size_t group, begin, end;
    };

    template <class Weight>
    GroupRows(std::span<const std::int64_t> codes, std::span<const Weight> weights, std::size_t n_groups) : starts_(n_groups + 1) {
        const auto counts = [&](std::size_t i) { return weights.empty() || weights[i] != 0; };
        for (std::size_t i = 0; i < codes.size(); ++i) starts_[static_cast<std::size_t>(codes[i]) + 1] += counts(i) ? 1 : 0;
        for (std::size_t g = 0; g < n_groups; ++g) starts_[g + 1] += starts_[g];
        rows_.resize(starts_.back());
        std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
        for (std::size_t i = 0; i < codes.size(); ++i)
            if (counts(i)) rows_[next[static_cast<std::size_t>(codes[i])]++] = i;
    }

    std::size_t n_groups() const { return starts_.size() - 1; }
    std::span<const std::size_t> rows() const { return rows_; }
    std::span<const std::size_t> of(std::size_t group) const {
        return std::span(rows_).subspan(starts_[group], starts_[group + 1] - starts_[group]);
    }

    // Of at least so many rows each, unless the group has fewer; by their numbers alone.
    std::vector<Run> runs(std::size_t least_rows) const {
        std::vector<Run> found;
        for (std::size_t g = 0; g < n_groups(); ++g) {
            if (starts_[g] == starts_[g + 1]) continue;
            const Chunks chunks = Chunks::of(starts_[g + 1] - starts_[g], least_rows, 64);
            for (std::size_t c = 0; c < chunks.count; ++c)
                found.push_back({g, starts_[g] + chunks.begin(c), starts_[g] + chunks.end(c)});
        }
        return found;
    }

   private:
    std::vector<std::size_t> starts_;
    std::vector<std::size_t> rows_;
};

}  // namespace mercer::preprocessing
