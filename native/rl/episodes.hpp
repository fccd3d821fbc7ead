// Episodes of a model under a policy, drawn side by side.
#pragma once

#include <vector>

#include "core/parallel.hpp"
#include "rl/environment.hpp"

namespace mercer::rl {

// One episode. The state after the last step is `last`; it is terminal unless the episode was cut short.
struct Episode {
    std::vector<State> states;
    std::vector<std::int32_t> actions;
    std::vector<double> rewards;
    State last = 0;
    bool is_end = false;
};

// The pair that a policy takes, given the probability of each; rounding gives what is left to the last one that has any.
inline std::size_t draw_pair(const Model& model, std::span<const double> share, std::size_t state, Philox& random) {
    double u = random.uniform();
    std::size_t chosen = model.first_pair(state);
    for (std::size_t pair = chosen; pair < model.first_pair(state + 1); ++pair) {
        if (share[pair] <= 0.0) continue;
        chosen = pair;
        if ((u -= share[pair]) < 0.0) break;
    }
    return chosen;
}

// `max_steps` of zero is no limit. Each episode has a stream of its own. O(actions + outcomes) a step.
inline std::vector<Episode> sample_episodes(const Model& model, std::span<const double> share, std::size_t n_episodes,
                                            std::size_t max_steps, std::uint64_t seed, std::uint64_t first_episode,
                                            Threads threads) {
    const InitialLaw law(model);
    std::vector<Episode> episodes(n_episodes);
    const Chunks chunks = Chunks::of(n_episodes, 1, 4096);
    parallel_for(chunks.count, threads, [&](std::size_t chunk) {
        for (std::size_t e = chunks.begin(chunk); e < chunks.end(chunk); ++e) {
            Philox random(seed, first_episode + e);
            Episode& episode = episodes[e];
            State state = law.draw(random);
            while (!episode.is_end && (max_steps == 0 || episode.states.size() < max_steps)) {
                if (episode.states.size() % 1024 == 0) checkpoint();
                const std::size_t pair = draw_pair(model, share, static_cast<std::size_t>(state), random);
                const Outcome outcome = draw_outcome(model, pair, random);
                episode.states.push_back(state);
                episode.actions.push_back(model.parts().actions[pair]);
                episode.rewards.push_back(outcome.reward);
                state = outcome.state;
                episode.is_end = outcome.is_end;
            }
            episode.last = state;
        }
    });
    return episodes;
}

}  // namespace mercer::rl
