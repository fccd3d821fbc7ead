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
#include "core/views.hpp"
#include "tree/split.hpp"

namespace mercer::tree {

class PlainColumns {
   public:
    // Copies X, of its own type. Categories are whole numbers from 0.
    template <Real T>
    PlainColumns(Matrix<const T> x, std::span<const std::uint8_t> is_categorical, Threads threads)
        : n_rows_(x.rows), values_(std::vector<T>(x.rows * x.cols)), facts_(x.cols) {
        require(x.rows < 0xFFFFFFFF, "trees: there are too many rows");
        auto& out = std::get<std::vector<T>>(values_);
        const std::size_t n_blocks = (x.cols + kColumnsAtOnce - 1) / kColumnsAtOnce;
        parallel_for(n_blocks, threads, [&](std::size_t block) {
            const std::size_t first = block * kColumnsAtOnce;
            const std::size_t last = std::min(first + kColumnsAtOnce, x.cols);
            for (std::size_t i = 0; i < x.rows; ++i)  // X is read along its rows
                for (std::size_t j = first; j < last; ++j) out[j * x.rows + i] = x(i, j);
            for (std::size_t j = first; j < last; ++j) {
                const T* column = out.data() + j * x.rows;
                facts_[j].has_missing = std::any_of(column, column + x.rows, [](T value) { return std::isnan(value); });
                facts_[j].is_categorical = !is_categorical.empty() && is_categorical[j] != 0;
            }
        });
    }

    std::size_t n_rows() const { return n_rows_; }
    std::size_t count() const { return facts_.size(); }
    bool has_missing(std::size_t j) const { return facts_[j].has_missing; }
    bool is_categorical(std::size_t j) const { return facts_[j].is_categorical; }

    // Writes the values of some rows of a column.
    void gather(std::size_t j, std::span<const Row> rows, double* out) const {
        std::visit(
            [&](const auto& values) {
                const auto* column = values.data() + j * n_rows_;
                for (std::size_t i = 0; i < rows.size(); ++i) out[i] = static_cast<double>(column[rows[i]]);
            },
            values_);
    }

   private:
    static constexpr std::size_t kColumnsAtOnce = 8;

    struct Facts {
        bool has_missing = false;
        bool is_categorical = false;
    };

    std::size_t n_rows_;
    std::variant<std::vector<double>, std::vector<float>> values_;
    std::vector<Facts> facts_;
};

}  // namespace mercer::tree
