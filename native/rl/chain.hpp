// The Markov chain that a policy makes of a model: one row a state, gathered once, since an evaluation goes over it many times.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "rl/bellman.hpp"

namespace mercer::rl {

class Chain {
   public:
    // `share` is the probability of each pair given its state. Pairs of share zero leave nothing in the chain.
    Chain(const Model& model, std::span<const double> share, Threads threads) : Chain(model.n_states()) {
        gather(model, threads, [&](std::size_t s, auto&& take) {
            for (std::size_t pair = model.first_pair(s); pair < model.first_pair(s + 1); ++pair)
                if (share[pair] != 0.0) take(pair, share[pair]);
        });
    }
    // One pair a state; whatever is out of the state's range is taken for its first.
    Chain(const Model& model, std::span<const std::int64_t> pairs, Threads threads) : Chain(model.n_states()) {
        gather(model, threads, [&](std::size_t s, auto&& take) {
            if (model.is_terminal(s)) return;
            const auto given = static_cast<std::size_t>(pairs[s]);
            const bool is_own = model.first_pair(s) <= given && given < model.first_pair(s + 1);
            take(is_own ? given : model.first_pair(s), 1.0);
        });
    }

    std::size_t n_states() const { return rewards_.size(); }
    const std::vector<std::int64_t>& starts() const { return starts_; }
    const std::vector<State>& next() const { return next_; }
    const std::vector<double>& probabilities() const { return probabilities_; }
    const std::vector<double>& rewards() const { return rewards_; }
    double n_operations() const { return 2.0 * static_cast<double>(next_.size()) + static_cast<double>(n_states()); }

    double mean_after(std::size_t s, const double* v) const {
        double mean = 0.0;
        for (auto i = static_cast<std::size_t>(starts_[s]); i < static_cast<std::size_t>(starts_[s + 1]); ++i)
            mean += probabilities_[i] * v[next_[i]];
        return mean;
    }

    // out = r + discount P v. A terminal state has no row: zero.
    Change backup(double discount, std::span<const double> v, std::span<double> out, Threads threads) const {
        return over_states(n_states(), n_operations(), threads, [&](std::size_t s, Change& change) {
            out[s] = rewards_[s] + discount * mean_after(s, v.data());
            if (starts_[s] != starts_[s + 1]) change.see(out[s] - v[s]);
        });
    }

   private:
    explicit Chain(std::size_t n_states) : starts_(n_states + 1), rewards_(n_states) {}

    // Counts, then fills: `of_state(s, take)` calls take(pair, share).
    template <class OfState>
    void gather(const Model& model, Threads threads, OfState&& of_state) {
        const ModelParts& parts = model.parts();
        const double work = 4.0 * static_cast<double>(model.n_pairs());
        over_states(n_states(), work, threads, [&](std::size_t s, Change&) {
            of_state(s, [&](std::size_t pair, double share) {
                starts_[s + 1] += parts.pair_starts[pair + 1] - parts.pair_starts[pair];
                rewards_[s] += share * parts.rewards[pair];
            });
        });
        for (std::size_t s = 0; s < n_states(); ++s) starts_[s + 1] += starts_[s];
        next_.resize(static_cast<std::size_t>(starts_.back()));
        probabilities_.resize(next_.size());
        over_states(n_states(), n_operations(), threads, [&](std::size_t s, Change&) {
            auto place = static_cast<std::size_t>(starts_[s]);
            const auto end = static_cast<std::size_t>(starts_[s + 1]);
            of_state(s, [&](std::size_t pair, double share) {
                for (std::size_t k = model.first_outcome(pair); k < model.first_outcome(pair + 1) && place < end; ++k, ++place) {
                    next_[place] = parts.next[k];
                    probabilities_[place] = share * parts.probabilities[k];
                }
            });
        });
    }

    std::vector<std::int64_t> starts_;
    std::vector<State> next_;
    std::vector<double> probabilities_;
    std::vector<double> rewards_;
};

}  // namespace mercer::rl
