// Agents that learn action values from what they see, one step at a time. States are sets of features, one of them in a table and
// several where tiles cover a space; the value of an action is the sum of the weights of the features for it.
#pragma once

#include <atomic>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "rl/environment.hpp"
#include "rl/tiles.hpp"

namespace mercer::rl {

enum class Method : std::uint8_t { kSarsa, kExpectedSarsa, kQLearning, kDoubleQLearning, kMonteCarlo };
enum class Exploration : std::uint8_t { kEpsilonGreedy, kSoftmax, kUpperBound };

struct LearnerSettings {
    Method method = Method::kQLearning;
    Exploration exploration = Exploration::kEpsilonGreedy;
    double discount = 1.0;
    double trace_decay = 0.0;
    bool has_replacing_traces = false;
    bool has_mean_steps = false;  // the step is one over the number of visits, whatever the rate
    bool has_first_visits = true;
    double confidence = 1.0;  // of upper bounds
    std::size_t n_planning_steps = 0;
};

// What may change from episode to episode.
struct Rates {
    double alpha = 0.1;
    double epsilon = 0.1;
    double temperature = 1.0;
};

struct EpisodeRecord {
    double total = 0.0;  // of the rewards, not discounted
    double error = 0.0;  // the mean size of the temporal differences
    std::size_t n_steps = 0;
};

// What an agent draws in an episode; an environment draws from another stream.
inline Philox agent_stream(std::uint64_t seed, std::uint64_t episode) { return Philox(seed, 2 * episode); }
inline Philox world_stream(std::uint64_t seed, std::uint64_t episode) { return Philox(seed, 2 * episode + 1); }

template <class Features>
class Learner {
   public:
    // The weights of feature f are starts[f] to starts[f + 1], one for each action.
    Learner(std::vector<std::int64_t> starts, LearnerSettings settings, double first_value)
        : settings_(settings), starts_(std::move(starts)) {
        const auto n = static_cast<std::size_t>(starts_.back());
        weights_.assign(n, first_value);
        if (settings_.method == Method::kDoubleQLearning) second_.assign(n, first_value);
        if (counts_visits()) visits_.assign(n, 0.0);
        if (settings_.method == Method::kMonteCarlo) last_seen_.assign(n, 0);
        if (settings_.n_planning_steps > 0) seen_.assign(n, {});
    }

    std::vector<double>& weights() { return weights_; }
    std::vector<double>& second() { return second_; }
    std::vector<double>& visits() { return visits_; }
    std::size_t n_features() const { return starts_.size() - 1; }

    // Starts an episode, and returns the first action, a place among those of the state; one that is given is taken.
    std::size_t begin(const Features& state, const Rates& rates, Philox random, std::ptrdiff_t given = -1) {
        rates_ = rates;
        random_ = random;
        record_ = {};
        traces_.clear();
        steps_.clear();
        state_ = state;
        action_ = given >= 0 ? static_cast<std::size_t>(given) : choose(state);
        return action_;
    }

    // What came of the last action. Returns the next one; it means nothing after the end. An episode that is cut short goes on
    // in the mind: its last state is worth what it is worth.
    std::size_t observe(double reward, const Features& next, bool is_end, bool is_cut) {
        record_.total += reward;
        ++record_.n_steps;
        if (settings_.method == Method::kMonteCarlo) {
            steps_.push_back({slot(state_, action_), reward});
            state_ = next;
            if (is_end || is_cut) learn_from_returns();
            action_ = is_end || is_cut ? 0 : choose(next);
            return action_;
        }
        const bool chooses_first = settings_.method == Method::kSarsa || settings_.trace_decay > 0.0;
        std::size_t following = chooses_first && !is_end ? choose(next) : 0;
        if (settings_.method == Method::kDoubleQLearning) {
            learn_double(reward, next, is_end);
        } else {
            const double after = is_end ? 0.0 : settings_.discount * worth(next, following);
            learn(reward + after - value(weights_, state_, action_), next, following, is_end);
        }
        if (settings_.n_planning_steps > 0) plan(reward, next, is_end);
        if (!chooses_first && !is_end && !is_cut) following = choose(next);
        state_ = next;
        action_ = following;
        return following;
    }

    EpisodeRecord record() const {
        EpisodeRecord record = record_;
        if (record.n_steps > 0) record.error /= static_cast<double>(record.n_steps);
        return record;
    }

    // The action of the largest value, the first of equals.
    std::size_t greedy(const Features& state) const {
        std::size_t best = 0;
        double most = -std::numeric_limits<double>::infinity();
        for (std::size_t a = 0; a < n_actions(state); ++a)
            if (const double v = both(state, a); v > most) {
                most = v;
                best = a;
            }
        return best;
    }

    void require_fits(const Model& model) const {
        require(starts_ == model.parts().state_starts, "the agent learns in another model");
    }

    std::size_t n_actions(const Features& state) const {
        const auto f = static_cast<std::size_t>(*state.begin());
        return static_cast<std::size_t>(starts_[f + 1] - starts_[f]);
    }

    // What a planner remembers of a pair: its last outcome.
    struct Memory {
        double reward = 0.0;
        Features next{};
        bool is_end = false;
        bool is_known = false;
    };
    const std::vector<std::size_t>& known() const { return known_; }
    const Memory& memory(std::size_t pair) const { return seen_[pair]; }
    void remember(std::size_t pair, double reward, const Features& next, bool is_end) {
        if (!seen_[pair].is_known) known_.push_back(pair);
        seen_[pair] = {reward, next, is_end, true};
    }
    bool plans() const { return settings_.n_planning_steps > 0; }

   private:
    using Weights = std::vector<double>;
    struct Trace {
        std::size_t slot;
        double size;
    };
    struct Step {
        std::size_t slot;
        double reward;
    };
    static constexpr double kLeastTrace = 1e-9;  // what is smaller is forgotten

    bool counts_visits() const { return settings_.has_mean_steps || settings_.exploration == Exploration::kUpperBound; }
    std::size_t slot(std::int32_t feature, std::size_t action) const {
        return static_cast<std::size_t>(starts_[static_cast<std::size_t>(feature)]) + action;
    }
    std::size_t slot(const Features& state, std::size_t action) const { return slot(*state.begin(), action); }

    double value(const Weights& weights, const Features& state, std::size_t action) const {
        double sum = 0.0;
        for (const std::int32_t f : state) sum += weights[slot(f, action)];
        return sum;
    }
    // What actions are chosen by: the sum of two tables where there are two.
    double both(const Features& state, std::size_t action) const {
        const double v = value(weights_, state, action);
        return second_.empty() ? v : v + value(second_, state, action);
    }

    // ---- choice

    std::size_t choose(const Features& state) {
        const std::size_t n = n_actions(state);
        if (settings_.exploration == Exploration::kSoftmax) return choose_softmax(state, n);
        if (settings_.exploration == Exploration::kUpperBound)
            return best_of(n, [&](std::size_t a) { return upper_bound(state, a); });
        if (rates_.epsilon > 0.0 && random_.uniform() < rates_.epsilon) return random_.below(static_cast<std::uint32_t>(n));
        return best_by_chance(state, n);
    }

    // The action of the largest value, any of equals alike. Which one it is nobody can foresee: two passes without jumps.
    std::size_t best_by_chance(const Features& state, std::size_t n) {
        const double most = largest(state);
        std::size_t best = 0;
        std::uint32_t n_equal = 0;
        for (std::size_t a = 0; a < n; ++a) {
            const bool is_equal = both(state, a) == most;
            best = is_equal ? a : best;
            n_equal += is_equal ? 1 : 0;
        }
        if (n_equal <= 1) return best;
        std::uint32_t n_before = random_.below(n_equal);
        for (std::size_t a = 0; a < n; ++a)
            if (both(state, a) == most && n_before-- == 0) return a;
        return best;
    }

    // The place of the largest value, any of equals alike.
    template <class Value>
    std::size_t best_of(std::size_t n, Value&& value) {
        double most = value(0);
        std::size_t best = 0;
        std::uint32_t n_equal = 1;
        for (std::size_t a = 1; a < n; ++a) {
            const double v = value(a);
            if (v > most) {
                most = v;
                best = a;
                n_equal = 1;
            } else if (v == most && random_.below(++n_equal) == 0) {
                best = a;
            }
        }
        return best;
    }

    double largest(const Features& state) const {
        double most = both(state, 0);
        for (std::size_t a = 1; a < n_actions(state); ++a) most = std::max(most, both(state, a));
        return most;
    }

    double softmax_weight(const Features& state, std::size_t a, double most) const {
        return std::exp((both(state, a) - most) / rates_.temperature);
    }

    std::size_t choose_softmax(const Features& state, std::size_t n) {
        const double most = largest(state);
        double sum = 0.0;
        for (std::size_t a = 0; a < n; ++a) sum += softmax_weight(state, a, most);
        double u = random_.uniform() * sum;
        for (std::size_t a = 0; a + 1 < n; ++a)
            if ((u -= softmax_weight(state, a, most)) < 0.0) return a;
        return n - 1;
    }

    double upper_bound(const Features& state, std::size_t action) const {
        double n_state = 0.0;
        for (std::size_t a = 0; a < n_actions(state); ++a) n_state += visits_[slot(state, a)];
        const double n = visits_[slot(state, action)];
        if (n == 0.0) return std::numeric_limits<double>::infinity();
        return both(state, action) + settings_.confidence * std::sqrt(std::log(n_state) / n);
    }

    // ---- what the next state is worth, by the method

    double worth(const Features& next, std::size_t following) const {
        switch (settings_.method) {
            case Method::kSarsa:
                return value(weights_, next, following);
            case Method::kExpectedSarsa:
                return expected(next);
            default:
                return largest(next);
        }
    }

    double expected(const Features& next) const {
        const std::size_t n = n_actions(next);
        if (settings_.exploration == Exploration::kUpperBound) {
            std::size_t best = 0;
            for (std::size_t a = 1; a < n; ++a)
                if (upper_bound(next, a) > upper_bound(next, best)) best = a;
            return value(weights_, next, best);
        }
        const double most = largest(next);
        double sum = 0.0, weighted = 0.0;
        if (settings_.exploration == Exploration::kSoftmax) {
            for (std::size_t a = 0; a < n; ++a) {
                const double weight = softmax_weight(next, a, most);
                sum += weight;
                weighted += weight * value(weights_, next, a);
            }
            return weighted / sum;
        }
        for (std::size_t a = 0; a < n; ++a) sum += value(weights_, next, a);
        return (1.0 - rates_.epsilon) * most + rates_.epsilon * sum / static_cast<double>(n);
    }

    // ---- steps

    // The length of a step for the last action, each of its features having a share.
    double step_of(std::size_t slot) {
        if (counts_visits()) visits_[slot] += 1.0;
        const double rate = settings_.has_mean_steps ? 1.0 / visits_[slot] : rates_.alpha;
        return rate / static_cast<double>(state_.end() - state_.begin());
    }

    void learn(double error, const Features& next, std::size_t following, bool is_end) {
        record_.error += std::abs(error);
        const double step = step_of(slot(state_, action_));
        if (settings_.trace_decay == 0.0) {
            for (const std::int32_t f : state_) weights_[slot(f, action_)] += step * error;
            return;
        }
        for (const std::int32_t f : state_) leave_trace(slot(f, action_));
        const double decay = settings_.discount * settings_.trace_decay;
        std::size_t kept = 0;
        for (Trace& trace : traces_) {
            weights_[trace.slot] += step * error * trace.size;
            trace.size *= decay;
            if (trace.size > kLeastTrace) traces_[kept++] = trace;
        }
        traces_.resize(kept);
        // After a step that is not the best one, what came before no longer leads to it (Watkins).
        if (settings_.method == Method::kQLearning && !is_end && both(next, following) < largest(next)) traces_.clear();
    }

    void leave_trace(std::size_t slot) {
        for (Trace& trace : traces_)
            if (trace.slot == slot) {
                trace.size = settings_.has_replacing_traces ? 1.0 : trace.size + 1.0;
                return;
            }
        traces_.push_back({slot, 1.0});
    }

    // One of two tables learns, by what the other says of the action that it itself thinks best.
    void learn_double(double reward, const Features& next, bool is_end) {
        const bool is_first = random_.below(2) == 0;
        Weights& own = is_first ? weights_ : second_;
        const Weights& other = is_first ? second_ : weights_;
        double after = 0.0;
        if (!is_end) {
            const std::size_t best = best_of(n_actions(next), [&](std::size_t a) { return value(own, next, a); });
            after = settings_.discount * value(other, next, best);
        }
        const double error = reward + after - value(own, state_, action_);
        record_.error += std::abs(error);
        const double step = step_of(slot(state_, action_));
        for (const std::int32_t f : state_) own[slot(f, action_)] += step * error;
    }

    // Steps of what is remembered: of each pair its last outcome.
    void plan(double reward, const Features& next, bool is_end) {
        remember(slot(state_, action_), reward, next, is_end);
        for (std::size_t i = 0; i < settings_.n_planning_steps; ++i) {
            if (i % 1024 == 1023) checkpoint();
            const std::size_t pair = known_[random_.below(static_cast<std::uint32_t>(known_.size()))];
            const Memory& memory = seen_[pair];
            const double after = memory.is_end ? 0.0 : settings_.discount * largest(memory.next);
            const double rate = settings_.has_mean_steps ? 1.0 / visits_[pair] : rates_.alpha;
            weights_[pair] += rate * (memory.reward + after - weights_[pair]);
        }
    }

    // Every pair moves towards what followed it, its first visit alone or each.
    void learn_from_returns() {
        for (std::size_t t = steps_.size(); t-- > 0;) last_seen_[steps_[t].slot] = t;
        double total = 0.0;
        for (std::size_t t = steps_.size(); t-- > 0;) {
            if (t % 4096 == 0) checkpoint();
            total = steps_[t].reward + settings_.discount * total;
            const std::size_t pair = steps_[t].slot;
            if (settings_.has_first_visits && last_seen_[pair] != t) continue;
            const double error = total - weights_[pair];
            record_.error += std::abs(error);
            weights_[pair] += step_of(pair) * error;
        }
    }

    LearnerSettings settings_;
    std::vector<std::int64_t> starts_;
    Weights weights_, second_, visits_;
    std::vector<Trace> traces_;
    std::vector<Step> steps_;
    std::vector<std::size_t> last_seen_;
    std::vector<Memory> seen_;
    std::vector<std::size_t> known_;
    Rates rates_;
    Philox random_{0, 0};
    EpisodeRecord record_;
    Features state_{};
    std::size_t action_ = 0;
};

// Where the steps of one episode come from.
struct Course {
    std::uint64_t seed = 0;
    std::uint64_t first_episode = 0;
    std::size_t max_steps = 0;
    bool has_exploring_starts = false;
};

// Episodes of a model, one after another; each draws from a stream of its own, so that what is learnt does not depend on how many
// are asked for at a time. The environment draws from another stream than the agent. O(actions + outcomes) a step.
inline void run_episodes(Learner<OneFeature>& learner, const Model& model, const Course& course, std::span<const Rates> rates,
                         std::span<double> totals, std::span<std::int64_t> lengths, std::span<double> errors) {
    const InitialLaw law(model);
    std::vector<State> acting;
    if (course.has_exploring_starts)
        for (std::size_t s = 0; s < model.n_states(); ++s)
            if (!model.is_terminal(s)) acting.push_back(static_cast<State>(s));
    for (std::size_t e = 0; e < rates.size(); ++e) {
        const std::uint64_t episode = course.first_episode + e;
        Philox world = world_stream(course.seed, episode);
        State state = law.draw(world);
        std::ptrdiff_t given = -1;
        if (course.has_exploring_starts) {
            state = acting[world.below(static_cast<std::uint32_t>(acting.size()))];
            const auto s = static_cast<std::size_t>(state);
            given = world.below(static_cast<std::uint32_t>(model.first_pair(s + 1) - model.first_pair(s)));
        }
        std::size_t action = learner.begin({state}, rates[e], agent_stream(course.seed, episode), given);
        for (std::size_t step = 1;; ++step) {
            if (step % 1024 == 1) checkpoint();
            const Outcome outcome = draw_outcome(model, model.first_pair(static_cast<std::size_t>(state)) + action, world);
            const bool is_cut = step == course.max_steps && !outcome.is_end;
            action = learner.observe(outcome.reward, {outcome.state}, outcome.is_end, is_cut);
            state = outcome.state;
            if (outcome.is_end || is_cut) break;
        }
        const EpisodeRecord record = learner.record();
        totals[e] = record.total;
        lengths[e] = static_cast<std::int64_t>(record.n_steps);
        errors[e] = record.error;
    }
}

}  // namespace mercer::rl
