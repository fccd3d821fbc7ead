// From the sums of a batch to the next parameters: the gradient is made whole, measured, cut if it is too long, and the step of an
// optimiser taken, block by block of the flat vector while it is in the cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/chunk_sums.hpp"
#include "core/errors.hpp"
#include "core/simd.hpp"
#include "neural_network/network.hpp"
#include "optim/step_rules.hpp"

namespace mercer::neural_network {

// An optimiser of mercer.optim; what it has no use for stays as it is here.
struct StepRule {
    enum class Kind { kSgd, kMomentum, kNesterov, kAdaGrad, kRmsProp, kAdam, kAdamHat };
    Kind kind = Kind::kSgd;
    double gamma = 0;  // of the moments (Adam: beta1)
    double rho = 0;    // of the squares (Adam: beta2)
    double eps = 0;

    static Kind kind_of(std::string_view name) {
        if (name == "sgd") return Kind::kSgd;
        if (name == "momentum") return Kind::kMomentum;
        if (name == "nesterov") return Kind::kNesterov;
        if (name == "adagrad") return Kind::kAdaGrad;
        if (name == "rmsprop") return Kind::kRmsProp;
        if (name == "adam_hat") return Kind::kAdamHat;
        require(name == "adam", "the name of the optimiser is not known");
        return Kind::kAdam;
    }
    bool is_adam() const { return kind == Kind::kAdam || kind == Kind::kAdamHat; }
    bool has_moment() const { return kind == Kind::kMomentum || kind == Kind::kNesterov || is_adam(); }
    bool has_squares() const { return kind == Kind::kAdaGrad || kind == Kind::kRmsProp || is_adam(); }

    template <Real T>
    void step(std::span<T> x, std::span<const T> gradient, std::span<T> moment, std::span<T> squares, double n_updates,
              double rate) const {
        switch (kind) {
            case Kind::kSgd:
                return optim::sgd_step<T>(x, gradient, rate);
            case Kind::kMomentum:
                return optim::momentum_step<T>(x, gradient, moment, gamma, rate);
            case Kind::kNesterov:
                return optim::nesterov_step<T>(x, gradient, moment, gamma, rate);
            case Kind::kAdaGrad:
                return optim::adagrad_step<T>(x, gradient, squares, eps, rate);
            case Kind::kRmsProp:
                return optim::rmsprop_step<T>(x, gradient, squares, rho, eps, rate);
            case Kind::kAdam:
                return optim::adam_step<T>(x, gradient, moment, squares, {gamma, rho, eps}, n_updates, rate);
            case Kind::kAdamHat: {  // eps is added to the root of squares that are not yet freed of their bias
                const double hat = eps / std::sqrt(1 - std::pow(rho, n_updates));
                return optim::adam_step<T>(x, gradient, moment, squares, {gamma, rho, hat}, n_updates, rate);
            }
        }
    }
};

// What moves, and what is remembered of it; arrays without a use are empty.
template <Real T>
struct Learnt {
    std::span<T> parameters, moment, squares;
    std::span<const T> mask;  // zero where a connection is cut
};

struct Decay {
    double alpha = 0;           // of alpha |w|^2 / 2, over the weight of a batch; intercepts go free
    bool is_decoupled = false;  // taken off the weights by themselves, rather than as a part of the gradient
};

// Squares added up over a gradient, layer by layer, and over the weights.
struct Sizes {
    std::vector<double> gradients;
    double weights = 0;

    double gradient() const {
        double sum = 0;
        for (const double of_layer : gradients) sum += of_layer;
        return sum;
    }
};

// The flat vector in blocks, none of them across a layer's end.
class Blocks {
   public:
    struct Block {
        std::size_t begin, end, layer;
        bool is_coef;
    };

    explicit Blocks(const Network& network) : n_layers_(network.n_layers()) {
        for (std::size_t l = 0; l < n_layers_; ++l) {
            const Layer& layer = network.layer(l);
            if (layer.draws) continue;
            if (!layer.is_tied()) add(layer.coef, layer.n_coef(), l, true);
            add(layer.intercept, layer.units, l, false);
        }
    }

    // gradient = mask (gradient + alpha w) / weight, and its size. O(parameters).
    template <Real T>
    Sizes finish(const Learnt<T>& learnt, std::span<T> gradient, double weight, const Decay& decay, Threads threads) const {
        return finish_and(learnt, gradient, weight, decay, threads, [](const Block&) {});
    }

    // The same, and a step with it. A gradient longer than `longest` is cut to that length before. O(parameters).
    template <Real T>
    Sizes step(const Learnt<T>& learnt, std::span<T> gradient, double weight, const Decay& decay, double longest,
               const StepRule& rule, double n_updates, double rate, Threads threads) const {
        const auto move = [&](const Block& block) {
            const std::size_t begin = block.begin, n = block.end - block.begin;
            const auto part = [&](std::span<T> all) { return all.empty() ? all : all.subspan(begin, n); };
            if (decay.is_decoupled && block.is_coef) {
                const T kept = static_cast<T>(1 - rate * decay.alpha / weight);
                for (T& w : part(learnt.parameters)) w *= kept;
            }
            rule.step<T>(part(learnt.parameters), part(gradient), part(learnt.moment), part(learnt.squares), n_updates, rate);
        };
        if (!(longest < std::numeric_limits<double>::infinity())) return finish_and(learnt, gradient, weight, decay, threads, move);
        Sizes sizes = finish(learnt, gradient, weight, decay, threads);
        const double length = std::sqrt(sizes.gradient());
        const T factor = static_cast<T>(length > longest ? longest / length : 1);
        for_blocks<T>(threads, [&](std::size_t b) {
            for (std::size_t j = blocks_[b].begin; j < blocks_[b].end; ++j) gradient[j] *= factor;
            move(blocks_[b]);
        });
        return sizes;
    }

   private:
    static constexpr std::size_t kSize = 4096;

    void add(std::size_t begin, std::size_t n, std::size_t layer, bool is_coef) {
        for (std::size_t first = 0; first < n; first += kSize)
            blocks_.push_back({begin + first, begin + std::min(first + kSize, n), layer, is_coef});
    }

    template <Real T, class Body>
    void for_blocks(Threads threads, Body&& body) const {
        const double work = static_cast<double>(blocks_.size()) * static_cast<double>(kSize) * 4;
        parallel_for(blocks_.size(), threads.for_work(work), body);
    }

    template <Real T, class Then>
    Sizes finish_and(const Learnt<T>& learnt, std::span<T> gradient, double weight, const Decay& decay, Threads threads,
                     Then&& then) const {
        struct Part {
            double gradient = 0, weights = 0;
        };
        std::vector<Part> parts(blocks_.size());
        const T share = static_cast<T>(1 / weight);
        for_blocks<T>(threads, [&](std::size_t b) {
            const Block& block = blocks_[b];
            T* const g = gradient.data() + block.begin;
            const T* const w = learnt.parameters.data() + block.begin;
            const std::size_t n = block.end - block.begin;
            const T pull = static_cast<T>(block.is_coef && !decay.is_decoupled ? decay.alpha : 0);
            for (std::size_t j = 0; j < n; ++j) g[j] = (g[j] + pull * w[j]) * share;
            if (!learnt.mask.empty()) {
                const T* const open = learnt.mask.data() + block.begin;
                for (std::size_t j = 0; j < n; ++j) g[j] *= open[j];
            }
            parts[b].gradient = sum_of_squares(g, n);
            if (block.is_coef) parts[b].weights = sum_of_squares(w, n);
            then(block);
        });
        Sizes sizes{std::vector<double>(n_layers_)};
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            sizes.gradients[blocks_[b].layer] += parts[b].gradient;
            sizes.weights += parts[b].weights;
        }
        return sizes;
    }

    template <Real T>
    static double sum_of_squares(const T* x, std::size_t n) {
        return lane_sum(n, [&](std::size_t j) { return static_cast<double>(x[j]) * static_cast<double>(x[j]); });
    }

    std::size_t n_layers_;
    std::vector<Block> blocks_;
};

}  // namespace mercer::neural_network
