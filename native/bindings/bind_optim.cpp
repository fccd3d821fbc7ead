#include "bindings/arrays.hpp"
#include "optim/schedule.hpp"
#include "optim/step_rules.hpp"

namespace mercer::bindings {

namespace {

// Parameters, their gradient, and what a rule remembers: one length for all.
template <class First, class... Arrays>
void require_one_length(const First& first, const Arrays&... others) {
    require(((others.shape(0) == first.shape(0)) && ...), "the parameters, the gradient and the state must have one length");
}

template <Real T>
void bind_steps(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto number = nb::arg();
    m.def(
        "sgd_step",
        [](Out1<T> x, In1<T> gradient, double rate) {
            require_one_length(x, gradient);
            optim::sgd_step<T>(vector<T>(x), vector<T>(gradient), rate);
        },
        array, array, number, ReleaseGil());
    m.def(
        "momentum_step",
        [](Out1<T> x, In1<T> gradient, Out1<T> moment, double gamma, double rate) {
            require_one_length(x, gradient, moment);
            optim::momentum_step<T>(vector<T>(x), vector<T>(gradient), vector<T>(moment), gamma, rate);
        },
        array, array, array, number, number, ReleaseGil());
    m.def(
        "nesterov_step",
        [](Out1<T> x, In1<T> gradient, Out1<T> moment, double gamma, double rate) {
            require_one_length(x, gradient, moment);
            optim::nesterov_step<T>(vector<T>(x), vector<T>(gradient), vector<T>(moment), gamma, rate);
        },
        array, array, array, number, number, ReleaseGil());
    m.def(
        "adagrad_step",
        [](Out1<T> x, In1<T> gradient, Out1<T> squares, double eps, double rate) {
            require_one_length(x, gradient, squares);
            optim::adagrad_step<T>(vector<T>(x), vector<T>(gradient), vector<T>(squares), eps, rate);
        },
        array, array, array, number, number, ReleaseGil());
    m.def(
        "rmsprop_step",
        [](Out1<T> x, In1<T> gradient, Out1<T> squares, double rho, double eps, double rate) {
            require_one_length(x, gradient, squares);
            optim::rmsprop_step<T>(vector<T>(x), vector<T>(gradient), vector<T>(squares), rho, eps, rate);
        },
        array, array, array, number, number, number, ReleaseGil());
    m.def(
        "adam_step",
        [](Out1<T> x, In1<T> gradient, Out1<T> moment, Out1<T> squares, double beta1, double beta2, double eps, double n_updates,
           double rate) {
            require_one_length(x, gradient, moment, squares);
            optim::adam_step<T>(vector<T>(x), vector<T>(gradient), vector<T>(moment), vector<T>(squares), {beta1, beta2, eps},
                                n_updates, rate);
        },
        array, array, array, array, number, number, number, number, number, ReleaseGil());
}

}  // namespace

void bind_optim(nb::module_& m) {
    bind_steps<double>(m);
    bind_steps<float>(m);
    m.def("inverse_decay", [](double t, double decay, double power) { return optim::InverseDecay{decay, power}(t); });
    m.def("step_decay", [](double t, double factor, double every) { return optim::StepDecay{factor, every}(t); });
    m.def("exponential_decay", [](double t, double factor) { return optim::ExponentialDecay{factor}(t); });
    m.def("cosine_decay", [](double t, double n_steps, double least) { return optim::CosineDecay{n_steps, least}(t); });
}

}  // namespace mercer::bindings
