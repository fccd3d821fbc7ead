// Distances from rows to centres: a register-tiled product, fused with what is done with the result.
//
// Two measures share one tile. kScore is |c|^2 / 2 - x.c, which orders the centres as the distance does and costs one
// multiply-add: |x - c|^2 = |x|^2 + 2 score. kSquared is |x - c|^2 itself, from the differences: twice the work, and exactly
// zero where a row equals a centre. Rows and centres are shifted by a common vector (the mean of the data) beforehand, so that
// the score does not cancel for data far from the origin.
//
// Computing values and collecting them are two things: a collector is given V vectors of values of one row at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

enum class Measure { kScore, kSquared };

// Tile sizes: V vectors of centres by R rows of data, the accumulators filling most of the registers.
inline constexpr std::size_t kTileVectors = kVectorRegisters == 32 ? 4 : 3;
constexpr std::size_t tile_rows(std::size_t vectors) {
    constexpr std::size_t accumulators = kVectorRegisters == 32 ? 24 : 12;
    return std::min<std::size_t>(accumulators / vectors, 8);
}

// Centres packed into panels of some vectors each (the last may be narrower). A panel holds one line of half squared norms, then
// one line a feature. Centres that only fill up the last vector score infinity and are never the nearest.
template <Real T>
class Panels {
   public:
    using S = Simd<T>;

    explicit Panels(RowMajor<const T> centres, std::size_t vectors_per_panel = kTileVectors)
        : n_centres_(centres.rows),
          n_features_(centres.cols),
          n_vectors_(S::round_up(centres.rows) / S::kLanes),
          vectors_per_panel_(std::min(vectors_per_panel, n_vectors_)),
          packed_(n_vectors_ * S::kLanes * (centres.cols + 1)) {
        for (std::size_t first = 0; first < n_vectors_; first += vectors_per_panel_) fill(first, centres);
    }

    std::size_t n_centres() const { return n_centres_; }
    std::size_t n_features() const { return n_features_; }
    std::size_t n_vectors() const { return n_vectors_; }
    std::size_t vectors_per_panel() const { return vectors_per_panel_; }
    std::size_t vectors_in(std::size_t first) const { return std::min(vectors_per_panel_, n_vectors_ - first); }
    const T* panel(std::size_t first) const { return packed_.data() + first * S::kLanes * (n_features_ + 1); }

   private:
    void fill(std::size_t first, RowMajor<const T> centres) {
        const std::size_t width = vectors_in(first) * S::kLanes;
        T* panel = packed_.data() + first * S::kLanes * (n_features_ + 1);
        for (std::size_t lane = 0; lane < width; ++lane) {
            const std::size_t c = first * S::kLanes + lane;
            double norm = 0;
            for (std::size_t j = 0; j < n_features_; ++j) {
                const T value = c < n_centres_ ? centres(c, j) : T{0};
                panel[(j + 1) * width + lane] = value;
                norm += static_cast<double>(value) * value;
            }
            panel[lane] = c < n_centres_ ? static_cast<T>(norm / 2) : std::numeric_limits<T>::infinity();
        }
    }

    std::size_t n_centres_;
    std::size_t n_features_;
    std::size_t n_vectors_;
    std::size_t vectors_per_panel_;
    Aligned<T> packed_;
};

// The best value of each row and its centre, and the second best if asked for. Ties go to the lower index, as in NumPy's argmin.
template <Real T, bool kWithSecond>
class Nearest {
   public:
    using S = Simd<T>;
    using Vector = typename S::Vector;
    using Indices = typename S::Indices;
    struct Result {
        std::int32_t centre;
        T best;
        T second;  // infinity where there is none or it was not asked for
    };

    explicit Nearest(std::size_t n_rows)
        : best_(n_rows * S::kLanes), second_(kWithSecond ? n_rows * S::kLanes : 0), index_(n_rows * S::kLanes) {}

    void start(std::size_t n_rows) {
        std::fill_n(best_.data(), n_rows * S::kLanes, std::numeric_limits<T>::infinity());
        if constexpr (kWithSecond) std::fill_n(second_.data(), n_rows * S::kLanes, std::numeric_limits<T>::infinity());
        std::fill_n(index_.data(), n_rows * S::kLanes, 0);
    }

    template <std::size_t V>
    void take(std::size_t row, std::size_t first_vector, const Vector (&values)[V]) {
        const std::size_t at = row * S::kLanes;
        Vector best = S::load(best_.data() + at);
        Vector second{};
        if constexpr (kWithSecond) second = S::load(second_.data() + at);
        Indices index;
        std::memcpy(&index, index_.data() + at, sizeof index);
        Indices centre = S::iota() + S::broadcast_index(static_cast<typename S::Index>(first_vector * S::kLanes));
        for (std::size_t v = 0; v < V; ++v) {
            const auto is_better = values[v] < best;
            if constexpr (kWithSecond) {
                const Vector loser = is_better ? best : values[v];
                second = loser < second ? loser : second;
            }
            best = is_better ? values[v] : best;
            index = is_better ? centre : index;
            centre += S::broadcast_index(static_cast<typename S::Index>(S::kLanes));
        }
        S::store(best_.data() + at, best);
        if constexpr (kWithSecond) S::store(second_.data() + at, second);
        std::memcpy(index_.data() + at, &index, sizeof index);
    }

    Result result(std::size_t row) {
        const std::size_t at = row * S::kLanes;
        fold<kVectorBytes / 2>(at);
        constexpr std::size_t kLeft = 16 / sizeof(T);
        Result r{static_cast<std::int32_t>(index_[at]), best_[at], kWithSecond ? second_[at] : std::numeric_limits<T>::infinity()};
        for (std::size_t lane = 1; lane < kLeft; ++lane) {
            const T value = best_[at + lane];
            const auto centre = static_cast<std::int32_t>(index_[at + lane]);
            const bool is_better = value < r.best || (value == r.best && centre < r.centre);
            if constexpr (kWithSecond) r.second = std::min({r.second, second_[at + lane], is_better ? r.best : value});
            r.best = is_better ? value : r.best;
            r.centre = is_better ? centre : r.centre;
        }
        return r;
    }

   private:
    // Halves the lanes of one row, in place, until 16 bytes are left.
    template <std::size_t kBytes>
    void fold(std::size_t at) {
        if constexpr (kBytes >= 16) {
            typedef T Half __attribute__((vector_size(kBytes)));
            typedef typename S::Index HalfIndex __attribute__((vector_size(kBytes)));
            constexpr std::size_t kHalf = kBytes / sizeof(T);
            Half low, high;
            HalfIndex low_index, high_index;
            std::memcpy(&low, best_.data() + at, kBytes);
            std::memcpy(&high, best_.data() + at + kHalf, kBytes);
            std::memcpy(&low_index, index_.data() + at, kBytes);
            std::memcpy(&high_index, index_.data() + at + kHalf, kBytes);
            const HalfIndex is_better = (high < low) | ((high == low) & (high_index < low_index));
            if constexpr (kWithSecond) {
                Half a, b;
                std::memcpy(&a, second_.data() + at, kBytes);
                std::memcpy(&b, second_.data() + at + kHalf, kBytes);
                const Half loser = is_better ? low : high;
                a = b < a ? b : a;
                a = loser < a ? loser : a;
                std::memcpy(second_.data() + at, &a, kBytes);
            }
            low = is_better ? high : low;
            low_index = is_better ? high_index : low_index;
            std::memcpy(best_.data() + at, &low, kBytes);
            std::memcpy(index_.data() + at, &low_index, kBytes);
            fold<kBytes / 2>(at);
        }
    }

    Aligned<T> best_;
    Aligned<T> second_;
    Aligned<typename S::Index> index_;
};

// Writes every value to a matrix of rows x (centres rounded up to whole vectors).
template <Real T>
struct WriteAll {
    T* out;
    std::size_t ld;

    template <std::size_t V>
    void take(std::size_t row, std::size_t first_vector, const typename Simd<T>::Vector (&values)[V]) {
        for (std::size_t v = 0; v < V; ++v) Simd<T>::store(out + row * ld + (first_vector + v) * Simd<T>::kLanes, values[v]);
    }
};

namespace detail {

// One tile: R rows against one panel of V vectors. O(R V d).
template <Measure kMeasure, std::size_t R, std::size_t V, Real T, class Collector>
[[gnu::always_inline]] inline void measure_tile(const T* rows, std::size_t ld, const T* panel, std::size_t d, std::size_t row,
                                                std::size_t first_vector, Collector& collector) {
    using S = Simd<T>;
    typename S::Vector acc[R][V];
#pragma GCC unroll 8
    for (std::size_t r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < V; ++v)
            acc[r][v] = kMeasure == Measure::kScore ? S::load(panel + v * S::kLanes) : typename S::Vector{};
    const T* line = panel;
    for (std::size_t j = 0; j < d; ++j) {
        line += V * S::kLanes;
        typename S::Vector centre[V];
#pragma GCC unroll 8
        for (std::size_t v = 0; v < V; ++v) centre[v] = S::load(line + v * S::kLanes);
#pragma GCC unroll 8
        for (std::size_t r = 0; r < R; ++r) {
            const typename S::Vector value = S::broadcast(rows[r * ld + j]);
#pragma GCC unroll 8
            for (std::size_t v = 0; v < V; ++v) {
                if constexpr (kMeasure == Measure::kScore) {
                    acc[r][v] -= value * centre[v];
                } else {
                    const typename S::Vector difference = value - centre[v];
                    acc[r][v] += difference * difference;
                }
            }
        }
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < R; ++r) collector.template take<V>(row + r, first_vector, acc[r]);
}

template <Measure kMeasure, std::size_t V, Real T, class Collector>
void measure_panel(const T* rows, std::size_t n_rows, std::size_t ld, const T* panel, std::size_t d, std::size_t first_vector,
                   Collector& collector) {
    constexpr std::size_t R = tile_rows(V);
    std::size_t row = 0;
    for (; row + R <= n_rows; row += R) measure_tile<kMeasure, R, V>(rows + row * ld, ld, panel, d, row, first_vector, collector);
    for (; row < n_rows; ++row) measure_tile<kMeasure, 1, V>(rows + row * ld, ld, panel, d, row, first_vector, collector);
}

}  // namespace detail

// Measures packed rows (leading dimension ld) against all centres and gives the values to the collector. O(n k d).
template <Measure kMeasure, Real T, class Collector>
void measure_rows(const T* rows, std::size_t n_rows, std::size_t ld, const Panels<T>& panels, Collector& collector) {
    const std::size_t d = panels.n_features();
    for (std::size_t first = 0; first < panels.n_vectors(); first += panels.vectors_per_panel()) {
        const T* panel = panels.panel(first);
        switch (panels.vectors_in(first)) {
            case 1:
                detail::measure_panel<kMeasure, 1>(rows, n_rows, ld, panel, d, first, collector);
                break;
            case 2:
                detail::measure_panel<kMeasure, 2>(rows, n_rows, ld, panel, d, first, collector);
                break;
            case 3:
                detail::measure_panel<kMeasure, 3>(rows, n_rows, ld, panel, d, first, collector);
                break;
            default:
                detail::measure_panel<kMeasure, kTileVectors>(rows, n_rows, ld, panel, d, first, collector);
                break;
        }
    }
}

}  // namespace mercer::cluster
