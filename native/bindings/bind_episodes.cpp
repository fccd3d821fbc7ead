#include <nanobind/stl/tuple.h>

#include "bindings/agents.hpp"
#include "bindings/arrays.hpp"
#include "bindings/owned.hpp"
#include "rl/bandits.hpp"
#include "rl/episodes.hpp"
#include "rl/prediction.hpp"

namespace mercer::bindings {

namespace {

using rl::Episode;
using rl::Model;

// One array of what all episodes have, in their order.
template <class T>
auto joined(const std::vector<Episode>& episodes, std::vector<T> Episode::* part) {
    std::vector<T> all;
    std::size_t n = 0;
    for (const Episode& episode : episodes) n += (episode.*part).size();
    all.reserve(n);
    for (const Episode& episode : episodes) all.insert(all.end(), (episode.*part).begin(), (episode.*part).end());
    return owned(std::move(all), {n});
}

nb::tuple arrays_of(const std::vector<Episode>& episodes) {
    std::vector<std::int64_t> starts{0};
    std::vector<rl::State> last;
    std::vector<std::uint8_t> is_end;
    for (const Episode& episode : episodes) {
        starts.push_back(starts.back() + static_cast<std::int64_t>(episode.states.size()));
        last.push_back(episode.last);
        is_end.push_back(episode.is_end ? 1 : 0);
    }
    const std::size_t n = episodes.size();
    return nb::make_tuple(joined(episodes, &Episode::states), joined(episodes, &Episode::actions),
                          joined(episodes, &Episode::rewards), owned(std::move(starts), {n + 1}), owned(std::move(last), {n}),
                          owned(std::move(is_end), {n}));
}

void bind_sampling(nb::module_& m) {
    m.def(
        "sample_episodes",
        [](const Model& model, In1<double> share, std::uint64_t n_episodes, std::uint64_t max_steps, std::uint64_t seed,
           std::uint64_t first_episode, int n_threads) {
            require(share.shape(0) == model.n_pairs(), "one probability for each pair");
            require(n_episodes <= 1'000'000'000, "there are a thousand million episodes at most");
            std::vector<Episode> episodes;
            {
                const ReleasedGil released;
                episodes = rl::sample_episodes(model, vector<double>(share), n_episodes, max_steps, seed, first_episode,
                                               threads(n_threads));
            }
            return arrays_of(episodes);
        },
        nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
    // One step in a model: what follows a pair, drawn from the stream of (seed, step).
    m.def("step_model", [](const Model& model, std::int64_t state, std::int64_t action, std::uint64_t seed, std::uint64_t step) {
        require(0 <= state && static_cast<std::uint64_t>(state) < model.n_states(), "there is no such state");
        const auto s = static_cast<std::size_t>(state);
        const auto first = model.parts().actions.begin() + static_cast<std::ptrdiff_t>(model.first_pair(s));
        const auto end = model.parts().actions.begin() + static_cast<std::ptrdiff_t>(model.first_pair(s + 1));
        const auto found = std::lower_bound(first, end, action);
        require(found != end && *found == action, "the state has no such action");
        Philox random(seed, step);
        const auto outcome = rl::draw_outcome(model, static_cast<std::size_t>(found - model.parts().actions.begin()), random);
        return std::tuple(outcome.state, outcome.reward, outcome.is_end);
    });
    m.def("draw_first_state", [](const Model& model, std::uint64_t seed, std::uint64_t step) {
        Philox random(seed, step);
        return rl::InitialLaw(model).draw(random);
    });
}

// Keeps the arrays that lessons are views of.
struct LessonArrays {
    Rows2<std::int32_t> features, last_features;
    In1<double> rewards;
    In1<std::int64_t> starts;
    In1<std::uint8_t> is_end;
    MaybeIn1<double> ratios;
};

void bind_lessons(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    struct Held {
        LessonArrays arrays;
        std::vector<std::int64_t> starts;  // a copy: it sizes loops
        rl::Lessons lessons;
    };
    nb::class_<Held> type(m, "Lessons");
    type.def(
        "__init__",
        [](Held* self, Rows2<std::int32_t> features, Rows2<std::int32_t> last, In1<double> rewards, In1<std::int64_t> starts,
           In1<std::uint8_t> is_end, MaybeIn1<double> ratios, std::uint64_t n_features) {
            const auto offsets = vector<std::int64_t>(starts);
            std::vector<std::int64_t> own(offsets.begin(), offsets.end());
            const std::size_t n_steps = features.shape(0);
            require(!own.empty() && own.front() == 0 && static_cast<std::size_t>(own.back()) == n_steps &&
                        std::is_sorted(own.begin(), own.end()),
                    "the starts of episodes must rise from zero to the number of steps");
            require(last.shape(0) + 1 == own.size() && last.shape(1) == features.shape(1) && is_end.shape(0) + 1 == own.size(),
                    "each episode has a last state and an end");
            require(rewards.shape(0) == n_steps && (!ratios || ratios->shape(0) == n_steps), "each step has a reward");
            require(n_features >= 1 && n_features <= (std::uint64_t{1} << 31), "there is one feature at least");
            new (self) Held{{features, last, rewards, starts, is_end, ratios}, std::move(own), {}};
            self->lessons = {rows<std::int32_t>(features),
                             rows<std::int32_t>(last),
                             vector<double>(rewards),
                             self->starts,
                             vector<std::uint8_t>(is_end),
                             vector<double>(ratios),
                             n_features};
        },
        array, array, array, array, array, nb::arg().noconvert().none(), nb::arg());
    type.def(
        "sum_returns",
        [](const Held& x, double discount, bool is_first_only, bool is_weighted, bool takes_cut, Out1<double> sums,
           Out1<double> squares, Out1<double> weights) {
            const std::size_t n = x.lessons.n_features;
            require(sums.shape(0) == n && squares.shape(0) == n && weights.shape(0) == n && x.lessons.width() == 1,
                    "one sum for each state of a table");
            rl::sum_returns(x.lessons, discount, is_first_only, is_weighted, takes_cut,
                            {vector<double>(sums), vector<double>(squares), vector<double>(weights)});
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), array, array, array, ReleaseGil());
    type.def(
        "step_to_returns",
        [](const Held& x, double discount, bool is_first_only, double alpha, Out1<double> w) {
            require(w.shape(0) == x.lessons.n_features && x.lessons.width() == 1, "one value for each state of a table");
            rl::step_to_returns(x.lessons, discount, is_first_only, alpha, vector<double>(w));
        },
        nb::arg(), nb::arg(), nb::arg(), array, ReleaseGil());
    type.def(
        "step_to_differences",
        [](const Held& x, double discount, double trace_decay, bool has_replacing_traces, std::uint64_t n_steps, double alpha,
           double count_power, Out1<double> w, Out1<double> counts) {
            require(w.shape(0) == x.lessons.n_features && counts.shape(0) == x.lessons.n_features, "one value for each feature");
            require(n_steps >= 1, "there is one step at least");
            const rl::DifferenceSettings settings{discount, trace_decay, has_replacing_traces, n_steps, alpha, count_power};
            if (n_steps == 1)
                rl::pass_with_traces(x.lessons, settings, vector<double>(w), vector<double>(counts));
            else
                rl::pass_of_steps(x.lessons, settings, vector<double>(w), vector<double>(counts));
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), array, array, ReleaseGil());
    type.def(
        "sum_equations",
        [](const Held& x, double discount, double trace_decay, Out2<double> a, Out1<double> b) {
            const auto sums = rows<double>(a);
            const std::size_t n = x.lessons.n_features;
            require(sums.rows == n && sums.cols == n && b.shape(0) == n, "one equation for each feature");
            rl::sum_equations(x.lessons, discount, trace_decay, sums, vector<double>(b));
        },
        nb::arg(), nb::arg(), array, array, ReleaseGil());
}

}  // namespace

void bind_bandits(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "play_bandit",
        [](In1<double> means, int strategy, bool is_bernoulli, double scale, double confidence, double first_value,
           In1<double> epsilons, std::uint64_t seed, Out2<std::int32_t> arms, Out2<double> regrets, int n_threads) {
            const auto pulled = rows<std::int32_t>(arms);
            const auto missed = rows<double>(regrets);
            require(means.shape(0) >= 1 && means.shape(0) < (std::size_t{1} << 31), "there is one arm at least");
            require(0 <= strategy && strategy <= static_cast<int>(rl::Strategy::kThompson), "there is no such strategy");
            require(missed.rows == pulled.rows && missed.cols == pulled.cols && epsilons.shape(0) == pulled.cols,
                    "one arm, one regret and one rate for each pull");
            const auto given = vector<double>(means);
            const std::vector<double> own(given.begin(), given.end());
            rl::play(own, {static_cast<rl::Strategy>(strategy), is_bernoulli, scale, confidence, first_value},
                     vector<double>(epsilons), seed, pulled, missed, threads(n_threads));
        },
        array, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), array, nb::arg(), array, array, nb::arg(), ReleaseGil());
}

void bind_episodes(nb::module_& m) {
    bind_sampling(m);
    bind_lessons(m);
}

}  // namespace mercer::bindings
