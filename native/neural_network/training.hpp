// Training on rows in memory: epochs of batches, or the gradient of the whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/rows.hpp"
#include "neural_network/network.hpp"
#include "neural_network/output_loss.hpp"
#include "neural_network/passes.hpp"
#include "neural_network/step.hpp"

namespace mercer::neural_network {

// What becomes of the inputs of a denoising network: each value is moved by a normal number of deviation `level`, or with the
// probability `level` set to 0 (masking), or to 0 or 1 (salt and pepper).
struct Noise {
    enum class Kind { kNone, kGaussian, kMasking, kSaltAndPepper };
    Kind kind = Kind::kNone;
    double level = 0;

    template <Real T>
    void corrupt(T* row, std::size_t n, Philox random) const {
        for (std::size_t j = 0; j < n; ++j) {
            if (kind == Kind::kGaussian) {
                row[j] += static_cast<T>(level * draw_normal(random));
            } else if (random.uniform() < level) {
                row[j] = kind == Kind::kMasking ? T{0} : static_cast<T>(random.next_u32() & 1);
            }
        }
    }
};

// What an epoch tells: means over its rows, as they were when their batch was passed.
struct Told {
    double loss = 0, penalty = 0, divergence = 0;
    std::vector<double> squared_gradients;  // of each layer, the mean over batches
};

// The objective on some rows: sums over them, and of their weights.
struct Sums {
    double loss = 0, divergence = 0, weight = 0;
};

template <Real T, class Rows>
class Trainer {
   public:
    Trainer(const Network& network, const OutputLoss& loss, const Rows& x, const Targets<T>& targets, std::size_t most_rows,
            Threads threads)
        : network_(network),
          loss_(loss),
          x_(x),
          all_(targets),
          threads_(threads),
          passes_(network, most_rows, Rows::kIsSparse, true),
          codes_(loss.wants_codes() ? most_rows : 0),
          values_(loss.wants_codes() ? 0 : most_rows * network.n_outputs()),
          weights_(targets.weights.empty() ? 0 : most_rows) {}

    Noise noise;
    double beta = 0;  // of the divergence

    // Adds the gradient over some rows to beta times what is there.
    Sums add_gradient(std::span<const std::int64_t> rows, std::span<const T> parameters, std::span<T> gradient, T kept,
                      const Draws& draws) {
        const std::size_t n = rows.size();
        const Targets<T> batch = gather(rows, draws);
        passes_.forward(parameters, n, draws, threads_);
        Sums sums;
        sums.loss = loss_.apply<T>(passes_.output(n), batch, threads_);
        Divergence divergence{beta};
        passes_.backward(parameters, gradient, n, batch.weights, kept, divergence, threads_);
        sums.divergence = divergence.sum;
        sums.weight = static_cast<double>(n);
        if (!batch.weights.empty()) {
            sums.weight = 0;
            for (const T weight : batch.weights) sums.weight += static_cast<double>(weight);
        }
        return sums;
    }

   private:
    static constexpr std::size_t kNoise = 1000000;  // names the noise among what is drawn

    // Copies rows with their targets and weights to where the passes read them: once, whatever another thread does to them.
    Targets<T> gather(std::span<const std::int64_t> rows, const Draws& draws) {
        const std::size_t n = rows.size(), k = network_.n_outputs();
        if constexpr (Rows::kIsSparse) {
            gather_sparse(rows);
        } else {
            const RowMajor<T> input = passes_.input(n);
            const Chunks chunks = Chunks::of(n, 1 + 4096 / input.cols, 64);
            parallel_for(chunks.count, threads_.for_work(static_cast<double>(input.size()) / 2), [&](std::size_t chunk) {
                for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
                    T* const line = input.row(i);
                    x_.for_each(static_cast<std::size_t>(rows[i]), [&](std::size_t j, T value) { line[j] = value; });
                    if (noise.kind != Noise::Kind::kNone) noise.corrupt(line, input.cols, draws.stream(kNoise, i));
                }
            });
        }
        for (std::size_t i = 0; i < n; ++i) {
            const auto row = static_cast<std::size_t>(rows[i]);
            if (loss_.wants_codes()) {
                codes_[i] = all_.codes[row];
            } else {
                std::copy_n(all_.values.row(row), k, values_.data() + i * k);
            }
            if (weights_.size() > 0) weights_[i] = all_.weights[row];
        }
        return {{codes_.data(), codes_.size() > 0 ? n : 0},
                {values_.data(), values_.size() > 0 ? n : 0, k},
                {weights_.data(), weights_.size() > 0 ? n : 0}};
    }

    void gather_sparse(std::span<const std::int64_t> rows) {
        entries_.clear();
        columns_.clear();
        starts_.assign(1, 0);
        for (const std::int64_t row : rows) {
            x_.for_each(static_cast<std::size_t>(row), [&](std::size_t j, T value) {
                entries_.push_back(value);
                columns_.push_back(static_cast<std::int32_t>(j));
            });
            starts_.push_back(static_cast<std::int32_t>(entries_.size()));
        }
        passes_.sparse = {{entries_, columns_, starts_, rows.size(), x_.cols()}};
    }

    const Network& network_;
    const OutputLoss& loss_;
    const Rows& x_;
    Targets<T> all_;
    Threads threads_;
    Passes<T> passes_;
    Aligned<std::int32_t> codes_;
    Aligned<T> values_, weights_;
    std::vector<T> entries_;
    std::vector<std::int32_t> columns_, starts_;
};

// How an epoch goes: what every step of it does.
struct EpochPlan {
    std::size_t batch_size = 1;
    StepRule rule;
    Decay decay;
    double longest = 0;             // of a gradient
    std::span<const double> rates;  // of each batch
    std::uint64_t n_updates = 0;    // before it
    std::uint64_t seed = 0;
};

// Passes over all rows in the order given, with a step of the optimiser after every batch. A batch without weight has none.
template <Real T, class Rows>
Told train_epoch(const Network& network, Trainer<T, Rows>& trainer, std::span<const std::int64_t> order, const EpochPlan& plan,
                 const Learnt<T>& learnt, Threads threads) {
    const Blocks blocks(network);
    Aligned<T> memory(network.n_parameters());
    const std::span<T> gradient(memory.data(), memory.size());
    const std::size_t n = order.size(), n_batches = (n + plan.batch_size - 1) / plan.batch_size;
    Told told;
    told.squared_gradients.assign(network.n_layers(), 0.0);
    for (std::size_t b = 0; b < n_batches; ++b) {
        report_progress(b, n_batches);
        const std::size_t first = b * plan.batch_size, size = std::min(plan.batch_size, n - first);
        const std::uint64_t update = plan.n_updates + b;
        const Sums sums = trainer.add_gradient(order.subspan(first, size), learnt.parameters, gradient, T{0}, {plan.seed, update});
        if (sums.weight == 0) continue;
        const Sizes sizes = blocks.step<T>(learnt, gradient, sums.weight, plan.decay, plan.longest, plan.rule,
                                           static_cast<double>(update + 1), plan.rates[b], threads);
        const double share = static_cast<double>(size) / static_cast<double>(n) / sums.weight;
        told.loss += sums.loss * share;
        told.divergence += sums.divergence * share;
        told.penalty += plan.decay.alpha / 2 * sizes.weights * share;
        for (std::size_t l = 0; l < network.n_layers(); ++l)
            told.squared_gradients[l] += sizes.gradients[l] / static_cast<double>(n_batches);
    }
    return told;
}

// The gradient of the objective over all rows, some at a time, and its parts. Written to `gradient`.
template <Real T, class Rows>
Told whole_gradient(const Network& network, Trainer<T, Rows>& trainer, std::span<const std::int64_t> order, std::size_t batch_size,
                    const Learnt<T>& learnt, const Decay& decay, std::uint64_t seed, std::span<T> gradient, Threads threads) {
    Sums total;
    for (std::size_t first = 0; first < order.size(); first += batch_size) {
        checkpoint();
        const auto rows = order.subspan(first, std::min(batch_size, order.size() - first));
        const Sums sums =
            trainer.add_gradient(rows, learnt.parameters, gradient, first == 0 ? T{0} : T{1}, {seed, first / batch_size});
        total.loss += sums.loss;
        total.divergence += sums.divergence;
        total.weight += sums.weight;
    }
    const Sizes sizes = Blocks(network).finish<T>(learnt, gradient, total.weight, decay, threads);
    return {total.loss / total.weight, decay.alpha / 2 * sizes.weights / total.weight, total.divergence / total.weight,
            sizes.gradients};
}

}  // namespace mercer::neural_network
