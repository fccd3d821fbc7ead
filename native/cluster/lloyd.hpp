// Lloyd's algorithm, exact, with the two savings that pay: sums are kept up to date by the rows that changed cluster, and rows
// whose bounds prove that they cannot change are not looked at (Hamerly, SDM 2010).
//
// Labels of -1 mean "not assigned yet". Sums are per chunk of rows and added in the order of the chunks: see Chunks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "cluster/bounds.hpp"
#include "cluster/rows.hpp"
#include "cluster/traverse.hpp"
#include "core/distance.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

// What the members of each cluster add up to. `members` counts the rows of positive weight, exactly.
struct ClusterSums {
    RowMajor<double> sums;
    std::span<double> weights;
    std::span<std::int64_t> members;
};

struct StepReport {
    double inertia = 0;         // of the labels written, about the centres given
    std::size_t n_changed = 0;  // rows whose label changed
    std::size_t n_scanned = 0;  // rows compared with every centre
};

namespace detail {

// The changes that one chunk makes to the sums; the memory is taken when the first change comes.
class SumChanges {
   public:
    template <class Rows>
    void move(const Rows& rows, std::size_t row, double weight, std::int32_t from, std::int32_t to, std::size_t n_centres) {
        const std::size_t d = rows.cols();
        if (sums_.empty()) {
            sums_.resize(n_centres * d);
            weights_.resize(n_centres);
            members_.resize(n_centres);
        }
        add(rows, row, weight, static_cast<std::size_t>(to), 1);
        if (from >= 0) add(rows, row, -weight, static_cast<std::size_t>(from), -1);
    }

    void apply(ClusterSums& total) const {
        for (std::size_t i = 0; i < sums_.size(); ++i) total.sums.data[i] += sums_[i];
        for (std::size_t c = 0; c < weights_.size(); ++c) total.weights[c] += weights_[c];
        for (std::size_t c = 0; c < members_.size(); ++c) total.members[c] += members_[c];
    }

   private:
    template <class Rows>
    void add(const Rows& rows, std::size_t row, double weight, std::size_t cluster, int sign) {
        rows.add(row, weight, sums_.data() + cluster * rows.cols());
        weights_[cluster] += weight;
        members_[cluster] += weight != 0 ? sign : 0;
    }

    std::vector<double> sums_;
    std::vector<double> weights_;
    std::vector<std::int64_t> members_;
};

// One chunk of a step. A row whose bounds fail is measured against its own centre; if they fail again, against all centres. The
// latter are gathered, to be searched many at a time.
template <class Rows, bool kBounded>
class ChunkStep {
   public:
    using T = typename Rows::Value;

    ChunkStep(const Rows& rows, const typename Rows::Centres& centres, double largest_norm, std::span<const T> weights,
              const Bounds& bounds, const BoundsUpdate& update, std::span<std::int32_t> labels)
        : rows_(rows),
          centres_(centres),
          largest_norm_(largest_norm),
          weights_(weights),
          bounds_(bounds),
          update_(update),
          labels_(labels),
          search_(rows),
          run_(rows.run(centres.values.rows)) {}

    void run(std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            if constexpr (kBounded) {
                if (!bounds_.are_fresh && keeps(row)) continue;
            }
            waiting_[n_waiting_++] = row;
            if (n_waiting_ == run_) scan();
        }
        scan();
    }

    SumChanges changes;
    std::size_t n_changed = 0;
    std::size_t n_scanned = 0;

   private:
    bool keeps(std::size_t row) const {
        const auto label = static_cast<std::size_t>(labels_[row]);
        if (update_.keeps(row, label)) return true;
        return update_.keeps_at_distance(row, label, std::sqrt(rows_.squared_distance(row, centres_, label)));
    }

    void scan() {
        search_.template nearest<kBounded>({waiting_.data(), n_waiting_}, centres_, found_.data());
        for (std::size_t i = 0; i < n_waiting_; ++i) {
            const std::size_t row = waiting_[i];
            if constexpr (kBounded) set_bounds(row, found_[i]);
            const std::int32_t before = std::exchange(labels_[row], found_[i].target);
            if (found_[i].target == before) continue;
            ++n_changed;
            changes.move(rows_, row, weights_.empty() ? 1.0 : static_cast<double>(weights_[row]), before, found_[i].target,
                         centres_.values.rows);
        }
        n_scanned += n_waiting_;
        n_waiting_ = 0;
    }

    // The scores carry rounding errors; the bounds allow for them, so that they hold for the true distances.
    void set_bounds(std::size_t row, const Found<T>& found) {
        const double norm = rows_.squared_norm(row);
        const double error = 8 * static_cast<double>(std::numeric_limits<T>::epsilon()) * (norm + largest_norm_);
        bounds_.upper[row] = round_up(std::sqrt(std::max(norm + 2 * static_cast<double>(found.best) + error, 0.0)));
        bounds_.lower[row] = round_down(std::sqrt(std::max(norm + 2 * static_cast<double>(found.second) - error, 0.0)));
    }

    const Rows& rows_;
    const typename Rows::Centres& centres_;
    double largest_norm_;
    std::span<const T> weights_;
    const Bounds& bounds_;
    const BoundsUpdate& update_;
    std::span<std::int32_t> labels_;
    typename Rows::Search search_;
    std::size_t run_;
    std::array<std::size_t, Rows::capacity()> waiting_;
    std::array<Found<T>, Rows::capacity()> found_;
    std::size_t n_waiting_ = 0;
};

template <bool kBounded, class Rows, class T>
StepReport run_step(const Rows& rows, std::span<const T> weights, RowMajor<const T> centres, const Bounds& bounds,
                    std::span<std::int32_t> labels, ClusterSums& sums, Threads threads) {
    const typename Rows::Centres prepared(centres);
    const double largest_norm = 2 * static_cast<double>(*std::max_element(prepared.norms.begin(), prepared.norms.end()));
    const BoundsUpdate update(bounds, centres, rows.rows());
    const Chunks chunks = row_chunks(rows, centres.rows, centres.size());
    std::vector<SumChanges> changes(chunks.count);
    std::vector<StepReport> reports(chunks.count);
    const double work = measuring_work(rows, centres.rows) / 4 + 16 * static_cast<double>(rows.rows());
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        ChunkStep<Rows, kBounded> step(rows, prepared, largest_norm, weights, bounds, update, labels);
        step.run(chunks.begin(chunk), chunks.end(chunk));
        changes[chunk] = std::move(step.changes);
        reports[chunk] = {0, step.n_changed, step.n_scanned};
    });
    StepReport total;
    for (std::size_t chunk = 0; chunk < chunks.count; ++chunk) {
        changes[chunk].apply(sums);
        total.n_changed += reports[chunk].n_changed;
        total.n_scanned += reports[chunk].n_scanned;
    }
    return total;
}

}  // namespace detail

// One assignment step. Writes the nearest centre of each row to `labels` and brings `sums` (true for the labels before) up to
// date. `total` is the weighted sum of the squared norms of the rows, from which the inertia follows without another pass.
// O(n k d) at most, O(n) where the bounds hold. Equal bits for any number of threads.
template <class Rows, class T>
StepReport lloyd_step(const Rows& rows, std::span<const T> weights, RowMajor<const T> centres, double total, const Bounds& bounds,
                      std::span<std::int32_t> labels, ClusterSums sums, Threads threads) {
    StepReport report = bounds.upper.empty() ? detail::run_step<false>(rows, weights, centres, bounds, labels, sums, threads)
                                             : detail::run_step<true>(rows, weights, centres, bounds, labels, sums, threads);
    double inertia = total;
    for (std::size_t c = 0; c < centres.rows; ++c) {
        double dot = 0;
        double norm = 0;
        for (std::size_t j = 0; j < centres.cols; ++j) {
            const double value = centres(c, j);
            dot += value * sums.sums(c, j);
            norm += value * value;
        }
        inertia += sums.weights[c] * norm - 2 * dot;
    }
    report.inertia = std::max(inertia, 0.0);
    return report;
}

namespace detail {

// Gives each empty cluster the row farthest from its centre, taking it from the sums of the cluster it is in.
template <class Rows, class T>
void relocate(const Rows& rows, std::span<const T> weights, RowMajor<const T> centres, std::span<const std::int32_t> labels,
              const std::vector<std::size_t>& empty, std::vector<double>& sums, std::vector<double>& cluster_weights,
              Threads threads) {
    const std::size_t d = centres.cols;
    const typename Rows::Centres prepared(centres);
    std::vector<double> distance(rows.rows());
    for_each_row(row_chunks(rows, 1), threads, [&](std::size_t row, std::size_t) {
        const bool counts = weights.empty() || weights[row] > 0;
        distance[row] = counts ? rows.squared_distance(row, prepared, static_cast<std::size_t>(labels[row])) : 0.0;
    });
    std::vector<std::size_t> order(rows.rows());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto n_taken = static_cast<std::ptrdiff_t>(std::min(empty.size(), order.size()));
    std::partial_sort(order.begin(), order.begin() + n_taken, order.end(), [&](std::size_t a, std::size_t b) {
        return distance[a] > distance[b] || (distance[a] == distance[b] && a < b);
    });
    for (std::size_t e = 0; e < static_cast<std::size_t>(n_taken); ++e) {
        const std::size_t row = order[e];
        if (!(distance[row] > 0)) return;
        const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[row]);
        const auto giver = static_cast<std::size_t>(labels[row]);
        rows.add(row, -weight, sums.data() + giver * d);
        cluster_weights[giver] -= weight;
        std::fill_n(sums.data() + empty[e] * d, d, 0.0);
        rows.add(row, weight, sums.data() + empty[e] * d);
        cluster_weights[empty[e]] = weight;
    }
}

}  // namespace detail

// Writes the mean of each cluster to `means` and how far it is from the centre given to `moves`. A cluster with no weight takes
// over the row farthest from its centre (the next farthest for the next such cluster), which its cluster gives up; where no row
// is at a distance it keeps its centre. O(k d), and O(n d) if a cluster is empty. Returns the number of empty clusters.
template <class Rows, class T>
std::size_t update_centres(const Rows& rows, std::span<const T> weights, RowMajor<const T> centres,
                           std::span<const std::int32_t> labels, const ClusterSums& sums, RowMajor<T> means,
                           std::span<double> moves, Threads threads) {
    const std::size_t d = centres.cols;
    std::vector<double> total(sums.sums.data, sums.sums.data + sums.sums.size());
    std::vector<double> weight(sums.weights.begin(), sums.weights.end());
    std::vector<std::size_t> empty;
    for (std::size_t c = 0; c < centres.rows; ++c) {
        if (sums.members[c] > 0) continue;
        weight[c] = 0;
        empty.push_back(c);
    }
    if (!empty.empty()) detail::relocate(rows, weights, centres, labels, empty, total, weight, threads);
    for (std::size_t c = 0; c < centres.rows; ++c) {
        double move = 0;
        for (std::size_t j = 0; j < d; ++j) {
            means(c, j) = weight[c] > 0 ? static_cast<T>(total[c * d + j] / weight[c]) : centres(c, j);
            const double difference = static_cast<double>(means(c, j)) - static_cast<double>(centres(c, j));
            move += difference * difference;
        }
        moves[c] = std::sqrt(move);
    }
    return empty.size();
}

}  // namespace mercer::cluster
