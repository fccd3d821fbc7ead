// Sums, moments and scatter matrices of the rows of each group: what generative classifiers are made of.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/pack.hpp"
#include "core/panels.hpp"
#include "core/parallel.hpp"
#include "core/product.hpp"
#include "core/rows.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "preprocessing/column_stats.hpp"
#include "preprocessing/group_rows.hpp"

namespace mercer::preprocessing {

// Writes the weighted sum of the rows of each group, dense or sparse; the weights may be empty. A group is added up in the order of
// its rows, on one thread. O(entries + groups columns).
template <class Rows>
void group_sums(const Rows& rows, std::span<const std::int64_t> codes, std::span<const double> weights, RowMajor<double> sums,
                Threads threads) {
    const GroupRows groups(codes, weights, sums.rows);
    const double work = static_cast<double>(rows.n_entries()) + static_cast<double>(sums.size());
    parallel_for(sums.rows, threads.for_work(work), [&](std::size_t group) {
        constexpr std::size_t kAhead = 4;  // rows: those of a group may lie far apart
        double* const line = sums.row(group);
        std::fill_n(line, sums.cols, 0.0);
        const std::span<const std::size_t> own = groups.of(group);
        for (std::size_t i = 0; i < own.size(); ++i) {
            if (i + kAhead < own.size()) rows.prefetch(own[i + kAhead]);
            rows.add(own[i], weights.empty() ? 1.0 : weights[own[i]], line);
        }
    });
}

// Writes the moments of each column among the rows of each group (groups x columns): the weight of the values present, their mean
// (0 where there is none) and their squared deviations. As column_moments, for rows gathered a block at a time. O(n d).
template <Real T>
void group_moments(Matrix<const T> x, std::span<const std::int64_t> codes, std::span<const double> weights, RowMajor<double> weight,
                   RowMajor<double> mean, RowMajor<double> deviation, Threads threads) {
    const std::size_t d = x.cols;
    const GroupRows groups(codes, weights, weight.rows);
    const auto runs = groups.runs(std::clamp<std::size_t>(262144 / std::max<std::size_t>(d, 1), 64, 16384));
    std::vector<Moments> parts(runs.size(), Moments(d));
    const double work = static_cast<double>(x.rows) * static_cast<double>(d);
    parallel_for(runs.size(), threads.for_work(work), [&](std::size_t task) {
        const std::size_t n_block = cached_rows(d);
        Aligned<double> block(n_block * d);
        for (std::size_t first = runs[task].begin; first < runs[task].end; first += n_block) {
            const auto rows = groups.rows().subspan(first, std::min(n_block, runs[task].end - first));
            pack_rows<T, double>(x, rows, {}, block.data(), d);
            const auto weight_of = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[rows[i]]; };
            parts[task].merge(Moments::of_block(block.data(), rows.size(), d, weight_of));
        }
    });
    for (const RowMajor<double> out : {weight, mean, deviation}) std::fill_n(out.data, out.size(), 0.0);
    for (std::size_t first = 0; first < runs.size();) {
        const std::size_t group = runs[first].group;
        Moments& all = parts[first];
        for (++first; first < runs.size() && runs[first].group == group; ++first) all.merge(parts[first]);
        std::copy_n(all.weight.data(), d, weight.row(group));
        std::copy_n(all.mean.data(), d, mean.row(group));
        std::copy_n(all.deviation.data(), d, deviation.row(group));
    }
}

// Rows minus the means of their groups, times the roots of their weights, as the factor of a product: a line a row.
template <Real T>
class GroupCentredSource {
   public:
    GroupCentredSource(Matrix<const T> x, std::span<const std::size_t> rows, std::span<const std::int64_t> codes,
                       std::span<const double> weights, RowMajor<const double> means)
        : x_(x), rows_(rows), codes_(codes), means_(means), roots_(weights.empty() ? 0 : rows.size()) {
        for (std::size_t k = 0; k < roots_.size(); ++k) roots_[k] = std::sqrt(weights[rows[k]]);
    }

    std::size_t depth() const { return rows_.size(); }
    std::size_t width() const { return x_.cols; }

    void pack(std::size_t first, std::size_t last, std::size_t begin, std::size_t end, PanelLines<double> lines) const {
        constexpr std::size_t kWidth = Panel<double>::kWidth;
        for (std::size_t j = begin; j < end; j += kWidth) {
            const std::size_t n = std::min(kWidth, end - j);
            double* out = lines.panel((j - begin) / kWidth);
            for (std::size_t k = first; k < last; ++k, out += kWidth) {
                const std::size_t row = rows_[k];
                const double root = roots_.empty() ? 1.0 : roots_[k];
                const double* const mean = means_.row(static_cast<std::size_t>(codes_[row])) + j;
                if (x_.has_contiguous_rows() && n == kWidth) {
                    const T* const source = x_.row(row) + j;
                    for (std::size_t c = 0; c < kWidth; ++c) out[c] = (static_cast<double>(source[c]) - mean[c]) * root;
                } else {
                    for (std::size_t c = 0; c < n; ++c) out[c] = (static_cast<double>(x_(row, j + c)) - mean[c]) * root;
                    std::fill(out + n, out + kWidth, 0.0);
                }
            }
        }
    }

   private:
    Matrix<const T> x_;
    std::span<const std::size_t> rows_;
    std::span<const std::int64_t> codes_;
    RowMajor<const double> means_;
    std::vector<double> roots_;
};

// Writes the weighted scatter matrix of the rows of each group about `means` (groups x columns), one (d x d) after another; or,
// where there is room for one only, their sum. The weights may be empty. O(n d^2).
template <Real T>
void group_scatters(Matrix<const T> x, std::span<const std::int64_t> codes, std::span<const double> weights,
                    RowMajor<const double> means, RowMajor<double> scatters, Threads threads) {
    const std::size_t d = x.cols;
    const auto write = [&](std::span<const std::size_t> rows, double* out) {
        if (rows.empty()) return static_cast<void>(std::fill_n(out, d * d, 0.0));
        const GroupCentredSource<T> source(x, rows, codes, weights, means);
        gram_product<double, double>(source, 1.0, 0.0, {out, d, d, static_cast<std::ptrdiff_t>(d), 1}, threads);
    };
    const GroupRows groups(codes, weights, means.rows);
    if (scatters.rows == d) return write(groups.rows(), scatters.data);
    for (std::size_t group = 0; group < means.rows; ++group) write(groups.of(group), scatters.row(group * d));
}

}  // namespace mercer::preprocessing
