// Agglomeration by any linkage with half a matrix of dissimilarities, which is consumed: also by those that bring clusters nearer.
//
// Each cluster keeps a lower bound on its nearest among those before it, and a heap the least of the bounds (Müllner's generic
// algorithm): a bound is made true when it comes up. O(n^2) as a rule, O(n^3) at worst.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "cluster/condensed.hpp"
#include "cluster/lance_williams.hpp"
#include "cluster/linkage.hpp"
#include "core/interrupt.hpp"

namespace mercer::cluster {

// Slots by a value each, the least on top; of equal ones the lowest.
class SlotHeap {
   public:
    explicit SlotHeap(std::vector<double> values) : values_(std::move(values)), heap_(values_.size()), places_(values_.size()) {
        std::iota(heap_.begin(), heap_.end(), std::size_t{0});
        std::iota(places_.begin(), places_.end(), std::size_t{0});
        for (std::size_t i = heap_.size() / 2; i-- > 0;) sink(i);
    }

    std::size_t top() const { return heap_[0]; }
    double value(std::size_t slot) const { return values_[slot]; }
    void change(std::size_t slot, double value) {
        values_[slot] = value;
        rise(places_[slot]);
        sink(places_[slot]);
    }
    void remove(std::size_t slot) {
        const std::size_t place = places_[slot], last = heap_.back();
        heap_.pop_back();
        if (place == heap_.size()) return;
        put(last, place);
        rise(place);
        sink(places_[last]);
    }

   private:
    bool is_before(std::size_t a, std::size_t b) const { return values_[a] < values_[b] || (values_[a] == values_[b] && a < b); }
    void put(std::size_t slot, std::size_t place) {
        heap_[place] = slot;
        places_[slot] = place;
    }
    void rise(std::size_t place) {
        const std::size_t slot = heap_[place];
        for (; place > 0 && is_before(slot, heap_[(place - 1) / 2]); place = (place - 1) / 2) put(heap_[(place - 1) / 2], place);
        put(slot, place);
    }
    void sink(std::size_t place) {
        const std::size_t slot = heap_[place];
        for (std::size_t child = 2 * place + 1; child < heap_.size(); place = child, child = 2 * place + 1) {
            if (child + 1 < heap_.size() && is_before(heap_[child + 1], heap_[child])) ++child;
            if (!is_before(heap_[child], slot)) break;
            put(heap_[child], place);
        }
        put(slot, place);
    }

    std::vector<double> values_;
    std::vector<std::size_t> heap_, places_;
};

template <Linkage L>
class HeapLinkage {
   public:
    explicit HeapLinkage(Condensed matrix)
        : matrix_(matrix), left_(matrix.n), nodes_(matrix.n), sizes_(matrix.n, 1.0), nearest_(matrix.n, 0), heap_(bounds()) {
        std::iota(left_.begin(), left_.end(), std::size_t{0});
        std::iota(nodes_.begin(), nodes_.end(), std::int64_t{0});
        for (std::size_t i = 1; i < matrix.n; ++i) search(i);
        heap_.remove(0);  // nothing is before it
    }

    // The merges in the order in which they happen: heights may fall.
    std::vector<Merge> run() {
        const std::size_t n = matrix_.n;
        std::vector<Merge> merges;
        merges.reserve(n - 1);
        while (left_.size() > 1) {
            std::size_t x = heap_.top();
            while (true) {  // a bound that is met is the least of all dissimilarities
                const double bound = heap_.value(x);
                if (matrix_.at(x, nearest_[x]) == bound) break;
                search(x);
                if (!(heap_.value(x) > bound)) break;
                x = heap_.top();
            }
            merges.push_back(merge_slots(x, nearest_[x], static_cast<std::int64_t>(n + merges.size())));
            report_progress(merges.size(), n);
        }
        return merges;
    }

   private:
    std::vector<double> bounds() const { return std::vector<double>(matrix_.n, std::numeric_limits<double>::infinity()); }

    // The nearest of those before x. O(x).
    void search(std::size_t x) {
        const double* const row = matrix_.row(x);
        nearest_[x] = left_[0];
        double least = row[left_[0]];
        for (const std::size_t y : left_) {
            if (y >= x) break;
            if (row[y] < least) {
                least = row[y];
                nearest_[x] = y;
            }
        }
        heap_.change(x, least);
    }

    // Merges x into y, which is before it.
    Merge merge_slots(std::size_t x, std::size_t y, std::int64_t node) {
        const Pair pair{sizes_[x], sizes_[y], matrix_.at(x, y)};
        left_.erase(std::lower_bound(left_.begin(), left_.end(), x));
        heap_.remove(x);
        for (const std::size_t z : left_) {
            if (z == y) continue;
            double& value = matrix_.at(z, y);
            value = L::merged(matrix_.at(x, z), value, pair, sizes_[z]);
            if (z < y) continue;
            if (value < heap_.value(z)) {
                nearest_[z] = y;
                heap_.change(z, value);
            } else if (nearest_[z] == x) {
                nearest_[z] = y;  // its bound still holds
            }
        }
        const Merge merge{std::min(nodes_[x], nodes_[y]), std::max(nodes_[x], nodes_[y]), height_of<L>(pair.between),
                          static_cast<std::int64_t>(sizes_[x] + sizes_[y])};
        sizes_[y] += sizes_[x];
        nodes_[y] = node;
        if (y != left_[0]) search(y);
        return merge;
    }

    Condensed matrix_;
    std::vector<std::size_t> left_;
    std::vector<std::int64_t> nodes_;
    std::vector<double> sizes_;
    std::vector<std::size_t> nearest_;  // among those before it; or where a bound on it stands
    SlotHeap heap_;
};

}  // namespace mercer::cluster
