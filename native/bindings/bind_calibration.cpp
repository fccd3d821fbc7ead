#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings/arrays.hpp"
#include "calibration/isotonic.hpp"
#include "calibration/sigmoid.hpp"

namespace mercer::bindings {

namespace {

template <Real T>
void bind_maps(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "sigmoid_values",
        [](In1<T> scores, double a, double b, Out1<double> probabilities, int n_threads) {
            require(probabilities.shape(0) == scores.shape(0), "there must be one probability per score");
            calibration::sigmoid_values<T>(vector<T>(scores), a, b, vector<double>(probabilities), threads(n_threads));
        },
        array, nb::arg(), nb::arg(), array, nb::arg(), ReleaseGil());
    m.def(
        "isotonic_values",
        [](In1<T> scores, In1<double> x, In1<double> y, Out1<double> probabilities, int n_threads) {
            require(x.shape(0) > 0 && y.shape(0) == x.shape(0), "there must be a corner, and a value per corner");
            require(probabilities.shape(0) == scores.shape(0), "there must be one probability per score");
            calibration::isotonic_values<T>(vector<T>(scores), vector<double>(x), vector<double>(y), vector<double>(probabilities),
                                            threads(n_threads));
        },
        array, array, array, array, nb::arg(), ReleaseGil());
    m.def(
        "fit_isotonic",
        [](In1<T> scores, In1<std::uint8_t> is_positive, In1<double> weights, double resolution, Out1<double> x, Out1<double> y) {
            const std::size_t n = scores.shape(0);
            require(is_positive.shape(0) == n && weights.shape(0) == n, "there must be one class and one weight per score");
            require(x.shape(0) == n && y.shape(0) == n, "the corners must have room for one per score");
            const auto fit =
                calibration::fit_isotonic<T>(vector<T>(scores), vector<std::uint8_t>(is_positive), vector<double>(weights),
                                             resolution, vector<double>(x), vector<double>(y));
            return std::tuple(fit.n_corners, fit.objective, fit.violation);
        },
        array, array, array, nb::arg(), array, array, ReleaseGil());
}

}  // namespace

void bind_calibration(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    bind_maps<double>(m);
    bind_maps<float>(m);
    m.def(
        "sigmoid_loss",
        [](In1<double> scores, In1<double> targets, In1<double> weights, double slope, double intercept, int n_threads) {
            const std::size_t n = scores.shape(0);
            require(targets.shape(0) == n && weights.shape(0) == n, "there must be one target and one weight per score");
            const auto loss = calibration::sigmoid_loss(vector<double>(scores), vector<double>(targets), vector<double>(weights),
                                                        slope, intercept, threads(n_threads));
            return std::tuple(loss.value, loss.gradient[0], loss.gradient[1], loss.hessian[0], loss.hessian[1], loss.hessian[2]);
        },
        array, array, array, nb::arg(), nb::arg(), nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings
