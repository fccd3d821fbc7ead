// Matrix products and Cholesky factors.
#include "bindings/arrays.hpp"
#include "core/cholesky.hpp"
#include "core/product.hpp"

namespace mercer::bindings {

namespace {

template <class T>
Matrix<T> strided(RowMajor<T> a) {
    return {a.data, a.rows, a.cols, static_cast<std::ptrdiff_t>(a.cols), 1};
}

template <Real T>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();

    m.def(
        "multiply",
        [](T alpha, In2<T> a, In2<T> b, T beta, Out2<T> c, int n_threads) {
            multiply<T>(alpha, matrix<T>(a), matrix<T>(b), beta, strided(rows<T>(c)), threads(n_threads));
        },
        nb::arg(), array, array, nb::arg(), array, nb::arg(), ReleaseGil(), "c = alpha a b + beta c");

    m.def(
        "gram",
        [](T alpha, In2<T> x, MaybeIn1<T> shift, MaybeIn1<T> factors, T beta, Out2<T> c, int n_threads) {
            const StridedSource<T, T> source{matrix<T>(x), vector<T>(shift), per_row<T>(factors, x.shape(0))};
            require(!shift || source.shift.size() == source.width(), "gram: the shift must have one value per column");
            gram_product<T, T>(source, alpha, beta, strided(rows<T>(c)), threads(n_threads));
        },
        nb::arg(), array, maybe, maybe, nb::arg(), array, nb::arg(), ReleaseGil(),
        "c = alpha z' z + beta c for a symmetric c and z = diag(factors) (x - 1 shift')");

    m.def(
        "factor_cholesky", [](Out2<T> a, int n_threads) { return factor_cholesky(strided(rows<T>(a)), threads(n_threads)); }, array,
        nb::arg(), ReleaseGil(), "Overwrites the lower triangle of a symmetric matrix; False where it is not positive definite.");
    m.def(
        "solve_lower",
        [](Rows2<T> l, Out2<T> b, int n_threads) { solve_lower(strided(rows<T>(l)), strided(rows<T>(b)), threads(n_threads)); },
        array, array, nb::arg(), ReleaseGil(), "Overwrites each row b with the solution of l x = b.");
    m.def(
        "solve_lower_transposed",
        [](Rows2<T> l, Out2<T> b, int n_threads) {
            solve_lower_transposed(strided(rows<T>(l)), strided(rows<T>(b)), threads(n_threads));
        },
        array, array, nb::arg(), ReleaseGil(), "Overwrites each row b with the solution of l' x = b.");
}

}  // namespace

void bind_product(nb::module_& m) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
}

}  // namespace mercer::bindings
