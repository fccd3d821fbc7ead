// The columns of X as they are, hollow ones by their entries: what random thresholds need.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "tree/hollow_columns.hpp"
#include "tree/sparse_rows.hpp"
#include "tree/split.hpp"

namespace mercer::tree {

class PlainColumns {
   public:
    // A column of numbers is hollow where it has an entry in at most so many rows: below, all values are as quickly read.
    static constexpr std::size_t kRowsPerEntry = 8;

    // Copies X, of its own type, a row after another: the rows of a small node then lie in the cache whatever features are drawn.
    // Categories are whole numbers from 0.
    template <Real T>
    PlainColumns(Matrix<const T> x, std::span<const std::uint8_t> is_categorical, Threads threads)
        : PlainColumns(x, is_categorical, count_entries(x, threads), threads) {
        values_ = Aligned<T>(x.rows * n_full_);
        auto& out = std::get<Aligned<T>>(values_);
        const auto chunks = Chunks::of(x.rows, 1024, 64);
        std::vector<std::vector<std::uint8_t>> has_missing(chunks.count, std::vector<std::uint8_t>(x.cols, 0));
        parallel_for(chunks.count, threads, [&](std::size_t chunk) {
            for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
                for (std::size_t j = 0; j < x.cols; ++j) {
                    const T value = x(i, j);
                    has_missing[chunk][j] |= std::isnan(value);
                    if (!hollow_.has(j)) out[i * n_full_ + facts_[j].place] = value;
                }
            }
        });
        for (std::size_t j = 0; j < x.cols; ++j)
            for (const auto& part : has_missing) facts_[j].has_missing |= part[j] != 0;
    }

    PlainColumns(const SparseRows& x, std::span<const std::uint8_t> is_categorical, Threads threads)
        : PlainColumns(x, is_categorical, count_entries(x, threads), threads) {
        values_ = Aligned<double>(n_rows_ * n_full_);
        auto& out = std::get<Aligned<double>>(values_);
        std::fill_n(out.data(), out.size(), 0.0);
        for (std::size_t i = 0; i < n_rows_; ++i) {
            for (std::size_t e = x.begin(i); e < x.end(i); ++e) {
                const std::size_t j = x.column(e);
                facts_[j].has_missing |= std::isnan(x.value(e));
                if (!hollow_.has(j)) out[i * n_full_ + facts_[j].place] = x.value(e);
            }
        }
    }

    std::size_t n_rows() const { return n_rows_; }
    std::size_t count() const { return facts_.size(); }
    bool has_missing(std::size_t j) const { return facts_[j].has_missing; }
    bool is_categorical(std::size_t j) const { return facts_[j].is_categorical; }

    std::size_t n_full() const { return n_full_; }
    const HollowColumns& hollow() const { return hollow_; }

    // Writes the values that some rows have in some columns, a column at `out` and every `stride` behind it; nothing for hollow
    // ones. A few rows at a time, so that a row is brought to the cache once.
    void gather(std::span<const std::uint32_t> features, std::span<const Row> rows, double* out, std::size_t stride) const {
        std::visit(
            [&](const auto& values) {
                const std::size_t d = n_full_;
                for (std::size_t first = 0; first < rows.size(); first += kRowsAtOnce) {
                    const std::size_t last = std::min(first + kRowsAtOnce, rows.size());
                    for (std::size_t k = 0; k < features.size(); ++k) {
                        if (hollow_.has(features[k])) continue;
                        const auto* column = values.data() + facts_[features[k]].place;
                        for (std::size_t i = first; i < last; ++i) out[k * stride + i] = static_cast<double>(column[rows[i] * d]);
                    }
                }
            },
            values_);
    }

   private:
    static constexpr std::size_t kRowsAtOnce = 64;

    struct Facts {
        bool has_missing = false;
        bool is_categorical = false;
        std::size_t place = 0;  // of a full column in a row
    };

    template <class X>
    PlainColumns(const X& x, std::span<const std::uint8_t> is_categorical, std::vector<std::size_t> counts, Threads threads)
        : n_rows_(n_rows_of(x)), hollow_(x, with_full(counts, is_categorical), kRowsPerEntry, threads), facts_(counts.size()) {
        require(n_rows_ < 0xFFFFFFFF, "trees: there are too many rows");
        for (std::size_t j = 0; j < facts_.size(); ++j) {
            facts_[j].is_categorical = !is_categorical.empty() && is_categorical[j] != 0;
            if (!hollow_.has(j)) facts_[j].place = n_full_++;
        }
    }

    // Counts by which no column of categories is hollow: its zeros are a category like any other.
    std::vector<std::size_t> with_full(std::vector<std::size_t> counts, std::span<const std::uint8_t> is_categorical) const {
        for (std::size_t j = 0; j < is_categorical.size(); ++j)
            if (is_categorical[j] != 0) counts[j] = n_rows_ + 1;
        return counts;
    }

    std::size_t n_rows_;
    HollowColumns hollow_;
    std::vector<Facts> facts_;
    std::size_t n_full_ = 0;
    std::variant<Aligned<double>, Aligned<float>> values_{Aligned<double>(0)};  // of the full columns
};

}  // namespace mercer::tree
