// Who may be wanted, by rough ranks: points that pass are written down, cut back where there are many, and measured exactly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/collectors.hpp"
#include "core/lane_bits.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "neighbors/blocks.hpp"
#include "neighbors/collectors.hpp"
#include "neighbors/metric.hpp"
#include "neighbors/rough_groups.hpp"

namespace mercer::neighbors {

// Ranks of some points by the exact formula, eight at a time, gathered from rows that lie one after another.
template <Real T>
class GatheredBlocks {
   public:
    explicit GatheredBlocks(RowMajor<const T> x) : x_(x), block_(kBlock * x.cols) {}

    // O(n d).
    template <class Collector>
    void measure(const Euclidean& metric, const double* query, const Row* rows, std::size_t n, Collector& collector) const {
        for (std::size_t first = 0; first < n; first += kBlock) {
            const std::size_t n_lanes = std::min(kBlock, n - first);
            gather(rows + first, n_lanes);
            alignas(64) double rank[kBlock];
            measure_block<0>(metric, query, block_.data(), x_.cols).store(rank);
            for (std::size_t lane = 0; lane < n_lanes; ++lane)
                if (rank[lane] <= collector.limit()) collector.offer(rank[lane], rows[first + lane]);
        }
    }

   private:
    void gather(const Row* rows, std::size_t n_lanes) const {
        const T* lines[kBlock];
        for (std::size_t lane = 0; lane < kBlock; ++lane)
            lines[lane] = x_.row(static_cast<std::size_t>(rows[std::min(lane, n_lanes - 1)]));
        for (std::size_t j = 0; j < x_.cols; ++j) {
#pragma GCC unroll 8
            for (std::size_t lane = 0; lane < kBlock; ++lane) block_[j * kBlock + lane] = lines[lane][j];
        }
    }

    RowMajor<const T> x_;
    Aligned<T> block_;
};

// For a run of queries: what their collectors may take, and the limits that rough ranks must not exceed. A collector may have
// wants(row): whether it would take a point at all, however near.
template <Real T, class Collector>
class Screen {
   public:
    Screen(const RoughGroups& groups, RowMajor<const T> x, const Euclidean& metric, const double* queries,
           std::span<Collector> collectors)
        : groups_(groups),
          d_(x.cols),
          metric_(metric),
          exact_(x),
          queries_(queries),
          collectors_(collectors),
          norms_(collectors.size()),
          limits_(collectors.size()),
          counts_(collectors.size()),
          most_(most_written(collectors)),
          written_(collectors.size() * (most_ + RoughGroups::kRows)),
          rows_(most_ + RoughGroups::kRows),
          highest_(most_ + RoughGroups::kRows),
          rough_queries_(collectors.size() * x.cols) {
        for (std::size_t i = 0; i < collectors.size(); ++i) {
            norms_[i] = groups.place_query(queries + i * d_, rough_queries_.data() + i * d_);
            limits_[i] = limit_of(i);
        }
    }

    RowMajor<const float> rough_queries() const { return {rough_queries_.data(), collectors_.size(), d_}; }

    // What measures a group: takes the products of one query after another.
    struct OfGroup {
        static constexpr bool kCallsFunctions = true;

        Screen* screen;
        const float* low_norms;
        std::size_t first_row;
        std::uint64_t lanes;

        [[gnu::always_inline]] void take(std::size_t query, const GroupVectors<float>& products) {
            using S = Simd<float>;
            const typename S::Vector limit = S::broadcast(screen->limits_[query]);
            GroupVectors<float> ranks;
            std::uint64_t passed_over = 0;  // what is no number is measured
#pragma GCC unroll 8
            for (std::size_t v = 0; v < kGroupVectors; ++v) {
                ranks[v] = products[v] + S::load(low_norms + v * S::kLanes);
                passed_over |= std::uint64_t{lane_bits(ranks[v] > limit)} << (v * S::kLanes);
            }
            const std::uint64_t wanted = ~passed_over & lanes;
            if (wanted != 0) [[unlikely]]
                screen->write_down(query, ranks, wanted, first_row);
        }
    };
    OfGroup of_group(std::size_t g) {
        const std::size_t n = groups_.n_rows(g);
        return {this, groups_.low_norms(g), groups_.first_row(g), n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1};
    }

    // Measures whom is left: the collectors then have everything that they take.
    void finish() {
        for (std::size_t i = 0; i < collectors_.size(); ++i) {
            if constexpr (Collector::kIsOrdered) cut(i);
            measure(i);
        }
    }

   private:
    struct Written {
        float rank;  // the lowest, but for the query's part
        Row row;
    };

    static std::size_t most_written(std::span<const Collector> collectors) {
        if constexpr (Collector::kIsOrdered) return std::max<std::size_t>(64, 2 * collectors.front().n_wanted());
        return 256;
    }
    Written* written(std::size_t query) { return written_.data() + query * (most_ + RoughGroups::kRows); }
    float limit_of(std::size_t query) const {
        const double norm = norms_[query], rank = collectors_[query].limit();
        return norm < std::numeric_limits<double>::infinity() ? groups_.limit(rank, norm) : std::numeric_limits<float>::infinity();
    }

    [[gnu::noinline]] void write_down(std::size_t query, const GroupVectors<float>& ranks, std::uint64_t wanted,
                                      std::size_t first_row) {
        alignas(64) float rank[RoughGroups::kRows];
        for (std::size_t v = 0; v < kGroupVectors; ++v) Simd<float>::store(rank + v * Simd<float>::kLanes, ranks[v]);
        Written* const list = written(query);
        std::size_t count = counts_[query];
        for (; wanted != 0; wanted &= wanted - 1) {
            const auto lane = static_cast<std::size_t>(__builtin_ctzll(wanted));
            const auto row = static_cast<Row>(first_row + lane);
            if constexpr (requires { collectors_[query].wants(row); })
                if (!collectors_[query].wants(row)) continue;
            list[count++] = {rank[lane], row};
        }
        counts_[query] = static_cast<std::uint32_t>(count);
        if (count > most_) relieve(query);
    }

    void relieve(std::size_t query) {
        if constexpr (Collector::kIsOrdered) {
            cut(query);
            if (counts_[query] <= most_ / 2 + most_ / 4) return;
        }
        measure(query);
    }

    // Leaves out whom k others are nearer than, however rough the ranks are. O(what is written down).
    void cut(std::size_t query) {
        const std::size_t k = collectors_[query].n_wanted(), count = counts_[query];
        const bool leaves_one_out = collectors_[query].left_out() != kNoRow;
        if (count <= k + leaves_one_out || k == 0 || !(norms_[query] < std::numeric_limits<double>::infinity())) return;
        Written* const list = written(query);
        for (std::size_t i = 0; i < count; ++i) highest_[i] = list[i].rank + groups_.spread(static_cast<std::size_t>(list[i].row));
        const auto last = highest_.begin() + static_cast<std::ptrdiff_t>(k - 1 + leaves_one_out);
        std::nth_element(highest_.begin(), last, highest_.begin() + static_cast<std::ptrdiff_t>(count));
        const double high = static_cast<double>(*last);
        const float limit = round_up(high + std::abs(high) * 1e-6 + 2 * groups_.slack(norms_[query]));
        if (!(limit < limits_[query])) return;
        limits_[query] = limit;
        const auto end = std::remove_if(list, list + count, [&](const Written& one) { return one.rank > limit; });
        counts_[query] = static_cast<std::uint32_t>(end - list);
    }

    void measure(std::size_t query) {
        const Written* const list = written(query);
        const std::size_t count = counts_[query];
        for (std::size_t i = 0; i < count; ++i) rows_[i] = list[i].row;
        exact_.measure(metric_, queries_ + query * d_, rows_.data(), count, collectors_[query]);
        counts_[query] = 0;
        limits_[query] = std::min(limits_[query], limit_of(query));
    }

    const RoughGroups& groups_;
    std::size_t d_;
    const Euclidean& metric_;
    GatheredBlocks<T> exact_;
    const double* queries_;
    std::span<Collector> collectors_;
    std::vector<double> norms_;
    std::vector<float> limits_;
    std::vector<std::uint32_t> counts_;
    std::size_t most_;  // written down before something is done about it
    std::vector<Written> written_;
    std::vector<Row> rows_;
    std::vector<float> highest_;
    Aligned<float> rough_queries_;
};

}  // namespace mercer::neighbors
