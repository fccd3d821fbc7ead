// Splits of categories into two sets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "tree/split.hpp"

namespace mercer::tree {

namespace detail {

inline constexpr std::size_t kAllSubsets = 9;  // up to so many categories, every set is tried where no order is known to be best

// The order of the keys: 0, 1, ... sorted by them, equal ones as they were.
void sort_by_keys(std::span<const double> keys, std::span<std::size_t> order);

// The categories of one node, each with its rows' sums.
template <class Criterion>
class CategorySearch {
   public:
    CategorySearch(const Criterion& criterion, const Ordered& feature, const Limits& limits, Split& best)
        : criterion_(criterion), limits_(limits), best_(best), n_sums_(criterion.n_sums()), n_rows_(feature.rows.size()) {
        for (std::size_t i = 0; i < feature.n_known; ++i) {
            const Row row = feature.rows[i];
            if (codes_.empty() || feature.codes[row] != codes_.back()) {
                codes_.push_back(feature.codes[row]);
                counts_.push_back(0);
                sums_.resize(sums_.size() + n_sums_, 0.0);
            }
            ++counts_.back();
            criterion.add(row, sums_.data() + sums_.size() - n_sums_);
        }
        missing_.assign(n_sums_, 0.0);
        for (std::size_t i = feature.n_known; i < n_rows_; ++i) criterion.add(feature.rows[i], missing_.data());
        n_missing_ = feature.n_missing();
        total_ = missing_;
        for (std::size_t c = 0; c < codes_.size(); ++c) accumulate(total_, c);
        known_.resize(n_sums_);
        left_.resize(n_sums_);
        right_.resize(n_sums_);
    }

    void run() {
        std::vector<std::size_t> order(codes_.size());
        std::vector<double> keys(codes_.size());
        const bool is_ordered = criterion_.n_keys() == 1;
        if (!is_ordered && codes_.size() <= kAllSubsets) return try_all_subsets();
        for (std::size_t k = 0; k < criterion_.n_keys(); ++k) {
            for (std::size_t c = 0; c < keys.size(); ++c) keys[c] = criterion_.key(sums_.data() + c * n_sums_, k);
            sort_by_keys(keys, order);
            try_beginnings(order);
        }
        if (!is_ordered)
            for (std::size_t c = 0; c < codes_.size(); ++c) try_set({&c, 1});
    }

   private:
    void accumulate(std::vector<double>& to, std::size_t c) const {
        for (std::size_t s = 0; s < n_sums_; ++s) to[s] += sums_[c * n_sums_ + s];
    }

    void try_all_subsets() {
        std::vector<std::size_t> subset;
        for (std::size_t bits = 1; bits < std::size_t{1} << (codes_.size() - (n_missing_ > 0 ? 0 : 1)); ++bits) {
            subset.clear();
            for (std::size_t c = 0; c < codes_.size(); ++c)
                if ((bits >> c) & 1) subset.push_back(c);
            try_set(subset);
        }
    }

    void try_set(std::span<const std::size_t> subset) {
        std::size_t n_left = 0;
        std::fill(known_.begin(), known_.end(), 0.0);
        for (const std::size_t c : subset) {
            n_left += counts_[c];
            accumulate(known_, c);
        }
        weigh(subset, n_left);
    }

    void try_beginnings(std::span<const std::size_t> order) {
        std::size_t n_left = 0;
        std::fill(known_.begin(), known_.end(), 0.0);
        for (std::size_t n = 1; n <= order.size(); ++n) {
            n_left += counts_[order[n - 1]];
            accumulate(known_, order[n - 1]);
            weigh(order.first(n), n_left);
        }
    }

    // Looks at one set of categories, of the sums known_, with the missing values on either side.
    void weigh(std::span<const std::size_t> subset, std::size_t n_left) {
        left_ = known_;
        weigh_sides(subset, n_left, false);
        if (n_missing_ == 0) return;
        for (std::size_t s = 0; s < n_sums_; ++s) left_[s] += missing_[s];
        weigh_sides(subset, n_left + n_missing_, true);
    }

    void weigh_sides(std::span<const std::size_t> subset, std::size_t n_left, bool is_missing_left) {
        const std::size_t least = std::max<std::size_t>(limits_.min_rows_leaf, 1);
        if (n_left < least || n_rows_ - std::min(n_left, n_rows_) < least) return;
        for (std::size_t s = 0; s < n_sums_; ++s) right_[s] = total_[s] - left_[s];
        if (left_[0] < limits_.min_weight_leaf || right_[0] < limits_.min_weight_leaf) return;
        const double worth = criterion_.worth(left_.data()) + criterion_.worth(right_.data());
        if (!(worth > best_.at.worth)) return;
        best_.at = {worth, n_left, is_missing_left};
        best_.left_codes.clear();
        for (const std::size_t c : subset) best_.left_codes.push_back(codes_[c]);
    }

    const Criterion& criterion_;
    const Limits& limits_;
    Split& best_;
    std::size_t n_sums_;
    std::size_t n_rows_;
    std::size_t n_missing_ = 0;
    std::vector<Code> codes_;
    std::vector<std::size_t> counts_;
    std::vector<double> sums_;
    std::vector<double> missing_;
    std::vector<double> total_;
    std::vector<double> known_;
    std::vector<double> left_;
    std::vector<double> right_;
};

}  // namespace detail

// The best set of categories to send left. For two classes and one regression target an order of the categories holds the best of
// all sets, and the search is exact: O(n + c log c). For several classes or outputs every set is tried among a few categories;
// among many, the sets that begin the order by each class's share, and each category against the rest: O(n + c^2 k).
template <class Criterion>
Split split_categories(const Criterion& criterion, const Ordered& feature, const typename Criterion::Summary&, const Limits& limits,
                       Scratch&) {
    Split best;
    detail::CategorySearch<Criterion>(criterion, feature, limits, best).run();
    return best;
}

}  // namespace mercer::tree
