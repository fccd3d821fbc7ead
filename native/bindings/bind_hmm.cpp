#include "bindings/rows.hpp"
#include "bindings/sequences.hpp"
#include "hmm/chain.hpp"

namespace mercer::bindings {

namespace {

hmm::Sequences sequences(const Rows2<double>& emissions, const In1<std::int64_t>& starts) {
    hmm::Sequences made{rows<double>(emissions), {}};
    for (const std::int64_t start : vector<std::int64_t>(starts)) made.starts.push_back(static_cast<std::size_t>(start));
    require(!made.starts.empty() && made.starts.front() == 0 && made.starts.back() == made.emissions.rows &&
                std::is_sorted(made.starts.begin(), made.starts.end()),
            "the starts of sequences must rise from 0 to the number of steps");
    return made;
}

hmm::Chain chain(const In1<double>& start, const Rows2<double>& transitions, std::size_t n_states) {
    const auto law = rows<double>(transitions);
    require(n_states >= 1 && start.shape(0) == n_states && law.rows == n_states && law.cols == n_states,
            "the chain must have as many states as there are columns of emissions");
    return {vector<double>(start), law};
}

}  // namespace

void bind_hmm(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();

    m.def(
        "score_sequences",
        [](Rows2<double> emissions, In1<std::int64_t> starts, In1<double> start, Rows2<double> transitions, bool is_scaled,
           Out1<double> likelihoods, int n_threads) {
            const auto all = sequences(emissions, starts);
            require(likelihoods.shape(0) == all.count(), "one likelihood for each sequence");
            hmm::score_sequences(all, chain(start, transitions, all.emissions.cols), is_scaled, vector<double>(likelihoods),
                                 threads(n_threads));
        },
        array, array, array, array, nb::arg(), array, nb::arg(), ReleaseGil());

    m.def(
        "expect_sequences",
        [](Rows2<double> emissions, In1<std::int64_t> starts, In1<double> start, Rows2<double> transitions, bool is_scaled,
           MaybeIn1<double> weights, Out1<double> likelihoods, Out2<double> posteriors, Out1<double> start_sums,
           Out2<double> transition_sums, int n_threads) {
            const auto all = sequences(emissions, starts);
            const std::size_t k = all.emissions.cols;
            const auto out = rows<double>(posteriors);
            const auto sums = rows<double>(transition_sums);
            require(likelihoods.shape(0) == all.count(), "one likelihood for each sequence");
            require(out.rows == all.emissions.rows && out.cols == k && sums.rows == k && sums.cols == k && start_sums.shape(0) == k,
                    "the results have another shape");
            hmm::expect_sequences(all, chain(start, transitions, k), is_scaled, per_row<double>(weights, all.count()),
                                  vector<double>(likelihoods), out, vector<double>(start_sums), sums, threads(n_threads));
        },
        array, array, array, array, nb::arg(), maybe, array, array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "most_likely_paths",
        [](Rows2<double> emissions, In1<std::int64_t> starts, In1<double> start, Rows2<double> transitions,
           Out1<std::int64_t> states, Out1<double> likelihoods, int n_threads) {
            const auto all = sequences(emissions, starts);
            require(likelihoods.shape(0) == all.count() && states.shape(0) == all.emissions.rows,
                    "one likelihood for each sequence, and a state for each step");
            hmm::most_likely_paths(all, chain(start, transitions, all.emissions.cols), vector<std::int64_t>(states),
                                   vector<double>(likelihoods), threads(n_threads));
        },
        array, array, array, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings
