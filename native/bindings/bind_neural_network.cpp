#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/networks.hpp"
#include "bindings/rows.hpp"
#include "neural_network/prediction.hpp"
#include "neural_network/training.hpp"

namespace mercer::bindings {

namespace {

using neural_network::Decay;
using neural_network::Network;
using neural_network::Noise;
using neural_network::Targets;

// Sources, units, activation, dropout, whether it draws, the layer that it is tied to.
using LayerTuple = std::tuple<std::vector<std::size_t>, std::size_t, std::string, double, bool, std::ptrdiff_t>;
using ToldTuple = std::tuple<double, double, double, std::vector<double>>;

Network network_of(std::size_t n_inputs, const std::vector<LayerTuple>& tuples) {
    std::vector<neural_network::Layer> layers;
    for (const auto& [sources, units, activation, dropout, draws, tied_to] : tuples) {
        neural_network::Layer layer;
        layer.sources = sources;
        layer.units = units;
        layer.activation = neural_network::activation_of(activation);
        layer.dropout = dropout;
        layer.draws = draws;
        layer.tied_to = tied_to;
        layers.push_back(layer);
    }
    return {n_inputs, std::move(layers)};
}

// What a fit goes down: the loss at the output, the weight decay, and the price of draws.
struct Objective {
    Objective(const std::string& loss_name, double parameter, double alpha, bool is_decoupled, double beta_)
        : loss(loss_name, parameter), decay{alpha, is_decoupled}, beta(beta_) {
        require(alpha >= 0 && std::isfinite(alpha) && std::isfinite(beta_), "the strengths of the objective must be finite");
    }
    neural_network::OutputLoss loss;
    Decay decay;
    double beta;
};

struct Step {
    Step(const std::string& name, double gamma, double rho, double eps, double longest_)
        : rule{neural_network::StepRule::kind_of(name), gamma, rho, eps}, longest(longest_) {
        require(longest_ > 0, "the longest gradient must be longer than nothing");
    }
    neural_network::StepRule rule;
    double longest;
};

Noise noise_of(const std::string& name, double level) {
    require(std::isfinite(level) && level >= 0, "the level of the noise must be finite");
    if (name == "none") return {};
    if (name == "gaussian") return {Noise::Kind::kGaussian, level};
    if (name == "masking") return {Noise::Kind::kMasking, level};
    require(name == "salt_and_pepper", "the name of the noise is not known");
    return {Noise::Kind::kSaltAndPepper, level};
}

template <class Rows>
const Rows& network_rows(const Network& network, const Rows& x) {
    require(x.cols() == network.n_inputs(), "the rows must have as many columns as the network has inputs");
    if constexpr (Rows::kIsSparse) {
        for (std::size_t l = 0; l < network.n_layers(); ++l) {
            const auto& sources = network.layer(l).sources;
            require(sources[0] > 0 || (sources.size() == 1 && !network.layer(l).is_tied()),
                    "of sparse rows a layer reads nothing else, and with coefficients of its own");
        }
    } else {
        require(x.shift.empty(), "the rows of a network have no shift");
    }
    return x;
}

template <Real T>
using Values = std::optional<Rows2<T>>;

template <Real T>
Targets<T> targets_of(const Network& network, const neural_network::OutputLoss& loss, std::size_t n_rows,
                      const MaybeIn1<std::int32_t>& codes, const Values<T>& values, const MaybeIn1<T>& weights) {
    Targets<T> targets{vector<std::int32_t>(codes), {}, per_row<T>(weights, n_rows)};
    if (values) targets.values = rows<T>(*values);
    if (loss.wants_codes()) {
        require(targets.codes.size() == n_rows, "there must be a code for each row");
        for (const std::int32_t code : targets.codes)
            require(code >= 0 && static_cast<std::size_t>(code) < network.n_outputs(), "a code is out of range");
    } else {
        require(targets.values.rows == n_rows && targets.values.cols == network.n_outputs(),
                "there must be a value for each row and output");
    }
    return targets;
}

std::span<const std::int64_t> order_of(const In1<std::int64_t>& order, std::size_t n_rows, std::size_t batch_size) {
    const auto rows = vector<std::int64_t>(order);
    for (const std::int64_t row : rows)
        require(row >= 0 && static_cast<std::size_t>(row) < n_rows, "the order names a row that is not there");
    require(batch_size >= 1 && !rows.empty(), "there must be rows, and some in a batch");
    return rows;
}

template <Real T>
neural_network::Learnt<T> learnt_of(const Network& network, const Out1<T>& parameters, const Out1<T>& moment,
                                    const Out1<T>& squares, const MaybeIn1<T>& mask) {
    const neural_network::Learnt<T> learnt{vector<T>(parameters), vector<T>(moment), vector<T>(squares), vector<T>(mask)};
    const std::size_t n = network.n_parameters();
    const auto fits = [n](const auto& array) { return array.empty() || array.size() == n; };
    require(learnt.parameters.size() == n && fits(learnt.moment) && fits(learnt.squares) && fits(learnt.mask),
            "the parameters, what is remembered of them and the mask must have the length that the network says");
    return learnt;
}

template <Real T, class Source>
void bind_training(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    const auto other = nb::arg();
    m.def(
        "train_network_epoch",
        [](const Network& network, const Source& x, const MaybeIn1<std::int32_t>& codes, const Values<T>& values,
           const MaybeIn1<T>& weights, const Objective& objective, const Noise& noise, const Step& step,
           const In1<std::int64_t>& order, std::size_t batch_size, const In1<double>& rates, std::uint64_t n_updates,
           std::uint64_t seed, const Out1<T>& parameters, const Out1<T>& moment, const Out1<T>& squares, const MaybeIn1<T>& mask,
           int n_threads) -> ToldTuple {
            const auto rows = order_of(order, network_rows(network, x).rows(), batch_size);
            const auto targets = targets_of<T>(network, objective.loss, x.rows(), codes, values, weights);
            const auto learnt = learnt_of<T>(network, parameters, moment, squares, mask);
            const std::size_t size = std::min(batch_size, rows.size());
            const std::size_t n_batches = (rows.size() + size - 1) / size;
            require(rates.shape(0) == n_batches, "there must be a rate for each batch");
            require((!step.rule.has_moment() || !learnt.moment.empty()) && (!step.rule.has_squares() || !learnt.squares.empty()),
                    "the optimiser needs memory of the gradients");
            neural_network::Trainer<T, Source> trainer(network, objective.loss, x, targets, size, threads(n_threads));
            trainer.noise = noise;
            trainer.beta = objective.beta;
            const neural_network::EpochPlan plan{size,      step.rule, objective.decay, step.longest, vector<double>(rates),
                                                 n_updates, seed};
            const auto told = neural_network::train_epoch<T>(network, trainer, rows, plan, learnt, threads(n_threads));
            return {told.loss, told.penalty, told.divergence, told.squared_gradients};
        },
        other, other, maybe, maybe, maybe, other, other, other, array, other, array, other, other, array, array, array, maybe,
        other, ReleaseGil());

    m.def(
        "network_gradient",
        [](const Network& network, const Source& x, const MaybeIn1<std::int32_t>& codes, const Values<T>& values,
           const MaybeIn1<T>& weights, const Objective& objective, const Noise& noise, const In1<std::int64_t>& order,
           std::size_t batch_size, std::uint64_t seed, const Out1<T>& parameters, const MaybeIn1<T>& mask, const Out1<T>& gradient,
           int n_threads) -> ToldTuple {
            const auto rows = order_of(order, network_rows(network, x).rows(), batch_size);
            const auto targets = targets_of<T>(network, objective.loss, x.rows(), codes, values, weights);
            neural_network::Learnt<T> learnt{vector<T>(parameters), {}, {}, vector<T>(mask)};
            const std::size_t n = network.n_parameters();
            require(learnt.parameters.size() == n && gradient.shape(0) == n && (learnt.mask.empty() || learnt.mask.size() == n),
                    "the parameters, the gradient and the mask must have the length that the network says");
            const std::size_t size = std::min(batch_size, rows.size());
            neural_network::Trainer<T, Source> trainer(network, objective.loss, x, targets, size, threads(n_threads));
            trainer.noise = noise;
            trainer.beta = objective.beta;
            const auto told = neural_network::whole_gradient<T>(network, trainer, rows, size, learnt, objective.decay, seed,
                                                                vector<T>(gradient), threads(n_threads));
            return {told.loss, told.penalty, told.divergence, told.squared_gradients};
        },
        other, other, maybe, maybe, maybe, other, other, array, other, other, array, maybe, array, other, ReleaseGil());

    m.def(
        "network_outputs",
        [](const Network& network, const Source& x, const std::vector<In2<T>>& coefs, const std::vector<In1<T>>& intercepts,
           const std::string& activation, const Out2<T>& out, int n_threads) {
            network_rows(network, x);
            const auto outputs = rows<T>(out);
            require(outputs.rows == x.rows() && outputs.cols == network.n_outputs(), "the outputs must have a line a row");
            require(coefs.size() == network.n_layers() && intercepts.size() == coefs.size(), "there must be arrays for each layer");
            std::vector<neural_network::GivenLayer<T>> layers;
            for (std::size_t l = 0; l < coefs.size(); ++l) {
                const neural_network::Layer& layer = network.layer(l);
                layers.push_back({matrix<T>(coefs[l]), vector<T>(intercepts[l])});
                const auto& w = layers.back().coef;
                require(layer.draws || (w.rows == layer.inputs && w.cols == layer.units && intercepts[l].shape(0) == layer.units),
                        "the coefficients of a layer must be of shape (inputs, units), with an intercept a unit");
                require(!Source::kIsSparse || layer.sources[0] > 0 ||
                            (w.has_contiguous_rows() && (w.rows <= 1 || w.row_stride == static_cast<std::ptrdiff_t>(w.cols))),
                        "coefficients that sparse rows are multiplied by must be contiguous");
            }
            const neural_network::Predictor<T> predict(network, layers, x.rows(), Source::kIsSparse, threads(n_threads));
            predict(x, neural_network::output_activation_of(activation), outputs);
        },
        other, other, array, array, other, array, other, ReleaseGil());
}

}  // namespace

void bind_neural_network(nb::module_& m) {
    nb::class_<Network>(m, "Network")
        .def("__init__", [](Network* self, std::size_t n_inputs,
                            const std::vector<LayerTuple>& layers) { new (self) Network(network_of(n_inputs, layers)); })
        .def_prop_ro("n_coef", &Network::n_coef)
        .def_prop_ro("n_parameters", &Network::n_parameters);
    nb::class_<Objective>(m, "NetworkObjective").def(nb::init<const std::string&, double, double, bool, double>());
    nb::class_<Noise>(m, "NetworkNoise").def("__init__", [](Noise* self, const std::string& name, double level) {
        new (self) Noise(noise_of(name, level));
    });
    nb::class_<Step>(m, "NetworkStep").def(nb::init<const std::string&, double, double, double, double>());
    bind_training<double, DenseRowSource<double>>(m);
    bind_training<float, DenseRowSource<float>>(m);
    bind_training<double, CsrRowSource<double>>(m);
    bind_training<float, CsrRowSource<float>>(m);
}

}  // namespace mercer::bindings
