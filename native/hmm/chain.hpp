// Markov chains that are seen through emissions: forward and backward passes, expected transitions, and the most likely path.
//
// Emissions come as logarithms, a line a step. A sequence is one task. Passes are scaled: each step's largest emission is taken
// out, and forward values add up to one, so that a step is a product with the transitions. Where a step leaves no digits (a path
// that only the unlikeliest states allow) the sequence is gone over in logarithms, which can also be asked for: they take an
// exponential and a logarithm a state and step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/block_products.hpp"
#include "core/chunk_sums.hpp"
#include "core/math.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::hmm {

inline constexpr double kImpossible = -std::numeric_limits<double>::infinity();
inline constexpr double kLeastSum = 1e-290;  // what is lost by underflow beside a sum of at least that changes no digit

// The law of a chain: where it starts, and its transitions, in whole vectors of states.
class Chain {
   public:
    using S = Simd<double>;

    Chain(std::span<const double> start, RowMajor<const double> transitions)
        : n_states_(start.size()),
          width_(S::round_up(n_states_)),
          start_(width_),
          log_start_(width_, kImpossible),
          forward_(width_ * width_),
          backward_(width_ * width_),
          log_forward_(width_ * width_, kImpossible) {
        for (std::size_t i = 0; i < n_states_; ++i) {
            start_[i] = start[i];
            log_start_[i] = std::log(start[i]);
            for (std::size_t j = 0; j < n_states_; ++j) {
                forward_[i * width_ + j] = backward_[j * width_ + i] = transitions(i, j);
                log_forward_[i * width_ + j] = std::log(transitions(i, j));
            }
        }
    }

    std::size_t n_states() const { return n_states_; }
    std::size_t width() const { return width_; }
    const double* start() const { return start_.data(); }
    const double* log_start() const { return log_start_.data(); }
    double log_transition(std::size_t i, std::size_t j) const { return log_forward_[i * width_ + j]; }
    const double* log_transitions(std::size_t i) const { return log_forward_.data() + i * width_; }

    // next = values' transitions, and previous = transitions values.
    void step(const double* values, double* next) const { apply(values, forward_.data(), next); }
    void step_back(const double* values, double* previous) const { apply(values, backward_.data(), previous); }

    double operations() const { return 3 * static_cast<double>(width_) * static_cast<double>(width_ + 20); }

   private:
    void apply(const double* values, const double* matrix, double* out) const {
        multiply_block(values, 1, width_, matrix, width_, n_states_, out);
    }

    std::size_t n_states_, width_;
    std::vector<double> start_, log_start_, forward_, backward_, log_forward_;
};

// Sequences lie one behind another: the s-th has the steps [starts[s], starts[s + 1]).
struct Sequences {
    RowMajor<const double> emissions;
    std::vector<std::size_t> starts;

    std::size_t count() const { return starts.size() - 1; }
    std::size_t length(std::size_t s) const { return starts[s + 1] - starts[s]; }
};

namespace detail {

using S = Simd<double>;

inline double lane_total(const double* values, std::size_t width) {
    return lane_sum(width, [values](std::size_t i) { return values[i]; });
}

// One sequence at a time; the memory is kept for the next one.
class Passes {
   public:
    explicit Passes(const Chain& chain) : chain_(chain), n_states_(chain.n_states()), width_(chain.width()), scratch_(width_) {}

    // The logarithm of the likelihood of a sequence. Keeps what `backward` needs.
    double forward(const double* emissions, std::size_t length, bool is_scaled) {
        emissions_ = emissions;
        length_ = length;
        alphas_.resize(length * width_);
        others_.resize(length * width_);
        scales_.resize(length);
        is_scaled_ = is_scaled && forward_scaled();
        if (!is_scaled_) forward_logs();
        return likelihood_;
    }

    // Writes the probability of each state at each step, and adds `weight` times the expected transitions, each still without the
    // factor of its own probability where passes are scaled (see `add_transitions`). NaN where the sequence is impossible.
    void backward(double weight, double* posteriors, double* starts, double* transitions) {
        if (likelihood_ == kImpossible || std::isnan(likelihood_)) {
            std::fill_n(posteriors, length_ * n_states_, std::numeric_limits<double>::quiet_NaN());
            std::fill_n(starts, n_states_, std::numeric_limits<double>::quiet_NaN());
            return;
        }
        if (is_scaled_ && !backward_scaled(posteriors)) {
            is_scaled_ = false;
            forward_logs();
        }
        if (!is_scaled_) backward_logs(posteriors);
        for (std::size_t i = 0; i < n_states_; ++i) starts[i] += weight * posteriors[i];
        if (length_ > 1) add_transitions(weight, transitions);
    }

   private:
    const double* emission(std::size_t t) const { return emissions_ + t * n_states_; }
    double* alpha(std::size_t t) { return alphas_.data() + t * width_; }
    double* other(std::size_t t) { return others_.data() + t * width_; }

    // others(t) = exp(emission - its largest); false where all are impossible or not numbers.
    bool exponentiate(std::size_t t, double& top) {
        const double* const source = emission(t);
        top = *std::max_element(source, source + n_states_);
        if (!std::isfinite(top)) return false;
        double* const target = other(t);
        std::copy_n(source, n_states_, target);
        std::fill(target + n_states_, target + width_, kImpossible);
        for (std::size_t j = 0; j < width_; j += S::kLanes)
            S::store(target + j, math::exp(S::load(target + j) - S::broadcast(top)));
        return true;
    }

    bool forward_scaled() {
        constexpr double kLeastProduct = 1e-15;  // times the least scale it is still a normal number
        double product = 1;                      // of scales whose logarithm is not yet taken
        likelihood_ = 0;
        for (std::size_t t = 0; t < length_; ++t) {
            double top = 0;
            if (!exponentiate(t, top)) return false;
            double* const now = alpha(t);
            if (t == 0) {
                std::copy_n(chain_.start(), width_, now);
            } else {
                chain_.step(alpha(t - 1), now);
            }
            S::Vector sum = {};
            for (std::size_t j = 0; j < width_; j += S::kLanes) {
                const S::Vector value = S::load(now + j) * S::load(other(t) + j);
                S::store(now + j, value);
                sum += value;
            }
            double scale = 0;
            for (std::size_t l = 0; l < S::kLanes; ++l) scale += sum[l];
            if (!(scale >= kLeastSum)) return false;
            const S::Vector by = S::broadcast(1 / scale);
            for (std::size_t j = 0; j < width_; j += S::kLanes) S::store(now + j, by * S::load(now + j));
            scales_[t] = 1 / scale;
            likelihood_ += top;
            product *= scale;
            if (product < kLeastProduct) {
                likelihood_ += std::log(product);
                product = 1;
            }
        }
        likelihood_ += std::log(product);
        return true;
    }

    // Leaves emission times backward value, over the scale, in others; false where it overflows.
    bool backward_scaled(double* posteriors) {
        std::fill_n(scratch_.data(), width_, 1.0);
        for (std::size_t t = length_; t-- > 0;) {
            double total = 0;
            for (std::size_t i = 0; i < n_states_; ++i) total += posteriors[t * n_states_ + i] = alpha(t)[i] * scratch_[i];
            if (!(total > 0 && std::isfinite(total))) return false;
            const double share = 1 / total;
            for (std::size_t i = 0; i < n_states_; ++i) posteriors[t * n_states_ + i] *= share;
            const S::Vector by = S::broadcast(scales_[t]);
            double* const seen = other(t);
            for (std::size_t j = 0; j < width_; j += S::kLanes)
                S::store(seen + j, by * S::load(seen + j) * S::load(scratch_.data() + j));
            if (t > 0) chain_.step_back(seen, scratch_.data());
        }
        return true;
    }

    // next(j) = log sum_i exp(now(i)) p(i, j): by a product of the exponentials, and term by term where that leaves no digits.
    template <bool kIsForward>
    void log_step(const double* now, double* next) {
        const double top = *std::max_element(now, now + n_states_);
        if (top == kImpossible) {
            std::fill_n(next, width_, kImpossible);
            return;
        }
        for (std::size_t j = 0; j < width_; j += S::kLanes)
            S::store(scratch_.data() + j, math::exp(S::load(now + j) - S::broadcast(top)));
        if constexpr (kIsForward) {
            chain_.step(scratch_.data(), next);
        } else {
            chain_.step_back(scratch_.data(), next);
        }
        bool is_exact = true;
        for (std::size_t j = 0; j < width_; j += S::kLanes) {
            const S::Vector sum = S::load(next + j);
            S::store(next + j, math::log(sum) + S::broadcast(top));
            for (std::size_t l = 0; l < std::min(S::kLanes, n_states_ - j); ++l) is_exact &= sum[l] >= kLeastSum;
        }
        if (!is_exact) [[unlikely]]
            for (std::size_t j = 0; j < n_states_; ++j)
                if (!(next[j] >= std::log(kLeastSum) + top + 1)) next[j] = exact<kIsForward>(now, j);
        std::fill(next + n_states_, next + width_, kImpossible);
    }

    template <bool kIsForward>
    double exact(const double* now, std::size_t j) const {
        const auto term = [&](std::size_t i) {
            return now[i] + (kIsForward ? chain_.log_transition(i, j) : chain_.log_transition(j, i));
        };
        double top = kImpossible, sum = 0;
        for (std::size_t i = 0; i < n_states_; ++i) top = std::max(top, term(i));
        if (top == kImpossible) return kImpossible;
        for (std::size_t i = 0; i < n_states_; ++i) sum += std::exp(term(i) - top);
        return top + std::log(sum);
    }

    // Replaces a line by the exponentials of what it has beyond `top`, and returns their sum.
    double exponentiate_line(double* line, double top) const {
        std::fill(line + n_states_, line + width_, kImpossible);
        for (std::size_t j = 0; j < width_; j += S::kLanes) S::store(line + j, math::exp(S::load(line + j) - S::broadcast(top)));
        double sum = 0;
        for (std::size_t i = 0; i < n_states_; ++i) sum += line[i];
        return sum;
    }

    static double log_total(const double* values, std::size_t n) {
        const double top = *std::max_element(values, values + n);
        if (!std::isfinite(top)) return top;
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += std::exp(values[i] - top);
        return top + std::log(sum);
    }

    void forward_logs() {
        for (std::size_t t = 0; t < length_; ++t) {
            double* const now = alpha(t);
            if (t == 0) {
                std::copy_n(chain_.log_start(), width_, now);
            } else {
                log_step<true>(alpha(t - 1), now);
            }
            for (std::size_t i = 0; i < n_states_; ++i) now[i] += emission(t)[i];
        }
        likelihood_ = log_total(alpha(length_ - 1), n_states_);
    }

    // Leaves the logarithms of emission times backward value in others.
    void backward_logs(double* posteriors) {
        std::vector<double> behind(width_, 0.0);
        for (std::size_t t = length_; t-- > 0;) {
            for (std::size_t i = 0; i < width_; ++i) scratch_[i] = alpha(t)[i] + behind[i];
            const double total =
                exponentiate_line(scratch_.data(), *std::max_element(scratch_.data(), scratch_.data() + n_states_));
            for (std::size_t i = 0; i < n_states_; ++i) posteriors[t * n_states_ + i] = scratch_[i] / total;
            double* const seen = other(t);
            for (std::size_t i = 0; i < n_states_; ++i) seen[i] = emission(t)[i] + behind[i];
            std::fill(seen + n_states_, seen + width_, kImpossible);
            if (t > 0) log_step<false>(seen, behind.data());
        }
    }

    // transitions(i, j) += weight sum_t alpha_t(i) others_{t+1}(j) p(i, j).
    void add_transitions(double weight, double* transitions) {
        std::vector<double> sums(n_states_ * width_, 0.0);
        if (!is_scaled_) unlog(weight, transitions);
        add_outer(alphas_.data(), width_, n_states_, others_.data() + width_, length_ - 1, width_, sums.data());
        for (std::size_t i = 0; i < n_states_; ++i)
            for (std::size_t j = 0; j < n_states_; ++j)
                if (sums[i * width_ + j] > 0)
                    transitions[i * width_ + j] += weight * sums[i * width_ + j] * std::exp(chain_.log_transition(i, j));
    }

    // Replaces logarithms by what they are of, such that the products of alpha_t(i) and others_{t+1}(j) are those over the
    // likelihood. Where one would overflow, as its transition is next to impossible, the step is added here, term by term.
    void unlog(double weight, double* transitions) {
        constexpr double kMost = 300;  // of an exponent, so that sums of many such products are finite
        for (std::size_t t = 0; t + 1 < length_; ++t) {
            double *const now = alpha(t), *const seen = other(t + 1);
            const double top = *std::max_element(now, now + n_states_), next = *std::max_element(seen, seen + n_states_);
            if (top + next - likelihood_ > kMost) {
                for (std::size_t i = 0; i < n_states_; ++i)
                    for (std::size_t j = 0; j < n_states_; ++j)
                        transitions[i * width_ + j] +=
                            weight * std::exp(now[i] + chain_.log_transition(i, j) + seen[j] - likelihood_);
                std::fill_n(now, width_, 0.0);
                exponentiate_line(seen, next);
                continue;
            }
            exponentiate_line(now, likelihood_ - next);
            exponentiate_line(seen, next);
        }
    }

    const Chain& chain_;
    std::size_t n_states_, width_;
    const double* emissions_ = nullptr;
    std::size_t length_ = 0;
    bool is_scaled_ = true;
    double likelihood_ = 0;
    Aligned<double> scratch_;
    std::vector<double> alphas_, others_, scales_;
};

template <class Body>
void for_each_sequence(const Sequences& sequences, const Chunks& chunks, const Chain& chain, Threads threads, Body&& body) {
    const double work = static_cast<double>(sequences.emissions.rows) * chain.operations();
    parallel_for(sequences.count() == 0 ? 0 : chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        Passes passes(chain);
        for (std::size_t s = chunks.begin(chunk); s < chunks.end(chunk); ++s) {
            checkpoint();
            if (sequences.length(s) > 0) body(passes, s, chunk);
        }
    });
}

}  // namespace detail

// Writes the logarithm of the likelihood of each sequence. O(steps K^2).
inline void score_sequences(const Sequences& sequences, const Chain& chain, bool is_scaled, std::span<double> likelihoods,
                            Threads threads) {
    std::fill(likelihoods.begin(), likelihoods.end(), 0.0);
    detail::for_each_sequence(
        sequences, Chunks::of(sequences.count(), 1, 256), chain, threads, [&](detail::Passes& passes, std::size_t s, std::size_t) {
            likelihoods[s] = passes.forward(sequences.emissions.row(sequences.starts[s]), sequences.length(s), is_scaled);
        });
}

// Writes the logarithm of the likelihood of each sequence, the probability of each state at each step, and what is expected of
// starts and transitions, each sequence by its weight (empty: one). O(steps K^2).
inline void expect_sequences(const Sequences& sequences, const Chain& chain, bool is_scaled, std::span<const double> weights,
                             std::span<double> likelihoods, RowMajor<double> posteriors, std::span<double> starts,
                             RowMajor<double> transitions, Threads threads) {
    const std::size_t k = chain.n_states(), width = chain.width();
    const Chunks chunks = Chunks::of(sequences.count(), 1, 64);
    ChunkSums<double> sums(chunks, width + k * width);
    std::fill(likelihoods.begin(), likelihoods.end(), 0.0);
    detail::for_each_sequence(sequences, chunks, chain, threads, [&](detail::Passes& passes, std::size_t s, std::size_t chunk) {
        const std::size_t begin = sequences.starts[s];
        likelihoods[s] = passes.forward(sequences.emissions.row(begin), sequences.length(s), is_scaled);
        passes.backward(weights.empty() ? 1.0 : weights[s], posteriors.row(begin), sums[chunk], sums[chunk] + width);
    });
    const auto total = sums.total();
    std::copy_n(total.begin(), k, starts.begin());
    for (std::size_t i = 0; i < k; ++i)
        std::copy_n(total.begin() + static_cast<std::ptrdiff_t>(width + i * width), k, transitions.row(i));
}

// Writes the most likely path of each sequence (Viterbi; the first of equals), and the logarithm of its likelihood with the
// emissions. O(steps K^2).
inline void most_likely_paths(const Sequences& sequences, const Chain& chain, std::span<std::int64_t> states,
                              std::span<double> likelihoods, Threads threads) {
    using S = Simd<double>;
    const std::size_t k = chain.n_states(), width = chain.width();
    std::fill(likelihoods.begin(), likelihoods.end(), 0.0);
    detail::for_each_sequence(
        sequences, Chunks::of(sequences.count(), 1, 256), chain, threads, [&](detail::Passes&, std::size_t s, std::size_t) {
            const std::size_t begin = sequences.starts[s], length = sequences.length(s);
            std::vector<double> best(chain.log_start(), chain.log_start() + width), next(width);
            std::vector<S::Index> from(length * width);
            for (std::size_t t = 0; t < length; ++t) {
                if (t > 0) {
                    for (std::size_t j = 0; j < width; j += S::kLanes) {
                        S::Vector top = S::broadcast(best[0]) + S::load(chain.log_transitions(0) + j);
                        S::Indices argument = {};
                        for (std::size_t i = 1; i < k; ++i) {
                            const S::Vector value = S::broadcast(best[i]) + S::load(chain.log_transitions(i) + j);
                            argument = value > top ? S::broadcast_index(static_cast<S::Index>(i)) : argument;
                            top = math::max(value, top);
                        }
                        S::store(next.data() + j, top);
                        std::memcpy(from.data() + t * width + j, &argument, sizeof argument);
                    }
                    std::swap(best, next);
                }
                for (std::size_t i = 0; i < k; ++i) best[i] += sequences.emissions(begin + t, i);
            }
            auto state = static_cast<std::size_t>(std::max_element(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(k)) -
                                                  best.begin());
            likelihoods[s] = best[state];
            for (std::size_t t = length; t-- > 0;) {
                states[begin + t] = static_cast<std::int64_t>(state);
                if (t > 0) state = static_cast<std::size_t>(from[t * width + state]);
            }
        });
}

}  // namespace mercer::hmm
