// A Markov decision process as planners and agents read it: compressed rows over the pairs (state, action), in the order of the
// states. It owns its memory and is checked once, when it is made.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/errors.hpp"

namespace mercer::rl {

using State = std::int32_t;

// What is added to the mean of a reward when one is drawn.
enum class Noise : std::uint8_t { kNone, kNormal, kUniform, kBernoulli };

// What a model is made of. A state without pairs is terminal: its value is zero, and an episode ends there.
struct ModelParts {
    std::vector<std::int64_t> state_starts;  // states + 1 offsets into the pairs
    std::vector<std::int32_t> actions;       // of each pair
    std::vector<std::int64_t> pair_starts;   // pairs + 1 offsets into the outcomes
    std::vector<State> next;                 // of each outcome
    std::vector<double> probabilities;
    std::vector<double> rewards;          // the mean of each pair
    std::vector<double> outcome_rewards;  // the mean of each outcome; none where all outcomes of a pair have its mean
    std::vector<double> noise_scales;     // of each pair; none without noise
    std::vector<double> initial;          // the law of the first state
    Noise noise = Noise::kNone;
    std::int32_t n_actions = 0;
};

class Model {
   public:
    explicit Model(ModelParts parts) : parts_(std::move(parts)) {
        const std::size_t n = parts_.state_starts.size();
        require(n >= 2 && n <= (std::size_t{1} << 31), "a model has between one state and 2^31 - 1 of them");
        check_offsets(parts_.state_starts, parts_.actions.size());
        check_offsets(parts_.pair_starts, parts_.next.size());
        require(parts_.pair_starts.size() == parts_.actions.size() + 1 && parts_.rewards.size() == parts_.actions.size(),
                "a model has one row of outcomes and one reward for each pair");
        require(parts_.probabilities.size() == parts_.next.size(), "a model has one probability for each outcome");
        require(parts_.outcome_rewards.empty() || parts_.outcome_rewards.size() == parts_.next.size(),
                "one reward for each outcome");
        require(parts_.noise_scales.size() == (parts_.noise == Noise::kNone ? 0 : n_pairs()), "one scale of noise for each pair");
        require(parts_.initial.size() == n_states(), "the initial law has one probability for each state");
        for (const State s : parts_.next)
            require(s >= 0 && static_cast<std::size_t>(s) < n_states(), "an outcome leads to no state of the model");
        for (const std::int32_t a : parts_.actions) require(a >= 0 && a < parts_.n_actions, "an action is out of range");
        for (std::size_t pair = 0; pair < n_pairs(); ++pair)
            require(parts_.pair_starts[pair] < parts_.pair_starts[pair + 1], "a pair has no outcomes");
        check_order();
        check_initial();
    }

    std::size_t n_states() const { return parts_.state_starts.size() - 1; }
    std::size_t n_pairs() const { return parts_.actions.size(); }
    std::size_t n_outcomes() const { return parts_.next.size(); }
    std::size_t first_pair(std::size_t state) const { return static_cast<std::size_t>(parts_.state_starts[state]); }
    std::size_t first_outcome(std::size_t pair) const { return static_cast<std::size_t>(parts_.pair_starts[pair]); }
    bool is_terminal(std::size_t state) const { return parts_.state_starts[state] == parts_.state_starts[state + 1]; }
    const ModelParts& parts() const { return parts_; }

    // The mean of v after the pair.
    double mean_after(std::size_t pair, const double* v) const {
        double mean = 0.0;
        for (std::size_t i = first_outcome(pair); i < first_outcome(pair + 1); ++i)
            mean += parts_.probabilities[i] * v[parts_.next[i]];
        return mean;
    }

   private:
    static void check_offsets(const std::vector<std::int64_t>& starts, std::size_t n) {
        require(!starts.empty() && starts.front() == 0 && static_cast<std::size_t>(starts.back()) == n,
                "offsets must rise from zero to the number of what they divide");
        for (std::size_t i = 1; i < starts.size(); ++i) require(starts[i - 1] <= starts[i], "offsets must not decrease");
    }

    // Actions rise within a state, so that a pair is found by search.
    void check_order() const {
        for (std::size_t s = 0; s < n_states(); ++s)
            for (std::size_t pair = first_pair(s) + 1; pair < first_pair(s + 1); ++pair)
                require(parts_.actions[pair - 1] < parts_.actions[pair], "the actions of a state must rise");
    }

    // Every episode begins where there is something to do.
    void check_initial() const {
        double sum = 0.0;
        for (std::size_t s = 0; s < n_states(); ++s) {
            const double share = parts_.initial[s];
            require(share >= 0.0 && std::isfinite(share) && (share == 0.0 || !is_terminal(s)),
                    "the initial law must be of probabilities, and none of a terminal state");
            sum += share;
        }
        require(sum > 0.0 && std::isfinite(sum), "the initial law has no state");
    }

    ModelParts parts_;
};

}  // namespace mercer::rl
