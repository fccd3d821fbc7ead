// The kernel of some rows, or of others, with all rows of a matrix that stays: what solvers that ask for a few lines of a kernel
// matrix at a time stand on. The matrix is packed and its norms are taken once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/distance.hpp"
#include "core/metric.hpp"
#include "core/packed_product.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "pairwise/features.hpp"
#include "pairwise/maps.hpp"
#include "pairwise/products.hpp"

namespace mercer::pairwise {

// exp(-gamma |x - y|^2) has an error of about gamma times that of the squared distance, which is some units in the last place of
// |x|^2 + |y|^2: no pair need be measured again where gamma (|x|^2 + |y|^2) is at most this.
inline constexpr double kHarmlessScale = 16;

enum class KernelKind { kLinear, kPolynomial, kSigmoid, kExponential, kLaplacian, kChiSquared };

// x . y, (gamma x . y + constant)^degree, tanh(gamma x . y + constant), or exp(-gamma distance) of one of three distances.
struct KernelForm {
    KernelKind kind;
    double gamma, constant, degree;
};

// Writes map(metric(x_i, y_j)) for packed rows, by differences. O(m n d).
template <Real T, class M, class Map>
void map_packed_features(const M& metric, const PackedColumns<T>& left, const PackedColumns<T>& right, const Map& map,
                         RowMajor<T> out, Threads threads) {
    using S = Simd<T>;
    using Shape = Panel<T>;
    constexpr std::size_t kRows = 4;
    static_assert(Shape::kWidth % kRows == 0);
    const double work = static_cast<double>(out.rows) * static_cast<double>(out.cols) * (static_cast<double>(left.depth()) / 2 + 4);
    for_each_tile<T>(out.rows, out.cols, work, threads, [&](std::size_t row, std::size_t m, std::size_t column, std::size_t n) {
        for (std::size_t j = 0; j < n; j += Shape::kWidth) {
            const std::size_t n_columns = std::min(Shape::kWidth, n - j);
            for (std::size_t i = 0; i < m; i += kRows) {
                typename S::Vector sums[kRows][Shape::kVectors] = {};
                for (std::size_t block = 0; block < right.n_blocks(); ++block) {
                    const T* a = left.panel(block, (row + i) / Shape::kWidth) + (row + i) % Shape::kWidth;
                    const T* b = right.panel(block, (column + j) / Shape::kWidth);
                    for (std::size_t k = 0; k < right.lines(block); ++k, a += Shape::kWidth, b += Shape::kWidth)
#pragma GCC unroll 4
                        for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 4
                            for (std::size_t v = 0; v < Shape::kVectors; ++v)
                                sums[r][v] = metric.add(sums[r][v], S::load(b + v * S::kLanes), S::broadcast(a[r]));
                }
                alignas(64) T line[Shape::kWidth];
                for (std::size_t r = 0; r < std::min(kRows, m - i); ++r) {
                    for (std::size_t v = 0; v < Shape::kVectors; ++v) S::store(line + v * S::kLanes, map(sums[r][v]));
                    std::copy_n(line, n_columns, &out(row + i + r, column + j));
                }
            }
        }
        checkpoint();
    });
}

template <Real T>
class KernelRows {
   public:
    // Rows of x stay where they are, which outlives this. O(n d).
    KernelRows(const KernelForm& form, RowMajor<const T> x, Threads threads)
        : form_(form),
          x_(x),
          shift_(is_from_norms() ? rough_mean<T>(x) : std::vector<T>()),
          norms_(is_from_norms() ? squared_norms<T>(x, shift_) : std::vector<T>()),
          packed_(RowColumns<T>{x, shift_}, threads) {}

    std::size_t n_rows() const { return x_.rows; }
    std::size_t n_features() const { return x_.cols; }

    // Writes the kernel of the rows of `index` with all rows. O(m n d).
    void rows(std::span<const std::int64_t> index, RowMajor<T> out, Threads threads) const {
        std::vector<T> norms(is_from_norms() ? index.size() : 0);
        for (std::size_t i = 0; i < norms.size(); ++i) norms[i] = norms_[static_cast<std::size_t>(index[i])];
        write(RowColumns<T>{x_, shift_, index.data(), index.size()}, norms, out, threads);
    }

    // Writes the kernel of other rows with all rows, some of them at a time, so that little is packed besides. O(m n d).
    void against(RowMajor<const T> y, RowMajor<T> out, Threads threads) const {
        for_each_band(y, [&](RowMajor<const T> some, std::size_t begin) {
            const std::vector<T> norms = is_from_norms() ? squared_norms<T>(some, shift_) : std::vector<T>();
            write(RowColumns<T>{some, shift_}, norms, {out.row(begin), some.rows, out.cols}, threads);
        });
    }

    // Writes the product of the kernel of other rows with all rows, and a matrix with a line for each row that stays. The kernel of
    // some rows at a time is held, in the second-level cache of the thread that multiplies it. O(m n (d + k)).
    void times(RowMajor<const T> y, Matrix<const T> right, RowMajor<T> out, Threads threads) const {
        constexpr std::size_t kValues = (std::size_t{3} << 17) / sizeof(T), kMost = 96;
        const PackedColumns<T> factor(StridedSource<T, T>{right}, threads);
        const std::size_t step = std::clamp<std::size_t>(kValues / x_.rows / 8 * 8, 24, kMost);
        const double work = static_cast<double>(y.rows) * static_cast<double>(x_.rows) * static_cast<double>(y.cols + out.cols) / 4;
        parallel_for((y.rows + step - 1) / step, threads.for_work(work), [&](std::size_t task) {
            const std::size_t begin = task * step, n = std::min(step, y.rows - begin);
            const Aligned<T> values(n * x_.rows);
            against({y.row(begin), n, y.cols}, {values.data(), n, x_.rows}, Threads{1});
            const Matrix<const T> columns{values.data(), x_.rows, n, 1, static_cast<std::ptrdiff_t>(x_.rows)};
            const PackedColumns<T> left(StridedSource<T, T>{columns}, Threads{1});
            packed_product<T>(left, factor, T{1}, {out.row(begin), n, out.cols}, Threads{1}, LeaveTile{});
        });
    }

   private:
    // With few features differences cost no more than products, and are exact.
    bool is_from_norms() const {
        constexpr std::size_t kFewFeatures = 12;
        return form_.kind == KernelKind::kExponential && x_.cols > kFewFeatures;
    }

    void write(const RowColumns<T>& some, std::span<const T> norms, RowMajor<T> out, Threads threads) const {
        const PackedColumns<T> left(some, threads);
        const auto by_products = [&](const LineMap<T>& map) {
            packed_product<T>(left, packed_, T{1}, out, threads, FinishTile<T, PlainProducts>{{}, map, false});
        };
        const auto by_features = [&](const auto& metric, const auto& map) {
            map_packed_features<T>(metric, left, packed_, map, out, threads);
        };
        const Exponential decay{-form_.gamma};
        switch (form_.kind) {
            case KernelKind::kLinear:
                return by_products(Same{});
            case KernelKind::kPolynomial:
                return by_products(Polynomial{form_.gamma, form_.constant, form_.degree});
            case KernelKind::kSigmoid:
                return by_products(Sigmoid{form_.gamma, form_.constant});
            case KernelKind::kLaplacian:
                return by_features(Manhattan{}, decay);
            case KernelKind::kChiSquared:
                return by_features(ChiSquared{}, decay);
            case KernelKind::kExponential:
                if (!is_from_norms()) return by_features(SquaredEuclidean{}, decay);
        }
        const auto between = [&](std::size_t i, std::size_t j) { return squared_distance<T>(some.row(i), x_.row(j), x_.cols); };
        const T harmless = static_cast<T>(std::min(kHarmlessScale / form_.gamma, double{std::numeric_limits<T>::max()}));
        const SquaredFromProducts<T, decltype(between)> value{norms, norms_, between, harmless};
        packed_product<T>(left, packed_, T{-2}, out, threads, FinishTile<T, decltype(value)>{value, decay, false});
    }

    KernelForm form_;
    RowMajor<const T> x_;
    std::vector<T> shift_, norms_;
    PackedColumns<T> packed_;
};

}  // namespace mercer::pairwise
