// Bellman's operators on a model: values of pairs, backups of states, the best pair of each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "core/chunk_sums.hpp"
#include "rl/model.hpp"

namespace mercer::rl {

// The least and the largest change of a value in a sweep, over the states that are not terminal.
struct Change {
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();

    void see(double change) {
        least = std::min(least, change);
        most = std::max(most, change);
    }
    void join(const Change& other) {
        least = std::min(least, other.least);
        most = std::max(most, other.most);
    }
};

// Runs of states whose number depends on the model alone.
inline Chunks chunks_of_states(std::size_t n_states) { return Chunks::of(n_states, 256, 256); }

// Calls body(state, change) for every state, in parallel, and returns the change over all.
template <class Body>
Change over_states(std::size_t n_states, double n_operations, Threads threads, Body&& body) {
    const Chunks chunks = chunks_of_states(n_states);
    ChunkParts<Change> parts(chunks);
    parallel_for(chunks.count, threads.for_work(n_operations), [&](std::size_t chunk) {
        Change change;
        for (std::size_t s = chunks.begin(chunk); s < chunks.end(chunk); ++s) body(s, change);
        parts[chunk] = change;
    });
    return parts.joined([](Change& all, const Change& part) { all.join(part); });
}

inline double work_of(const Model& model) {
    return 2.0 * static_cast<double>(model.n_outcomes()) + static_cast<double>(model.n_pairs());
}

// q(s, a) = r(s, a) + discount sum_t p(t | s, a) v(t), for every pair. O(outcomes).
inline void pair_values(const Model& model, double discount, std::span<const double> v, std::span<double> q, Threads threads) {
    over_states(model.n_states(), work_of(model), threads, [&](std::size_t s, Change&) {
        for (std::size_t pair = model.first_pair(s); pair < model.first_pair(s + 1); ++pair)
            q[pair] = model.parts().rewards[pair] + discount * model.mean_after(pair, v.data());
    });
}

// The best value after each state, out(s) = max_a q(s, a), and, if `best` is asked for, the pair that has it, the first of equals;
// zero and -1 for a terminal state. `v` and `out` are different arrays. O(outcomes).
inline Change backup(const Model& model, double discount, std::span<const double> v, std::span<double> out,
                     std::span<std::int64_t> best, Threads threads) {
    const double* const rewards = model.parts().rewards.data();
    const auto value = [&](std::size_t pair) { return rewards[pair] + discount * model.mean_after(pair, v.data()); };
    const auto finish = [&](std::size_t s, double most, Change& change) {
        const bool is_terminal = model.is_terminal(s);
        out[s] = is_terminal ? 0.0 : most;
        if (!is_terminal) change.see(most - v[s]);
    };
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    if (best.empty()) {
        return over_states(model.n_states(), work_of(model), threads, [&](std::size_t s, Change& change) {
            double most = kNone;
            for (std::size_t pair = model.first_pair(s); pair < model.first_pair(s + 1); ++pair) most = std::max(most, value(pair));
            finish(s, most, change);
        });
    }
    return over_states(model.n_states(), work_of(model), threads, [&](std::size_t s, Change& change) {
        double most = kNone;
        std::int64_t chosen = model.is_terminal(s) ? -1 : static_cast<std::int64_t>(model.first_pair(s));
        for (std::size_t pair = model.first_pair(s); pair < model.first_pair(s + 1); ++pair) {
            const double here = value(pair);
            const bool is_better = here > most;  // nobody can foresee it: two moves instead of a jump
            most = is_better ? here : most;
            chosen = is_better ? static_cast<std::int64_t>(pair) : chosen;
        }
        best[s] = chosen;
        finish(s, most, change);
    });
}

// The same in place, Gauss and Seidel's way: states of a chunk see what is new of the others of theirs, and what is old of other
// chunks, so that the result does not depend on the threads. `old` is a copy of v. A sweep goes up through the states or down.
inline Change backup_in_place(const Model& model, double discount, std::span<const double> old, std::span<double> v, bool is_upward,
                              Threads threads) {
    const ModelParts& parts = model.parts();
    const Chunks chunks = Chunks::of(model.n_states(), 4096, 64);
    ChunkParts<Change> changes(chunks);
    parallel_for(chunks.count, threads.for_work(work_of(model)), [&](std::size_t chunk) {
        const std::size_t begin = chunks.begin(chunk), size = chunks.end(chunk) - begin;
        Change change;
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t s = begin + (is_upward ? i : size - 1 - i);
            if (model.is_terminal(s)) continue;
            double most = -std::numeric_limits<double>::infinity();
            for (std::size_t pair = model.first_pair(s); pair < model.first_pair(s + 1); ++pair) {
                double mean = 0.0;
                for (std::size_t k = model.first_outcome(pair); k < model.first_outcome(pair + 1); ++k) {
                    const auto t = static_cast<std::size_t>(parts.next[k]);
                    mean += parts.probabilities[k] * (t - begin < size ? v : old)[t];
                }
                most = std::max(most, parts.rewards[pair] + discount * mean);
            }
            change.see(most - old[s]);
            v[s] = most;
        }
        changes[chunk] = change;
    });
    return changes.joined([](Change& all, const Change& part) { all.join(part); });
}

}  // namespace mercer::rl
