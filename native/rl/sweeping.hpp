// Prioritised sweeping: the state whose value is most in error is backed up next (Moore and Atkeson, 1993).
#pragma once

#include <cmath>
#include <queue>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "rl/bellman.hpp"

namespace mercer::rl {

// For each state the pairs that may lead to it, with their probabilities.
class Predecessors {
   public:
    explicit Predecessors(const Model& model)
        : starts_(model.n_states() + 1), states_(model.n_outcomes()), odds_(model.n_outcomes()) {
        const ModelParts& parts = model.parts();
        for (const State t : parts.next) ++starts_[static_cast<std::size_t>(t) + 1];
        for (std::size_t s = 0; s < model.n_states(); ++s) starts_[s + 1] += starts_[s];
        std::vector<std::size_t> place(starts_.begin(), starts_.end() - 1);
        for (std::size_t s = 0; s < model.n_states(); ++s)
            for (std::size_t k = model.first_outcome(model.first_pair(s)); k < model.first_outcome(model.first_pair(s + 1)); ++k) {
                const std::size_t to = place[static_cast<std::size_t>(parts.next[k])]++;
                states_[to] = static_cast<State>(s);
                odds_[to] = parts.probabilities[k];
            }
    }

    template <class Body>
    void each(std::size_t state, Body&& body) const {
        for (std::size_t i = starts_[state]; i < starts_[state + 1]; ++i) body(static_cast<std::size_t>(states_[i]), odds_[i]);
    }

   private:
    std::vector<std::size_t> starts_;
    std::vector<State> states_;
    std::vector<double> odds_;
};

// Backs up states in the order of a bound on the error of each, until none is above `threshold` or `max_backups` are done. The
// bound of a state grows by discount p |change| where a state changes that it may lead to. Returns the number of backups. O(log)
// each.
inline std::size_t sweep_by_priority(const Model& model, double discount, double threshold, std::size_t max_backups,
                                     std::span<double> v) {
    const Predecessors predecessors(model);
    std::vector<double> bound(model.n_states());
    std::priority_queue<std::pair<double, State>> queue;
    const auto value_of = [&](std::size_t s) {
        double most = -std::numeric_limits<double>::infinity();
        for (std::size_t pair = model.first_pair(s); pair < model.first_pair(s + 1); ++pair)
            most = std::max(most, model.parts().rewards[pair] + discount * model.mean_after(pair, v.data()));
        return most;
    };
    for (std::size_t s = 0; s < model.n_states(); ++s) {
        if (s % 4096 == 0) checkpoint();
        if (model.is_terminal(s)) continue;
        bound[s] = std::abs(value_of(s) - v[s]);
        if (bound[s] > threshold) queue.emplace(bound[s], static_cast<State>(s));
    }
    std::size_t n_backups = 0;
    while (!queue.empty() && n_backups < max_backups) {
        const auto [priority, state] = queue.top();
        queue.pop();
        const auto s = static_cast<std::size_t>(state);
        if (priority != bound[s]) continue;  // it has come back with a larger bound
        if (++n_backups % 4096 == 0) checkpoint();
        const double value = value_of(s), change = std::abs(value - v[s]);
        v[s] = value;
        bound[s] = 0.0;
        if (change == 0.0) continue;
        predecessors.each(s, [&](std::size_t before, double odds) {
            bound[before] += discount * odds * change;
            if (bound[before] > threshold) queue.emplace(bound[before], static_cast<State>(before));
        });
    }
    return n_backups;
}

}  // namespace mercer::rl
