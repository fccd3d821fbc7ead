// What one gradient does to a flat vector of parameters: the step rules of mercer.optim, each in one pass over parameters, gradient
// and what the rule remembers of earlier ones. All spans of a call have one length.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "core/views.hpp"

namespace mercer::optim {

// x -= rate g.
template <Real T>
void sgd_step(std::span<T> x, std::span<const T> gradient, double rate) {
    const T r = static_cast<T>(rate);
    for (std::size_t j = 0; j < x.size(); ++j) x[j] -= r * gradient[j];
}

// m = gamma m + g, x -= rate m (Polyak's heavy ball).
template <Real T>
void momentum_step(std::span<T> x, std::span<const T> gradient, std::span<T> moment, double gamma, double rate) {
    const T r = static_cast<T>(rate), c = static_cast<T>(gamma);
    for (std::size_t j = 0; j < x.size(); ++j) {
        moment[j] = c * moment[j] + gradient[j];
        x[j] -= r * moment[j];
    }
}

// m = gamma m + g, x -= rate (g + gamma m): Nesterov's, with the parameters where the gradient is taken.
template <Real T>
void nesterov_step(std::span<T> x, std::span<const T> gradient, std::span<T> moment, double gamma, double rate) {
    const T r = static_cast<T>(rate), c = static_cast<T>(gamma);
    for (std::size_t j = 0; j < x.size(); ++j) {
        const T g = gradient[j];
        moment[j] = c * moment[j] + g;
        x[j] -= r * (g + c * moment[j]);
    }
}

// s += g^2, x -= rate g / (sqrt(s) + eps).
template <Real T>
void adagrad_step(std::span<T> x, std::span<const T> gradient, std::span<T> squares, double eps, double rate) {
    const T r = static_cast<T>(rate), e = static_cast<T>(eps);
    for (std::size_t j = 0; j < x.size(); ++j) {
        const T g = gradient[j];
        squares[j] += g * g;
        x[j] -= r * g / (std::sqrt(squares[j]) + e);
    }
}

// s = rho s + (1 - rho) g^2, x -= rate g / (sqrt(s) + eps).
template <Real T>
void rmsprop_step(std::span<T> x, std::span<const T> gradient, std::span<T> squares, double rho, double eps, double rate) {
    const T r = static_cast<T>(rate), e = static_cast<T>(eps), kept = static_cast<T>(rho), fresh = static_cast<T>(1 - rho);
    for (std::size_t j = 0; j < x.size(); ++j) {
        const T g = gradient[j];
        squares[j] = kept * squares[j] + fresh * (g * g);
        x[j] -= r * g / (std::sqrt(squares[j]) + e);
    }
}

struct AdamSettings {
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
};

// m = beta1 m + (1 - beta1) g, s = beta2 s + (1 - beta2) g^2, x -= rate m' / (sqrt(s') + eps), where m' and s' are freed of the
// bias towards zero that means of n_updates gradients (this one included) have.
template <Real T>
void adam_step(std::span<T> x, std::span<const T> gradient, std::span<T> moment, std::span<T> squares, const AdamSettings& settings,
               double n_updates, double rate) {
    const T kept1 = static_cast<T>(settings.beta1), fresh1 = static_cast<T>(1 - settings.beta1);
    const T kept2 = static_cast<T>(settings.beta2), fresh2 = static_cast<T>(1 - settings.beta2);
    const T r = static_cast<T>(rate / (1 - std::pow(settings.beta1, n_updates)));
    const T unbias2 = static_cast<T>(1 / (1 - std::pow(settings.beta2, n_updates))), e = static_cast<T>(settings.eps);
    for (std::size_t j = 0; j < x.size(); ++j) {
        const T g = gradient[j];
        moment[j] = kept1 * moment[j] + fresh1 * g;
        squares[j] = kept2 * squares[j] + fresh2 * (g * g);
        x[j] -= r * moment[j] / (std::sqrt(squares[j] * unbias2) + e);
    }
}

}  // namespace mercer::optim
