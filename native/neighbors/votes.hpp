// What neighbours say: the shares of their classes, the class that wins, the mean of their targets.
//
// Lists of neighbours name rows of a training set. Whoever made them may be gone wrong or be written to meanwhile, so every row and
// class is looked at once and passed over where it is out of range; -1 stands for a neighbour that there is not.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer::neighbors {

// The neighbours of each query, one after the other: as many of each, `stride` apart, or from starts[i] to starts[i + 1].
struct Lists {
    std::span<const std::int64_t> rows;
    std::span<const std::int64_t> starts;  // empty: as many of each
    std::size_t count = 0;
    std::size_t length = 0;
    std::size_t stride = 0;

    struct Range {
        std::size_t first, last;
    };
    Range of(std::size_t query) const {
        if (starts.empty()) return {query * stride, query * stride + length};
        const std::size_t first = within(starts[query]);
        return {first, std::max(first, within(starts[query + 1]))};
    }
    double entries() const { return static_cast<double>(starts.empty() ? count * length : rows.size()); }

   private:
    std::size_t within(std::int64_t start) const {
        return static_cast<std::size_t>(std::clamp<std::int64_t>(start, 0, static_cast<std::int64_t>(rows.size())));
    }
};

enum class Weighting { kUniform = 0, kInverse = 1, kGaussian = 2, kGiven = 3 };

// How neighbours are weighted: by their distances, or as given; `values` lie as the rows of the lists do.
struct Weights {
    Weighting kind = Weighting::kUniform;
    const double* values = nullptr;
    double bandwidth = 1;  // h of exp(-d^2 / h)
};

// The weights of one list. Where some are infinite, as one over the distance zero is, those count one and the others nothing.
// Gaussian weights are taken relative to the nearest neighbour's, so that not all of them vanish far from the data: shares and
// means do not change by a common factor.
class ListWeights {
   public:
    ListWeights(const Weights& weights, Lists::Range range) : weights_(weights) {
        if (weights.kind == Weighting::kUniform) return;
        for (std::size_t e = range.first; e < range.last; ++e) {
            nearest_ = std::min(nearest_, weights.values[e]);
            has_infinite_ = has_infinite_ || std::isinf(raw(e));
        }
    }

    double operator()(std::size_t e) const {
        if (weights_.kind == Weighting::kUniform) return 1;
        if (weights_.kind == Weighting::kGaussian) {
            const double d = weights_.values[e];
            return d == nearest_ ? 1 : std::exp((nearest_ - d) * (nearest_ + d) / weights_.bandwidth);
        }
        return has_infinite_ ? (std::isinf(raw(e)) ? 1 : 0) : raw(e);
    }

   private:
    double raw(std::size_t e) const {
        const double value = weights_.values[e];
        if (weights_.kind == Weighting::kInverse) return 1 / value;
        return weights_.kind == Weighting::kGiven ? value : 1;
    }

    const Weights& weights_;
    double nearest_ = std::numeric_limits<double>::infinity();
    bool has_infinite_ = false;
};

// The classes of the training rows, from 0 to count - 1.
struct Classes {
    std::span<const std::int32_t> codes;
    std::size_t count = 0;

    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

    std::size_t of(std::int64_t row) const {
        if (row < 0 || static_cast<std::uint64_t>(row) >= codes.size()) return kNone;
        const std::int32_t code = codes[static_cast<std::size_t>(row)];
        return code >= 0 && static_cast<std::size_t>(code) < count ? static_cast<std::size_t>(code) : kNone;
    }
};

namespace detail {

template <class Body>
void for_queries(const Lists& lists, std::size_t per_entry, Threads threads, Body&& body) {
    const Chunks chunks = Chunks::of(lists.count, 64, 256);
    parallel_for(chunks.count, threads.for_work(lists.entries() * static_cast<double>(per_entry)),
                 [&](std::size_t chunk) { body(chunks.begin(chunk), chunks.end(chunk)); });
}

}  // namespace detail

// Writes the share of each class in the weights of each query's neighbours; zeros where it has none, or none of any weight.
// O(entries + queries x classes).
inline void vote_shares(const Lists& lists, const Weights& weights, const Classes& classes, RowMajor<double> shares,
                        Threads threads) {
    detail::for_queries(lists, 4, threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const Lists::Range range = lists.of(i);
            const ListWeights weight(weights, range);
            double* const line = shares.row(i);
            std::fill_n(line, classes.count, 0.0);
            double total = 0;
            for (std::size_t e = range.first; e < range.last; ++e) {
                const std::size_t code = classes.of(lists.rows[e]);
                if (code == Classes::kNone) continue;
                const double w = weight(e);
                line[code] += w;
                total += w;
            }
            if (total != 0)
                for (std::size_t c = 0; c < classes.count; ++c) line[c] /= total;
        }
    });
}

enum class Ties { kFirst, kClosest };

// Elects the class of one list; -1 where there is no neighbour.
class Election {
   public:
    Election(const Lists& lists, const Weights& weights, const Classes& classes, Ties ties)
        : lists_(lists), weights_(weights), classes_(classes), ties_(ties), sums_(classes.count) {}

    std::int64_t winner(std::size_t query) {
        const Lists::Range range = lists_.of(query);
        const ListWeights weight(weights_, range);
        voters_.clear();
        for (std::size_t e = range.first; e < range.last; ++e) {
            const std::size_t code = classes_.of(lists_.rows[e]);
            if (code == Classes::kNone) continue;
            sums_[code] += weight(e);
            voters_.push_back(code);
        }
        const std::int64_t found = strongest();
        for (const std::size_t code : voters_) sums_[code] = 0;
        return found;
    }

   private:
    std::int64_t strongest() const {
        if (voters_.empty()) return -1;
        std::size_t best = voters_.front();
        for (const std::size_t code : voters_)
            if (beats(code, best)) best = code;
        return static_cast<std::int64_t>(best);
    }

    bool beats(std::size_t a, std::size_t b) const {
        if (sums_[a] != sums_[b]) return sums_[a] > sums_[b];
        return ties_ == Ties::kFirst && a < b;  // else the one that comes first in the list
    }

    const Lists& lists_;
    const Weights& weights_;
    const Classes& classes_;
    Ties ties_;
    std::vector<double> sums_;
    std::vector<std::size_t> voters_;  // the classes of the neighbours, in their order
};

// Writes the class of most weight among each query's neighbours; -1 where there is none. Of equal classes it is the first one, or
// that of the closest neighbour, for which the nearest must come first in the lists. O(entries).
inline void elect(const Lists& lists, const Weights& weights, const Classes& classes, Ties ties, std::span<std::int64_t> winners,
                  Threads threads) {
    detail::for_queries(lists, 6, threads, [&](std::size_t first, std::size_t last) {
        Election election(lists, weights, classes, ties);
        for (std::size_t i = first; i < last; ++i) winners[i] = election.winner(i);
    });
}

// Writes the weighted mean of the neighbours' targets (a line a training row); NaN where a query has no neighbour of any weight.
// O(entries x targets).
inline void average(const Lists& lists, const Weights& weights, RowMajor<const double> targets, RowMajor<double> means,
                    Threads threads) {
    detail::for_queries(lists, 4 + targets.cols, threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const Lists::Range range = lists.of(i);
            const ListWeights weight(weights, range);
            double* const line = means.row(i);
            std::fill_n(line, targets.cols, 0.0);
            double total = 0;
            for (std::size_t e = range.first; e < range.last; ++e) {
                const std::int64_t row = lists.rows[e];
                if (row < 0 || static_cast<std::uint64_t>(row) >= targets.rows) continue;
                const double w = weight(e);
                const double* const target = targets.row(static_cast<std::size_t>(row));
                for (std::size_t j = 0; j < targets.cols; ++j) line[j] += w * target[j];
                total += w;
            }
            for (std::size_t j = 0; j < targets.cols; ++j) line[j] /= total;  // 0 / 0 is the NaN of nobody
        }
    });
}

}  // namespace mercer::neighbors
