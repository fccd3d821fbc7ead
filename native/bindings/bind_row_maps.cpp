#include "bindings/arrays.hpp"
#include "bindings/neighbors.hpp"
#include "neighbors/row_maps.hpp"

namespace mercer::bindings {

namespace {

template <Real T>
void bind_precision(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "map_to_directions",
        [](In2<T> x, bool is_centred, Out2<double> out, int n_threads) {
            const auto values = matrix<T>(x);
            const auto rows_out = rows<double>(out);
            require(rows_out.rows == values.rows && rows_out.cols == values.cols + 1, "results have one column more than x");
            neighbors::map_to_directions<T>(values, is_centred, rows_out, threads(n_threads));
        },
        array, nb::arg(), array, nb::arg(), ReleaseGil());
    m.def(
        "map_to_sphere",
        [](In2<T> x, Out2<double> out, int n_threads) {
            const auto values = matrix<T>(x);
            const auto rows_out = rows<double>(out);
            require(values.cols == 2 && rows_out.rows == values.rows && rows_out.cols == 3, "two columns become three");
            neighbors::map_to_sphere<T>(values, rows_out, threads(n_threads));
        },
        array, array, nb::arg(), ReleaseGil());
    m.def(
        "map_linearly",
        [](In2<T> x, In1<double> shift, Rows2<double> factor, Out2<double> out, int n_threads) {
            const auto values = matrix<T>(x);
            const auto by = rows<double>(factor);
            const auto rows_out = rows<double>(out);
            require(by.rows == values.cols && shift.shape(0) == values.cols, "the factor has as many rows as x has columns");
            require(rows_out.rows == values.rows && rows_out.cols == by.cols, "results have the columns of the factor");
            neighbors::map_linearly<T>(values, vector<double>(shift), by, rows_out, threads(n_threads));
        },
        array, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_row_maps(nb::module_& m) {
    bind_precision<double>(m);
    bind_precision<float>(m);
}

}  // namespace mercer::bindings
