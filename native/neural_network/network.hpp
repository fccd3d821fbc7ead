// What a feed-forward network is made of: layers, what each reads, and where its parameters lie in one flat vector.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/views.hpp"
#include "neural_network/activations.hpp"

namespace mercer::neural_network {

// A layer reads places, side by side: place 0 is the input of the network, place p the output of layer p - 1.
struct Layer {
    std::vector<std::size_t> sources;  // places, rising
    std::size_t units = 0;
    Activation activation = Activation::kIdentity;
    double dropout = 0;           // the share of units that a training pass leaves out
    bool draws = false;           // reads means and log variances, gives Gaussian draws, and has no parameters
    std::ptrdiff_t tied_to = -1;  // the layer whose transposed coefficients it uses; its own where negative
    // Set by Network.
    std::size_t inputs = 0;
    std::size_t coef = 0, intercept = 0;  // where they begin in the flat vector
    bool shares_later = false;            // another layer above uses the same coefficients

    bool is_tied() const { return tied_to >= 0; }
    std::size_t n_coef() const { return draws ? 0 : inputs * units; }
};

// The flat vector holds the coefficients (inputs x units) of all layers, then their intercepts.
class Network {
   public:
    Network(std::size_t n_inputs, std::vector<Layer> layers) : n_inputs_(n_inputs), layers_(std::move(layers)) {
        constexpr std::size_t kMost = std::size_t{1} << 31;  // of parameters, and of units: products of two of them fit a word
        require(n_inputs >= 1 && n_inputs < kMost && !layers_.empty(), "a network must have inputs and layers");
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            Layer& layer = layers_[l];
            require(!layer.sources.empty() && layer.units >= 1 && layer.units < kMost, "a layer must have sources and units");
            require(layer.dropout >= 0 && layer.dropout < 1, "the share of units that are dropped must be in [0, 1)");
            for (std::size_t s = 0; s < layer.sources.size(); ++s) {
                require(layer.sources[s] <= l && (s == 0 || layer.sources[s - 1] < layer.sources[s]),
                        "the sources of a layer must rise, and come before it");
                layer.inputs += width(layer.sources[s]);
            }
            require(!layer.draws || (layer.sources.size() == 1 && layer.inputs == 2 * layer.units && !layer.is_tied()),
                    "a layer of draws must read a mean and a log variance a unit");
            layer.coef = n_coef_;
            if (layer.is_tied()) {
                require(static_cast<std::size_t>(layer.tied_to) < l, "a layer can be tied to an earlier one only");
                Layer& other = layers_[static_cast<std::size_t>(layer.tied_to)];
                require(!other.is_tied() && !other.draws && !other.shares_later && other.inputs == layer.units &&
                            other.units == layer.inputs,
                        "the shape of a tied layer must be that of the other one, transposed");
                other.shares_later = true;
                layer.coef = other.coef;
            } else {
                n_coef_ += layer.n_coef();
            }
            require(n_coef_ < kMost, "the network has too many parameters");
        }
        require_passages();
        n_parameters_ = n_coef_;
        for (Layer& layer : layers_) {
            layer.intercept = n_parameters_;
            if (!layer.draws) n_parameters_ += layer.units;
        }
    }

    std::size_t n_layers() const { return layers_.size(); }
    const Layer& layer(std::size_t l) const { return layers_[l]; }
    std::size_t n_inputs() const { return n_inputs_; }
    std::size_t n_outputs() const { return layers_.back().units; }
    std::size_t width(std::size_t place) const { return place == 0 ? n_inputs_ : layers_[place - 1].units; }
    std::size_t n_coef() const { return n_coef_; }
    std::size_t n_parameters() const { return n_parameters_; }

    // The coefficients of a layer for the source that begins at its input `first`: width x units.
    template <class T>
    Matrix<T> coef(std::span<T> parameters, std::size_t l, std::size_t first, std::size_t n) const {
        const Layer& layer = layers_[l];
        T* const data = parameters.data() + layer.coef;
        if (layer.is_tied()) return {data + first, n, layer.units, 1, static_cast<std::ptrdiff_t>(layer.inputs)};
        return {data + first * layer.units, n, layer.units, static_cast<std::ptrdiff_t>(layer.units), 1};
    }
    template <class T>
    std::span<T> intercept(std::span<T> parameters, std::size_t l) const {
        return parameters.subspan(layers_[l].intercept, layers_[l].units);
    }

   private:
    // Slopes must find their way back: every layer but the last is read, and what is drawn from is read by the draws alone.
    void require_passages() const {
        std::vector<std::size_t> n_readers(layers_.size() + 1);
        for (const Layer& layer : layers_)
            for (const std::size_t source : layer.sources) ++n_readers[source];
        for (std::size_t place = 1; place < layers_.size(); ++place)
            require(n_readers[place] >= 1, "every layer but the last must be read by a later one");
        for (const Layer& layer : layers_)
            require(!layer.draws || (layer.sources[0] > 0 && n_readers[layer.sources[0]] == 1),
                    "what a layer of draws reads must be a layer that nothing else reads");
    }

    std::size_t n_inputs_;
    std::vector<Layer> layers_;
    std::size_t n_coef_ = 0, n_parameters_ = 0;
};

}  // namespace mercer::neural_network
