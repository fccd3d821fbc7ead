#include "bindings/arrays.hpp"
#include "linear_model/huber.hpp"

namespace mercer::bindings {

namespace {

template <Real T>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();

    m.def(
        "huber_loss",
        [](In2<T> x, In1<double> shift, In1<double> y, MaybeIn1<double> weights, double epsilon, double sigma, In1<double> coef,
           Out1<double> gradient, std::optional<Out2<double>> hessian, int n_threads) {
            const auto rows_of_x = matrix<T>(x);
            const std::size_t d = rows_of_x.cols;
            require(shift.shape(0) == d, "the shift must have one value per column of X");
            require(coef.shape(0) == d + 1, "the coefficients must have one value per column of X, and the intercept");
            require(y.shape(0) == rows_of_x.rows, "there must be one target per row of X");
            require(gradient.shape(0) == d + 2, "the gradient must have a value for each coefficient and the scale");
            const auto h = hessian ? rows<double>(*hessian) : RowMajor<double>{};
            require(!hessian || (h.rows == d + 2 && h.cols == d + 2), "the Hessian must be square, a line a parameter");
            return linear_model::huber_loss<T>(rows_of_x, vector<double>(shift), vector<double>(y),
                                               per_row<double>(weights, rows_of_x.rows), {epsilon, sigma}, vector<double>(coef),
                                               vector<double>(gradient), h, threads(n_threads));
        },
        array, array, array, maybe, nb::arg(), nb::arg(), array, array, maybe, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_huber(nb::module_& m) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
}

}  // namespace mercer::bindings
