// What rows add up to for each Gaussian, by their shares in it: the sums of the M step, in double precision, about centres that are
// near the means, so that nothing cancels. They are taken of a tile of rows while it is in the cache, in the same pass as the
// shares themselves where these come from densities (the E step).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "core/chunk_sums.hpp"
#include "core/math.hpp"
#include "core/pack.hpp"
#include "core/product.hpp"
#include "mixture/gaussians.hpp"

namespace mercer::mixture {

// Of each component: the shares, and the sums of share (x - centre) and of share (x - centre)(x - centre)', or of its diagonal.
struct MomentSums {
    std::span<double> shares;
    RowMajor<double> firsts;
    RowMajor<double> seconds;  // d lines a component, or one
};

namespace detail {

// The rows of a tile in the type of the sums, in whole vectors that end with zeros.
template <Real A>
class RowTile {
   public:
    RowTile(std::size_t n_features, std::size_t height)
        : n_features_(n_features), width_(Simd<A>::round_up(n_features)), values_(height * width_), index_(height) {
        std::fill_n(values_.data(), values_.size(), A{0});
    }

    template <Real T>
    void fill(Matrix<const T> x, std::size_t begin, std::size_t n) {
        std::iota(index_.begin(), index_.begin() + static_cast<std::ptrdiff_t>(n), begin);
        pack_rows<T, A>(x, {index_.data(), n}, {}, values_.data(), width_);
    }

    std::size_t n_features() const { return n_features_; }
    std::size_t width() const { return width_; }
    const A* row(std::size_t i) const { return values_.data() + i * width_; }

   private:
    std::size_t n_features_, width_;
    Aligned<A> values_;
    std::vector<std::size_t> index_;
};

// Centres in whole vectors, in two parts as of Means.
template <Real A>
class Centres {
   public:
    using V = typename Simd<A>::Vector;

    explicit Centres(RowMajor<const double> centres)
        : width_(Simd<A>::round_up(centres.cols)), high_(centres.rows * width_), low_(centres.rows * width_) {
        for (std::size_t k = 0; k < centres.rows; ++k)
            for (std::size_t j = 0; j < centres.cols; ++j) {
                const A high = high_[k * width_ + j] = static_cast<A>(centres(k, j));
                low_[k * width_ + j] = static_cast<A>(centres(k, j) - static_cast<double>(high));
            }
    }

    // Some features of centre k, to be taken off vectors of them.
    struct Part {
        V high, low;
        V off(V values) const {
            if constexpr (sizeof(A) == sizeof(double)) return values - high;
            return values - high - low;
        }
    };
    Part part(std::size_t k, std::size_t j) const {
        return {Simd<A>::load(high_.data() + k * width_ + j), Simd<A>::load(low_.data() + k * width_ + j)};
    }

   private:
    std::size_t width_;
    std::vector<A> high_, low_;
};

// sums[j] += the lanes of a vector.
template <Real A>
void add_lanes(typename Simd<A>::Vector v, double* sums) {
    for (std::size_t l = 0; l < Simd<A>::kLanes; ++l) sums[l] += static_cast<double>(v[l]);
}

}  // namespace detail

// Sums of whole matrices: the products of share (x - centre) with x - centre, those of a tile in the precision of the rows. A
// component has a line of share and first powers, and d lines of products.
template <Real T>
class FullMoments {
   public:
    using Value = T;

    FullMoments(std::size_t n_features, std::size_t height)
        : width_(S::round_up(n_features)),
          weighted_(height * width_ + Panel<T>::kRows),
          plain_(height * width_ + Panel<T>::kRows),
          shares_(height),
          index_(height) {
        std::fill_n(weighted_.data(), weighted_.size(), T{0});
        std::fill_n(plain_.data(), plain_.size(), T{0});
    }

    static std::size_t size(std::size_t n_features) {
        const std::size_t width = S::round_up(n_features);
        return 1 + width + width * width;
    }

    // Adds the first n rows of a tile by their shares in component k; rows without one are left out. O(n d^2).
    void add(const detail::RowTile<T>& tile, std::size_t n, const detail::Centres<T>& centres, std::size_t k, const T* shares,
             double* sums) {
        constexpr T kNegligible = static_cast<T>(1e-30);  // a share that changes no digit of any sum
        std::size_t n_lines = 0;
        for (std::size_t i = 0; i < n; ++i) {
            index_[n_lines] = i;
            shares_[n_lines] = shares[i];
            n_lines += shares[i] < kNegligible ? 0 : 1;
        }
        if (n_lines == 0) return;
        sums[0] += lane_sum(n_lines, [this](std::size_t i) { return static_cast<double>(shares_[i]); });
        for (std::size_t j = 0; j < width_; j += S::kLanes) {
            const auto centre = centres.part(k, j);
            typename S::Vector firsts = {};
            for (std::size_t i = 0; i < n_lines; ++i) {
                const auto difference = centre.off(S::load(tile.row(index_[i]) + j));
                const auto weighted = S::broadcast(shares_[i]) * difference;
                S::store(plain_.data() + i * width_ + j, difference);
                S::store(weighted_.data() + i * width_ + j, weighted);
                firsts += weighted;
            }
            detail::add_lanes<T>(firsts, sums + 1 + j);
        }
        add_products(n_lines, tile.n_features(), sums + 1 + width_);
    }

    static void unpack(const double* sums, std::size_t k, const MomentSums& out) {
        const std::size_t d = out.firsts.cols, width = S::round_up(d);
        const double* const products = sums + 1 + width;
        out.shares[k] = sums[0];
        std::copy_n(sums + 1, d, out.firsts.row(k));
        for (std::size_t i = 0; i < d; ++i)
            for (std::size_t j = i; j < d; ++j) out.seconds(k * d + i, j) = out.seconds(k * d + j, i) = products[i * width + j];
    }

    static double operations(std::size_t d) { return static_cast<double>(d) * static_cast<double>(d) / 4 + 2; }

   private:
    using S = Simd<T>;

    // Adds what lies on and above the diagonal of weighted' plain, for lines that are read where they lie.
    void add_products(std::size_t n_lines, std::size_t n_features, double* products) const {
        const T *const left = weighted_.data(), *const right = plain_.data();
        mercer::detail::TileProduct<T, double>{left, right,    n_lines, n_features, width_, 1,
                                               1,    products, width_,  0,          width_, Panel<T>::kWidth}
            .run();
    }

    std::size_t width_;
    Aligned<T> weighted_, plain_, shares_;
    std::vector<std::size_t> index_;
};

// Sums of diagonals: a component has its share, a line of first powers, and one of second ones. In double precision, which takes
// little longer.
template <Real>
class DiagonalMoments {
   public:
    using Value = double;

    DiagonalMoments(std::size_t n_features, std::size_t) : width_(S::round_up(n_features)) {}

    static std::size_t size(std::size_t n_features) { return 1 + 2 * S::round_up(n_features); }

    // As of FullMoments. O(n d).
    void add(const detail::RowTile<double>& tile, std::size_t n, const detail::Centres<double>& centres, std::size_t k,
             const double* shares, double* sums) const {
        sums[0] += lane_sum(n, [shares](std::size_t i) { return shares[i]; });
        for (std::size_t j = 0; j < width_; j += S::kLanes) {
            const auto centre = centres.part(k, j);
            S::Vector firsts[2] = {}, seconds[2] = {};  // two of each, so that additions need not wait for one another
            const auto add_row = [&](std::size_t i, std::size_t into) {
                const S::Vector difference = centre.off(S::load(tile.row(i) + j));
                const S::Vector weighted = S::broadcast(shares[i]) * difference;
                firsts[into] += weighted;
                seconds[into] += weighted * difference;
            };
            for (std::size_t i = 0; i + 2 <= n; i += 2) {
                add_row(i, 0);
                add_row(i + 1, 1);
            }
            if (n % 2 == 1) add_row(n - 1, 0);
            detail::add_lanes<double>(firsts[0] + firsts[1], sums + 1 + j);
            detail::add_lanes<double>(seconds[0] + seconds[1], sums + 1 + width_ + j);
        }
    }

    static void unpack(const double* sums, std::size_t k, const MomentSums& out) {
        const std::size_t d = out.firsts.cols, width = S::round_up(d);
        out.shares[k] = sums[0];
        std::copy_n(sums + 1, d, out.firsts.row(k));
        std::copy_n(sums + 1 + width, d, out.seconds.row(k));
    }

    static double operations(std::size_t d) { return 2 * static_cast<double>(d) + 2; }

   private:
    using S = Simd<double>;

    std::size_t width_;
};

namespace detail {

// Goes over the tiles of x and adds up the moments of their rows. `make_shares()` gives an object for each chunk, whose
// fill(tile's first row, rows) makes the shares of a tile's rows, line(k) holds those in component k, and whose `total` is added up
// and returned.
template <class Moments, Real T, class MakeShares>
double sum_moments(Matrix<const T> x, RowMajor<const double> centres, const MomentSums& out, double work_of_shares, Threads threads,
                   MakeShares&& make_shares) {
    const std::size_t d = x.cols, size = Moments::size(d), n_components = centres.rows;
    using Sum = typename Moments::Value;
    const Tiles tiles = Tiles::of<T>(x.rows, d);
    const Chunks chunks = tiles.chunks(n_components * size);
    const Centres<Sum> middles(centres);
    ChunkSums<double> sums(chunks, n_components * size);
    ChunkParts<double> totals(chunks);
    const double work = static_cast<double>(x.rows) * (work_of_shares + static_cast<double>(n_components) * Moments::operations(d));
    parallel_for(x.rows == 0 ? 0 : chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        auto shares = make_shares(tiles);
        RowTile<Sum> rows(d, tiles.height);
        Moments moments(d, tiles.height);
        for (std::size_t tile = chunks.begin(chunk); tile < chunks.end(chunk); ++tile) {
            checkpoint();
            const std::size_t begin = tiles.begin(tile), n = tiles.rows(tile);
            shares.fill(begin, n);
            rows.fill(x, begin, n);
            for (std::size_t k = 0; k < n_components; ++k) moments.add(rows, n, middles, k, shares.line(k), sums[chunk] + k * size);
        }
        totals[chunk] = shares.total;
    });
    const auto all = sums.total();
    for (std::size_t k = 0; k < n_components; ++k) Moments::unpack(all.data() + k * size, k, out);
    return totals.joined([](double& sum, double part) { sum += part; });
}

// Shares that are given, a line a row.
template <Real A>
class GivenShares {
   public:
    GivenShares(RowMajor<const double> shares, std::size_t height)
        : shares_(shares), height_(height), lines_(std::max<std::size_t>(height * shares.cols, 1)) {}

    void fill(std::size_t begin, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < shares_.cols; ++k) lines_[k * height_ + i] = static_cast<A>(shares_(begin + i, k));
    }
    const A* line(std::size_t k) const { return lines_.data() + k * height_; }

    double total = 0;

   private:
    RowMajor<const double> shares_;
    std::size_t height_;
    Aligned<A> lines_;
};

// Shares by densities: p_k(x) / sum_k p_k(x), times the weight of the row. `total` is the weighted sum of log sum_k p_k(x).
template <class Factors, Real A>
class DensityShares {
   public:
    using T = typename Factors::Value;

    DensityShares(Matrix<const T> x, std::span<const double> weights, const Gaussians<Factors>& gaussians, const Tiles& tiles)
        : x_(x),
          weights_(weights),
          n_components_(gaussians.count()),
          height_(tiles.height),
          densities_(gaussians, tiles),
          tops_(height_),
          sums_(height_),
          lines_(std::max<std::size_t>(height_ * n_components_, 1)) {}

    void fill(std::size_t begin, std::size_t n) {
        densities_.fill(x_, begin, n);
        for (std::size_t i = 0; i < n; i += S::kLanes) exponentiate(i);
        for (std::size_t i = 0; i < n; ++i) {
            const double weight = weights_.empty() ? 1.0 : weights_[begin + i];
            total += weight * (std::log(static_cast<double>(sums_[i])) + static_cast<double>(tops_[i]));
            sums_[i] = static_cast<T>(weight / static_cast<double>(sums_[i]));
        }
        for (std::size_t k = 0; k < n_components_; ++k)
            for (std::size_t i = 0; i < n; ++i) lines_[k * height_ + i] = static_cast<A>(densities_.line(k)[i] * sums_[i]);
    }
    const A* line(std::size_t k) const { return lines_.data() + k * height_; }

    double total = 0;

   private:
    using S = Simd<T>;

    // A vector of rows: densities over their largest, and the sum of these.
    void exponentiate(std::size_t i) {
        typename S::Vector top = S::load(densities_.line(0) + i), sum = {};
        for (std::size_t k = 1; k < n_components_; ++k) top = math::max(top, S::load(densities_.line(k) + i));
        for (std::size_t k = 0; k < n_components_; ++k) {
            T* const place = densities_.line(k) + i;
            const auto e = math::exp(S::load(place) - top);
            S::store(place, e);
            sum += e;
        }
        S::store(tops_.data() + i, top);
        S::store(sums_.data() + i, sum);
    }

    Matrix<const T> x_;
    std::span<const double> weights_;
    std::size_t n_components_, height_;
    DensityTile<Factors> densities_;
    Aligned<T> tops_, sums_;
    Aligned<A> lines_;
};

}  // namespace detail

// Writes the moments of the rows by shares that are given (n x K). O(n K d^2), or O(n K d) for diagonals.
template <class Moments, Real T>
void moments_of_shares(Matrix<const T> x, RowMajor<const double> shares, RowMajor<const double> centres, const MomentSums& out,
                       Threads threads) {
    detail::sum_moments<Moments>(x, centres, out, static_cast<double>(shares.cols), threads, [&](const Tiles& tiles) {
        return detail::GivenShares<typename Moments::Value>(shares, tiles.height);
    });
}

// Writes the moments of the rows, about the means of the Gaussians, by their shares in the densities, and returns the weighted sum
// of log sum_k p_k(x): an E step and the sums of the M step that follows. `weights` may be empty. At least one Gaussian. As above.
template <class Moments, class Factors, Real T = typename Factors::Value>
double moments_of_densities(Matrix<const T> x, std::span<const double> weights, const Gaussians<Factors>& gaussians,
                            const MomentSums& out, Threads threads) {
    return detail::sum_moments<Moments>(x, gaussians.centres, out, gaussians.operations(), threads, [&](const Tiles& tiles) {
        return detail::DensityShares<Factors, typename Moments::Value>(x, weights, gaussians, tiles);
    });
}

}  // namespace mercer::mixture
