// Restricted Boltzmann machines: binary units v and h with the energy E(v, h) = -b'v - c'h - v'W h, so that the units of one side
// are independent given the other. Rows are v; a machine is learned by persistent contrastive divergence (Tieleman 2008).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/block_products.hpp"
#include "core/chunk_sums.hpp"
#include "core/interrupt.hpp"
#include "core/math.hpp"
#include "core/parallel.hpp"
#include "core/product.hpp"
#include "core/rows.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::neural_network {

template <Real T>
using VectorOf = typename Simd<T>::Vector;

// 1 / (1 + e^-x), of a whole vector.
template <Real T>
[[gnu::always_inline]] inline VectorOf<T> sigmoid(VectorOf<T> x) {
    return T{1} / (T{1} + math::exp(-x));
}

// log(1 + e^x), without overflow.
template <Real T>
[[gnu::always_inline]] inline VectorOf<T> softplus(VectorOf<T> x) {
    return math::max(x, VectorOf<T>{}) + math::log1p(math::exp(-math::abs(x)));
}

// The units of one side as the other sees them: their biases, and a line of weights for each unit of the other side, filled up with
// zeros to whole vectors.
template <Real T>
class Layer {
   public:
    Layer(Matrix<const T> weights, std::span<const T> biases)
        : n_inputs_(weights.rows), n_units_(weights.cols), width_(Simd<T>::round_up(n_units_)), lines_((n_inputs_ + 1) * width_) {
        std::fill_n(lines_.data(), lines_.size(), T{0});
        for (std::size_t j = 0; j < n_inputs_; ++j)
            for (std::size_t k = 0; k < n_units_; ++k) line(j)[k] = weights(j, k);
        std::copy_n(biases.data(), n_units_, this->biases());
    }

    std::size_t n_inputs() const { return n_inputs_; }
    std::size_t n_units() const { return n_units_; }
    std::size_t width() const { return width_; }
    T* line(std::size_t input) const { return lines_.data() + input * width_; }
    T* biases() const { return line(n_inputs_); }

    // x W + c for dense rows that lie `stride` apart: `out` has n lines of width().
    void weigh(const T* x, std::size_t n, std::size_t stride, T* out) const {
        multiply_block(x, n, stride, line(0), width_, n_inputs_, out);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < width_; ++k) out[i * width_ + k] += biases()[k];
    }

   private:
    std::size_t n_inputs_, n_units_, width_;
    Aligned<T> lines_;
};

namespace detail {

inline constexpr std::size_t kRowsTogether = 32;  // of which the weights of a column are fetched once

// Some rows at a time as what a layer hears of them.
template <class Rows>
class Listener {
   public:
    using T = typename Rows::Value;

    Listener(const Rows& rows, const Layer<T>& layer)
        : rows_(rows),
          layer_(layer),
          copies_(is_in_place() ? 0 : kRowsTogether * rows.cols()),
          inputs_(kRowsTogether * layer.width()) {}

    // x W + c of rows [first, first + n), a line each, for n up to kRowsTogether.
    T* inputs(std::size_t first, std::size_t n) const {
        if constexpr (Rows::kIsSparse) {
            for (std::size_t i = 0; i < n; ++i) add_entries(first + i, inputs_.data() + i * layer_.width());
        } else if (is_in_place()) {
            layer_.weigh(rows_.x.row(first), n, static_cast<std::size_t>(rows_.x.row_stride), inputs_.data());
        } else {
            for (std::size_t i = 0; i < n; ++i)
                rows_.for_each(first + i, [&](std::size_t j, T value) { copies_[i * rows_.cols() + j] = value; });
            layer_.weigh(copies_.data(), n, rows_.cols(), inputs_.data());
        }
        return inputs_.data();
    }

   private:
    bool is_in_place() const {
        if constexpr (Rows::kIsSparse) {
            return true;
        } else {
            return rows_.x.has_contiguous_rows() && rows_.shift.empty() && rows_.x.row_stride >= 0;
        }
    }
    void add_entries(std::size_t row, T* out) const {
        const std::size_t width = layer_.width();
        std::fill_n(out, width, T{0});
        rows_.for_each(row, [&](std::size_t j, T value) {
            const T* const line = layer_.line(j);
            for (std::size_t k = 0; k < width; ++k) out[k] += value * line[k];
        });
        for (std::size_t k = 0; k < width; ++k) out[k] += layer_.biases()[k];
    }

    const Rows& rows_;
    const Layer<T>& layer_;
    Aligned<T> copies_, inputs_;
};

// Calls body(row, inputs) for every row, where inputs are x W + c in memory that may be written to.
template <class Rows, class Body>
void for_each_inputs(const Rows& rows, const Layer<typename Rows::Value>& layer, Threads threads, Body&& body) {
    const Chunks chunks = Chunks::of(rows.rows(), kRowsTogether, 1024);
    const auto work = static_cast<double>(rows.rows() * layer.width()) * 8 +
                      static_cast<double>(rows.n_entries()) * static_cast<double>(layer.width()) / 4;
    parallel_for(rows.rows() == 0 ? 0 : chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        const Listener<Rows> listener(rows, layer);
        for (std::size_t first = chunks.begin(chunk); first < chunks.end(chunk); first += kRowsTogether) {
            const std::size_t n = std::min(kRowsTogether, chunks.end(chunk) - first);
            auto* const inputs = listener.inputs(first, n);
            for (std::size_t i = 0; i < n; ++i) body(first + i, inputs + i * layer.width());
            checkpoint();
        }
    });
}

}  // namespace detail

// Writes P(unit = 1 | row) = sigmoid(x W + c), a line for each row. A row has the same bits whichever others are asked for.
// O(entries units).
template <class Rows, Real T>
void unit_probabilities(const Rows& rows, const Layer<T>& layer, RowMajor<T> probabilities, Threads threads) {
    detail::for_each_inputs(rows, layer, threads, [&](std::size_t i, T* inputs) {
        for (std::size_t k = 0; k < layer.width(); k += Simd<T>::kLanes)
            Simd<T>::store(inputs + k, sigmoid<T>(Simd<T>::load(inputs + k)));
        std::copy_n(inputs, layer.n_units(), probabilities.row(i));
    });
}

// Writes the free energies F(x) = -b'x - sum_k log(1 + exp(x'W_k + c_k)), and by how much F would rise if the one value x_j with
// j = flips[i] were 1 - x_j (no flips: left out). O(entries hidden).
template <class Rows, Real T>
void free_energies(const Rows& rows, const Layer<T>& hidden, std::span<const T> visible_biases, std::span<const std::int64_t> flips,
                   std::span<double> energies, std::span<double> rises, Threads threads) {
    using S = Simd<T>;
    detail::for_each_inputs(rows, hidden, threads, [&](std::size_t i, T* inputs) {
        const auto flipped = flips.empty() ? rows.cols() : static_cast<std::size_t>(flips[i]);
        double linear = 0, value_there = 0;
        rows.for_each(i, [&](std::size_t j, T value) {
            linear += static_cast<double>(visible_biases[j]) * static_cast<double>(value);
            if (j == flipped) value_there = static_cast<double>(value);
        });
        // A sum of softplus over the units of x + step e_j.
        const auto soft_sum = [&](const T* line, T step) {
            double sum = 0;
            for (std::size_t k = 0; k < hidden.width(); k += S::kLanes) {
                T terms[S::kLanes];
                S::store(terms, softplus<T>(S::load(inputs + k) + step * S::load(line + k)));
                for (std::size_t l = 0; l < std::min(S::kLanes, hidden.n_units() - k); ++l) sum += static_cast<double>(terms[l]);
            }
            return sum;
        };
        const double soft = soft_sum(hidden.line(0), T{0});
        energies[i] = -linear - soft;
        if (flips.empty()) return;
        const double step = 1 - 2 * value_there;
        rises[i] =
            -step * static_cast<double>(visible_biases[flipped]) - (soft_sum(hidden.line(flipped), static_cast<T>(step)) - soft);
    });
}

// What training changes.
template <Real T>
struct Machine {
    RowMajor<T> weights;  // visible x hidden
    std::span<T> visible_biases, hidden_biases;
    RowMajor<T> chains;  // states of the hidden units of Gibbs chains, which go on from batch to batch
};

// Steps along the gradient of the mean log-likelihood of a batch, whose second half is a mean over the chains:
//   W += rate (sum v h' over the batch - sum v h' over the chains),
// with h the probabilities of the hidden units; b and c likewise.
template <Real T>
class Training {
   public:
    Training(const Machine<T>& machine, std::size_t most_rows)
        : machine_(machine),
          n_visible_(machine.weights.rows),
          n_chains_(machine.chains.rows),
          is_packed_(most_rows + n_chains_ >= kFewestPacked),
          hidden_(lines_of<const T>(machine.weights.data, n_visible_, machine.weights.cols), machine.hidden_biases),
          chain_width_(S::round_up(n_chains_)),
          visible_states_((most_rows + n_chains_) * n_visible_),
          hidden_states_((most_rows + n_chains_) * hidden_.width()),
          chains_((hidden_.n_units()) * chain_width_),
          chain_inputs_(n_visible_ * chain_width_) {}

    // Uses rows [first, first + n), and uniforms for the visible and then the hidden units of all chains.
    // O((n + chains) visible hidden).
    template <class Rows>
    void step(const Rows& rows, std::size_t first, std::size_t n, const double* uniforms, double rate, Threads threads) {
        copy_rows(rows, first, n, threads);
        sample_visible(n, uniforms, threads);
        sample_hidden(n, uniforms + n_chains_ * n_visible_, static_cast<T>(rate), threads);
        move(n, rate, threads);
        checkpoint();
    }

    // Writes what was learned to the machine.
    void finish() {
        for (std::size_t j = 0; j < n_visible_; ++j) std::copy_n(hidden_.line(j), hidden_.n_units(), machine_.weights.row(j));
        std::copy_n(hidden_.biases(), hidden_.n_units(), machine_.hidden_biases.data());
    }

   private:
    using S = Simd<T>;
    static constexpr std::size_t kFewestPacked = 64;  // rows and chains of a batch

    template <class V>
    static Matrix<V> lines_of(V* data, std::size_t n, std::size_t width) {
        return {data, n, width, static_cast<std::ptrdiff_t>(width), 1};
    }
    template <class V>
    static Matrix<const V> read(Matrix<V> a) {
        return {a.data, a.rows, a.cols, a.row_stride, a.col_stride};
    }
    T* visible_line(std::size_t row) const { return visible_states_.data() + row * n_visible_; }
    T* hidden_line(std::size_t row) const { return hidden_states_.data() + row * hidden_.width(); }
    double work(std::size_t n) const { return static_cast<double>(n * n_visible_) * static_cast<double>(hidden_.width()) / 4; }
    Matrix<T> weights() const { return lines_of(hidden_.line(0), n_visible_, hidden_.width()); }
    Matrix<const T> hidden_states(std::size_t n) const { return lines_of<const T>(hidden_line(0), n, hidden_.width()); }
    Matrix<const T> visible_states(std::size_t n) const { return lines_of<const T>(visible_line(0), n, n_visible_); }
    Chunks visible_chunks() const { return Chunks::of(n_visible_, 32, 256); }

    template <class Rows>
    void copy_rows(const Rows& rows, std::size_t first, std::size_t n, Threads threads) {
        const Chunks chunks = Chunks::of(n, 32, 64);
        parallel_for(chunks.count, threads.for_work(static_cast<double>(n * n_visible_) / 4), [&](std::size_t chunk) {
            for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
                T* const line = visible_line(i);
                if constexpr (Rows::kIsSparse) std::fill_n(line, n_visible_, T{0});
                rows.for_each(first + i, [&](std::size_t j, T value) { line[j] = value; });
            }
        });
    }

    // The visible units of the chains behind the rows, given the hidden ones. Inputs are a line for each visible unit: the weights
    // are then read as they lie.
    void sample_visible(std::size_t n, const double* uniforms, Threads threads) {
        std::fill_n(chains_.data(), chains_.size(), T{0});
        for (std::size_t i = 0; i < n_chains_; ++i)
            for (std::size_t k = 0; k < hidden_.n_units(); ++k) chains_[k * chain_width_ + i] = machine_.chains(i, k);
        if (is_packed_) {
            Matrix<const T> weights = read(this->weights());
            weights.cols = hidden_.n_units();
            multiply<T>(T{1}, weights, lines_of<const T>(chains_.data(), hidden_.n_units(), chain_width_), T{0},
                        lines_of(chain_inputs_.data(), n_visible_, chain_width_), threads);
        }
        const Chunks chunks = visible_chunks();
        parallel_for(chunks.count, threads.for_work(work(n_chains_)), [&](std::size_t chunk) {
            const std::size_t begin = chunks.begin(chunk), end = chunks.end(chunk);
            T* const inputs = chain_inputs_.data();
            if (!is_packed_)
                multiply_block(hidden_.line(begin), end - begin, hidden_.width(), chains_.data(), chain_width_, hidden_.n_units(),
                               inputs + begin * chain_width_);
            for (std::size_t j = begin; j < end; ++j) {
                for (std::size_t i = 0; i < chain_width_; i += S::kLanes) {
                    T* const place = inputs + j * chain_width_ + i;
                    S::store(place, sigmoid<T>(S::load(place) + machine_.visible_biases[j]));
                }
            }
            for (std::size_t i = 0; i < n_chains_; ++i)
                for (std::size_t j = begin; j < end; ++j)
                    visible_line(n + i)[j] = uniforms[i * n_visible_ + j] < static_cast<double>(inputs[j * chain_width_ + i]);
        });
    }

    // The probabilities of the hidden units for rows and chains, times plus or minus the rate, and the next states of the chains.
    void sample_hidden(std::size_t n, const double* uniforms, T rate, Threads threads) {
        const std::size_t n_all = n + n_chains_, width = hidden_.width(), n_units = hidden_.n_units();
        if (is_packed_) {
            multiply<T>(T{1}, visible_states(n_all), read(weights()), T{0}, lines_of(hidden_line(0), n_all, width), threads);
        }
        const Chunks stripes = Chunks::of((width + 2 * S::kLanes - 1) / (2 * S::kLanes), 1, 256);
        parallel_for(stripes.count, threads.for_work(work(n_all)), [&](std::size_t stripe) {
            const std::size_t begin = stripes.begin(stripe) * 2 * S::kLanes;
            const std::size_t end = std::min(stripes.end(stripe) * 2 * S::kLanes, width);
            if (!is_packed_)
                multiply_block_columns(visible_line(0), n_all, n_visible_, hidden_.line(0), width, n_visible_, hidden_line(0),
                                       begin, end);
            for (std::size_t i = 0; i < n_all; ++i) {
                T* const line = hidden_line(i);
                for (std::size_t k = begin; k < end; k += S::kLanes)
                    S::store(line + k, sigmoid<T>(S::load(line + k) + S::load(hidden_.biases() + k)));
                for (std::size_t k = begin; i >= n && k < std::min(end, n_units); ++k)
                    machine_.chains(i - n, k) = uniforms[(i - n) * n_units + k] < static_cast<double>(line[k]);
                const T factor = i < n ? rate : -rate;
                for (std::size_t k = begin; k < end; ++k) line[k] = k < n_units ? factor * line[k] : T{0};
            }
        });
    }

    void move(std::size_t n, double rate, Threads threads) {
        const std::size_t n_all = n + n_chains_, width = hidden_.width();
        if (is_packed_) {
            Matrix<const T> transposed{visible_line(0), n_visible_, n_all, 1, static_cast<std::ptrdiff_t>(n_visible_)};
            multiply<T>(T{1}, transposed, hidden_states(n_all), T{1}, weights(), threads);
        }
        const Chunks chunks = visible_chunks();
        parallel_for(chunks.count, threads.for_work(work(n_all)), [&](std::size_t chunk) {
            const std::size_t begin = chunks.begin(chunk), end = chunks.end(chunk);
            if (!is_packed_)
                add_outer(visible_line(0) + begin, n_visible_, end - begin, hidden_line(0), n_all, width, hidden_.line(begin));
            // Biases move once, by a sum in double precision: added value by value, they would be rounded as often.
            Aligned<double> sums(end - begin);
            std::fill_n(sums.data(), sums.size(), 0.0);
            for (std::size_t i = 0; i < n_all; ++i)
                for (std::size_t j = begin; j < end; ++j)
                    sums[j - begin] += static_cast<double>(visible_line(i)[j]) * (i < n ? 1 : -1);
            for (std::size_t j = begin; j < end; ++j) machine_.visible_biases[j] += static_cast<T>(rate * sums[j - begin]);
        });
        Aligned<double> sums(width);
        std::fill_n(sums.data(), width, 0.0);
        for (std::size_t i = 0; i < n_all; ++i)
            for (std::size_t k = 0; k < width; ++k) sums[k] += static_cast<double>(hidden_line(i)[k]);
        for (std::size_t k = 0; k < width; ++k) hidden_.biases()[k] += static_cast<T>(sums[k]);
    }

    Machine<T> machine_;
    std::size_t n_visible_, n_chains_;
    bool is_packed_;  // products are worth packing their factors
    Layer<T> hidden_;
    std::size_t chain_width_;
    Aligned<T> visible_states_, hidden_states_;  // of the rows of a batch and then of the chains, a line each
    Aligned<T> chains_, chain_inputs_;           // a line for each hidden and for each visible unit
};

// Trains on rows [first, last) in batches of `batch_rows`, of which the last may have fewer; the step of a batch is the rate over
// its rows. There is a line of uniforms for each batch.
template <class Rows, Real T>
void train_batches(const Rows& rows, std::size_t first, std::size_t last, std::size_t batch_rows, RowMajor<const double> uniforms,
                   double rate, const Machine<T>& machine, Threads threads) {
    Training<T> training(machine, std::min(batch_rows, last - first));
    for (std::size_t batch = 0; batch < uniforms.rows; ++batch) {
        const std::size_t begin = first + batch * batch_rows, n = std::min(batch_rows, last - begin);
        training.step(rows, begin, n, uniforms.row(batch), rate / static_cast<double>(n), threads);
    }
    training.finish();
}

// A sum of exponentials, in logarithms.
struct LogSum {
    double top = -std::numeric_limits<double>::infinity(), rest = 0;  // rest e^top

    void add(double value) { add(LogSum{value, 1}); }
    void add(const LogSum& other) {
        if (other.rest == 0) return;
        const double most = std::max(top, other.top);
        rest = rest * std::exp(top - most) + other.rest * std::exp(other.top - most);
        top = most;
    }
    double value() const { return top + std::log(rest); }
};

inline constexpr std::size_t kMostEnumerated = 30;

// log Z = log sum_s exp(s'a + sum_k log(1 + exp(c_k + s'W_k))) over the states s of the inputs of a layer, up to kMostEnumerated of
// them, with biases a. O(2^inputs units).
inline double log_partition(const Layer<double>& layer, std::span<const double> biases, Threads threads) {
    using S = Simd<double>;
    const std::size_t n = layer.n_inputs(), n_low = std::min<std::size_t>(n, 10), width = layer.width();
    const std::size_t n_states = std::size_t{1} << n_low;
    const Chunks chunks{std::size_t{1} << (n - n_low), std::size_t{1} << (n - n_low)};  // a chunk for each state of the others
    ChunkParts<LogSum> sums(chunks);
    const double work = static_cast<double>(chunks.count * n_states) * static_cast<double>(width) * 4;
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        Aligned<double> inputs(width);
        std::copy_n(layer.biases(), width, inputs.data());
        double linear = 0;
        const auto flip = [&](std::size_t input, double step) {
            linear += step * biases[input];
            for (std::size_t k = 0; k < width; ++k) inputs[k] += step * layer.line(input)[k];
        };
        for (std::size_t input = n_low; input < n; ++input)
            if ((chunk >> (input - n_low) & 1) != 0) flip(input, 1);
        for (std::size_t t = 0; t < n_states; ++t) {  // in Gray's order: one unit changes from state to state
            if (t > 0) {
                const auto changed = static_cast<std::size_t>(std::countr_zero(t));
                flip(changed, ((t ^ (t >> 1)) >> changed & 1) != 0 ? 1 : -1);
            }
            S::Vector soft = {};
            std::size_t k = 0;
            for (; k + S::kLanes <= layer.n_units(); k += S::kLanes) soft += softplus<double>(S::load(inputs.data() + k));
            double total = linear;
            for (std::size_t l = 0; l < S::kLanes; ++l) total += soft[l];
            if (k < layer.n_units()) {
                const S::Vector last = softplus<double>(S::load(inputs.data() + k));
                for (std::size_t l = 0; k + l < layer.n_units(); ++l) total += last[l];
            }
            sums[chunk].add(total);
            checkpoint();
        }
    });
    return sums.joined([](LogSum& all, const LogSum& part) { all.add(part); }).value();
}

}  // namespace mercer::neural_network
