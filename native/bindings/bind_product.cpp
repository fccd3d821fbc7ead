// Matrix products and Cholesky factors.
#include "bindings/arrays.hpp"
#include "core/centred_product.hpp"
#include "core/cholesky.hpp"
#include "core/product.hpp"

namespace mercer::bindings {

namespace {

template <class T>
Matrix<T> strided(RowMajor<T> a) {
    return {a.data, a.rows, a.cols, static_cast<std::ptrdiff_t>(a.cols), 1};
}

// Adds to each value of a finished tile the numbers of its row and column: once, and in the right place, or a test sees it.
struct AddPlace {
    template <class T>
    void operator()(Matrix<T> tile, std::size_t row, std::size_t column) const {
        for (std::size_t i = 0; i < tile.rows; ++i)
            for (std::size_t j = 0; j < tile.cols; ++j) tile(i, j) += static_cast<T>(row + i + column + j);
    }
};

template <Real T>
void bind_tests(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "multiply_finished",
        [](In2<T> a, In2<T> b, Out2<T> c, int n_threads) {
            const auto left = matrix<T>(a);
            const StridedSource<T, T> lines{{left.data, left.cols, left.rows, left.col_stride, left.row_stride}};
            product<T, T>(lines, StridedSource<T, T>{matrix<T>(b)}, T{1}, T{0}, strided(rows<T>(c)), threads(n_threads),
                          AddPlace{});
        },
        array, array, array, nb::arg(), ReleaseGil(), "c = a b, plus the numbers of row and column");
    m.def(
        "gram_finished",
        [](In2<T> x, Out2<T> c, int n_threads) {
            const StridedSource<T, T> source{matrix<T>(x)};
            gram_product<T, T>(source, T{1}, T{0}, strided(rows<T>(c)), threads(n_threads), AddPlace{});
        },
        array, array, nb::arg(), ReleaseGil(), "c = x' x, plus the numbers of row and column");
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
        "multiply_centred",
        [](In2<T> x, In1<T> centre, In2<T> b, Out2<T> c, int n_threads) {
            require(centre.shape(0) == x.shape(1), "multiply_centred: the centre must have one value per column");
            multiply_centred<T>(matrix<T>(x), vector<T>(centre), matrix<T>(b), strided(rows<T>(c)), threads(n_threads));
        },
        array, array, array, array, nb::arg(), ReleaseGil(), "c = (x - 1 centre') b");

    m.def(
        "multiply_centred_transposed",
        [](In2<T> x, In1<T> centre, In2<T> b, Out2<T> c, int n_threads) {
            require(centre.shape(0) == x.shape(1), "multiply_centred_transposed: the centre must have one value per column");
            multiply_centred_transposed<T>(matrix<T>(x), vector<T>(centre), matrix<T>(b), strided(rows<T>(c)), threads(n_threads));
        },
        array, array, array, array, nb::arg(), ReleaseGil(), "c = (x - 1 centre')' b");

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

void bind_product(nb::module_& m, nb::module_& testing) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
    bind_tests<double>(testing);
    bind_tests<float>(testing);
}

}  // namespace mercer::bindings
