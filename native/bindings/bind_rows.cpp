// X by rows, for all families, and the products with it that know no model.
#include "bindings/rows.hpp"
#include "core/row_products.hpp"
#include "core/sparse_product.hpp"

namespace mercer::bindings {

namespace {

// Of sparse rows in double precision, which sparse solvers take.
void bind_products(nb::module_& m) {
    using Source = CsrRowSource<double>;
    using Rows = CsrRows<double>;
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    m.def(
        "row_values",
        [](const Source& x, In1<double> given, double constant, Out1<double> values, int n_threads) {
            require(given.shape(0) == x.cols() && values.shape(0) == x.rows(),
                    "row_values: the vector must have one value per column of X, and the result one per row");
            row_values<Rows>(x, vector<double>(given), constant, vector<double>(values), threads(n_threads));
        },
        nb::arg(), array, nb::arg(), array, nb::arg(), ReleaseGil());
    m.def(
        "column_sums",
        [](const Source& x, In1<double> given, Out1<double> sums) {
            require(given.shape(0) == x.rows() && sums.shape(0) == x.cols(),
                    "column_sums: the vector must have one value per row of X, and the result one per column");
            column_sums<Rows>(x, vector<double>(given), vector<double>(sums));
        },
        nb::arg(), array, array, ReleaseGil());
    m.def(
        "moment_sums",
        [](const Source& x, In1<double> weights, Out1<double> sums, Out1<double> squares) {
            require(weights.shape(0) == x.rows(), "moment_sums: there must be one weight per row of X");
            require(sums.shape(0) == x.cols() && squares.shape(0) == x.cols(),
                    "moment_sums: the results must have one value per column of X");
            moment_sums<Rows>(x, vector<double>(weights), vector<double>(sums), vector<double>(squares));
        },
        nb::arg(), array, array, array, ReleaseGil());
    m.def(
        "curvature_product",
        [](const Source& x, In1<double> curvatures, In1<double> given, Out1<double> product) {
            require(curvatures.shape(0) == x.rows(), "there must be one curvature per row of X");
            require(given.shape(0) == x.cols() + 1 && product.shape(0) == x.cols() + 1,
                    "the vectors must have one value per column of X, and the intercept");
            curvature_product<Rows>(x, vector<double>(curvatures), vector<double>(given), vector<double>(product));
        },
        nb::arg(), array, array, array, ReleaseGil());
    m.def(
        "weighted_products",
        [](const Source& x, MaybeIn1<double> weights, Out2<double> products, int n_threads) {
            require(products.shape(0) == x.cols() && products.shape(1) == x.cols(),
                    "weighted_products: the result must have one line and one column per column of X");
            weighted_products<double>(x, per_row<double>(weights, x.rows()), rows<double>(products), threads(n_threads));
        },
        nb::arg(), maybe, array, nb::arg(), ReleaseGil());
}

template <Real T>
void bind_sources(nb::module_& m, const char* dense, const char* sparse) {
    const auto array = nb::arg().noconvert();
    nb::class_<DenseRowSource<T>>(m, dense).def(nb::init<In2<T>, MaybeIn1<T>>(), array, nb::arg().noconvert().none());
    nb::class_<CsrRowSource<T>>(m, sparse).def(nb::init<In1<T>, In1<std::int32_t>, In1<std::int32_t>, std::size_t>(), array, array,
                                               array, nb::arg());
    m.def(
        "multiply_sparse",
        [](const CsrRowSource<T>& x, Rows2<T> b, Out2<T> c, int n_threads) {
            require(b.shape(0) == x.cols() && c.shape(0) == x.rows() && c.shape(1) == b.shape(1),
                    "multiply_sparse: the shapes do not fit");
            multiply_sparse<T>(x, rows<T>(b), rows<T>(c), threads(n_threads));
        },
        nb::arg(), array, array, nb::arg(), ReleaseGil(), "c = x b");
}

}  // namespace

void bind_rows(nb::module_& m) {
    bind_sources<double>(m, "DenseRows64", "CsrRows64");
    bind_sources<float>(m, "DenseRows32", "CsrRows32");
    bind_products(m);
}

}  // namespace mercer::bindings
