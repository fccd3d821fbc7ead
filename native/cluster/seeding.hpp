// Greedy k-means++ (Arthur and Vassilvitskii, SODA 2007): each new centre is the best of a few rows drawn with probability
// proportional to the squared distance to the nearest centre so far.
//
// A candidate farther from a row's centre than twice the row's own distance to it cannot be nearer to the row (triangle
// inequality); many rows are passed over by that test alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "cluster/rows.hpp"
#include "core/distance.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

// The rows with their squared distance to the nearest centre so far and which one that is, and the weighted sum of these
// distances, the potential, chunk by chunk.
template <class Rows>
class Seeder {
   public:
    using T = typename Rows::Value;

    Seeder(const Rows& rows, std::span<const T> weights, std::size_t n_centres, std::size_t n_trials, Threads threads)
        : rows_(rows),
          weights_(weights),
          threads_(threads),
          keeps_distances_(4 * n_trials <= rows.cols()),  // a quarter of the memory of the rows at most
          chunks_(Chunks::of(rows.rows(), 2048, 64)),
          closest_(rows.rows(), std::numeric_limits<T>::max()),
          owner_(rows.rows(), 0),
          potential_(chunks_.count, 0.0),
          kept_(chunks_.count),
          centres_(n_centres * rows.cols()) {}

    // The first row at which the running sum of weight x squared distance reaches `share` of the potential.
    std::size_t locate(double share) const {
        const double target = share * std::accumulate(potential_.begin(), potential_.end(), 0.0);
        std::size_t chunk = 0;
        double before = 0;
        while (chunk + 1 < chunks_.count && before + potential_[chunk] < target) before += potential_[chunk++];
        std::size_t last = chunks_.begin(chunk);
        for (std::size_t row = chunks_.begin(chunk); row < chunks_.end(chunk); ++row) {
            const double mass = weight(row) * static_cast<double>(closest_[row]);
            if (mass > 0) last = row;
            before += mass;
            if (before >= target) return row;
        }
        return last;
    }

    // Makes a centre of the candidate row for which the potential falls most, and returns it. O(n L d) at most.
    std::size_t add_best(std::span<const std::size_t> candidates) {
        const std::vector<T> fresh = copy_rows(candidates);
        const std::size_t d = rows_.cols();
        const std::size_t best = candidates.size() == 1 ? 0 : find_best(fresh, candidates.size());
        const std::vector<T> winner(fresh.begin() + static_cast<std::ptrdiff_t>(best * d),
                                    fresh.begin() + static_cast<std::ptrdiff_t>((best + 1) * d));
        if (keeps_distances_ && candidates.size() > 1) {
            accept_kept(best, candidates.size());
        } else {
            visit(winner, 1, [&](std::size_t, std::span<const std::size_t> ids, const T* squared) {
                for (std::size_t i = 0; i < ids.size(); ++i) accept(ids[i], squared[i]);
            });
        }
        std::copy(winner.begin(), winner.end(), centres_.begin() + static_cast<std::ptrdiff_t>(n_chosen_ * d));
        ++n_chosen_;
        update_potential();
        return candidates[best];
    }

   private:
    // Rows of a chunk that a candidate may reach, with their squared distances to all candidates.
    struct Kept {
        std::vector<std::size_t> ids;
        std::vector<T> squared;
    };

    double weight(std::size_t row) const { return weights_.empty() ? 1.0 : static_cast<double>(weights_[row]); }

    void accept(std::size_t row, T squared) {
        if (squared >= closest_[row]) return;
        closest_[row] = squared;
        owner_[row] = static_cast<std::int32_t>(n_chosen_);
    }

    void accept_kept(std::size_t best, std::size_t n_fresh) {
        parallel_for(chunks_.count, threads_.for_work(static_cast<double>(rows_.rows())), [&](std::size_t chunk) {
            const Kept& kept = kept_[chunk];
            for (std::size_t i = 0; i < kept.ids.size(); ++i) accept(kept.ids[i], kept.squared[i * n_fresh + best]);
        });
    }

    void update_potential() {
        parallel_for(chunks_.count, threads_.for_work(static_cast<double>(rows_.rows())), [&](std::size_t chunk) {
            const std::size_t begin = chunks_.begin(chunk);
            potential_[chunk] = lane_sum(chunks_.end(chunk) - begin, [&](std::size_t i) {
                return weight(begin + i) * static_cast<double>(closest_[begin + i]);
            });
        });
    }

    // The candidate with the largest fall of the potential.
    std::size_t find_best(const std::vector<T>& fresh, std::size_t n_fresh) {
        std::vector<double> gains(chunks_.count * n_fresh, 0.0);
        for (Kept& kept : kept_) {
            kept.ids.clear();
            kept.squared.clear();
        }
        visit(fresh, n_fresh, [&](std::size_t chunk, std::span<const std::size_t> ids, const T* squared) {
            double* gain = gains.data() + chunk * n_fresh;
            for (std::size_t i = 0; i < ids.size(); ++i) {
                const double w = weight(ids[i]);
                const T now = closest_[ids[i]];
                for (std::size_t c = 0; c < n_fresh; ++c)
                    gain[c] += w * static_cast<double>(std::max(T{0}, now - squared[i * n_fresh + c]));
            }
            if (!keeps_distances_) return;
            kept_[chunk].ids.insert(kept_[chunk].ids.end(), ids.begin(), ids.end());
            kept_[chunk].squared.insert(kept_[chunk].squared.end(), squared, squared + ids.size() * n_fresh);
        });
        for (std::size_t chunk = 1; chunk < chunks_.count; ++chunk)
            for (std::size_t c = 0; c < n_fresh; ++c) gains[c] += gains[chunk * n_fresh + c];
        return static_cast<std::size_t>(std::max_element(gains.begin(), gains.begin() + static_cast<std::ptrdiff_t>(n_fresh)) -
                                        gains.begin());
    }

    std::vector<T> copy_rows(std::span<const std::size_t> ids) const {
        std::vector<double> values(ids.size() * rows_.cols(), 0.0);
        for (std::size_t i = 0; i < ids.size(); ++i) rows_.add(ids[i], 1.0, values.data() + i * rows_.cols());
        return {values.begin(), values.end()};
    }

    // By centre so far: a row no farther than this (squared) from it is out of reach of every new one.
    std::vector<T> limits(const std::vector<T>& fresh, std::size_t n_fresh) const {
        const std::size_t d = rows_.cols();
        std::vector<T> limit(std::max<std::size_t>(n_chosen_, 1), T{0});
        for (std::size_t a = 0; a < n_chosen_; ++a) {
            double nearest = std::numeric_limits<double>::infinity();
            for (std::size_t c = 0; c < n_fresh; ++c) {
                nearest = std::min(nearest, squared_distance(centres_.data() + a * d, fresh.data() + c * d, d));
            }
            limit[a] = static_cast<T>(nearest / 4 * (1 - 1e-5));  // the margin covers the rounding of the distances
        }
        return limit;
    }

    // Calls body(chunk, ids, squared distances) for the rows that a new centre may reach, some at a time.
    template <class Body>
    void visit(const std::vector<T>& fresh, std::size_t n_fresh, Body&& body) {
        const std::vector<T> limit = limits(fresh, n_fresh);
        const typename Rows::Centres centres({fresh.data(), n_fresh, rows_.cols()});
        const double work = static_cast<double>(rows_.rows()) * (static_cast<double>(rows_.cols() * n_fresh) / 4 + 2);
        parallel_for(chunks_.count, threads_.for_work(work), [&](std::size_t chunk) {
            typename Rows::Search search(rows_);
            std::array<std::size_t, Rows::capacity()> ids;
            const std::size_t run = rows_.run(n_fresh);
            std::vector<T> squared(run * n_fresh);
            std::size_t n = 0;
            const auto flush = [&] {
                const std::span<const std::size_t> reached(ids.data(), n);
                search.squared_distances(reached, centres, squared.data());
                body(chunk, reached, squared.data());
                n = 0;
            };
            for (std::size_t row = chunks_.begin(chunk); row < chunks_.end(chunk); ++row) {
                ids[n] = row;
                n += closest_[row] > limit[static_cast<std::size_t>(owner_[row])];
                if (n == run) flush();
            }
            if (n > 0) flush();
        });
    }

    const Rows& rows_;
    std::span<const T> weights_;
    Threads threads_;
    bool keeps_distances_;
    Chunks chunks_;
    std::vector<T> closest_;
    std::vector<std::int32_t> owner_;
    std::vector<double> potential_;
    std::vector<Kept> kept_;
    std::vector<T> centres_;
    std::size_t n_chosen_ = 0;
};

// Chooses rows as centres: `first`, then for each line of `uniforms` (draws from [0, 1), one a trial) the best of the rows drawn.
// Writes uniforms.rows + 1 row numbers to `chosen`. O(n k d log k) at most.
template <class Rows, class T>
void kmeans_plusplus(const Rows& rows, std::span<const T> weights, std::size_t first, RowMajor<const double> uniforms,
                     std::span<std::int64_t> chosen, Threads threads) {
    Seeder<Rows> seeder(rows, weights, uniforms.rows + 1, uniforms.cols, threads);
    chosen[0] = static_cast<std::int64_t>(seeder.add_best({&first, 1}));
    std::vector<std::size_t> candidates(uniforms.cols);
    for (std::size_t step = 0; step < uniforms.rows; ++step) {
        report_progress(step, uniforms.rows);
        for (std::size_t trial = 0; trial < uniforms.cols; ++trial) candidates[trial] = seeder.locate(uniforms(step, trial));
        chosen[step + 1] = static_cast<std::int64_t>(seeder.add_best(candidates));
    }
}

}  // namespace mercer::cluster
