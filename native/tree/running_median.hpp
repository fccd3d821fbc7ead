// The weighted median of a set of numbers from which one after another is taken away.
//
// Two ways, the same answers. Both know the numbers by their ranks in the full set: `values` rise, `weights` (empty: all one) are
// above 0.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mercer::tree {

// Where half of a set's weight is reached: the first rank whose running weight is above half, the weight and the weighted sum of
// those before it, and the rank before it if the half falls between the two.
struct Crossing {
    std::size_t rank = 0;
    std::size_t before = 0;
    double weight = 0;
    double sum = 0;
};

// The ranks left as a linked list. Half the weight moves by as much as a rank weighs, so that the crossing is a few steps from
// where it was as long as weights are alike: O(1) a rank then.
class ListMedian {
   public:
    void fill(std::span<const double> values, std::span<const double> weights) {
        values_ = values;
        weights_ = weights;
        const std::size_t n = values.size();
        next_.resize(n + 2);
        previous_.resize(n + 2);
        for (std::size_t i = 0; i < n + 2; ++i) {  // ranks from 1; 0 and n + 1 are the ends
            next_[i] = static_cast<std::uint32_t>(i + 1);
            previous_[i] = static_cast<std::uint32_t>(i - 1);
        }
        at_ = 1;
        below_ = sum_below_ = total_ = sum_ = 0;
        for (std::size_t i = 0; i < n; ++i) {
            total_ += weight(i + 1);
            sum_ += weight(i + 1) * values[i];
        }
        settle();
    }

    void remove(std::size_t rank) {
        const std::size_t i = rank + 1;
        const double w = weight(i);
        total_ -= w;
        sum_ -= w * values_[rank];
        if (i < at_) {
            below_ -= w;
            sum_below_ -= w * values_[rank];
        }
        if (i == at_) at_ = next_[i];
        next_[previous_[i]] = next_[i];
        previous_[next_[i]] = previous_[i];
        settle();
    }

    double total() const { return total_; }
    double sum() const { return sum_; }

    // Of a set that is not empty.
    Crossing crossing() const {
        const std::size_t before = previous_[at_];
        if (is_end(at_)) return {before - 1, before - 1, below_, sum_below_};  // by rounding alone
        const bool is_between = before != 0 && below_ == total_ / 2;
        return {at_ - 1, is_between ? before - 1 : at_ - 1, below_, sum_below_};
    }

   private:
    double weight(std::size_t i) const { return weights_.empty() ? 1.0 : weights_[i - 1]; }
    bool is_end(std::size_t i) const { return i == values_.size() + 1; }

    void settle() {
        const double half = total_ / 2;
        while (below_ > half && previous_[at_] != 0) {
            at_ = previous_[at_];
            below_ -= weight(at_);
            sum_below_ -= weight(at_) * values_[at_ - 1];
        }
        while (!is_end(at_) && below_ + weight(at_) <= half) {
            below_ += weight(at_);
            sum_below_ += weight(at_) * values_[at_ - 1];
            at_ = next_[at_];
        }
    }

    std::span<const double> values_;
    std::span<const double> weights_;
    std::vector<std::uint32_t> next_;
    std::vector<std::uint32_t> previous_;
    std::size_t at_ = 1;
    double below_ = 0;
    double sum_below_ = 0;
    double total_ = 0;
    double sum_ = 0;
};

// Running sums in a Fenwick tree: O(log n) a rank whatever the weights.
class TreeMedian {
   public:
    void fill(std::span<const double> values, std::span<const double> weights) {
        values_ = values;
        weights_ = weights;
        const std::size_t n = values.size();
        entries_.assign(n + 1, {});
        count_ = static_cast<std::int64_t>(n);
        total_ = sum_ = 0;
        for (std::size_t i = 1; i <= n; ++i) {
            const double w = weight(i - 1);
            entries_[i].count += 1;
            entries_[i].weight += w;
            entries_[i].sum += w * values[i - 1];
            total_ += w;
            sum_ += w * values[i - 1];
            if (const std::size_t above = i + (i & (~i + 1)); above <= n) entries_[above].add(entries_[i], 1);
        }
    }

    void remove(std::size_t rank) {
        const double w = weight(rank);
        const Entry entry{1, w, w * values_[rank]};
        total_ -= w;
        sum_ -= entry.sum;
        --count_;
        for (std::size_t i = rank + 1; i < entries_.size(); i += i & (~i + 1)) entries_[i].add(entry, -1);
    }

    double total() const { return total_; }
    double sum() const { return sum_; }

    Crossing crossing() const {
        const Entry below = reach_half();
        const std::size_t rank = place(std::min(below.count, count_ - 1));  // all are below by rounding alone
        const bool is_between = below.count > 0 && below.weight == total_ / 2;
        return {rank, is_between ? place(below.count - 1) : rank, below.weight, below.sum};
    }

   private:
    struct Entry {
        std::int64_t count = 0;
        double weight = 0;
        double sum = 0;
        void add(const Entry& other, int sign) {
            count += sign * other.count;
            weight += sign * other.weight;
            sum += sign * other.sum;
        }
    };

    double weight(std::size_t rank) const { return weights_.empty() ? 1.0 : weights_[rank]; }

    // The sums over the longest beginning that has at most half of the weight.
    Entry reach_half() const {
        Entry sum;
        std::size_t at = 0;
        for (std::size_t step = std::bit_floor(entries_.size() - 1); step > 0; step /= 2) {
            if (at + step >= entries_.size()) continue;
            Entry longer = sum;
            longer.add(entries_[at + step], 1);
            if (longer.weight > total_ / 2) continue;
            sum = longer;
            at += step;
        }
        return sum;
    }

    // The rank of the one that has `count` others before it.
    std::size_t place(std::int64_t count) const {
        std::size_t at = 0;
        for (std::size_t step = std::bit_floor(entries_.size() - 1); step > 0; step /= 2) {
            if (at + step >= entries_.size() || entries_[at + step].count > count) continue;
            at += step;
            count -= entries_[at].count;
        }
        return at;
    }

    std::span<const double> values_;
    std::span<const double> weights_;
    std::vector<Entry> entries_;
    std::int64_t count_ = 0;
    double total_ = 0;
    double sum_ = 0;
};

}  // namespace mercer::tree
