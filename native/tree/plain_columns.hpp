// The columns of X one after another, as they are: what random thresholds need.
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
#include "tree/split.hpp"

namespace mercer::tree {

class PlainColumns {
   public:
    // Copies X, of its own type, a row after another: the rows of a small node then lie in the cache whatever features are drawn.
    // Categories are whole numbers from 0.
    template <Real T>
    PlainColumns(Matrix<const T> x, std::span<const std::uint8_t> is_categorical, Threads threads)
        : n_rows_(x.rows), values_(Aligned<T>(x.rows * x.cols)), facts_(x.cols) {
        require(x.rows < 0xFFFFFFFF, "trees: there are too many rows");
        auto& out = std::get<Aligned<T>>(values_);
        const auto chunks = Chunks::of(x.rows, 1024, 64);
        std::vector<std::vector<std::uint8_t>> has_missing(chunks.count, std::vector<std::uint8_t>(x.cols, 0));
        parallel_for(chunks.count, threads, [&](std::size_t chunk) {
            for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
                for (std::size_t j = 0; j < x.cols; ++j) {
                    const T value = x(i, j);
                    out[i * x.cols + j] = value;
                    has_missing[chunk][j] |= std::isnan(value);
                }
            }
        });
        for (std::size_t j = 0; j < x.cols; ++j) {
            for (const auto& part : has_missing) facts_[j].has_missing |= part[j] != 0;
            facts_[j].is_categorical = !is_categorical.empty() && is_categorical[j] != 0;
        }
    }

    std::size_t n_rows() const { return n_rows_; }
    std::size_t count() const { return facts_.size(); }
    bool has_missing(std::size_t j) const { return facts_[j].has_missing; }
    bool is_categorical(std::size_t j) const { return facts_[j].is_categorical; }

    // Writes the values that some rows have in some columns, a column at `out` and every `stride` behind it. A few rows at a time,
    // so that a row is brought to the cache once.
    void gather(std::span<const std::uint32_t> features, std::span<const Row> rows, double* out, std::size_t stride) const {
        std::visit(
            [&](const auto& values) {
                const std::size_t d = facts_.size();
                for (std::size_t first = 0; first < rows.size(); first += kRowsAtOnce) {
                    const std::size_t last = std::min(first + kRowsAtOnce, rows.size());
                    for (std::size_t k = 0; k < features.size(); ++k) {
                        const auto* column = values.data() + features[k];
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
    };

    std::size_t n_rows_;
    std::variant<Aligned<double>, Aligned<float>> values_;
    std::vector<Facts> facts_;
};

}  // namespace mercer::tree
