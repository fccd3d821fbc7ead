// A model to act in: draws of first states, outcomes and rewards.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/rng.hpp"
#include "rl/model.hpp"

namespace mercer::rl {

struct Outcome {
    double reward = 0.0;
    State state = 0;
    bool is_end = false;
};

// First states by a table of cumulated probabilities, which episodes ask once each.
class InitialLaw {
   public:
    explicit InitialLaw(const Model& model) : cumulated_(model.n_states()) {
        double sum = 0.0;
        for (std::size_t s = 0; s < cumulated_.size(); ++s) {
            cumulated_[s] = sum += model.parts().initial[s];
            if (model.parts().initial[s] > 0.0) last_ = static_cast<State>(s);
        }
    }
    State draw(Philox& random) const {
        const double u = random.uniform() * cumulated_.back();
        const auto found = std::upper_bound(cumulated_.begin(), cumulated_.end(), u);
        return std::min(static_cast<State>(found - cumulated_.begin()), last_);  // rounding may lead behind the last one
    }

   private:
    std::vector<double> cumulated_;
    State last_ = 0;  // that has any probability
};

inline double draw_reward(const Model& model, std::size_t pair, std::size_t outcome, Philox& random) {
    const ModelParts& parts = model.parts();
    const double mean = parts.outcome_rewards.empty() ? parts.rewards[pair] : parts.outcome_rewards[outcome];
    switch (parts.noise) {
        case Noise::kNone:
            return mean;
        case Noise::kNormal: {  // Box and Muller's cosine: what is drawn depends on nothing that was drawn before
            const double radius = std::sqrt(-2.0 * std::log1p(-random.uniform()));
            return mean + parts.noise_scales[pair] * radius * std::cos(2.0 * std::numbers::pi * random.uniform());
        }
        case Noise::kUniform:
            return mean + parts.noise_scales[pair] * (2.0 * random.uniform() - 1.0);
        case Noise::kBernoulli:  // the scale, or nothing
            return random.uniform() * parts.noise_scales[pair] < mean ? parts.noise_scales[pair] : 0.0;
    }
    return mean;
}

// What follows a pair. O(outcomes of the pair).
inline Outcome draw_outcome(const Model& model, std::size_t pair, Philox& random) {
    const ModelParts& parts = model.parts();
    const std::size_t last = model.first_outcome(pair + 1) - 1;
    std::size_t k = model.first_outcome(pair);
    if (k < last) {
        double u = random.uniform();
        while (k < last && (u -= parts.probabilities[k]) >= 0.0) ++k;
    }
    const auto state = parts.next[k];
    return {draw_reward(model, pair, k, random), state, model.is_terminal(static_cast<std::size_t>(state))};
}

}  // namespace mercer::rl
