#include "bindings/arrays.hpp"
#include "preprocessing/column_quantiles.hpp"
#include "preprocessing/column_range.hpp"
#include "preprocessing/column_stats.hpp"
#include "preprocessing/scaling.hpp"
#include "preprocessing/sparse_moments.hpp"

namespace mercer::bindings {

namespace {

// Out, with any strides.
template <class T>
using Out2Strided = Given<T, nb::ndim<2>, nb::device::cpu>;

template <Real T>
Matrix<T> matrix(const Out2Strided<T>& a) {
    return {checked_data(a), a.shape(0), a.shape(1), static_cast<std::ptrdiff_t>(a.stride(0)),
            static_cast<std::ptrdiff_t>(a.stride(1))};
}

template <class Operation, Real T>
bool scale_columns(const In2<T>& x, const In1<T>& shift, const In1<T>& scale, T low, T high, const Out2Strided<T>& out,
                   int n_threads) {
    const auto source = bindings::matrix<T>(x);
    const auto target = matrix<T>(out);
    require(target.rows == source.rows && target.cols == source.cols, "the result must have the shape of x");
    require(shift.shape(0) == source.cols && scale.shape(0) == source.cols, "shift and scale must have one value per column");
    return preprocessing::scale_columns<Operation, T>(source, vector<T>(shift), vector<T>(scale), {low, high}, target,
                                                      threads(n_threads));
}

void require_quantiles(std::span<const double> qs, RowMajor<double> out, std::size_t n_columns) {
    require(out.rows == qs.size() && out.cols == n_columns, "the result must have one row per quantile and one value per column");
    require(std::all_of(qs.begin(), qs.end(), [](double q) { return q >= 0 && q <= 1; }), "a quantile is not in [0, 1]");
}

template <Real T>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();

    m.def(
        "column_moments",
        [](In2<T> x, MaybeIn1<T> weights, Out1<double> weight, Out1<double> mean, Out1<double> deviation, int n_threads) {
            const auto source = bindings::matrix<T>(x);
            require(weight.shape(0) == source.cols && mean.shape(0) == source.cols && deviation.shape(0) == source.cols,
                    "the results must have one value per column");
            const auto moments = preprocessing::column_moments<T>(source, per_row<T>(weights, source.rows), threads(n_threads));
            std::copy(moments.weight.begin(), moments.weight.end(), vector<double>(weight).begin());
            std::copy(moments.mean.begin(), moments.mean.end(), vector<double>(mean).begin());
            std::copy(moments.deviation.begin(), moments.deviation.end(), vector<double>(deviation).begin());
        },
        array, maybe, array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "column_ranges",
        [](In2<T> x, Out1<T> low, Out1<T> high, int n_threads) {
            const auto source = bindings::matrix<T>(x);
            require(low.shape(0) == source.cols && high.shape(0) == source.cols, "the results must have one value per column");
            preprocessing::column_ranges<T>(source, vector<T>(low), vector<T>(high), threads(n_threads));
        },
        array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "column_quantiles",
        [](In2<T> x, In1<double> qs, Out2<double> out, int n_threads) {
            const auto source = bindings::matrix<T>(x);
            require_quantiles(vector<double>(qs), rows<double>(out), source.cols);
            return preprocessing::column_quantiles<T>(source, vector<double>(qs), rows<double>(out), threads(n_threads));
        },
        array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "sparse_column_moments",
        [](In1<double> values, In1<std::int32_t> places, In1<std::int32_t> starts, bool by_columns, MaybeIn1<double> weights,
           std::size_t n_rows, Out1<double> weight, Out1<double> mean, Out1<double> deviation) {
            const std::size_t n_columns = weight.shape(0);
            require(mean.shape(0) == n_columns && deviation.shape(0) == n_columns, "the results must have one value per column");
            const auto x = csr<double>(values, places, starts, by_columns ? n_rows : n_columns);
            require(x.rows == (by_columns ? n_columns : n_rows), "sparse matrix: indptr must have one place per row or column");
            const auto moments =
                by_columns ? preprocessing::sparse_column_moments<true> : preprocessing::sparse_column_moments<false>;
            moments(x, per_row<double>(weights, n_rows), vector<double>(weight), vector<double>(mean), vector<double>(deviation));
        },
        array, array, array, nb::arg(), nb::arg().noconvert().none(), nb::arg(), array, array, array, ReleaseGil());
    m.def(
        "sparse_column_quantiles",
        [](In1<T> values, In1<std::int32_t> starts, std::size_t n_rows, In1<double> qs, Out2<double> out, int n_threads) {
            const auto offsets = vector<std::int32_t>(starts);
            require(!offsets.empty() && offsets.front() == 0 && static_cast<std::size_t>(offsets.back()) <= values.shape(0),
                    "sparse matrix: indptr must start at 0 and end within the entries");
            for (std::size_t j = 1; j < offsets.size(); ++j)
                require(offsets[j] >= offsets[j - 1] && static_cast<std::size_t>(offsets[j] - offsets[j - 1]) <= n_rows,
                        "sparse matrix: a column has fewer than no entries or more than rows");
            require_quantiles(vector<double>(qs), rows<double>(out), offsets.size() - 1);
            return preprocessing::column_quantiles<T>(vector<T>(values), offsets, n_rows, vector<double>(qs), rows<double>(out),
                                                      threads(n_threads));
        },
        array, array, nb::arg(), array, array, nb::arg(), ReleaseGil());

    m.def("subtract_divide", &scale_columns<preprocessing::SubtractDivide, T>, array, array, array, nb::arg(), nb::arg(), array,
          nb::arg(), ReleaseGil());
    m.def("multiply_add", &scale_columns<preprocessing::MultiplyAdd, T>, array, array, array, nb::arg(), nb::arg(), array,
          nb::arg(), ReleaseGil());
}

}  // namespace

void bind_preprocessing(nb::module_& m) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
}

}  // namespace mercer::bindings
