// The merges of a fit, as edges between points of the two clusters: sorted by height, they are the hierarchy (linkage.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "cluster/linkage.hpp"

namespace mercer::cluster {

// Clusters in slots, of which merges leave fewer; a slot remembers one point of its cluster, how many there are, and how high it
// is.
class MergeLog {
   public:
    explicit MergeLog(std::size_t n) : points_(n), sizes_(n, 1.0), heights_(n, 0.0) {
        std::iota(points_.begin(), points_.end(), std::int64_t{0});
        for (auto* list : {&from_, &to_}) list->reserve(n);
        weights_.reserve(n);
    }

    std::size_t n_slots() const { return points_.size(); }
    double size(std::size_t slot) const { return sizes_[slot]; }
    const std::vector<double>& sizes() const { return sizes_; }

    // Merges b into a. Rounding may have left the pair a little below a merge within it: it is never below.
    void merge(std::size_t a, std::size_t b, double height) {
        height = std::max({height, heights_[a], heights_[b]});
        from_.push_back(points_[a]);
        to_.push_back(points_[b]);
        weights_.push_back(height);
        sizes_[a] += sizes_[b];
        heights_[a] = height;
    }

    // Keeps some slots, in their order.
    void keep(const std::vector<std::size_t>& slots) {
        for (std::size_t i = 0; i < slots.size(); ++i) {
            points_[i] = points_[slots[i]];
            sizes_[i] = sizes_[slots[i]];
            heights_[i] = heights_[slots[i]];
        }
        points_.resize(slots.size());
        sizes_.resize(slots.size());
        heights_.resize(slots.size());
    }

    TreeEdges edges() const { return {from_, to_, weights_}; }

   private:
    std::vector<std::int64_t> points_;
    std::vector<double> sizes_, heights_;
    std::vector<std::int64_t> from_, to_;
    std::vector<double> weights_;
};

}  // namespace mercer::cluster
