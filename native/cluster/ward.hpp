// Ward's linkage of points with coordinates, in O(n d) memory: the dissimilarity of two clusters follows from their means and
// sizes, h^2 = 2 |mean_a - mean_b|^2 / (1 / size_a + 1 / size_b), so that no matrix is kept.
//
// In rounds, as with a matrix (matrix_linkage.hpp): all mutual nearest neighbours are merged at once. A cluster keeps its nearest
// while that one is not merged: nothing comes nearer by a merge. The others search among all, in tiles of registers. O(n^2 d).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "cluster/merge_log.hpp"
#include "cluster/nearest_slots.hpp"
#include "core/chunk_sums.hpp"
#include "core/distance.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/lane_bits.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

// Collector of squared distances: keeps the nearest other cluster of each by Ward's dissimilarity, the lower number of ties.
class NearestByWard {
   public:
    using S = Simd<double>;

    NearestByWard(const double* shares, const std::size_t* ids, std::size_t n) : shares_(shares) {
        for (std::size_t v = 0; v < kGroupVectors; ++v) {
            best_[v] = S::broadcast(std::numeric_limits<double>::infinity());
            found_[v] = S::broadcast_index(-1);
            for (std::size_t lane = 0; lane < S::kLanes; ++lane) {
                const std::size_t id = ids[std::min(v * S::kLanes + lane, n - 1)];
                own_[v][lane] = static_cast<std::int64_t>(id);
                own_share_[v][lane] = shares[id];
            }
        }
    }

    [[gnu::always_inline]] void take(std::size_t target, const GroupVectors<double>& values) {
        const S::Indices index = S::broadcast_index(static_cast<std::int64_t>(target));
        const S::Vector share = S::broadcast(shares_[target]);
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kGroupVectors; ++v) {
            const S::Vector sum = own_share_[v] + share;
            const auto may_be = (values[v] < best_[v] * sum) & (index != own_[v]);
            if (lane_bits(may_be) == 0) continue;  // most: a division is spared
            const S::Vector value = values[v] / sum;
            const auto is_nearer = may_be & (value < best_[v]);
            best_[v] = is_nearer ? value : best_[v];
            found_[v] = is_nearer ? index : found_[v];
        }
    }

    void write(const std::size_t* ids, std::size_t n, NearestSlots& nearest) const {
        for (std::size_t i = 0; i < n; ++i)
            nearest.set(ids[i], 2 * best_[i / S::kLanes][i % S::kLanes], found_[i / S::kLanes][i % S::kLanes]);
    }

   private:
    const double* shares_;  // one over the sizes
    GroupVectors<double> best_, own_share_;
    typename S::Indices found_[kGroupVectors], own_[kGroupVectors];
};

class WardLinkage {
   public:
    WardLinkage(Matrix<const double> x, Threads threads)
        : d_(x.cols), n_points_(x.rows), threads_(threads), log_(x.rows), means_(x.rows * x.cols), shares_(x.rows, 1.0) {
        for (std::size_t i = 0; i < x.rows; ++i)
            for (std::size_t j = 0; j < d_; ++j) means_[i * d_ + j] = x(i, j);
    }

    MergeLog run() {
        NearestSlots nearest(log_.n_slots());
        std::vector<std::size_t> partners, wanted(log_.n_slots());
        std::iota(wanted.begin(), wanted.end(), std::size_t{0});
        search(wanted, nearest);
        while (log_.n_slots() > kFew && nearest.find_pairs(partners) * 8 >= log_.n_slots())
            nearest = merge_pairs(partners, nearest);
        follow_chain();
        return std::move(log_);
    }

   private:
    static constexpr std::size_t kFew = 32;  // clusters that are not worth a round

    double* mean(std::size_t i) { return means_.data() + i * d_; }
    double squared_height(std::size_t a, std::size_t b) const {
        return 2 * squared_distance(means_.data() + a * d_, means_.data() + b * d_, d_) / (shares_[a] + shares_[b]);
    }

    // The nearest of some clusters, among all. O(ids n d).
    void search(const std::vector<std::size_t>& ids, NearestSlots& nearest) {
        const Matrix<const double> x{means_.data(), log_.n_slots(), d_, static_cast<std::ptrdiff_t>(d_), 1};
        const Targets<double> targets{{means_.data(), log_.n_slots(), d_}};
        const std::size_t capacity = RowGroups<double>::capacity(d_, log_.n_slots());
        const std::size_t n_parts = (ids.size() + capacity - 1) / capacity;
        const double work = static_cast<double>(ids.size()) * static_cast<double>(log_.n_slots()) * static_cast<double>(d_ + 2) / 4;
        const Chunks chunks = Chunks::of(n_parts, 1, 1024);
        parallel_for(chunks.count, threads_.for_work(work), [&](std::size_t chunk) {
            RowGroups<double> groups(d_);
            for (std::size_t part = chunks.begin(chunk); part < chunks.end(chunk); ++part) {
                const std::size_t* const own = ids.data() + part * capacity;
                const std::size_t n = std::min(capacity, ids.size() - part * capacity);
                groups.fill(x, {}, {own, n});
                const auto first = [&](std::size_t g) { return own + g * kGroupRows<double>; };
                const auto size = [&](std::size_t g) { return std::min(kGroupRows<double>, n - g * kGroupRows<double>); };
                groups.measure(
                    SquaredEuclidean{}, targets, [&](std::size_t g) { return NearestByWard(shares_.data(), first(g), size(g)); },
                    [&](std::size_t g, const NearestByWard& found) { found.write(first(g), size(g), nearest); });
                checkpoint();
            }
        });
    }

    NearestSlots merge_pairs(const std::vector<std::size_t>& partners, const NearestSlots& nearest) {
        std::vector<std::size_t> kept, searching, places(partners.size());
        for (std::size_t i = 0; i < partners.size(); ++i) {
            if (partners[i] < i) continue;
            if (partners[i] > i) merge_slots(i, partners[i]);
            places[i] = kept.size();
            kept.push_back(i);
        }
        NearestSlots next(kept.size());
        for (std::size_t p = 0; p < kept.size(); ++p) {
            const std::size_t i = kept[p], other = nearest.has(i) ? nearest[i] : i;
            if (partners[i] != i || partners[other] != other || other == i) {
                searching.push_back(p);
            } else {
                next.set(p, nearest.value(i), static_cast<std::int64_t>(places[other]));
            }
        }
        for (std::size_t p = 0; p < kept.size(); ++p) {
            std::copy_n(mean(kept[p]), d_, mean(p));
            shares_[p] = shares_[kept[p]];
        }
        log_.keep(kept);
        report_progress(n_points_ - kept.size(), n_points_);
        search(searching, next);
        return next;
    }

    // The rest, by the chain of nearest neighbours. O(m^2 d).
    void follow_chain() {
        std::vector<std::size_t> left(log_.n_slots()), chain;
        std::iota(left.begin(), left.end(), std::size_t{0});
        while (left.size() > 1) {
            if (chain.empty()) chain.push_back(left[0]);
            while (true) {
                const std::size_t nearest = nearest_of(chain, left);
                if (chain.size() > 1 && nearest == chain[chain.size() - 2]) break;
                require(chain.size() < left.size(), "Ward's dissimilarities are no numbers");
                chain.push_back(nearest);
            }
            const std::size_t b = chain.back(), a = chain[chain.size() - 2];
            chain.resize(chain.size() - 2);
            merge_slots(a, b);
            left.erase(std::lower_bound(left.begin(), left.end(), b));
            report_progress(n_points_ - left.size(), n_points_);
        }
    }
    // Of the last of the chain; of equally near ones the one before it, so that the chain ends; then the lowest.
    std::size_t nearest_of(const std::vector<std::size_t>& chain, const std::vector<std::size_t>& left) {
        const std::size_t x = chain.back();
        std::size_t nearest = chain.size() > 1 ? chain[chain.size() - 2] : left[left[0] == x ? 1 : 0];
        double least = squared_height(x, nearest);
        constexpr std::size_t kTask = 512;
        const Chunks chunks = Chunks::of(left.size(), kTask, 64);
        struct Found {
            double value = std::numeric_limits<double>::infinity();
            std::size_t slot = 0;
        };
        ChunkParts<Found> parts(chunks);
        const double work = static_cast<double>(left.size()) * static_cast<double>(d_ + 8);
        parallel_for(chunks.count, threads_.for_work(work), [&](std::size_t chunk) {
            Found found;
            for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
                if (left[i] == x) continue;
                const double value = squared_height(x, left[i]);
                if (value < found.value) found = {value, left[i]};
            }
            parts[chunk] = found;
        });
        for (std::size_t chunk = 0; chunk < chunks.count; ++chunk) {
            if (!(parts[chunk].value < least)) continue;
            least = parts[chunk].value;
            nearest = parts[chunk].slot;
        }
        return nearest;
    }

    // Merges b into a.
    void merge_slots(std::size_t a, std::size_t b) {
        const double height = std::sqrt(squared_height(a, b));
        const double share = log_.size(b) / (log_.size(a) + log_.size(b));
        for (std::size_t j = 0; j < d_; ++j) mean(a)[j] += share * (mean(b)[j] - mean(a)[j]);
        log_.merge(a, b, height);
        shares_[a] = 1 / log_.size(a);
    }

    std::size_t d_, n_points_;
    Threads threads_;
    MergeLog log_;
    std::vector<double> means_, shares_;  // shares: one over the sizes
};

}  // namespace mercer::cluster
