// Agglomeration by a reducible linkage with half a matrix of dissimilarities, which is consumed.
//
// In rounds: all pairs that are each other's nearest are merged at once, and the matrix of what is left is written over the old
// one, row by row in streams, while the nearest of each cluster is found anew: O(m^2) for m clusters, on all threads. Where few
// pairs are mutual, a chain of nearest neighbours merges one pair after another, until half of the clusters are left and another
// round is worth trying. It looks for a cluster's nearest only where the one it knows is gone: O(m^2) again. O(n^2) in all.
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
#include "cluster/merge_log.hpp"
#include "cluster/nearest_slots.hpp"
#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace mercer::cluster {

template <Linkage L>
class MatrixLinkage {
   public:
    MatrixLinkage(Condensed matrix, Threads threads)
        : matrix_(matrix), threads_(threads), n_points_(matrix.n), log_(matrix.n), block_(std::max(kBlock, matrix.n)) {}

    MergeLog run() {
        NearestSlots nearest = find_nearest();
        std::vector<std::size_t> partners;
        while (log_.n_slots() > 1) {
            const std::size_t m = log_.n_slots();
            if (m > kFew && nearest.find_pairs(partners) * kWorthARound >= m) {
                nearest = advance(merged_pairs(partners));
            } else {
                nearest = advance(follow_chain(std::move(nearest), m > kFew ? m / 2 : 1));
            }
        }
        return std::move(log_);
    }

   private:
    static constexpr std::size_t kFew = 256;                     // clusters that are not worth a round
    static constexpr std::size_t kWorthARound = 12;              // that share of the clusters, in pairs
    static constexpr std::size_t kTasks = 16;                    // of a block of rows; each keeps the nearest that it has seen
    static constexpr std::size_t kBlock = std::size_t{1} << 20;  // values of a block of rows, which stay in the cache

    // A cluster of the next round: its slots in this one; b is a where nothing is merged.
    struct Source {
        std::size_t a, b;
        Pair pair;

        bool is_merged() const { return a != b; }
        double size() const { return pair.size_a + (is_merged() ? pair.size_b : 0); }
    };
    Source source(std::size_t a, std::size_t b) const {
        return {a, b, {log_.size(a), log_.size(b), a == b ? 0 : matrix_.at(a, b)}};
    }

    // ---- rounds

    // Calls body(first, last, nearest) for runs of rows of a triangle of m rows, in parallel and block by block; after(first, last)
    // ends a block.
    template <class Body, class After>
    NearestSlots for_rows(std::size_t m, Body&& body, After&& after) {
        std::vector<NearestSlots> seen(kTasks, NearestSlots(m));
        for (std::size_t first = 0, last = 0; first < m; first = last) {
            std::size_t n_values = 0;
            while (last < m && (last == first || n_values + last <= kBlock)) n_values += last++;
            const Threads threads = threads_.for_work(static_cast<double>(n_values) * 4);
            const Chunks chunks = Chunks::of(last - first, 1, kTasks);
            parallel_for(chunks.count, threads,
                         [&](std::size_t task) { body(first + chunks.begin(task), first + chunks.end(task), seen[task]); });
            after(first, last, threads);
            report_progress(n_points_ - m, n_points_);
        }
        for (std::size_t task = 1; task < kTasks; ++task) seen[0].join(seen[task]);
        return std::move(seen[0]);
    }

    NearestSlots find_nearest() {
        return for_rows(
            n_points_,
            [&](std::size_t first, std::size_t last, NearestSlots& nearest) {
                for (std::size_t i = first; i < last; ++i) nearest.take_row(i, matrix_.row(i));
            },
            [](std::size_t, std::size_t, Threads) {});
    }

    std::vector<Source> merged_pairs(const std::vector<std::size_t>& partners) const {
        std::vector<Source> sources;
        for (std::size_t i = 0; i < partners.size(); ++i)
            if (partners[i] >= i) sources.push_back(source(i, partners[i]));
        return sources;
    }

    // Makes the matrix that of the next round, in place. Its row p is read from old rows that no earlier block has overwritten: the
    // slots of cluster p are p or more, and they are read in rows from there on.
    NearestSlots advance(const std::vector<Source>& sources) {
        std::size_t begun = 0;  // first row of the block
        const auto buffered = [&](std::size_t p) { return block_.data() + (Condensed::size(p) - Condensed::size(begun)); };
        NearestSlots nearest = for_rows(
            sources.size(),
            [&](std::size_t first, std::size_t last, NearestSlots& seen) {
                for (std::size_t p = first; p < last; ++p) write_row(sources, p, buffered(p));
                for (std::size_t q = 0; q < last; ++q)
                    if (sources[q].is_merged()) merge_column(sources, q, std::max(first, q + 1), last, buffered);
                for (std::size_t p = first; p < last; ++p) seen.take_row(p, buffered(p));
            },
            [&](std::size_t first, std::size_t last, Threads threads) {
                parallel_for(last - first, threads,
                             [&](std::size_t i) { std::copy_n(buffered(first + i), first + i, matrix_.row(first + i)); });
                begun = last;
            });
        std::vector<std::size_t> kept;
        for (const Source& source : sources) {
            if (source.is_merged()) log_.merge(source.a, source.b, height_of<L>(source.pair.between));
            kept.push_back(source.a);
        }
        log_.keep(kept);
        matrix_.n = kept.size();
        return nearest;
    }

    // Dissimilarities of the p-th cluster of the next round to the first slots of those before it. O(p).
    void write_row(const std::vector<Source>& sources, std::size_t p, double* out) const {
        const Source& own = sources[p];
        const double* const row_a = matrix_.row(own.a);
        const double* const row_b = matrix_.row(own.b);
        if (!own.is_merged()) {
            for (std::size_t q = 0; q < p; ++q) out[q] = row_a[sources[q].a];
        } else {
            for (std::size_t q = 0; q < p; ++q)
                out[q] = L::merged(row_a[sources[q].a], row_b[sources[q].a], own.pair, sources[q].pair.size_a);
        }
    }

    // Has the second slot of cluster q join the first in what clusters [first, last) were found to be from it: row after row, so
    // that memory is read in runs where that slot is behind theirs.
    template <class Buffered>
    void merge_column(const std::vector<Source>& sources, std::size_t q, std::size_t first, std::size_t last,
                      const Buffered& buffered) const {
        const Source& other = sources[q];
        for (std::size_t p = first; p < last; ++p) {
            const Source& own = sources[p];
            double to_b = matrix_.at(own.a, other.b);
            if (own.is_merged()) to_b = L::merged(to_b, matrix_.at(own.b, other.b), own.pair, other.pair.size_b);
            double& value = buffered(p)[q];
            value = L::merged(value, to_b, other.pair, own.size());
        }
    }

    // ---- the chain

    // Merges until `wanted` clusters are left, and returns them: from any cluster to its nearest, and on to that one's, until two
    // are each other's nearest. Dissimilarities fall strictly along the chain, so that it ends, whatever the rounding.
    std::vector<Source> follow_chain(NearestSlots nearest, std::size_t wanted) {
        std::vector<std::size_t> left(log_.n_slots()), chain;
        std::vector<std::uint8_t> is_known(log_.n_slots(), 1);
        std::iota(left.begin(), left.end(), std::size_t{0});
        while (left.size() > wanted) {
            if (chain.empty()) chain.push_back(left[0]);
            while (true) {
                const std::size_t x = chain.back();
                if (!nearest.has(x) || !is_known[x]) {
                    search(x, left, nearest);
                    is_known[x] = 1;
                }
                if (chain.size() > 1 && !(nearest.value(x) < matrix_.at(x, chain[chain.size() - 2]))) break;
                chain.push_back(nearest[x]);
            }
            const std::size_t one = chain.back(), other = chain[chain.size() - 2];
            chain.resize(chain.size() - 2);
            const std::size_t a = std::min(one, other), b = std::max(one, other);
            left.erase(std::lower_bound(left.begin(), left.end(), b));
            for (const std::size_t c : left)
                if (nearest.has(c) && (nearest[c] == a || nearest[c] == b)) is_known[c] = 0;
            merge_slots(a, b, left, nearest);
            is_known[a] = 1;
            report_progress(n_points_ - left.size(), n_points_);
        }
        std::vector<Source> sources;
        for (const std::size_t slot : left) sources.push_back(source(slot, slot));
        return sources;
    }

    // The least of what is offered, and where: the lowest slot of ties.
    struct Least {
        double value = std::numeric_limits<double>::infinity();
        std::int64_t slot = -1;

        void offer(double offered, std::size_t from) {
            if (slot >= 0 && !(offered < value)) return;
            value = offered;
            slot = static_cast<std::int64_t>(from);
        }
    };

    void search(std::size_t x, const std::vector<std::size_t>& left, NearestSlots& nearest) const {
        Least least;
        const double* const row = matrix_.row(x);
        std::size_t i = 0;
        for (; left[i] < x; ++i) least.offer(row[left[i]], left[i]);
        for (++i; i < left.size(); ++i) least.offer(matrix_.row(left[i])[x], left[i]);
        nearest.set(x, least.value, least.slot);
    }

    // Merges slot b into a, which is before it.
    void merge_slots(std::size_t a, std::size_t b, const std::vector<std::size_t>& left, NearestSlots& nearest) {
        const Pair pair{log_.size(a), log_.size(b), matrix_.at(a, b)};
        double* const row_a = matrix_.row(a);
        const double* const row_b = matrix_.row(b);
        Least least;
        const auto merge = [&](double& to_a, double to_b, std::size_t c) {
            to_a = L::merged(to_a, to_b, pair, log_.size(c));
            least.offer(to_a, c);
        };
        std::size_t i = 0;
        for (; left[i] < a; ++i) merge(row_a[left[i]], row_b[left[i]], left[i]);
        for (++i; i < left.size() && left[i] < b; ++i) merge(matrix_.row(left[i])[a], row_b[left[i]], left[i]);
        for (; i < left.size(); ++i) merge(matrix_.row(left[i])[a], matrix_.row(left[i])[b], left[i]);
        nearest.set(a, least.value, least.slot);
        log_.merge(a, b, height_of<L>(pair.between));
    }

    Condensed matrix_;
    Threads threads_;
    std::size_t n_points_;
    MergeLog log_;
    Aligned<double> block_;
};

}  // namespace mercer::cluster
