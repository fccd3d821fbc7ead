// Forward and backward passes over a batch of rows, in memory that is reserved once.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/product.hpp"
#include "core/rng.hpp"
#include "core/sparse_product.hpp"
#include "core/views.hpp"
#include "neural_network/narrow.hpp"
#include "neural_network/network.hpp"

namespace mercer::neural_network {

// Names what a pass draws (units that are dropped, Gaussian draws, noise): the same for any number of threads.
struct Draws {
    std::uint64_t seed = 0;
    std::uint64_t pass = 0;  // the number of the batch; each row of it has a stream of its own

    Philox stream(std::size_t what, std::size_t row) const { return {seed + 0x9E3779B97F4A7C15u * (what + 1), (pass << 32) + row}; }
};

// What a variational network pays for draws that differ from standard normal ones: beta times their Kullback-Leibler divergence.
struct Divergence {
    double beta = 0;
    double sum = 0;  // of the rows' divergences times their weights, once a backward pass is over
};

template <Real T>
class Passes {
   public:
    Passes(const Network& network, std::size_t most_rows, bool is_sparse, bool trains) : network_(network), trains_(trains) {
        std::size_t most_narrow = 0;
        for (std::size_t place = 0; place <= network.n_layers(); ++place) {
            const std::size_t size = place == 0 && is_sparse ? 0 : most_rows * network.width(place);
            values_.emplace_back(size + kPadding);
            const bool is_learnt = trains && place > 0;
            deltas_.emplace_back(is_learnt ? size + kPadding : 0);
            if (place > 0 && is_narrow(network.layer(place - 1)))
                most_narrow = std::max(most_narrow, network.layer(place - 1).units * (network.layer(place - 1).inputs + kPadding));
            slopes_.emplace_back(is_learnt && keeps_slopes(network.layer(place - 1)) ? size : 0);
        }
        narrow_ = Aligned<T>(most_narrow);
        for (const Aligned<T>& values : values_) std::fill_n(values.data() + values.size() - kPadding, kPadding, T{0});
    }

    // Where the rows of a batch are written before a pass: dense ones, or the sparse ones themselves.
    RowMajor<T> input(std::size_t n) { return values(0, n); }
    CsrRows<T> sparse;

    // Raw outputs after a forward pass; what is in their place before a backward pass are the slopes of the loss.
    RowMajor<T> output(std::size_t n) { return values(network_.n_layers(), n); }

    // Every layer's values; the last layer's activation is the identity in training.
    void forward(std::span<const T> parameters, std::size_t n, const Draws& draws, Threads threads) {
        for (std::size_t l = 0; l < network_.n_layers(); ++l) {
            const Layer& layer = network_.layer(l);
            if (layer.draws) {
                draw(l, n, draws, threads);
                continue;
            }
            const RowMajor<T> z = values(l + 1, n);
            T* const slopes = slopes_[l + 1].size() > 0 ? slopes_[l + 1].data() : nullptr;
            const T* const bias = network_.intercept(parameters, l).data();
            const auto finish = [&](Matrix<T> tile, std::size_t row, std::size_t column) {
                for (std::size_t i = 0; i < tile.rows; ++i)
                    activate(layer.activation, tile.row(i), bias + column,
                             slopes == nullptr ? nullptr : slopes + (row + i) * layer.units + column, tile.cols);
            };
            std::size_t first = 0;
            for (std::size_t s = 0; s < layer.sources.size(); ++s) {
                const std::size_t place = layer.sources[s], width = network_.width(place);
                const Matrix<const T> w = network_.coef(parameters, l, first, width);
                const bool is_last = s + 1 == layer.sources.size();
                if (place == 0 && is_sparse()) {
                    multiply_sparse<T>(sparse, {w.data, w.rows, w.cols}, z, threads);  // first of the sources, if at all
                    if (is_last) finish_rows(z, finish, threads);
                } else {
                    const RowMajor<T> a = values(place, n);
                    if (is_narrow(layer)) {
                        forward_narrow(a, w, z, s > 0, threads);
                        if (is_last) finish_rows(z, finish, threads);
                        first += width;
                        continue;
                    }
                    const StridedSource<T, T> left{transposed(a)};
                    const T beta = s == 0 ? T{0} : T{1};
                    if (is_last) {
                        product<T, T>(left, StridedSource<T, T>{w}, T{1}, beta, matrix(z), threads, finish);
                    } else {
                        product<T, T>(left, StridedSource<T, T>{w}, T{1}, beta, matrix(z), threads);
                    }
                }
                first += width;
            }
            if (trains_ && layer.dropout > 0) drop(l, n, draws, threads);
        }
    }

    // Adds up the gradient of the parameters from the slopes in `output`. The deltas of place p, the slopes of the loss in its
    // values, are complete once all layers above have been passed, and become those in z by h'(z) on the way.
    void backward(std::span<const T> parameters, std::span<T> gradient, std::size_t n, std::span<const T> weights, T beta,
                  Divergence& divergence, Threads threads) {
        std::vector<bool> has_delta(network_.n_layers() + 1);
        for (std::size_t l = network_.n_layers(); l-- > 0;) {
            const Layer& layer = network_.layer(l);
            const RowMajor<T> dz = l + 1 == network_.n_layers() ? output(n) : RowMajor<T>{deltas_[l + 1].data(), n, layer.units};
            if (layer.draws) {
                draw_back(l, n, weights, divergence, threads);
                has_delta[layer.sources[0]] = true;
                continue;
            }
            column_sums(dz, network_.intercept(gradient, l), beta);
            std::size_t first = 0;
            for (const std::size_t place : layer.sources) {
                const std::size_t width = network_.width(place);
                add_coef_gradient(l, place, first, dz, gradient, beta, threads);
                if (place > 0) {
                    const RowMajor<T> da{deltas_[place].data(), n, width};
                    const Matrix<const T> w = network_.coef(parameters, l, first, width);
                    const auto finish = [&, is_complete = is_lowest_reader(l, place)](Matrix<T> tile, std::size_t row,
                                                                                      std::size_t column) {
                        if (is_complete) to_z(place, tile, row, column);
                    };
                    if (is_narrow(layer)) {
                        backward_narrow(dz, w, da, has_delta[place], threads);
                        finish_rows(da, finish, threads);
                        has_delta[place] = true;
                        first += width;
                        continue;
                    }
                    product<T, T>(StridedSource<T, T>{transposed(dz)},
                                  StridedSource<T, T>{{w.data, w.cols, w.rows, w.col_stride, w.row_stride}}, T{1},
                                  has_delta[place] ? T{1} : T{0}, matrix(da), threads, finish);
                    has_delta[place] = true;
                }
                first += width;
            }
        }
    }

   private:
    static constexpr std::size_t kPadding = 64;                         // values behind arrays that products read in whole panels
    static constexpr std::size_t kInPlaceBytes = std::size_t{1} << 19;  // of two factors that stay in the second-level cache
    static_assert(kPadding >= Panel<T>::kWidth && kPadding >= Simd<T>::kLanes);

    static bool is_narrow(const Layer& layer) { return !layer.draws && layer.units <= kMostNarrow; }

    void forward_narrow(RowMajor<T> a, Matrix<const T> w, RowMajor<T> z, bool adds, Threads threads) const {
        const NarrowCoef<T> coef(w, narrow_.data());
        detail::with_units(w.cols, [&]<std::size_t U>() {
            for_rows(a.rows, a.cols * U / 16 + 1, threads,
                     [&](std::size_t i) { narrow_forward<U>(a.row(i), a.cols, coef, adds, z.row(i)); });
        });
    }

    void backward_narrow(RowMajor<T> dz, Matrix<const T> w, RowMajor<T> da, bool adds, Threads threads) const {
        const NarrowCoef<T> coef(w, narrow_.data());
        detail::with_units(w.cols, [&]<std::size_t U>() {
            for_rows(da.rows, da.cols * U / 16 + 1, threads,
                     [&](std::size_t i) { narrow_backward<U>(dz.row(i), da.cols, coef, adds, da.row(i)); });
        });
    }

    // dw = kept dw + a' dz.
    void add_narrow_gradient(RowMajor<T> a, RowMajor<T> dz, T kept, Matrix<T> dw) const {
        const std::size_t stride = NarrowCoef<T>::stride(a.cols);
        std::fill_n(narrow_.data(), stride * dz.cols, T{0});
        detail::with_units(dz.cols, [&]<std::size_t U>() {
            narrow_gradient<U, T>({a.data, a.rows, a.cols}, {dz.data, dz.rows, dz.cols}, narrow_.data());
        });
        for (std::size_t k = 0; k < dw.rows; ++k)
            for (std::size_t c = 0; c < dw.cols; ++c) dw(k, c) = (kept == 0 ? T{0} : kept * dw(k, c)) + narrow_[c * stride + k];
    }

    static bool keeps_slopes(const Layer& layer) {
        return !layer.draws && (layer.dropout > 0 || !slope_follows_from_value(layer.activation));
    }
    bool is_sparse() const { return sparse.x.rows > 0; }
    RowMajor<T> values(std::size_t place, std::size_t n) const { return {values_[place].data(), n, network_.width(place)}; }
    static Matrix<T> matrix(RowMajor<T> a) { return {a.data, a.rows, a.cols, static_cast<std::ptrdiff_t>(a.cols), 1}; }
    static Matrix<const T> transposed(RowMajor<T> a) { return {a.data, a.cols, a.rows, 1, static_cast<std::ptrdiff_t>(a.cols)}; }

    // Layers are passed from above: the lowest that reads a place completes its deltas.
    bool is_lowest_reader(std::size_t l, std::size_t place) const {
        for (std::size_t below = 0; below < l; ++below)
            for (const std::size_t source : network_.layer(below).sources)
                if (source == place) return false;
        return true;
    }

    template <class Finish>
    static void finish_rows(RowMajor<T> z, const Finish& finish, Threads threads) {
        const Chunks chunks = Chunks::of(z.rows, 1 + 2048 / std::max<std::size_t>(z.cols, 1), 256);
        parallel_for(chunks.count, threads.for_work(static_cast<double>(z.size()) * 8), [&](std::size_t chunk) {
            const std::size_t first = chunks.begin(chunk);
            finish(Matrix<T>{z.row(first), chunks.end(chunk) - first, z.cols, static_cast<std::ptrdiff_t>(z.cols), 1}, first, 0);
        });
    }

    // From slopes in the values of a tile of a place to slopes in z.
    void to_z(std::size_t place, Matrix<T> tile, std::size_t row, std::size_t column) const {
        const Layer& layer = network_.layer(place - 1);
        if (layer.draws) return;
        for (std::size_t i = 0; i < tile.rows; ++i) {
            const std::size_t at = (row + i) * layer.units + column;
            if (slopes_[place].size() > 0) {
                multiply(slopes_[place].data() + at, tile.row(i), tile.cols);
            } else {
                multiply_by_slope(layer.activation, values_[place].data() + at, tile.row(i), tile.cols);
            }
        }
    }

    // dW = beta dW + A' dZ for one source of a layer.
    void add_coef_gradient(std::size_t l, std::size_t place, std::size_t first, RowMajor<T> dz, std::span<T> gradient, T beta,
                           Threads threads) {
        const Layer& layer = network_.layer(l);
        const std::size_t width = network_.width(place);
        const T kept = layer.shares_later ? T{1} : beta;
        if (place == 0 && is_sparse()) return add_sparse_gradient(network_.coef(gradient, l, first, width), dz, kept);
        const RowMajor<T> read = values(place, dz.rows);
        const Matrix<T> dw = network_.coef(gradient, l, first, width);
        if (is_narrow(layer)) return add_narrow_gradient(read, dz, kept, dw);
        const bool stays_in_cache = (read.size() + dz.size()) * sizeof(T) <= kInPlaceBytes;
        if (stays_in_cache && !layer.is_tied())
            return product_in_place<T>({read.data, read.rows, read.cols}, {dz.data, dz.rows, dz.cols}, kept, dw, threads);
        const StridedSource<T, T> a{as_const(matrix(read))}, d{as_const(matrix(dz))};
        if (layer.is_tied()) {
            const Matrix<T> w{gradient.data() + layer.coef + first, layer.units, width, static_cast<std::ptrdiff_t>(layer.inputs),
                              1};
            product<T, T>(d, a, T{1}, kept, w, threads);
        } else {
            product<T, T>(a, d, T{1}, kept, dw, threads);
        }
    }
    static Matrix<const T> as_const(Matrix<T> a) { return {a.data, a.rows, a.cols, a.row_stride, a.col_stride}; }

    // A line of dW for each entry of a sparse row.
    void add_sparse_gradient(Matrix<T> w, RowMajor<T> dz, T kept) const {
        if (kept == 0) std::fill_n(w.data, w.rows * w.cols, T{0});
        for (std::size_t i = 0; i < dz.rows; ++i) {
            const T* const delta = dz.row(i);
            sparse.for_each(i, [&](std::size_t j, T value) {
                T* const line = w.row(j);
                for (std::size_t c = 0; c < dz.cols; ++c) line[c] += value * delta[c];
            });
        }
    }

    static void column_sums(RowMajor<T> dz, std::span<T> sums, T beta) {
        for (T& sum : sums) sum = beta == 0 ? T{0} : beta * sum;
        for (std::size_t i = 0; i < dz.rows; ++i) {
            const T* const line = dz.row(i);
            for (std::size_t j = 0; j < dz.cols; ++j) sums[j] += line[j];
        }
    }

    template <class Body>
    static void for_rows(std::size_t n, std::size_t width, Threads threads, Body&& body) {
        const Chunks chunks = Chunks::of(n, 1 + 1024 / std::max<std::size_t>(width, 1), 256);
        parallel_for(chunks.count, threads.for_work(static_cast<double>(n) * static_cast<double>(width) * 16),
                     [&](std::size_t chunk) {
                         for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) body(i);
                     });
    }

    // Dropout: units are left out with their share, and the others grow, so that sums keep their expectation.
    void drop(std::size_t l, std::size_t n, const Draws& draws, Threads threads) {
        const Layer& layer = network_.layer(l);
        const auto grown = static_cast<T>(1 / (1 - layer.dropout));
        const auto threshold = static_cast<std::uint32_t>(layer.dropout * 0x1.0p32);
        const RowMajor<T> a = values(l + 1, n);
        for_rows(n, layer.units, threads, [&](std::size_t i) {
            Philox random = draws.stream(l, i);
            T* const slopes = slopes_[l + 1].data() + i * layer.units;
            for (std::size_t j = 0; j < layer.units; ++j) {
                const T factor = random.next_u32() < threshold ? T{0} : grown;
                a(i, j) *= factor;
                slopes[j] *= factor;
            }
        });
    }

    // z = mu + e^(log variance / 2) epsilon (the reparametrisation trick); outside of training, mu.
    void draw(std::size_t l, std::size_t n, const Draws& draws, Threads threads) {
        const std::size_t k = network_.layer(l).units, place = network_.layer(l).sources[0];
        const RowMajor<T> code = values(place, n), z = values(l + 1, n);
        for_rows(n, 16 * k, threads, [&](std::size_t i) {
            Philox random = draws.stream(l, i);
            for (std::size_t j = 0; j < k; ++j)
                z(i, j) = trains_ ? code(i, j) + std::exp(code(i, k + j) / 2) * static_cast<T>(draw_normal(random)) : code(i, j);
        });
    }

    // dmu = dz + beta mu, dlog variance = dz (z - mu) / 2 + beta (e^log variance - 1) / 2, and the divergence of a row is
    // sum (mu^2 + e^log variance - 1 - log variance) / 2.
    void draw_back(std::size_t l, std::size_t n, std::span<const T> weights, Divergence& divergence, Threads threads) {
        const std::size_t k = network_.layer(l).units, place = network_.layer(l).sources[0];
        const RowMajor<T> code = values(place, n), z = values(l + 1, n);
        const RowMajor<T> dz{deltas_[l + 1].data(), n, k}, dcode{deltas_[place].data(), n, 2 * k};
        std::vector<double> of_row(n);
        for_rows(n, 8 * k, threads, [&](std::size_t i) {
            const T weight = weights.empty() ? T{1} : weights[i];
            const T pull = static_cast<T>(divergence.beta) * weight;
            for (std::size_t j = 0; j < k; ++j) {
                const T mean = code(i, j), log_variance = code(i, k + j), variance = std::exp(log_variance);
                dcode(i, j) = dz(i, j) + pull * mean;
                dcode(i, k + j) = dz(i, j) * (z(i, j) - mean) / 2 + pull * (variance - 1) / 2;
                of_row[i] += static_cast<double>(weight) * static_cast<double>(mean * mean + variance - 1 - log_variance) / 2;
            }
            to_z(place, {dcode.row(i), 1, 2 * k, static_cast<std::ptrdiff_t>(2 * k), 1}, i, 0);
        });
        for (const double value : of_row) divergence.sum += value;
    }

    const Network& network_;
    bool trains_;
    std::vector<Aligned<T>> values_, deltas_, slopes_;
    Aligned<T> narrow_{0};  // lines of a narrow layer
};

}  // namespace mercer::neural_network
