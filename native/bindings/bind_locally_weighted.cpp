#include "bindings/arrays.hpp"
#include "linear_model/locally_weighted.hpp"

namespace mercer::bindings {

namespace {

template <Real T>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();

    m.def(
        "locally_weighted",
        [](In2<T> x, In2<T> y, MaybeIn1<double> log_weights, double tau, bool is_linear, In2<T> queries, Out2<T> out,
           int n_threads) {
            const auto rows_of_x = matrix<T>(x);
            const auto targets = matrix<T>(y);
            const auto asked = matrix<T>(queries);
            const auto predictions = rows<T>(out);
            require(rows_of_x.rows > 0 && targets.rows == rows_of_x.rows,
                    "there must be rows, and one line of targets per row of X");
            require(asked.cols == rows_of_x.cols, "queries must have the columns of X");
            require(predictions.rows == asked.rows && predictions.cols == targets.cols,
                    "there must be one prediction per query and target");
            linear_model::locally_weighted<T>({rows_of_x, targets, per_row<double>(log_weights, rows_of_x.rows), tau, is_linear},
                                              asked, predictions, threads(n_threads));
        },
        array, array, maybe, nb::arg(), nb::arg(), array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_locally_weighted(nb::module_& m) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
}

}  // namespace mercer::bindings
