#include "bindings/arrays.hpp"
#include "linear_model/centred_rows.hpp"
#include "linear_model/left_out.hpp"

namespace mercer::bindings {

namespace {

template <Real T>
linear_model::CentredRows<T> centred_rows(const In2<T>& x, const MaybeIn1<T>& weights, const In1<double>& means) {
    require(means.shape(0) == x.shape(1), "there must be one mean per column of X");
    return {matrix<T>(x), per_row<T>(weights, x.shape(0)), vector<double>(means)};
}

template <Real T, Real P>
void checked_row_gram(const In2<T>& x, const MaybeIn1<T>& weights, bool is_centred, const Out2<double>& gram,
                      const Out1<double>& means, int n_threads) {
    require(gram.shape(0) == x.shape(0) && gram.shape(1) == x.shape(0) && means.shape(0) == x.shape(1) && x.shape(0) > 0,
            "row_gram: the results must have one line per row and one mean per column of X");
    linear_model::row_gram<T, P>(matrix<T>(x), per_row<T>(weights, x.shape(0)), is_centred, rows<double>(gram),
                                 vector<double>(means), threads(n_threads));
}

template <Real T>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();

    m.def(
        "row_gram",
        [](In2<T> x, MaybeIn1<T> weights, bool is_centred, Out2<double> gram, Out1<double> means, int n_threads) {
            checked_row_gram<T, double>(x, weights, is_centred, gram, means, n_threads);
        },
        array, maybe, nb::arg(), array, array, nb::arg(), ReleaseGil());

    m.def(
        "apply_rows",
        [](In2<T> x, MaybeIn1<T> weights, In1<double> means, Rows2<double> coef, Out2<double> values, int n_threads) {
            require(coef.shape(1) == x.shape(1) && values.shape(0) == coef.shape(0) && values.shape(1) == x.shape(0),
                    "apply_rows: the shapes do not fit");
            linear_model::apply_rows<T>(centred_rows<T>(x, weights, means), rows<double>(coef), rows<double>(values),
                                        threads(n_threads));
        },
        array, maybe, array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "apply_columns",
        [](In2<T> x, MaybeIn1<T> weights, In1<double> means, Rows2<double> duals, Out2<double> coef, int n_threads) {
            require(duals.shape(1) == x.shape(0) && coef.shape(0) == duals.shape(0) && coef.shape(1) == x.shape(1),
                    "apply_columns: the shapes do not fit");
            linear_model::apply_columns<T>(centred_rows<T>(x, weights, means), rows<double>(duals), rows<double>(coef),
                                           threads(n_threads));
        },
        array, maybe, array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "left_out_errors",
        [](In2<T> x, In2<T> y, MaybeIn1<T> weights, In1<double> means, In1<double> y_means, Rows2<double> vectors,
           Rows2<double> shrinkage, Rows2<double> solutions, double share, Out1<double> sums, std::optional<Out2<double>> errors,
           int n_threads) {
            const linear_model::RidgeFits fits{rows<double>(vectors), rows<double>(shrinkage), rows<double>(solutions), share};
            const auto n_fits = fits.solutions.cols;
            require(y.shape(0) == x.shape(0) && y_means.shape(0) == y.shape(1) && fits.vectors.rows == x.shape(1) &&
                        fits.shrinkage.rows == fits.vectors.cols && fits.solutions.rows == fits.vectors.cols &&
                        n_fits == fits.shrinkage.cols * y.shape(1) && sums.shape(0) == n_fits,
                    "left_out_errors: the shapes do not fit");
            require(!errors || (errors->shape(0) == n_fits && errors->shape(1) == x.shape(0)),
                    "left_out_errors: there must be an error per fit and row");
            linear_model::left_out_errors<T>(centred_rows<T>(x, weights, means), matrix<T>(y), vector<double>(y_means), fits,
                                             vector<double>(sums), errors ? rows<double>(*errors) : RowMajor<double>{},
                                             threads(n_threads));
        },
        array, array, maybe, array, array, array, array, array, nb::arg(), array, maybe, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_ridge(nb::module_& m) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
    const auto array = nb::arg().noconvert();
    m.def(
        "rough_row_gram",
        [](In2<float> x, MaybeIn1<float> weights, bool is_centred, Out2<double> gram, Out1<double> means, int n_threads) {
            checked_row_gram<float, float>(x, weights, is_centred, gram, means, n_threads);
        },
        array, nb::arg().noconvert().none(), nb::arg(), array, array, nb::arg(), ReleaseGil());
    m.def(
        "rough_centred_gram",
        [](In2<float> x, In2<float> y, MaybeIn1<float> weights, bool is_centred, Out2<double> gram, Out1<double> means,
           int n_threads) {
            const linear_model::Sample<float> s{matrix<float>(x), matrix<float>(y), per_row<float>(weights, x.shape(0))};
            require(s.y.rows == s.x.rows, "X and y must have the same number of rows");
            require(gram.shape(0) == s.cols() && gram.shape(1) == s.cols() && means.shape(0) == s.cols(),
                    "the results must have one line per column of X and y");
            return linear_model::centred_gram<float, float>(s, is_centred, rows<double>(gram), vector<double>(means),
                                                            threads(n_threads));
        },
        array, array, nb::arg().noconvert().none(), nb::arg(), array, array, nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings
