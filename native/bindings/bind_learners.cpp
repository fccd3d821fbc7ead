#include <nanobind/stl/tuple.h>

#include <atomic>

#include "bindings/agents.hpp"
#include "bindings/arrays.hpp"
#include "bindings/owned.hpp"
#include "rl/learner.hpp"

namespace mercer::bindings {

namespace {

using rl::LearnerSettings;
using rl::Model;
using rl::Rates;
using Tabular = rl::Learner<rl::OneFeature>;
using Tiled = rl::Learner<rl::TileFeatures>;

LearnerSettings settings_of(int method, int exploration, double discount, double trace_decay, bool has_replacing_traces,
                            bool has_mean_steps, bool has_first_visits, double confidence, std::int64_t n_planning_steps) {
    require(0 <= method && method <= static_cast<int>(rl::Method::kMonteCarlo), "there is no such method");
    require(0 <= exploration && exploration <= static_cast<int>(rl::Exploration::kUpperBound), "there is no such exploration");
    require(n_planning_steps >= 0, "there are no fewer than zero steps of planning");
    return {static_cast<rl::Method>(method),
            static_cast<rl::Exploration>(exploration),
            discount,
            trace_decay,
            has_replacing_traces,
            has_mean_steps,
            has_first_visits,
            confidence,
            static_cast<std::size_t>(n_planning_steps)};
}

// A learner as Python holds it. Steps are called with the GIL held, whole episodes without: one at a time.
template <class Kind>
struct Held {
    Kind learner;
    rl::Tiling tiling;  // of points; of one tile where states are in a table
    std::atomic<bool> is_busy{false};
    bool has_begun = false;
};

class Busy {
   public:
    explicit Busy(std::atomic<bool>& flag) : flag_(flag) {
        require(!flag.exchange(true), "the agent is learning in another thread");
    }
    ~Busy() { flag_ = false; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    std::atomic<bool>& flag_;
};

std::vector<std::int64_t> checked_starts(const In1<std::int64_t>& given) {
    std::vector<std::int64_t> starts = copied(given);
    require(starts.size() >= 2 && starts.front() == 0 && std::is_sorted(starts.begin(), starts.end()),
            "offsets must rise from zero");
    return starts;
}

rl::OneFeature state_of(const Tabular& learner, std::int64_t state) {
    require(0 <= state && static_cast<std::uint64_t>(state) < learner.n_features(),
            "the environment is in a state that is out of range");
    const rl::OneFeature feature{static_cast<std::int32_t>(state)};
    require(learner.n_actions(feature) > 0, "the environment is in a state without actions");
    return feature;
}

template <class T>
rl::TileFeatures point_of(const rl::Tiling& tiling, const In1<T>& point) {
    require(point.shape(0) == tiling.n_axes(), "a point has one coordinate for each axis of the tiling");
    return tiling.features(checked_data(point));
}

template <class Kind>
void def_weights(nb::class_<Held<Kind>>& type) {
    const auto array = nb::arg().noconvert();
    const auto take = [](const std::vector<double>& from) { return owned(std::vector<double>(from), {from.size()}); };
    type.def("weights", [take](Held<Kind>& self) { return take(self.learner.weights()); })
        .def("second", [take](Held<Kind>& self) { return take(self.learner.second()); })
        .def("visits", [take](Held<Kind>& self) { return take(self.learner.visits()); })
        .def("record", [](Held<Kind>& self) {
            const auto record = self.learner.record();
            return std::tuple(record.total, record.n_steps, record.error);
        });
    const auto def_set = [&](const char* name, std::vector<double>& (Kind::*get)()) {
        type.def(
            name,
            [get](Held<Kind>& self, In1<double> given) {
                const Busy busy(self.is_busy);
                auto& to = (self.learner.*get)();
                const auto values = vector<double>(given);
                require(values.size() == to.size(), "one number for each pair of feature and action");
                std::ranges::copy(values, to.begin());
            },
            array);
    };
    def_set("set_weights", &Kind::weights);
    def_set("set_second", &Kind::second);
    if constexpr (std::is_same_v<Kind, Tabular>) def_set("set_visits", &Kind::visits);  // tiles count none
}

void bind_tabular(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    nb::class_<Held<Tabular>> type(m, "TabularLearner");
    type.def(
        "__init__",
        [](Held<Tabular>* self, In1<std::int64_t> starts, int method, int exploration, double discount, double trace_decay,
           bool has_replacing_traces, bool has_mean_steps, bool has_first_visits, double confidence, std::int64_t n_planning_steps,
           double first_value) {
            new (self) Held<Tabular>{Tabular(checked_starts(starts),
                                             settings_of(method, exploration, discount, trace_decay, has_replacing_traces,
                                                         has_mean_steps, has_first_visits, confidence, n_planning_steps),
                                             first_value),
                                     rl::Tiling({0.0}, {1.0}, {1}, 1)};
        },
        array, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
    def_weights<Tabular>(type);
    // What planning remembers, in the order in which it was first seen: pair, reward, next state, whether it ended.
    type.def("memory", [](Held<Tabular>& self) {
        const Busy busy(self.is_busy);
        std::vector<std::int64_t> pairs, next;
        std::vector<double> rewards;
        std::vector<std::uint8_t> is_end;
        for (const std::size_t pair : self.learner.known()) {
            const auto& memory = self.learner.memory(pair);
            pairs.push_back(static_cast<std::int64_t>(pair));
            rewards.push_back(memory.reward);
            next.push_back(memory.next.feature);
            is_end.push_back(memory.is_end ? 1 : 0);
        }
        const std::size_t n = pairs.size();
        return nb::make_tuple(owned(std::move(pairs), {n}), owned(std::move(rewards), {n}), owned(std::move(next), {n}),
                              owned(std::move(is_end), {n}));
    });
    type.def(
        "set_memory",
        [](Held<Tabular>& self, In1<std::int64_t> given_pairs, In1<double> given_rewards, In1<std::int64_t> given_next,
           In1<std::uint8_t> given_ends) {
            const Busy busy(self.is_busy);
            const auto pairs = vector<std::int64_t>(given_pairs), next = vector<std::int64_t>(given_next);
            const auto rewards = vector<double>(given_rewards);
            const auto is_end = vector<std::uint8_t>(given_ends);
            const std::size_t n = pairs.size();
            require(self.learner.plans() && rewards.size() == n && next.size() == n && is_end.size() == n,
                    "one reward, next state and end for each pair");
            for (std::size_t i = 0; i < n; ++i) {
                const std::int64_t pair = pairs[i], state = next[i];
                const bool ends = is_end[i] != 0;  // read once, as another thread may write to it
                require(0 <= pair && static_cast<std::uint64_t>(pair) < self.learner.weights().size(), "there is no such pair");
                require(0 <= state && static_cast<std::uint64_t>(state) < self.learner.n_features(), "there is no such state");
                const rl::OneFeature feature{static_cast<std::int32_t>(state)};
                require(ends || self.learner.n_actions(feature) > 0, "a state has no actions");
                self.learner.remember(static_cast<std::size_t>(pair), rewards[i], feature, ends);
            }
        },
        array, array, array, array);
    type.def("begin", [](Held<Tabular>& self, std::int64_t state, double alpha, double epsilon, double temperature,
                         std::uint64_t seed, std::uint64_t episode) {
        const Busy busy(self.is_busy);
        self.has_begun = true;
        return self.learner.begin(state_of(self.learner, state), {alpha, epsilon, temperature}, rl::agent_stream(seed, episode));
    });
    type.def("observe", [](Held<Tabular>& self, double reward, std::int64_t next, bool is_end, bool is_cut) {
        const Busy busy(self.is_busy);
        require(self.has_begun, "no episode has begun");
        return self.learner.observe(reward, state_of(self.learner, next), is_end, is_cut);
    });
    type.def(
        "run",
        [](Held<Tabular>& self, const Model& model, In1<double> alphas, In1<double> epsilons, In1<double> temperatures,
           std::uint64_t max_steps, bool has_exploring_starts, std::uint64_t seed, std::uint64_t first_episode, Out1<double> totals,
           Out1<std::int64_t> lengths, Out1<double> errors) {
            const auto lengths_of_steps = vector<double>(alphas), shares = vector<double>(epsilons),
                       heats = vector<double>(temperatures);
            const std::size_t n = alphas.shape(0);
            require(epsilons.shape(0) == n && temperatures.shape(0) == n && totals.shape(0) == n && lengths.shape(0) == n &&
                        errors.shape(0) == n,
                    "one rate and one record for each episode");
            const Busy busy(self.is_busy);
            self.has_begun = false;
            self.learner.require_fits(model);
            std::vector<Rates> rates(n);
            for (std::size_t e = 0; e < n; ++e) rates[e] = {lengths_of_steps[e], shares[e], heats[e]};
            rl::run_episodes(self.learner, model, {seed, first_episode, max_steps, has_exploring_starts}, rates,
                             vector<double>(totals), vector<std::int64_t>(lengths), vector<double>(errors));
        },
        nb::arg(), array, array, array, nb::arg(), nb::arg(), nb::arg(), nb::arg(), array, array, array, ReleaseGil());
}

template <class T>
void def_points(nb::class_<Held<Tiled>>& type) {
    const auto array = nb::arg().noconvert();
    type.def(
        "begin",
        [](Held<Tiled>& self, In1<T> point, double alpha, double epsilon, double temperature, std::uint64_t seed,
           std::uint64_t episode) {
            const Busy busy(self.is_busy);
            self.has_begun = true;
            return self.learner.begin(point_of(self.tiling, point), {alpha, epsilon, temperature}, rl::agent_stream(seed, episode));
        },
        array, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
    type.def(
        "observe",
        [](Held<Tiled>& self, double reward, In1<T> next, bool is_end, bool is_cut) {
            const Busy busy(self.is_busy);
            require(self.has_begun, "no episode has begun");
            return self.learner.observe(reward, point_of(self.tiling, next), is_end, is_cut);
        },
        nb::arg(), array, nb::arg(), nb::arg());
    type.def(
        "greedy",
        [](Held<Tiled>& self, In1<T> point) {
            const Busy busy(self.is_busy);
            return self.learner.greedy(point_of(self.tiling, point));
        },
        array);
}

void bind_tiled(nb::module_& m) {
    nb::class_<rl::Tiling>(m, "Tiling")
        .def(
            "__init__",
            [](rl::Tiling* self, In1<double> low, In1<double> high, In1<std::int64_t> n_tiles, std::int64_t n_tilings) {
                std::vector<double> lows = copied(low), highs = copied(high);
                std::vector<std::int64_t> counts = copied(n_tiles);
                require(n_tilings >= 1, "there is one tiling at least");
                new (self) rl::Tiling(std::move(lows), std::move(highs), std::move(counts), static_cast<std::size_t>(n_tilings));
            },
            nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg())
        .def_prop_ro("n_features", &rl::Tiling::n_features)
        .def(
            "encode",
            [](const rl::Tiling& tiling, Rows2<double> points, Out2<std::int32_t> out) {
                const auto given = rows<double>(points);
                const auto found = rows<std::int32_t>(out);
                require(given.cols == tiling.n_axes() && found.rows == given.rows && found.cols == tiling.n_tilings(),
                        "a point has one coordinate for each axis, and one tile of each tiling");
                for (std::size_t i = 0; i < given.rows; ++i) tiling.encode(given.row(i), found.row(i));
            },
            nb::arg().noconvert(), nb::arg().noconvert(), ReleaseGil());
    nb::class_<Held<Tiled>> type(m, "TiledLearner");
    type.def("__init__", [](Held<Tiled>* self, const rl::Tiling& tiling, std::int64_t n_actions, int method, int exploration,
                            double discount, double trace_decay, bool has_replacing_traces, double first_value) {
        require(1 <= n_actions && n_actions <= 1'000'000, "there is one action at least");
        const auto settings = settings_of(method, exploration, discount, trace_decay, has_replacing_traces, false, true, 0.0, 0);
        require(settings.method != rl::Method::kMonteCarlo && settings.exploration != rl::Exploration::kUpperBound,
                "what counts visits needs a table");
        std::vector<std::int64_t> starts(tiling.n_features() + 1);
        for (std::size_t f = 0; f < starts.size(); ++f) starts[f] = static_cast<std::int64_t>(f) * n_actions;
        new (self) Held<Tiled>{Tiled(std::move(starts), settings, first_value / static_cast<double>(tiling.n_tilings())), tiling};
    });
    def_weights<Tiled>(type);
    def_points<double>(type);
    def_points<float>(type);
}

}  // namespace

void bind_learners(nb::module_& m) {
    bind_tabular(m);
    bind_tiled(m);
    bind_bandits(m);
}

}  // namespace mercer::bindings
