// Columns whose values are read one by one: where they lie in X, or from a copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "tree/hollow_columns.hpp"
#include "tree/sparse_rows.hpp"

namespace mercer::tree {

// How the values are best laid out: the columns of a row together, or the rows of a column.
enum class Layout { kByRow, kByColumn };

class FullColumns {
   public:
    // The columns of X that are not hollow. A matrix that has the layout already is read where it lies, and so is one of which
    // little is going to be read, where all trees together look at `n_looks` columns a level; it must outlive this then. What it
    // holds may change meanwhile.
    template <class X>
    FullColumns(const X& x, const HollowColumns& hollow, Layout layout, std::size_t n_looks, Threads threads)
        : places_(n_columns_of(x), 0) {
        for (std::size_t j = 0; j < places_.size(); ++j)
            if (!hollow.has(j)) features_.push_back(static_cast<std::uint32_t>(j));
        if (takes_in_place(x, layout, n_looks)) return;
        for (std::size_t k = 0; k < count(); ++k) places_[features_[k]] = k;
        copy(x, layout, threads);
    }

    std::size_t count() const { return features_.size(); }
    // Which features these are.
    std::span<const std::uint32_t> features() const { return features_; }

    // Calls read(values, place): the values that row i has in one of these features are values(i, place(feature)).
    template <class Read>
    void visit(Read&& read) const {
        std::visit([&](const auto& values) { read(values, [&](std::size_t feature) { return places_[feature]; }); }, values_);
    }

   private:
    static constexpr std::size_t kLevels = 8;  // of a tree, or so
    static constexpr std::size_t kColumnsAtOnce = 32;
    static constexpr std::size_t kRowsAtOnce = 32;

    template <Real T>
    bool takes_in_place(const Matrix<const T>& x, Layout layout, std::size_t n_looks) {
        const bool has_layout = layout == Layout::kByRow ? x.col_stride == 1 : x.row_stride == 1;
        const bool is_dense = 2 * count() >= x.cols || layout == Layout::kByColumn;  // else its rows fill the cache with zeros
        if (!(has_layout && is_dense) && n_looks > x.cols / kLevels) return false;
        for (const std::uint32_t feature : features_) places_[feature] = feature;
        values_ = x;
        return true;
    }
    bool takes_in_place(const SparseRows&, Layout, std::size_t) const { return false; }

    // Room for the values of so many rows.
    template <Real T>
    Matrix<T> make_room(std::size_t n_rows, Layout layout) {
        own_ = Aligned<T>(n_rows * count());
        T* data = std::get<Aligned<T>>(own_).data();
        const auto n = static_cast<std::ptrdiff_t>(n_rows);
        const auto d = static_cast<std::ptrdiff_t>(count());
        const Matrix<T> out =
            layout == Layout::kByRow ? Matrix<T>{data, n_rows, count(), d, 1} : Matrix<T>{data, n_rows, count(), 1, n};
        values_ = Matrix<const T>{data, n_rows, count(), out.row_stride, out.col_stride};
        return out;
    }

    // A few rows of a few columns at a time: both sides of a transposition stay in the cache.
    template <Real T>
    void copy(const Matrix<const T>& x, Layout layout, Threads threads) {
        const Matrix<T> out = make_room<T>(x.rows, layout);
        const Chunks of_columns{count(), (count() + kColumnsAtOnce - 1) / kColumnsAtOnce};
        const auto of_rows = Chunks::of(x.rows, 1024, 64);
        parallel_for(of_columns.count * of_rows.count, threads, [&](std::size_t task) {
            checkpoint();
            const std::size_t block = task / of_rows.count;
            const std::size_t part = task % of_rows.count;
            for (std::size_t begin = of_rows.begin(part); begin < of_rows.end(part); begin += kRowsAtOnce) {
                const std::size_t end = std::min(begin + kRowsAtOnce, of_rows.end(part));
                for (std::size_t k = of_columns.begin(block); k < of_columns.end(block); ++k)
                    for (std::size_t i = begin; i < end; ++i) out(i, k) = x(i, features_[k]);
            }
        });
    }

    void copy(const SparseRows& x, Layout layout, Threads) {
        const Matrix<double> out = make_room<double>(x.n_rows(), layout);
        std::vector<std::uint8_t> is_full(x.n_columns(), 0);
        for (const std::uint32_t feature : features_) is_full[feature] = 1;
        std::fill_n(out.data, x.n_rows() * count(), 0.0);
        for (std::size_t i = 0; i < x.n_rows(); ++i)
            for (std::size_t e = x.begin(i); e < x.end(i); ++e)
                if (is_full[x.column(e)] != 0) out(i, places_[x.column(e)]) = x.value(e);
    }

    std::vector<std::uint32_t> features_;
    std::vector<std::size_t> places_;  // by feature
    std::variant<Aligned<double>, Aligned<float>> own_{Aligned<double>(0)};
    std::variant<Matrix<const double>, Matrix<const float>> values_;
};

}  // namespace mercer::tree
