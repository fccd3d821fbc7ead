// Greedy k-means++ (Arthur and Vassilvitskii, SODA 2007): each new centre is the best of a few rows drawn with probability
// proportional to the squared distance to the nearest centre so far.
//
// A candidate farther from a row's centre than twice the row's own distance to it cannot be nearer to the row (triangle
// inequality); most rows are passed over by that test alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "cluster/lloyd.hpp"
#include "cluster/rows.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

namespace detail {

// The rows with their squared distance to the nearest centre so far, which centre that is, and the weighted sums per chunk.
template <class Rows>
class Seeder {
   public:
    using T = typename Rows::Value;

    Seeder(const Rows& rows, std::span<const T> weights, std::size_t n_centres, Threads threads)
        : rows_(rows),
          weights_(weights),
          threads_(threads),
          chunks_(Chunks::of(rows.rows(), 2048, 64)),
          closest_(rows.rows(), std::numeric_limits<T>::max()),
          owner_(rows.rows(), 0),
          potential_(chunks_.count, 0.0),
          centres_(n_centres * rows.cols()) {}

    double potential() const { return std::accumulate(potential_.begin(), potential_.end(), 0.0); }

    // The first row at which the running sum of weight x squared distance reaches `target`.
    std::size_t locate(double target) const {
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

    // How much the potential falls for each candidate row. O(n L d) at most.
    std::vector<double> gains(std::span<const std::size_t> candidates) {
        const std::size_t d = rows_.cols();
        std::vector<T> centres(candidates.size() * d);
        for (std::size_t c = 0; c < candidates.size(); ++c) copy_row(candidates[c], centres.data() + c * d);
        const std::vector<T> limit = limits(centres, candidates.size());
        std::vector<std::vector<double>> partial(chunks_.count, std::vector<double>(candidates.size(), 0.0));
        visit(centres, candidates.size(), limit, [&](std::size_t chunk, std::size_t row, const T* squared) {
            for (std::size_t c = 0; c < candidates.size(); ++c) {
                const double gain = static_cast<double>(closest_[row]) - static_cast<double>(squared[c]);
                if (gain > 0) partial[chunk][c] += weight(row) * gain;
            }
        });
        std::vector<double> sum(candidates.size(), 0.0);
        for (const auto& gains : partial)
            for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += gains[c];
        return sum;
    }

    // Makes a row a centre.
    void add(std::size_t row) {
        const std::size_t d = rows_.cols();
        std::vector<T> centre(d);
        copy_row(row, centre.data());
        const std::vector<T> limit = limits(centre, 1);
        visit(centre, 1, limit, [&](std::size_t, std::size_t i, const T* squared) {
            if (squared[0] < closest_[i]) {
                closest_[i] = squared[0];
                owner_[i] = static_cast<std::int32_t>(n_chosen_);
            }
        });
        std::copy_n(centre.data(), d, centres_.data() + n_chosen_ * d);
        ++n_chosen_;
        parallel_for(chunks_.count, threads_.for_work(static_cast<double>(rows_.rows()) / 2), [&](std::size_t chunk) {
            double sum = 0;
            for (std::size_t i = chunks_.begin(chunk); i < chunks_.end(chunk); ++i)
                sum += weight(i) * static_cast<double>(closest_[i]);
            potential_[chunk] = sum;
        });
    }

   private:
    double weight(std::size_t row) const { return weights_.empty() ? 1.0 : static_cast<double>(weights_[row]); }

    void copy_row(std::size_t row, T* out) const {
        typename Rows::Block block(rows_);
        block.load({&row, 1});
        std::vector<double> values(rows_.cols(), 0.0);
        block.add_to(0, 1.0, values.data());
        std::transform(values.begin(), values.end(), out, [](double value) { return static_cast<T>(value); });
    }

    // By centre so far: a row no farther than this (squared) from it is out of reach of every new one.
    std::vector<T> limits(const std::vector<T>& fresh, std::size_t n_fresh) const {
        const std::size_t d = rows_.cols();
        std::vector<T> limit(std::max<std::size_t>(n_chosen_, 1), T{0});
        for (std::size_t a = 0; a < n_chosen_; ++a) {
            double nearest = std::numeric_limits<double>::infinity();
            for (std::size_t c = 0; c < n_fresh; ++c) {
                double sum = 0;
                for (std::size_t j = 0; j < d; ++j) {
                    const double difference = static_cast<double>(centres_[a * d + j]) - static_cast<double>(fresh[c * d + j]);
                    sum += difference * difference;
                }
                nearest = std::min(nearest, sum);
            }
            limit[a] = static_cast<T>(nearest / 4 * (1 - 1e-5));  // the margin covers the rounding of the distances
        }
        return limit;
    }

    // Calls body(chunk, row, squared distances) for every row that a new centre may reach.
    template <class Body>
    void visit(const std::vector<T>& centres, std::size_t n_centres, const std::vector<T>& limit, Body&& body) {
        const Panels<T> panels = Rows::pack({centres.data(), n_centres, rows_.cols()});
        const std::size_t ld = panels.n_vectors() * Simd<T>::kLanes;
        const double work = static_cast<double>(rows_.rows()) * (static_cast<double>(rows_.cols() * n_centres) / 4 + 2);
        parallel_for(chunks_.count, threads_.for_work(work), [&](std::size_t chunk) {
            typename Rows::Block block(rows_);
            std::vector<std::size_t> reached(rows_.block_rows());
            Aligned<T> squared(reached.size() * ld);
            std::size_t n = 0;
            const auto flush = [&] {
                block.load({reached.data(), n});
                block.squared_distances(panels, squared.data(), ld);
                for (std::size_t i = 0; i < n; ++i) body(chunk, reached[i], squared.data() + i * ld);
                n = 0;
            };
            for (std::size_t row = chunks_.begin(chunk); row < chunks_.end(chunk); ++row) {
                reached[n] = row;
                n += closest_[row] > limit[static_cast<std::size_t>(owner_[row])];
                if (n == reached.size()) flush();
            }
            flush();
        });
    }

    const Rows& rows_;
    std::span<const T> weights_;
    Threads threads_;
    Chunks chunks_;
    std::vector<T> closest_;
    std::vector<std::int32_t> owner_;
    std::vector<double> potential_;
    std::vector<T> centres_;
    std::size_t n_chosen_ = 0;
};

}  // namespace detail

// Chooses rows as centres: `first`, then for each line of `uniforms` (draws from [0, 1), one a trial) the best of the rows drawn.
// Writes uniforms.rows + 1 row numbers to `chosen`. O(n k d log k) at most.
template <class Rows, class T>
void kmeans_plusplus(const Rows& rows, std::span<const T> weights, std::size_t first, RowMajor<const double> uniforms,
                     std::span<std::int64_t> chosen, Threads threads) {
    detail::Seeder<Rows> seeder(rows, weights, uniforms.rows + 1, threads);
    seeder.add(first);
    chosen[0] = static_cast<std::int64_t>(first);
    std::vector<std::size_t> candidates(uniforms.cols);
    for (std::size_t step = 0; step < uniforms.rows; ++step) {
        checkpoint(step, uniforms.rows);
        const double potential = seeder.potential();
        for (std::size_t trial = 0; trial < uniforms.cols; ++trial)
            candidates[trial] = seeder.locate(uniforms(step, trial) * potential);
        const std::vector<double> gains = seeder.gains(candidates);
        const auto best = static_cast<std::size_t>(std::max_element(gains.begin(), gains.end()) - gains.begin());
        seeder.add(candidates[best]);
        chosen[step + 1] = static_cast<std::int64_t>(candidates[best]);
    }
}

}  // namespace mercer::cluster
