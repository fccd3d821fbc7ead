// Where a column of numbers is cut into bins: at most 255, of about equal weight, none with a part of equal numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/radix_sort.hpp"
#include "core/views.hpp"

namespace mercer::boosting {

inline constexpr std::size_t kMostBins = 255;    // for numbers; one more stands for missing ones
inline constexpr std::size_t kPanelColumns = 8;  // columns whose bins lie together: a row of a panel is one word

// Which rows to look at (none given: all), and what each row of X weighs (none given: one).
struct RowSample {
    std::span<const std::int64_t> rows;
    std::span<const double> weights;

    std::size_t count(std::size_t n_rows) const { return rows.empty() ? n_rows : rows.size(); }
    std::size_t row(std::size_t i) const { return rows.empty() ? i : static_cast<std::size_t>(rows[i]); }
};

namespace detail {

// A number between two neighbours that separates them by <=, halfway where there is one. Infinity counts as the largest number.
inline double between(double low, double high) {
    constexpr double kMost = std::numeric_limits<double>::max();
    const double middle = std::max(low, -kMost) / 2 + std::min(high, kMost) / 2;
    return low <= middle && middle < high ? middle : low;
}

// How the weight that is left is shared among the bins that are left. A value heavier than a share fills a bin alone, and its
// weight says nothing about the others, whatever it is: they share theirs among the other bins.
class Shares {
   public:
    Shares(std::span<const double> weights, std::size_t n_bins) {
        count(weights);
        std::size_t n_before = 0;
        do {  // without the heaviest, others may be heavy too
            n_before = n_heavy_;
            most_light_ = share(n_bins);
            count(weights);
        } while (n_heavy_ != n_before);
    }

    // What a bin of light values should weigh where n_bins are left.
    double share(std::size_t n_bins) const { return light_ / static_cast<double>(n_bins > n_heavy_ ? n_bins - n_heavy_ : 1); }
    // Takes the values of a bin out of what is left.
    void take(std::span<const double> weights) {
        const Shares before = *this;
        count(weights);
        light_ = before.light_ - light_;
        n_heavy_ = before.n_heavy_ - n_heavy_;
    }

   private:
    void count(std::span<const double> weights) {
        n_heavy_ = 0;
        light_ = 0;
        for (const double weight : weights) {
            n_heavy_ += weight > most_light_ ? 1 : 0;
            light_ += weight > most_light_ ? 0.0 : weight;
        }
    }

    std::size_t n_heavy_ = 0;
    double most_light_ = std::numeric_limits<double>::infinity();
    double light_ = 0;
};

// The cuts between values (rising, with their weights) that make at most max_bins bins. While values remain, a bin takes what it
// must to hold its share of the weight left; a heavy value gets a bin of its own and the others share the rest evenly.
inline std::vector<double> cut(std::span<const double> values, std::span<const double> weights, std::size_t max_bins) {
    std::vector<double> edges;
    if (values.size() <= max_bins) {
        for (std::size_t i = 0; i + 1 < values.size(); ++i) edges.push_back(between(values[i], values[i + 1]));
        return edges;
    }
    Shares left(weights, max_bins);
    double held = 0;
    std::size_t first = 0;  // of the values in the bin
    for (std::size_t i = 0; i + 1 < values.size() && edges.size() + 1 < max_bins; ++i) {
        held += weights[i];
        const double share = left.share(max_bins - edges.size());
        const std::size_t n_after = values.size() - i - 1;
        const bool must_close = n_after < max_bins - edges.size();  // no more values than bins: one each
        // Closing now and closing after the next value miss the share by this much; take the nearer.
        const bool is_nearer = 2 * (share - held) <= weights[i + 1];
        if (!must_close && held < share && !is_nearer) continue;
        edges.push_back(between(values[i], values[i + 1]));
        left.take(weights.subspan(first, i + 1 - first));
        first = i + 1;
        held = 0;
    }
    return edges;
}

// The distinct values of sorted items, with the weight of each.
template <Real T>
class ColumnValues {
   public:
    void clear() {
        keys_.clear();
        pairs_.clear();
    }
    void add(T value) { keys_.push_back(sort_key(value)); }
    void add(T value, double weight) { pairs_.push_back({sort_key(value), weight}); }

    std::vector<double> edges(std::size_t max_bins) {
        values_.clear();
        weights_.clear();
        radix_sort(keys_, spare_keys_, [](SortKey<T> key) { return key; });
        radix_sort(pairs_, spare_pairs_, [](const Pair& pair) { return pair.key; });
        for (const auto key : keys_) merge(key, 1.0);
        for (const auto& pair : pairs_) merge(pair.key, pair.weight);
        return cut(values_, weights_, max_bins);
    }

   private:
    struct Pair {
        SortKey<T> key;
        double weight;
    };
    void merge(SortKey<T> key, double weight) {
        const auto value = static_cast<double>(from_sort_key<T>(key));
        if (values_.empty() || values_.back() != value) {
            values_.push_back(value);
            weights_.push_back(0);
        }
        weights_.back() += weight;
    }
    std::vector<SortKey<T>> keys_, spare_keys_;
    std::vector<Pair> pairs_, spare_pairs_;
    std::vector<double> values_, weights_;
};

}  // namespace detail

// Writes the upper edges of the bins of each column of x to a line of `edges` (columns x 254), and their number to `counts`. A
// number belongs to the first bin whose edge it does not exceed; NaN and rows of weight zero do not count. Columns marked in
// `is_categorical` get no edges. O(m d) for m sampled rows.
template <Real T>
void find_bin_edges(Matrix<const T> x, RowSample sample, std::span<const std::uint8_t> is_categorical, std::size_t max_bins,
                    RowMajor<double> edges, std::span<std::int32_t> counts, Threads threads) {
    const std::size_t n_panels = (x.cols + kPanelColumns - 1) / kPanelColumns;
    const std::size_t n = sample.count(x.rows);
    const auto work = static_cast<double>(n) * static_cast<double>(x.cols) * 20;
    parallel_for(n_panels, threads.for_work(work), [&](std::size_t p) {
        const std::size_t first = p * kPanelColumns;
        const std::size_t last = std::min(first + kPanelColumns, x.cols);
        std::array<std::vector<T>, kPanelColumns> columns;  // neighbours share cache lines: read them together
        for (std::size_t j = first; j < last; ++j) columns[j - first].resize(n);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = first; j < last; ++j) columns[j - first][i] = x(sample.row(i), j);
        detail::ColumnValues<T> values;
        for (std::size_t j = first; j < last; ++j) {
            counts[j] = 0;
            if (!is_categorical.empty() && is_categorical[j] != 0) continue;
            checkpoint();
            values.clear();
            for (std::size_t i = 0; i < n; ++i) {
                const T value = columns[j - first][i];
                const double weight = sample.weights.empty() ? 1.0 : sample.weights[sample.row(i)];
                if (std::isnan(value) || !(weight > 0)) continue;
                if (sample.weights.empty()) {
                    values.add(value);
                } else {
                    values.add(value, weight);
                }
            }
            const auto found = values.edges(max_bins);
            counts[j] = static_cast<std::int32_t>(found.size());
            std::copy(found.begin(), found.end(), edges.row(j));
        }
    });
}

}  // namespace mercer::boosting
