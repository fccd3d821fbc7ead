#include "bindings/arrays.hpp"
#include "linear_model/linear_predictions.hpp"
#include "linear_model/normal_equations.hpp"

namespace mercer::bindings {

namespace {

template <Real T>
linear_model::Sample<T> sample(const In2<T>& x, const In2<T>& y, const MaybeIn1<T>& weights) {
    const linear_model::Sample<T> s{matrix<T>(x), matrix<T>(y), per_row<T>(weights, x.shape(0))};
    require(s.y.rows == s.x.rows, "X and y must have the same number of rows");
    return s;
}

template <Real T>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();

    m.def(
        "centred_gram",
        [](In2<T> x, In2<T> y, MaybeIn1<T> weights, bool is_centred, Out2<double> gram, Out1<double> means, int n_threads) {
            const auto s = sample<T>(x, y, weights);
            require(gram.shape(0) == s.cols() && gram.shape(1) == s.cols() && means.shape(0) == s.cols(),
                    "the results must have one line per column of X and y");
            return linear_model::centred_gram<T>(s, is_centred, rows<double>(gram), vector<double>(means), threads(n_threads));
        },
        array, array, maybe, nb::arg(), array, array, nb::arg(), ReleaseGil());

    m.def(
        "residual_gradient",
        [](In2<T> x, In2<T> y, MaybeIn1<T> weights, In1<double> means, Rows2<double> coef, Out2<double> gradient,
           Out1<double> squares, int n_threads) {
            const auto s = sample<T>(x, y, weights);
            const auto c = rows<double>(coef);
            const auto g = rows<double>(gradient);
            require(c.rows == s.y.cols && c.cols == s.x.cols && g.rows == c.rows && g.cols == c.cols &&
                        squares.shape(0) == c.rows && means.shape(0) == s.cols(),
                    "the coefficients and results must have one line per target and one column per feature");
            linear_model::residual_gradient<T>(s, vector<double>(means), c, g, vector<double>(squares), threads(n_threads));
        },
        array, array, maybe, array, array, array, array, nb::arg(), ReleaseGil());
}

// Rows of type T, and coefficients and values of type C.
template <Real T, Real C>
void bind_values(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "linear_predictions",
        [](In2<T> x, Rows2<C> coef, In1<C> intercept, Out2<C> values, int n_threads) {
            const auto c = rows<C>(coef);
            const auto v = rows<C>(values);
            require(c.cols == x.shape(1) && intercept.shape(0) == c.rows && v.rows == x.shape(0) && v.cols == c.rows,
                    "linear_predictions: the shapes do not fit");
            linear_model::linear_predictions<T, C>(matrix<T>(x), c, vector<C>(intercept), v, threads(n_threads));
        },
        array, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_linear_model(nb::module_& m) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
    bind_values<double, double>(m);
    bind_values<float, float>(m);
    bind_values<float, double>(m);
    const auto array = nb::arg().noconvert();
    m.def(
        "solve_scaled",
        [](In2<double> gram, In2<double> moments, Out2<double> factor, Out1<double> scales, Out2<double> coef, int n_threads) {
            const auto g = matrix<double>(gram);
            const auto b = matrix<double>(moments);
            const auto c = rows<double>(coef);
            require(g.cols == g.rows && factor.shape(0) == g.rows && factor.shape(1) == g.rows && scales.shape(0) == g.rows &&
                        b.cols == g.rows && c.rows == b.rows && c.cols == b.cols,
                    "solve_scaled: the shapes do not fit");
            return linear_model::solve_scaled(g, b, rows<double>(factor), vector<double>(scales), c, threads(n_threads));
        },
        array, array, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings
