// The nearest other cluster of each, and what rounds of merges ask of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "core/simd.hpp"

namespace mercer::cluster {

// The nearest cluster of each, by dissimilarity and then by number: made of rows of half a matrix, which come in ascending order.
class NearestSlots {
   public:
    using S = Simd<double>;

    explicit NearestSlots(std::size_t n) : values_(n, std::numeric_limits<double>::infinity()), slots_(n, -1) {}

    std::size_t n() const { return values_.size(); }
    bool has(std::size_t i) const { return slots_[i] >= 0; }
    std::size_t operator[](std::size_t i) const { return static_cast<std::size_t>(slots_[i]); }
    double value(std::size_t i) const { return values_[i]; }
    void set(std::size_t i, double value, std::int64_t slot) {
        values_[i] = value;
        slots_[i] = slot;
    }

    // `row` holds the dissimilarities of cluster i to 0, …, i - 1.
    void take_row(std::size_t i, const double* row) {
        const S::Indices index = S::broadcast_index(static_cast<std::int64_t>(i));
        S::Vector least = S::broadcast(std::numeric_limits<double>::infinity());
        std::size_t j = 0;
        for (; j + S::kLanes <= i; j += S::kLanes) {
            const S::Vector value = S::load(row + j), best = S::load(values_.data() + j);
            S::Indices slots;
            std::memcpy(&slots, slots_.data() + j, sizeof slots);
            const auto is_nearer = value < best;
            slots = is_nearer ? index : slots;
            S::store(values_.data() + j, is_nearer ? value : best);
            std::memcpy(slots_.data() + j, &slots, sizeof slots);
            least = value < least ? value : least;
        }
        double nearest = values_[i];
        for (std::size_t lane = 0; lane < S::kLanes; ++lane) nearest = least[lane] < nearest ? least[lane] : nearest;
        for (; j < i; ++j) {
            if (row[j] < values_[j]) set(j, row[j], static_cast<std::int64_t>(i));
            nearest = row[j] < nearest ? row[j] : nearest;
        }
        for (j = 0; j < i; ++j) {
            if (!(row[j] <= nearest)) continue;
            if (nearest < std::numeric_limits<double>::infinity()) set(i, nearest, static_cast<std::int64_t>(j));
            break;
        }
    }

    // The nearer of two, for each.
    void join(const NearestSlots& other) {
        for (std::size_t i = 0; i < n(); ++i) {
            const bool is_nearer = other.values_[i] < values_[i] || (other.values_[i] == values_[i] && other.slots_[i] < slots_[i]);
            if (other.has(i) && is_nearer) set(i, other.values_[i], other.slots_[i]);
        }
    }

    // The pairs that are each other's nearest: for each cluster its partner, or itself. Returns how many pairs there are.
    std::size_t find_pairs(std::vector<std::size_t>& partners) const {
        std::size_t n_pairs = 0;
        partners.resize(n());
        for (std::size_t i = 0; i < n(); ++i) {
            const bool is_mutual = has(i) && has((*this)[i]) && (*this)[(*this)[i]] == i;
            partners[i] = is_mutual ? (*this)[i] : i;
            n_pairs += is_mutual && partners[i] > i ? 1 : 0;
        }
        return n_pairs;
    }

   private:
    std::vector<double> values_;
    std::vector<std::int64_t> slots_;
};

}  // namespace mercer::cluster
