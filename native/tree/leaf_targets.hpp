// The training targets that lie in the leaves of a forest, and quantiles of what they say about a row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer::tree {

// Targets by the node that holds them: those of node i (of all trees, one after another) are entries starts[i] to starts[i + 1],
// each the place of its target among the sorted targets. Checked once, here.
class LeafTargets {
   public:
    // `weights`, by place, is empty where all targets weigh the same.
    LeafTargets(std::span<const std::int64_t> starts, std::span<const std::uint32_t> places, std::span<const double> sorted,
                std::span<const double> weights)
        : starts_(starts.begin(), starts.end()),
          places_(places.begin(), places.end()),
          sorted_(sorted.begin(), sorted.end()),
          weights_(weights.begin(), weights.end()) {
        require(!starts_.empty() && starts_.front() == 0 && std::is_sorted(starts_.begin(), starts_.end()) &&
                    static_cast<std::size_t>(starts_.back()) <= places_.size(),
                "targets: the nodes' starts must rise from 0 to at most the number of entries");
        require(std::all_of(places_.begin(), places_.end(), [&](std::uint32_t place) { return place < sorted_.size(); }),
                "targets: a place is out of range");
        require(weights_.empty() || weights_.size() == sorted_.size(), "targets: there must be a weight for each target");
    }

    std::size_t n_nodes() const { return starts_.size() - 1; }

    // For each row, given its leaf in every tree, the least target at which the forest's distribution function reaches each
    // quantile. A tree spreads its weight (1 where there are none) over the targets of the leaf as they weigh.
    // O(m log m) a row for m targets in its leaves. Writes `out` (rows x quantiles).
    void quantiles(RowMajor<const std::int64_t> leaves, std::span<const double> tree_weights, std::span<const double> quantiles,
                   RowMajor<double> out, Threads threads) const {
        const double work = static_cast<double>(leaves.size()) * 100;
        constexpr std::size_t kBlock = 64;
        parallel_for((leaves.rows + kBlock - 1) / kBlock, threads.for_work(work), [&](std::size_t block) {
            std::vector<Entry> entries;
            for (std::size_t i = block * kBlock; i < std::min((block + 1) * kBlock, leaves.rows); ++i) {
                checkpoint();
                collect({leaves.row(i), leaves.cols}, tree_weights, entries);
                for (std::size_t k = 0; k < quantiles.size(); ++k) out(i, k) = quantile(entries, quantiles[k]);
            }
        });
    }

   private:
    using Entry = std::pair<std::uint32_t, double>;  // a place, and the weight of it and of all before it

    double weight_of(std::uint32_t place) const { return weights_.empty() ? 1.0 : weights_[place]; }

    void collect(std::span<const std::int64_t> leaves, std::span<const double> tree_weights, std::vector<Entry>& entries) const {
        entries.clear();
        for (std::size_t t = 0; t < leaves.size(); ++t) {
            const auto node = static_cast<std::size_t>(leaves[t]);
            const auto places = std::span(places_).subspan(static_cast<std::size_t>(starts_[node]),
                                                           static_cast<std::size_t>(starts_[node + 1] - starts_[node]));
            double total = 0;
            for (const std::uint32_t place : places) total += weight_of(place);
            const double scale = (tree_weights.empty() ? 1.0 : tree_weights[t]) / total;
            for (const std::uint32_t place : places) entries.emplace_back(place, scale * weight_of(place));
        }
        std::sort(entries.begin(), entries.end());
        double sum = 0;
        for (Entry& entry : entries) entry.second = sum += entry.second;
    }

    double quantile(const std::vector<Entry>& entries, double quantile) const {
        if (entries.empty()) return 0;
        constexpr double kRounding = 1e-10;  // of the sums: a quantile that they reach but for it is reached
        const double target = (quantile - kRounding) * entries.back().second;
        const auto is_below = [](const Entry& entry, double value) { return entry.second < value; };
        const auto found = std::lower_bound(entries.begin(), entries.end() - 1, target, is_below);
        return sorted_[found->first];
    }

    std::vector<std::int64_t> starts_;
    std::vector<std::uint32_t> places_;
    std::vector<double> sorted_;
    std::vector<double> weights_;
};

}  // namespace mercer::tree
