#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings/arrays.hpp"
#include "linear_model/linear_loss.hpp"

namespace mercer::bindings {

namespace {

struct LossHandle {
    LossHandle(const std::string& name, double parameter)
        : name(name), parameter(parameter), loss(losses::make_row_loss(name, parameter)) {}
    std::string name;
    double parameter;
    std::unique_ptr<losses::RowLoss> loss;
};

void require_coefficients(std::size_t n_features, std::size_t n_shift, std::size_t n_coefficients) {
    require(n_shift == n_features, "the shift must have one value per column of X");
    require(n_coefficients == n_features + 1, "the coefficients must have one value per column of X, and the intercept");
}

template <Real T>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();

    m.def(
        "linear_values",
        [](In2<T> x, In1<double> shift, In1<double> coef, Out1<double> raw, int n_threads) {
            const auto rows = matrix<T>(x);
            require_coefficients(rows.cols, shift.shape(0), coef.shape(0));
            require(raw.shape(0) == rows.rows, "there must be one value per row of X");
            linear_model::linear_values<T>(rows, vector<double>(shift), vector<double>(coef), vector<double>(raw),
                                           threads(n_threads));
        },
        array, array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "linear_loss",
        [](In2<T> x, In1<double> shift, In1<double> y, MaybeIn1<double> weights, const LossHandle& loss, In1<double> coef,
           Out1<double> gradient, std::optional<Out2<double>> hessian, int n_threads) {
            const auto rows_of_x = matrix<T>(x);
            require_coefficients(rows_of_x.cols, shift.shape(0), coef.shape(0));
            require(y.shape(0) == rows_of_x.rows, "there must be one target per row of X");
            require(gradient.shape(0) == coef.shape(0), "the gradient must be as long as the coefficients");
            const auto h = hessian ? rows<double>(*hessian) : RowMajor<double>{};
            require(!hessian || (h.rows == coef.shape(0) && h.cols == h.rows), "the Hessian must be square, a line a coefficient");
            const auto total = linear_model::linear_loss<T>(rows_of_x, vector<double>(shift), vector<double>(y),
                                                            per_row<double>(weights, rows_of_x.rows), *loss.loss,
                                                            vector<double>(coef), vector<double>(gradient), h, threads(n_threads));
            return std::tuple(total.value, total.curvature);
        },
        array, array, array, maybe, nb::arg(), array, array, maybe, nb::arg(), ReleaseGil());

    m.def(
        "weighted_sums",
        [](In2<T> x, In1<double> shift, In1<double> slopes, In1<double> curvatures, Out1<double> gradient, Out2<double> hessian,
           int n_threads) {
            const auto rows_of_x = matrix<T>(x);
            const auto h = rows<double>(hessian);
            require_coefficients(rows_of_x.cols, shift.shape(0), gradient.shape(0));
            require(slopes.shape(0) == rows_of_x.rows && curvatures.shape(0) == rows_of_x.rows,
                    "there must be one slope and one curvature per row of X");
            require(h.rows == gradient.shape(0) && h.cols == h.rows, "the Hessian must be square, a line a coefficient");
            linear_model::weighted_sums<T>(rows_of_x, vector<double>(shift), vector<double>(slopes), vector<double>(curvatures),
                                           vector<double>(gradient), h, threads(n_threads));
        },
        array, array, array, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_linear_loss(nb::module_& m) {
    nb::class_<LossHandle>(m, "RowLoss")
        .def(nb::init<const std::string&, double>())
        .def_ro("name", &LossHandle::name)
        .def_ro("parameter", &LossHandle::parameter);
    bind_kernels<double>(m);
    bind_kernels<float>(m);
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    m.def(
        "loss_of_values",
        [](const LossHandle& loss, In1<double> y, MaybeIn1<double> weights, In1<double> raw, Out1<double> slopes,
           Out1<double> curvatures, int n_threads) {
            const std::size_t n = raw.shape(0);
            require(y.shape(0) == n && slopes.shape(0) == n && curvatures.shape(0) == n, "there must be one value per row");
            return linear_model::loss_of_values(*loss.loss, vector<double>(y), per_row<double>(weights, n), vector<double>(raw),
                                                vector<double>(slopes), vector<double>(curvatures), threads(n_threads));
        },
        nb::arg(), array, maybe, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings
