// Objectives of linear maps z = L x that bring rows of one class together, with their gradients: neighbourhood components and large
// margins.
//
// Both are sums over pairs of rows whose derivative is a weight W_ij times that of |z_i - z_j|^2, so that the gradient is
//   2 sum_ij W_ij (z_i - z_j)(x_i - x_j)' = 2 sum_i (r_i z_i x_i' - z_i a_i' - (L a_i) x_i' + c_i z_i x_i')
// with r and c the sums of the rows and columns of W and a_i = sum_j W_ij x_j. Rows go through in blocks: of the n x n distances
// and weights, no more than a block's exist at a time. Rows are sorted by class, so that a class is a range.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/chunk_sums.hpp"
#include "core/math.hpp"
#include "core/parallel.hpp"
#include "core/product.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::neighbors {

// Rows sorted by class: x (n x d), about their mean, their images z (n x k), and where each class begins (and the end).
struct MappedRows {
    RowMajor<const double> x, z, map;
    std::span<const std::int64_t> starts;

    std::size_t n() const { return x.rows; }
};

namespace detail {

inline constexpr std::size_t kRowsOfBlock = 32;

inline Matrix<const double> strided_rows(RowMajor<const double> a, std::size_t first, std::size_t n) {
    return {a.row(first), n, a.cols, static_cast<std::ptrdiff_t>(a.cols), 1};
}
inline Matrix<const double> transposed(RowMajor<const double> a) {
    return {a.data, a.cols, a.rows, 1, static_cast<std::ptrdiff_t>(a.cols)};
}

// The gradient of some rows, and what every other row has of their weights.
class GradientPart {
   public:
    GradientPart(const MappedRows& rows, double* sums) : rows_(rows), gradient_(sums), columns_(sums + size(rows) - rows.n()) {}

    static std::size_t size(const MappedRows& rows) { return rows.map.size() + rows.n(); }

    double* columns() { return columns_; }

    // Adds what row i has of the gradient: its total weight r, and a = sum_j W_ij x_j.
    void add_row(std::size_t i, double r, const double* a) {
        const std::size_t d = rows_.x.cols, k = rows_.z.cols;
        const double* const x = rows_.x.row(i);
        for (std::size_t c = 0; c < k; ++c) {
            const double* const line = rows_.map.row(c);
            const double image = lane_sum(d, [&](std::size_t j) { return line[j] * a[j]; });
            const double z = rows_.z(i, c), of_x = r * z - image;
            double* const out = gradient_ + c * d;
            for (std::size_t j = 0; j < d; ++j) out[j] += of_x * x[j] - z * a[j];
        }
    }

   private:
    const MappedRows& rows_;
    double* gradient_;
    double* columns_;
};

// gradient = 2 (the parts' sum + sum_i c_i z_i x_i').
inline void finish_gradient(const MappedRows& rows, std::span<const double> sums, RowMajor<double> gradient) {
    const std::size_t d = rows.x.cols, k = rows.z.cols;
    const double* const columns = sums.data() + rows.map.size();
    std::copy_n(sums.data(), rows.map.size(), gradient.data);
    for (std::size_t i = 0; i < rows.n(); ++i) {
        for (std::size_t c = 0; c < k; ++c) {
            const double factor = columns[i] * rows.z(i, c);
            for (std::size_t j = 0; j < d; ++j) gradient(c, j) += factor * rows.x(i, j);
        }
    }
    for (std::size_t e = 0; e < gradient.size(); ++e) gradient.data[e] *= 2;
}

// Runs `work(block's first row, rows, products, part)` over all blocks, where products(i, j) = z_(first + i) . z_j may be
// overwritten, and returns the sum of what it returns. O(n^2 k) and the work.
template <class Work>
double for_row_blocks(const MappedRows& rows, RowMajor<double> gradient, Threads threads, Work&& work) {
    const std::size_t n = rows.n(), n_blocks = (n + kRowsOfBlock - 1) / kRowsOfBlock;
    const Chunks chunks = Chunks::of(n_blocks, 2, 64);
    ChunkSums<double> sums(chunks, GradientPart::size(rows));
    ChunkParts<double> values(chunks);
    const double operations = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(rows.x.cols + rows.z.cols) / 4;
    parallel_for(chunks.count, threads.for_work(operations), [&](std::size_t chunk) {
        Aligned<double> products(kRowsOfBlock * n);
        GradientPart part(rows, sums[chunk]);
        for (std::size_t block = chunks.begin(chunk); block < chunks.end(chunk); ++block) {
            const std::size_t first = block * kRowsOfBlock, m = std::min(kRowsOfBlock, n - first);
            const Matrix<double> c{products.data(), m, n, static_cast<std::ptrdiff_t>(n), 1};
            multiply<double>(1.0, strided_rows(rows.z, first, m), transposed(rows.z), 0.0, c, {1});
            values[chunk] += work(first, c, part);
            checkpoint();
        }
    });
    finish_gradient(rows, sums.total(), gradient);
    return values.joined([](double& sum, double part) { sum += part; });
}

inline std::vector<double> squared_lengths(RowMajor<const double> z) {
    std::vector<double> lengths(z.rows);
    for (std::size_t i = 0; i < z.rows; ++i) lengths[i] = lane_sum(z.cols, [&](std::size_t j) { return z(i, j) * z(i, j); });
    return lengths;
}

// The class of row i, as a range of rows.
inline std::pair<std::size_t, std::size_t> range_of_class(std::span<const std::int64_t> starts, std::size_t i) {
    const auto end = std::upper_bound(starts.begin() + 1, starts.end() - 1, static_cast<std::int64_t>(i));
    return {static_cast<std::size_t>(*(end - 1)), static_cast<std::size_t>(*end)};
}

// Overwrites products z_i . z_j by exp(-|z_i - z_j|^2) up to a common factor, zero for j = i; returns their sum.
inline double soft_neighbours(double* line, std::size_t n, std::size_t i, const double* lengths) {
    using S = Simd<double>;
    const double itself = -std::numeric_limits<double>::infinity();
    double largest = itself;
    for (std::size_t j = 0; j < n; ++j) line[j] = 2 * line[j] - lengths[j];
    line[i] = itself;
    for (std::size_t j = 0; j < n; ++j) largest = std::max(largest, line[j]);
    std::size_t j = 0;
    S::Vector sums{};
    for (; j + S::kLanes <= n; j += S::kLanes) {
        const S::Vector value = math::exp(S::load(line + j) - largest);
        S::store(line + j, value);
        sums += value;
    }
    double sum = 0;
    for (std::size_t lane = 0; lane < S::kLanes; ++lane) sum += sums[lane];
    for (; j < n; ++j) sum += line[j] = std::exp(line[j] - largest);
    return sum;
}

}  // namespace detail

// Neighbourhood components (Goldberger et al.): returns minus the sum over rows of the probability p_i that a soft neighbour, drawn
// by exp(-|z_i - z_j|^2), is of the row's class, and writes its gradient (k x d). W_ij = p_ij ([same class] - p_i), whose rows sum
// to zero. O(n^2 (k + d)), and memory for 32 rows of n a thread.
inline double neighbourhood_components(const MappedRows& rows, RowMajor<double> gradient, Threads threads) {
    const std::size_t n = rows.n(), d = rows.x.cols;
    const std::vector<double> lengths = detail::squared_lengths(rows.z);
    return detail::for_row_blocks(rows, gradient, threads, [&](std::size_t first, Matrix<double> w, detail::GradientPart& part) {
        double objective = 0;
        for (std::size_t i = 0; i < w.rows; ++i) {
            double* const line = w.row(i);
            const double total = detail::soft_neighbours(line, n, first + i, lengths.data());
            const auto [begin, end] = detail::range_of_class(rows.starts, first + i);
            const double of_class = lane_sum(end - begin, [&](std::size_t j) { return line[begin + j]; });
            const double share = of_class / total;
            objective -= share;
            double* const columns = part.columns();
            const auto weigh = [&](std::size_t from, std::size_t to, double factor) {
                for (std::size_t j = from; j < to; ++j) columns[j] += line[j] *= factor;
            };
            weigh(0, begin, -share / total);
            weigh(begin, end, (1 - share) / total);
            weigh(end, n, -share / total);
        }
        std::vector<double> sums(w.rows * d);
        const Matrix<const double> weights{w.data, w.rows, n, w.row_stride, 1};
        multiply<double>(1.0, weights, detail::strided_rows(rows.x, 0, n), 0.0,
                         {sums.data(), w.rows, d, static_cast<std::ptrdiff_t>(d), 1}, {1});
        for (std::size_t i = 0; i < w.rows; ++i) part.add_row(first + i, 0, sums.data() + i * d);
        return objective;
    });
}

// What large margins ask for: the target neighbours of each row (n x t, up to the first negative number), the weight of the push
// and the margin.
struct Margins {
    RowMajor<const std::int64_t> targets;
    double push;
    double margin;
};

// Large margins (Weinberger and Saul): returns (1 - push) sum_ij |z_i - z_j|^2 over target neighbours j plus push times the sum of
// margin + |z_i - z_j|^2 - |z_i - z_l|^2, where positive, over rows l of other classes (impostors), and writes its gradient (k x
// d). O(n^2 k + pairs (d + t)).
inline double large_margins(const MappedRows& rows, const Margins& margins, RowMajor<double> gradient, Threads threads) {
    const std::size_t n = rows.n(), d = rows.x.cols, t = margins.targets.cols;
    const std::vector<double> lengths = detail::squared_lengths(rows.z);
    return detail::for_row_blocks(rows, gradient, threads, [&](std::size_t first, Matrix<double> w, detail::GradientPart& part) {
        double objective = 0;
        std::vector<double> sums(d), reach(t), weights(t);
        for (std::size_t i = 0; i < w.rows; ++i) {
            double* const line = w.row(i);
            const double length = lengths[first + i];
            for (std::size_t j = 0; j < n; ++j) line[j] = length + lengths[j] - 2 * line[j];
            std::fill(sums.begin(), sums.end(), 0.0);
            std::fill(weights.begin(), weights.end(), 1 - margins.push);
            double row_weight = 0, farthest = -std::numeric_limits<double>::infinity();
            const auto add = [&](std::size_t j, double weight) {
                for (std::size_t c = 0; c < d; ++c) sums[c] += weight * rows.x(j, c);
                part.columns()[j] += weight;
                row_weight += weight;
            };
            const std::int64_t* const targets = margins.targets.row(first + i);
            std::size_t n_targets = 0;
            for (; n_targets < t && targets[n_targets] >= 0; ++n_targets) {
                const std::size_t c = n_targets;
                reach[c] = margins.margin + line[targets[c]];
                farthest = std::max(farthest, reach[c]);
                objective += (1 - margins.push) * line[targets[c]];
            }
            const auto push_away = [&](std::size_t from, std::size_t to) {
                for (std::size_t l = from; l < to; ++l) {
                    if (!(line[l] < farthest)) continue;
                    double weight = 0;
                    for (std::size_t c = 0; c < n_targets; ++c) {
                        if (!(line[l] < reach[c])) continue;
                        objective += margins.push * (reach[c] - line[l]);
                        weights[c] += margins.push;
                        weight -= margins.push;
                    }
                    add(l, weight);
                }
            };
            const auto [begin, end] = detail::range_of_class(rows.starts, first + i);
            push_away(0, begin);
            push_away(end, n);
            for (std::size_t c = 0; c < n_targets; ++c) add(static_cast<std::size_t>(targets[c]), weights[c]);
            part.add_row(first + i, row_weight, sums.data());
        }
        return objective;
    });
}

}  // namespace mercer::neighbors
