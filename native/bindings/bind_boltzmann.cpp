// Restricted Boltzmann machines.
#include <algorithm>
#include <vector>

#include "bindings/networks.hpp"
#include "bindings/rows.hpp"
#include "neural_network/boltzmann.hpp"

namespace mercer::bindings {

namespace {

// Units that hear `n_inputs` others.
template <Real T>
neural_network::Layer<T> layer(const In2<T>& weights, const In1<T>& biases, std::size_t n_inputs) {
    require(weights.shape(0) == n_inputs && weights.shape(1) >= 1, "the weights must have one row per input, and a column");
    require(biases.shape(0) == weights.shape(1), "one bias for each unit");
    return {matrix<T>(weights), vector<T>(biases)};
}

template <class Source, class Rows>
void bind_rows_of(nb::module_& m) {
    using T = typename Rows::Value;
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();

    m.def(
        "unit_probabilities",
        [](const Source& source, In2<T> weights, In1<T> biases, Out2<T> out, int n_threads) {
            const auto units = layer<T>(weights, biases, source.cols());
            const auto probabilities = rows<T>(out);
            require(probabilities.rows == source.rows() && probabilities.cols == units.n_units(),
                    "one line per row, one value per unit");
            neural_network::unit_probabilities<Rows, T>(source, units, probabilities, threads(n_threads));
        },
        array, array, array, array, nb::arg(), ReleaseGil());
    m.def(
        "free_energies",
        [](const Source& source, In2<T> weights, In1<T> visible_biases, In1<T> hidden_biases, MaybeIn1<std::int64_t> flips,
           Out1<double> energies, Out1<double> rises, int n_threads) {
            const auto hidden = layer<T>(weights, hidden_biases, source.cols());
            require(visible_biases.shape(0) == source.cols(), "one visible bias for each column");
            const auto given = per_row<std::int64_t>(flips, source.rows());
            // Copied: what is checked here is what is indexed by.
            const std::vector<std::int64_t> places(given.begin(), given.end());
            const auto in_range = [&](std::int64_t j) { return j >= 0 && static_cast<std::uint64_t>(j) < source.cols(); };
            require(std::all_of(places.begin(), places.end(), in_range), "a flip is in no column");
            require(energies.shape(0) == source.rows() && rises.shape(0) == places.size(), "one energy per row, one rise per flip");
            neural_network::free_energies<Rows, T>(source, hidden, vector<T>(visible_biases), places, vector<double>(energies),
                                                   vector<double>(rises), threads(n_threads));
        },
        array, array, array, array, maybe, array, array, nb::arg(), ReleaseGil(),
        "free energies of rows, and by how much they rise if the value in one column of each is flipped");
    m.def(
        "train_boltzmann",
        [](const Source& source, std::size_t first, std::size_t last, std::size_t batch_rows, Rows2<double> uniforms, double rate,
           Out2<T> weights, Out1<T> visible_biases, Out1<T> hidden_biases, Out2<T> chains, int n_threads) {
            const neural_network::Machine<T> machine{rows<T>(weights), vector<T>(visible_biases), vector<T>(hidden_biases),
                                                     rows<T>(chains)};
            const std::size_t n_visible = machine.weights.rows, n_hidden = machine.weights.cols, n_chains = machine.chains.rows;
            require(n_visible == source.cols() && n_hidden >= 1, "one line of weights for each column");
            require(machine.visible_biases.size() == n_visible && machine.hidden_biases.size() == n_hidden,
                    "one bias for each unit");
            require(n_chains >= 1 && machine.chains.cols == n_hidden, "the chains must have one value per hidden unit");
            require(first < last && last <= source.rows() && batch_rows >= 1, "there must be rows in the batches");
            const auto draws = rows<double>(uniforms);
            const std::size_t n_rows = last - first;
            require(draws.rows == n_rows / batch_rows + (n_rows % batch_rows != 0), "one line of uniforms for each batch");
            require(draws.cols == n_chains * (n_visible + n_hidden), "a uniform for each unit of each chain");
            neural_network::train_batches<Rows, T>(source, first, last, batch_rows, draws, rate, machine, threads(n_threads));
        },
        array, nb::arg(), nb::arg(), nb::arg(), array, nb::arg(), array, array, array, array, nb::arg(), ReleaseGil(),
        "batches of persistent contrastive divergence");
}

}  // namespace

void bind_boltzmann(nb::module_& m) {
    bind_rows_of<DenseRowSource<double>, DenseRows<double>>(m);
    bind_rows_of<CsrRowSource<double>, CsrRows<double>>(m);
    bind_rows_of<DenseRowSource<float>, DenseRows<float>>(m);
    bind_rows_of<CsrRowSource<float>, CsrRows<float>>(m);

    const auto array = nb::arg().noconvert();
    m.def(
        "log_partition",
        [](In2<double> weights, In1<double> input_biases, In1<double> biases, int n_threads) {
            require(weights.shape(0) >= 1 && weights.shape(0) <= neural_network::kMostEnumerated, "too many states");
            require(input_biases.shape(0) == weights.shape(0), "one bias for each input");
            const auto units = layer<double>(weights, biases, weights.shape(0));
            return neural_network::log_partition(units, vector<double>(input_biases), threads(n_threads));
        },
        array, array, array, nb::arg(), ReleaseGil(), "log of the sum of exp(-E) over all states");
}

}  // namespace mercer::bindings
