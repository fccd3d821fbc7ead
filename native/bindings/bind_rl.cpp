#include <nanobind/stl/pair.h>

#include "bindings/agents.hpp"
#include "bindings/arrays.hpp"
#include "rl/bellman.hpp"
#include "rl/chain.hpp"
#include "rl/krylov.hpp"
#include "rl/sweeping.hpp"

namespace mercer::bindings {

namespace {

using rl::Chain;
using rl::Model;

// Read-only memory of `owner`, which stays alive as long as the array.
template <class T>
auto borrowed(const std::vector<T>& values, nb::handle owner) {
    const std::size_t size = values.size();
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::c_contig>(values.data(), 1, &size, owner);
}

template <class Class, class Get>
void def_array(nb::class_<Class>& type, const char* name, Get get) {
    type.def_prop_ro(name, [get](nb::handle self) { return borrowed(get(nb::cast<const Class&>(self)), self); });
}

std::span<double> per_pair(const Model& model, const Out1<double>& a) {
    require(a.shape(0) == model.n_pairs(), "an array with one value for each pair has the wrong length");
    return vector<double>(a);
}

void bind_model(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    nb::class_<Model> type(m, "DecisionModel");
    type.def(
        "__init__",
        [](Model* self, In1<std::int64_t> state_starts, In1<std::int32_t> actions, In1<std::int64_t> pair_starts,
           In1<std::int32_t> next, In1<double> probabilities, In1<double> rewards, MaybeIn1<double> outcome_rewards,
           MaybeIn1<double> noise_scales, In1<double> initial, int noise, std::int32_t n_actions) {
            require(0 <= noise && noise <= static_cast<int>(rl::Noise::kBernoulli), "there is no such noise");
            new (self) Model({copied<std::int64_t>(state_starts), copied<std::int32_t>(actions), copied<std::int64_t>(pair_starts),
                              copied<std::int32_t>(next), copied<double>(probabilities), copied<double>(rewards),
                              copied<double>(outcome_rewards), copied<double>(noise_scales), copied<double>(initial),
                              static_cast<rl::Noise>(noise), n_actions});
        },
        array, array, array, array, array, array, maybe, maybe, array, nb::arg(), nb::arg(), ReleaseGil());
    type.def_prop_ro("n_states", &Model::n_states).def_prop_ro("n_pairs", &Model::n_pairs);
    def_array(type, "state_starts", [](const Model& x) -> auto& { return x.parts().state_starts; });
    def_array(type, "actions", [](const Model& x) -> auto& { return x.parts().actions; });
    def_array(type, "pair_starts", [](const Model& x) -> auto& { return x.parts().pair_starts; });
    def_array(type, "next", [](const Model& x) -> auto& { return x.parts().next; });
    def_array(type, "probabilities", [](const Model& x) -> auto& { return x.parts().probabilities; });
    def_array(type, "rewards", [](const Model& x) -> auto& { return x.parts().rewards; });
    def_array(type, "outcome_rewards", [](const Model& x) -> auto& { return x.parts().outcome_rewards; });
    def_array(type, "noise_scales", [](const Model& x) -> auto& { return x.parts().noise_scales; });
    def_array(type, "initial", [](const Model& x) -> auto& { return x.parts().initial; });
    type.def(
        "pair_values",
        [](const Model& model, double discount, In1<double> v, Out1<double> q, int n_threads) {
            rl::pair_values(model, discount, per_state(model, v), per_pair(model, q), threads(n_threads));
        },
        nb::arg(), array, array, nb::arg(), ReleaseGil());
    type.def(
        "backup",
        [](const Model& model, double discount, In1<double> v, Out1<double> out, std::optional<Out1<std::int64_t>> best,
           int n_threads) {
            require(!best || best->shape(0) == model.n_states(), "one best pair for each state");
            const auto pairs = best ? vector<std::int64_t>(*best) : std::span<std::int64_t>{};
            const auto change = rl::backup(model, discount, per_state(model, v), per_state(model, out), pairs, threads(n_threads));
            return std::pair(change.least, change.most);
        },
        nb::arg(), array, array, nb::arg().noconvert().none(), nb::arg(), ReleaseGil());
    type.def(
        "backup_in_place",
        [](const Model& model, double discount, In1<double> old, Out1<double> v, bool is_upward, int n_threads) {
            const auto change =
                rl::backup_in_place(model, discount, per_state(model, old), per_state(model, v), is_upward, threads(n_threads));
            return std::pair(change.least, change.most);
        },
        nb::arg(), array, array, nb::arg(), nb::arg(), ReleaseGil());
    type.def(
        "sweep_by_priority",
        [](const Model& model, double discount, double threshold, std::uint64_t max_backups, Out1<double> v) {
            return rl::sweep_by_priority(model, discount, threshold, max_backups, per_state(model, v));
        },
        nb::arg(), nb::arg(), nb::arg(), array, ReleaseGil());
}

void bind_chain(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    nb::class_<Chain> type(m, "PolicyChain");
    type.def(
        "__init__",
        [](Chain* self, const Model& model, In1<double> share, int n_threads) {
            require(share.shape(0) == model.n_pairs(), "one probability for each pair");
            new (self) Chain(model, vector<double>(share), threads(n_threads));
        },
        nb::arg(), array, nb::arg(), ReleaseGil());
    type.def(
        "__init__",
        [](Chain* self, const Model& model, In1<std::int64_t> pairs, int n_threads) {
            require(pairs.shape(0) == model.n_states(), "one pair for each state");
            new (self) Chain(model, vector<std::int64_t>(pairs), threads(n_threads));
        },
        nb::arg(), array, nb::arg(), ReleaseGil());
    def_array(type, "starts", [](const Chain& x) -> auto& { return x.starts(); });
    def_array(type, "next", [](const Chain& x) -> auto& { return x.next(); });
    def_array(type, "probabilities", [](const Chain& x) -> auto& { return x.probabilities(); });
    def_array(type, "rewards", [](const Chain& x) -> auto& { return x.rewards(); });
    type.def(
        "backup",
        [](const Chain& chain, double discount, In1<double> v, Out1<double> out, int n_threads) {
            require(v.shape(0) == chain.n_states() && out.shape(0) == chain.n_states(), "one value for each state");
            const auto change = chain.backup(discount, vector<double>(v), vector<double>(out), threads(n_threads));
            return std::pair(change.least, change.most);
        },
        nb::arg(), array, array, nb::arg(), ReleaseGil());
    type.def(
        "solve",
        [](const Chain& chain, double discount, Out1<double> v, double tol, std::uint64_t max_iter, int n_threads) {
            require(v.shape(0) == chain.n_states(), "one value for each state");
            const auto end = rl::Bicgstab(chain, discount, threads(n_threads)).solve(vector<double>(v), tol, max_iter);
            return std::pair(end.n_iter, end.residual);
        },
        nb::arg(), array, nb::arg(), nb::arg(), nb::arg(), ReleaseGil());
}

}  // namespace

void bind_rl(nb::module_& m) {
    bind_model(m);
    bind_chain(m);
    bind_episodes(m);
    bind_learners(m);
}

}  // namespace mercer::bindings
