#include "bindings/arrays.hpp"
#include "preprocessing/column_stats.hpp"

namespace mercer::bindings {

namespace {

template <Real T>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();

    m.def(
        "column_moments",
        [](In2<T> x, MaybeIn1<T> weights, Out1<double> weight, Out1<double> mean, Out1<double> deviation, int n_threads) {
            const auto source = matrix<T>(x);
            require(weight.shape(0) == source.cols && mean.shape(0) == source.cols && deviation.shape(0) == source.cols,
                    "the results must have one value per column");
            const auto moments = preprocessing::column_moments<T>(source, per_row<T>(weights, source.rows), threads(n_threads));
            std::copy(moments.weight.begin(), moments.weight.end(), vector<double>(weight).begin());
            std::copy(moments.mean.begin(), moments.mean.end(), vector<double>(mean).begin());
            std::copy(moments.deviation.begin(), moments.deviation.end(), vector<double>(deviation).begin());
        },
        array, maybe, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_preprocessing(nb::module_& m) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
}

}  // namespace mercer::bindings
