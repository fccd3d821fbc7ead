// Log-densities of rows under several Gaussians, by squared lengths of rows that are centred first and whitened then: whitened rows
// minus whitened means, which is the same on paper, have lost the digits that the two share.
//
// Rows are packed into panels (core/panels.hpp), a line a feature, so that a vector holds as many rows. What whitens them is packed
// once. A whitened row is squared in registers and never written, which is why this is no call of a product.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/panels.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::mixture {

// Means in two parts, the second of which is what the first lost by rounding: rows of floats are centred as if by doubles.
template <Real T>
class Means {
   public:
    explicit Means(RowMajor<const double> means)
        : n_features_(means.cols), high_(means.size()), low_(means.size()), is_exact_(std::is_same_v<T, double>) {
        for (std::size_t i = 0; i < means.size(); ++i) {
            high_[i] = static_cast<T>(means.data[i]);
            low_[i] = static_cast<T>(means.data[i] - static_cast<double>(high_[i]));
        }
    }

    // Writes the rows of a panel minus mean k. O(d).
    void centre(std::size_t k, const T* panel, T* centred) const {
        using S = Simd<T>;
        const T *high = high_.data() + k * n_features_, *low = low_.data() + k * n_features_;
        for (std::size_t j = 0; j < n_features_; ++j) {
            for (std::size_t v = 0; v < Panel<T>::kWidth; v += S::kLanes) {
                const std::size_t at = j * Panel<T>::kWidth + v;
                const auto difference = S::load(panel + at) - S::broadcast(high[j]);
                S::store(centred + at, is_exact_ ? difference : difference - S::broadcast(low[j]));
            }
        }
    }

   private:
    std::size_t n_features_;
    std::vector<T> high_, low_;
    bool is_exact_;
};

// What whitens: a matrix (d x d) a Gaussian, or one for all. Its columns are packed a few at a time, each with the rows that are
// not all zero: of a triangular matrix half.
template <Real T>
class FullFactors {
   public:
    using Value = T;

    // `factors` holds one matrix after another.
    explicit FullFactors(RowMajor<const double> factors) : n_features_(factors.cols) {
        const std::size_t n_factors = n_features_ == 0 ? 0 : factors.rows / n_features_;
        for (std::size_t f = 0; f < n_factors; ++f)
            for (std::size_t i = 0; i < n_features_; i += kRows) pack({factors.row(f * n_features_), n_features_, n_features_}, i);
        n_blocks_ = n_factors == 0 ? 0 : blocks_.size() / n_factors;
        is_shared_ = n_factors == 1;
    }

    // Writes the squared lengths of the centred rows of a panel, whitened by factor k. O(d^2).
    void squares(std::size_t k, const T* centred, T* lengths) const {
        using S = Simd<T>;
        typename S::Vector total[Panel<T>::kVectors] = {};
        const Block* const first = blocks_.data() + (is_shared_ ? 0 : k * n_blocks_);
        for (const Block* block = first; block != first + n_blocks_; ++block) {
            typename S::Vector sums[kRows][Panel<T>::kVectors] = {};
            const T *factor = values_.data() + block->start, *line = centred;
            for (std::size_t j = 0; j < block->depth; ++j, factor += kRows, line += Panel<T>::kWidth) {
                typename S::Vector values[Panel<T>::kVectors];
#pragma GCC unroll 8
                for (std::size_t v = 0; v < Panel<T>::kVectors; ++v) values[v] = S::load(line + v * S::kLanes);
#pragma GCC unroll 8
                for (std::size_t r = 0; r < kRows; ++r) {
                    const typename S::Vector by = S::broadcast(factor[r]);
#pragma GCC unroll 8
                    for (std::size_t v = 0; v < Panel<T>::kVectors; ++v) sums[r][v] += by * values[v];
                }
            }
#pragma GCC unroll 8
            for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 8
                for (std::size_t v = 0; v < Panel<T>::kVectors; ++v) total[v] += sums[r][v] * sums[r][v];
        }
        for (std::size_t v = 0; v < Panel<T>::kVectors; ++v) S::store(lengths + v * S::kLanes, total[v]);
    }

    double operations() const { return static_cast<double>(n_features_) * static_cast<double>(n_features_) / 2; }

   private:
    static constexpr std::size_t kRows = Panel<T>::kRows;

    struct Block {
        std::size_t start, depth;
    };

    void pack(RowMajor<const double> factor, std::size_t first) {
        const std::size_t last = std::min(first + kRows, factor.cols);
        std::size_t depth = factor.rows;
        const auto is_zero = [](double value) { return value == 0; };
        while (depth > 0 && std::all_of(&factor(depth - 1, first), factor.row(depth - 1) + last, is_zero)) --depth;
        blocks_.push_back({values_.size(), depth});
        for (std::size_t j = 0; j < depth; ++j)
            for (std::size_t i = first; i < first + kRows; ++i) values_.push_back(i < last ? static_cast<T>(factor(j, i)) : T{0});
    }

    std::size_t n_features_, n_blocks_ = 0;
    bool is_shared_ = false;
    std::vector<Block> blocks_;
    std::vector<T> values_;
};

// What whitens where features are independent: a line of d factors a Gaussian.
template <Real T>
class DiagonalFactors {
   public:
    using Value = T;

    explicit DiagonalFactors(RowMajor<const double> factors) : n_features_(factors.cols), values_(factors.size()) {
        std::transform(factors.data, factors.data + factors.size(), values_.begin(), [](double x) { return static_cast<T>(x); });
    }

    // As of FullFactors. O(d).
    void squares(std::size_t k, const T* centred, T* lengths) const {
        using S = Simd<T>;
        typename S::Vector total[Panel<T>::kVectors] = {};
        for (std::size_t j = 0; j < n_features_; ++j) {
            const typename S::Vector by = S::broadcast(values_[k * n_features_ + j]);
            for (std::size_t v = 0; v < Panel<T>::kVectors; ++v) {
                const typename S::Vector whitened = by * S::load(centred + j * Panel<T>::kWidth + v * S::kLanes);
                total[v] += whitened * whitened;
            }
        }
        for (std::size_t v = 0; v < Panel<T>::kVectors; ++v) S::store(lengths + v * S::kLanes, total[v]);
    }

    double operations() const { return 2 * static_cast<double>(n_features_); }

   private:
    std::size_t n_features_;
    std::vector<T> values_;
};

// Gaussians: log p_k(x) = offset_k - |factor_k' (x - mean_k)|^2 / 2, where the offset holds all that does not depend on the row.
template <class Factors>
struct Gaussians {
    using T = typename Factors::Value;

    RowMajor<const double> centres;
    Means<T> means;
    Factors factors;
    std::span<const double> offsets;

    Gaussians(RowMajor<const double> means_, RowMajor<const double> factors_, std::span<const double> offsets_)
        : centres(means_), means(means_), factors(factors_), offsets(offsets_) {}

    std::size_t count() const { return centres.rows; }
    std::size_t n_features() const { return centres.cols; }
    double operations() const {
        return static_cast<double>(count()) * (factors.operations() + static_cast<double>(n_features()) + 10);
    }

    // Writes the log-densities of the rows of a panel under Gaussian k; `scratch` has room for a panel. A square that overflows
    // counts as the largest number, so that no row is impossible.
    void log_densities(std::size_t k, const T* panel, T* scratch, T* out) const {
        using S = Simd<T>;
        constexpr T kLargest = std::numeric_limits<T>::max();
        means.centre(k, panel, scratch);
        factors.squares(k, scratch, out);
        const typename S::Vector offset = S::broadcast(static_cast<T>(offsets[k]));
        for (std::size_t v = 0; v < Panel<T>::kWidth; v += S::kLanes) {
            const typename S::Vector square = S::load(out + v), most = S::broadcast(kLargest);
            S::store(out + v, offset - T{0.5} * (square > most ? most : square));
        }
    }
};

// The tiles of a matrix: rows that are worked on while they are in the cache.
struct Tiles {
    std::size_t n_rows, height;

    template <Real T>
    static Tiles of(std::size_t n_rows, std::size_t n_features) {
        constexpr std::size_t kBytes = 49152, kMostRows = 96;
        const std::size_t fitting = kBytes / sizeof(double) / std::max<std::size_t>(n_features, 1);
        return {n_rows, std::max<std::size_t>(std::min(fitting, kMostRows) / Panel<T>::kWidth, 1) * Panel<T>::kWidth};
    }
    std::size_t count() const { return (n_rows + height - 1) / height; }
    std::size_t begin(std::size_t tile) const { return tile * height; }
    std::size_t rows(std::size_t tile) const { return std::min(height, n_rows - begin(tile)); }
    // Chunks of tiles, so few that what each of them sums up is small beside the rows.
    Chunks chunks(std::size_t n_sums) const {
        const auto most = std::clamp<std::size_t>((std::size_t{1} << 22) / std::max<std::size_t>(n_sums, 1), 1, 256);
        return Chunks::of(count(), 1 + 1024 / height, most);
    }
};

// The log-densities of the rows of a tile, a line a Gaussian.
template <class Factors>
class DensityTile {
   public:
    using T = typename Factors::Value;

    DensityTile(const Gaussians<Factors>& gaussians, const Tiles& tiles)
        : gaussians_(gaussians),
          height_(tiles.height),
          panels_(height_ * std::max<std::size_t>(gaussians.n_features(), 1)),
          scratch_(Panel<T>::kWidth * std::max<std::size_t>(gaussians.n_features(), 1)),
          lines_(height_ * std::max<std::size_t>(gaussians.count(), 1)) {}

    // Reads the rows of a tile and writes the lines. What lines hold behind the rows are numbers that mean nothing.
    void fill(Matrix<const T> x, std::size_t begin, std::size_t n) {
        constexpr std::size_t kWidth = Panel<T>::kWidth;
        const std::size_t d = gaussians_.n_features();
        const StridedSource<T, T> source{{x.row(begin), d, n, x.col_stride, x.row_stride}};
        source.pack(0, d, 0, n, {panels_.data(), d * kWidth});
        for (std::size_t k = 0; k < gaussians_.count(); ++k)
            for (std::size_t row = 0; row < n; row += kWidth)
                gaussians_.log_densities(k, panels_.data() + row * d, scratch_.data(), line(k) + row);
    }

    T* line(std::size_t k) const { return lines_.data() + k * height_; }

   private:
    const Gaussians<Factors>& gaussians_;
    std::size_t height_;
    Aligned<T> panels_, scratch_, lines_;
};

// Writes the log-density of each row under each Gaussian. O(n K d^2), or O(n K d) where features are independent.
template <class Factors, Real T = typename Factors::Value>
void log_densities(Matrix<const T> x, const Gaussians<Factors>& gaussians, RowMajor<T> out, Threads threads) {
    const Tiles tiles = Tiles::of<T>(x.rows, x.cols);
    const Chunks chunks = tiles.chunks(1);
    const double work = static_cast<double>(x.rows) * gaussians.operations();
    parallel_for(x.rows == 0 ? 0 : chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        DensityTile<Factors> densities(gaussians, tiles);
        for (std::size_t tile = chunks.begin(chunk); tile < chunks.end(chunk); ++tile) {
            checkpoint();
            const std::size_t begin = tiles.begin(tile), n = tiles.rows(tile);
            densities.fill(x, begin, n);
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t k = 0; k < gaussians.count(); ++k) out(begin + i, k) = densities.line(k)[i];
        }
    });
}

}  // namespace mercer::mixture
