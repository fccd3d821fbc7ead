// Distances of points to clusters, summed or their extremes, without a matrix of all pairs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/distance.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::metrics {

struct RootOf {
    [[gnu::always_inline]] static Simd<double>::Vector of(Simd<double>::Vector v) {
        for (std::size_t lane = 0; lane < Simd<double>::kLanes; ++lane) v[lane] = std::sqrt(v[lane]);
        return v;
    }
};
struct ValueOf {
    [[gnu::always_inline]] static Simd<double>::Vector of(Simd<double>::Vector v) { return v; }
};

// What is kept of the distances to the members of a cluster.
struct SumOf {
    static constexpr double kStart = 0;
    template <class V>
    static V add(V kept, V value) {
        return kept + value;
    }
};
struct LeastOf {
    static constexpr double kStart = std::numeric_limits<double>::infinity();
    template <class V>
    static V add(V kept, V value) {
        return value < kept ? value : kept;
    }
};
struct GreatestOf {
    static constexpr double kStart = 0;
    template <class V>
    static V add(V kept, V value) {
        return value > kept ? value : kept;
    }
};

// Collector of targets that stand cluster by cluster: cluster c ends before target ends[c]. Writes a value for each row of the
// group and each cluster.
template <class Reading, class Kept>
class ByCluster {
   public:
    using S = Simd<double>;

    ByCluster(std::span<const std::int64_t> ends, double* out, std::size_t n)
        : ends_(ends.data()), out_(out), k_(ends.size()), n_(n) {
        start();
    }

    [[gnu::always_inline]] void take(std::size_t target, const GroupVectors<double>& values) {
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kGroupVectors; ++v) kept_[v] = Kept::add(kept_[v], Reading::of(values[v]));
        if (static_cast<std::int64_t>(target) + 1 == ends_[cluster_]) write();
    }

   private:
    void start() {
        for (std::size_t v = 0; v < kGroupVectors; ++v) kept_[v] = S::broadcast(Kept::kStart);
    }
    void write() {
        for (std::size_t i = 0; i < n_; ++i) out_[i * k_ + cluster_] = kept_[i / S::kLanes][i % S::kLanes];
        ++cluster_;
        start();
    }

    const std::int64_t* ends_;
    double* out_;
    std::size_t k_, n_;
    std::size_t cluster_ = 0;
    GroupVectors<double> kept_;
};

// Writes, for rows [first, first + out.rows) of x and each cluster, what is kept of the distances to its members; the rows of x
// stand cluster by cluster, and every cluster has one. O(out.rows n d).
template <class M, class Reading, class Kept>
void measure_clusters(const M& metric, RowMajor<const double> x, std::size_t first, std::span<const std::int64_t> ends,
                      RowMajor<double> out, Threads threads) {
    const Matrix<const double> some{x.row(first), out.rows, x.cols, static_cast<std::ptrdiff_t>(x.cols), 1};
    measure_rows<double>(
        metric, some, Targets<double>{x},
        [&](std::size_t row, std::size_t n) { return ByCluster<Reading, Kept>(ends, out.row(row), n); },
        [](std::size_t, std::size_t, const auto&) {}, threads);
}

// The same of given distances, a line a row, whose columns have any order of labels. O(size).
template <class Kept>
void gather_clusters(RowMajor<const double> distances, std::span<const std::int64_t> labels, RowMajor<double> out,
                     Threads threads) {
    parallel_for(distances.rows, threads.for_work(static_cast<double>(distances.size())), [&](std::size_t i) {
        double* const kept = out.row(i);
        std::fill_n(kept, out.cols, Kept::kStart);
        const double* const row = distances.row(i);
        for (std::size_t j = 0; j < distances.cols; ++j) {
            double& value = kept[static_cast<std::size_t>(labels[j])];
            value = Kept::add(value, row[j]);
        }
    });
}

}  // namespace mercer::metrics
