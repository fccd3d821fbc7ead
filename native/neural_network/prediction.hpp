// Outputs of a network whose layers are given as arrays. A row has the same bits in whatever rows it was asked for with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/packed_product.hpp"
#include "core/rows.hpp"
#include "core/softmax.hpp"
#include "core/sparse_product.hpp"
#include "neural_network/network.hpp"

namespace mercer::neural_network {

template <Real T>
struct GivenLayer {
    Matrix<const T> coef;  // inputs x units
    std::span<const T> intercept;
};

enum class OutputActivation { kIdentity, kLogistic, kSoftmax, kExp };

inline OutputActivation output_activation_of(std::string_view name) {
    if (name == "identity") return OutputActivation::kIdentity;
    if (name == "logistic") return OutputActivation::kLogistic;
    if (name == "softmax") return OutputActivation::kSoftmax;
    require(name == "exp", "the name of the output's activation is not known");
    return OutputActivation::kExp;
}

// In place.
template <Real T>
void activate_output(OutputActivation activation, RowMajor<T> raw) {
    using V = typename Simd<T>::Vector;
    const std::size_t n = raw.size();
    if (activation == OutputActivation::kLogistic) {
        detail::map_line(raw.data, raw.data, raw.data, n, [](V z, V) { return T{1} / (T{1} + math::exp(-z)); });
    } else if (activation == OutputActivation::kExp) {
        detail::map_line(raw.data, raw.data, raw.data, n, [](V z, V) { return math::exp(z); });
    } else if (activation == OutputActivation::kSoftmax) {
        Aligned<T> sums(raw.rows);
        const Matrix<const T> x{raw.data, raw.rows, raw.cols, static_cast<std::ptrdiff_t>(raw.cols), 1};
        softmax_rows<T>(x, std::span(sums.data(), raw.rows), raw, {1});
    }
}

namespace detail {

// z = a w for V vectors of columns of one row, as a packed product sums them: in blocks of depth, each from zero.
template <std::size_t V, Real T>
void multiply_row(const T* a, Matrix<const T> w, std::size_t column, T* z) {
    using S = Simd<T>;
    typename S::Vector total[V] = {};
    for (std::size_t first = 0; first < w.rows; first += kBlockDepth) {
        typename S::Vector sums[V] = {};
        for (std::size_t k = first; k < std::min(first + kBlockDepth, w.rows); ++k) {
            const T* const line = w.row(k) + column;
            const typename S::Vector value = S::broadcast(a[k]);
#pragma GCC unroll 8
            for (std::size_t v = 0; v < V; ++v) sums[v] += value * S::load(line + v * S::kLanes);
        }
#pragma GCC unroll 8
        for (std::size_t v = 0; v < V; ++v) total[v] = first == 0 ? sums[v] : total[v] + sums[v];
    }
    for (std::size_t v = 0; v < V; ++v) S::store(z + column + v * S::kLanes, total[v]);
}

// The same for a few columns.
template <Real T>
void multiply_row_by_few(const T* a, Matrix<const T> w, std::size_t column, T* z) {
    constexpr std::size_t kLanes = Simd<T>::kLanes;
    const std::size_t n = w.cols - column;
    T total[kLanes] = {};
    for (std::size_t first = 0; first < w.rows; first += kBlockDepth) {
        T sums[kLanes] = {};
        for (std::size_t k = first; k < std::min(first + kBlockDepth, w.rows); ++k)
            for (std::size_t c = 0; c < n; ++c) sums[c] += a[k] * w.row(k)[column + c];
        for (std::size_t c = 0; c < n; ++c) total[c] = first == 0 ? sums[c] : total[c] + sums[c];
    }
    std::copy_n(total, n, z + column);
}

}  // namespace detail

template <Real T>
class Predictor {
   public:
    Predictor(const Network& network, std::span<const GivenLayer<T>> layers, std::size_t n_rows, bool is_sparse, Threads threads)
        : network_(network), layers_(layers), threads_(threads) {
        packed_.reserve(layers.size());
        for (std::size_t l = 0; l < layers.size(); ++l) {
            const bool is_read_in_place = is_few(n_rows) && layers[l].coef.has_contiguous_rows();
            const bool is_absent = network.layer(l).draws || is_read_in_place || (is_sparse && reads_sparse(l));
            const StridedSource<T, T> all{layers[l].coef}, none{{}};
            packed_.emplace_back(is_absent ? none : all, threads);
        }
    }

    template <class Rows>
    void operator()(const Rows& x, OutputActivation activation, RowMajor<T> out) const {
        const std::size_t n_blocks = (x.rows() + kRows - 1) / kRows;
        double work = static_cast<double>(x.rows()) * 64;
        for (const GivenLayer<T>& layer : layers_)
            work += static_cast<double>(x.rows()) * static_cast<double>(layer.coef.rows * layer.coef.cols) / 4;
        parallel_for(n_blocks, threads_.for_work(work), [&](std::size_t block) {
            const std::size_t first = block * kRows, n = std::min(kRows, x.rows() - first);
            predict_block(x, first, {out.row(first), n, out.cols}, activation);
        });
    }

    static constexpr std::size_t kRows = 96;

   private:
    // So few that to pack the coefficients would take longer than to read them as they are.
    static bool is_few(std::size_t n_rows) { return n_rows < 8; }
    bool reads_sparse(std::size_t l) const { return network_.layer(l).sources[0] == 0; }

    template <class Rows>
    void predict_block(const Rows& x, std::size_t first, RowMajor<T> out, OutputActivation activation) const {
        std::vector<Aligned<T>> values;
        const std::size_t n = out.rows;
        for (std::size_t l = 0; l < network_.n_layers(); ++l) {
            const Layer& layer = network_.layer(l);
            const bool is_last = l + 1 == network_.n_layers();
            values.emplace_back(is_last ? 0 : n * layer.units);
            const RowMajor<T> z{is_last ? out.data : values[l].data(), n, layer.units};
            if (layer.draws) {  // the means
                for (std::size_t i = 0; i < n; ++i)
                    std::copy_n(values[layer.sources[0] - 1].data() + i * 2 * layer.units, layer.units, z.row(i));
                continue;
            }
            multiply_inputs(l, x, first, values, z);
        }
        activate_output(activation, out);
        checkpoint();
    }

    template <class Rows>
    void multiply_inputs(std::size_t l, const Rows& x, std::size_t first, const std::vector<Aligned<T>>& values,
                         RowMajor<T> z) const {
        const Layer& layer = network_.layer(l);
        const T* const bias = layers_[l].intercept.data();
        const auto finish = [&](Matrix<T> tile, std::size_t, std::size_t column) {
            for (std::size_t i = 0; i < tile.rows; ++i)
                activate<T>(layer.activation, tile.row(i), bias + column, nullptr, tile.cols);
        };
        if constexpr (Rows::kIsSparse) {
            if (reads_sparse(l)) {
                const CsrRows<T> part{{x.x.values, x.x.columns, x.x.row_starts.subspan(first, z.rows + 1), z.rows, x.x.cols}};
                multiply_sparse<T>(part, {layers_[l].coef.data, layers_[l].coef.rows, layers_[l].coef.cols}, z, {1});
                return finish({z.data, z.rows, z.cols, static_cast<std::ptrdiff_t>(z.cols), 1}, 0, 0);
            }
        } else if (layer.sources.size() == 1 && layer.sources[0] == 0) {
            const Matrix<const T> part{x.x.row(first), z.rows, x.x.cols, x.x.row_stride, x.x.col_stride};
            return multiply(l, part, z, finish);
        }
        if (layer.sources.size() == 1) {
            const std::size_t width = layer.inputs;
            return multiply(l, {values[layer.sources[0] - 1].data(), z.rows, width, static_cast<std::ptrdiff_t>(width), 1}, z,
                            finish);
        }
        Aligned<T> joined(z.rows * layer.inputs);
        std::size_t column = 0;
        for (const std::size_t place : layer.sources) {
            const std::size_t width = network_.width(place);
            for (std::size_t i = 0; i < z.rows; ++i) {
                T* const target = joined.data() + i * layer.inputs + column;
                if constexpr (!Rows::kIsSparse) {
                    if (place == 0) {
                        x.for_each(first + i, [&](std::size_t j, T value) { target[j] = value; });
                        continue;
                    }
                }
                std::copy_n(values[place - 1].data() + i * width, width, target);
            }
            column += width;
        }
        multiply(l, {joined.data(), z.rows, layer.inputs, static_cast<std::ptrdiff_t>(layer.inputs), 1}, z, finish);
    }

    template <class Finish>
    void multiply(std::size_t l, Matrix<const T> a, RowMajor<T> z, const Finish& finish) const {
        if (packed_[l].width() > 0) {
            const PackedColumns<T> left(StridedSource<T, T>{{a.data, a.cols, a.rows, a.col_stride, a.row_stride}}, {1});
            return packed_product<T>(left, packed_[l], T{1}, z, {1}, finish);
        }
        constexpr std::size_t kLanes = Simd<T>::kLanes;
        const Matrix<const T> w = layers_[l].coef;
        std::vector<T> row(a.cols);
        for (std::size_t i = 0; i < a.rows; ++i) {
            for (std::size_t k = 0; k < a.cols; ++k) row[k] = a(i, k);
            std::size_t j = 0;
            for (; j + 8 * kLanes <= w.cols; j += 8 * kLanes) detail::multiply_row<8>(row.data(), w, j, z.row(i));
            for (; j + kLanes <= w.cols; j += kLanes) detail::multiply_row<1>(row.data(), w, j, z.row(i));
            if (j < w.cols) detail::multiply_row_by_few(row.data(), w, j, z.row(i));
        }
        finish(Matrix<T>{z.data, z.rows, z.cols, static_cast<std::ptrdiff_t>(z.cols), 1}, 0, 0);
    }

    const Network& network_;
    std::span<const GivenLayer<T>> layers_;
    Threads threads_;
    std::vector<PackedColumns<T>> packed_;
};

}  // namespace mercer::neural_network
