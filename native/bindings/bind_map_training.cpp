#include "bindings/density_kernels.hpp"
#include "bindings/rows.hpp"
#include "cluster/map_training.hpp"

namespace mercer::bindings {

namespace {

template <class Source, class Rows>
void bind_rows_of(nb::module_& m) {
    using T = typename Rows::Value;
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    m.def(
        "train_map",
        [](const Source& source, MaybeIn1<T> weights, In1<std::int64_t> order, In1<double> rates, In1<double> radii,
           Rows2<double> squared_distances, bool is_gaussian, Out2<double> given) {
            const auto units = rows<double>(given);
            const auto grid = rows<double>(squared_distances);
            const auto visits = vector<std::int64_t>(order);
            const auto in_range = [&](std::int64_t row) { return row >= 0 && static_cast<std::uint64_t>(row) < source.rows(); };
            require(std::all_of(visits.begin(), visits.end(), in_range), "a visit is to no row");
            require(rates.shape(0) == visits.size() && radii.shape(0) == visits.size(), "one rate and one radius for each visit");
            require(units.rows >= 1 && units.cols == source.cols(), "the units must have one column per feature");
            require(grid.rows == units.rows && grid.cols == units.rows, "one distance on the grid for each pair of units");
            cluster::train_map<Rows, T>(source, per_row<T>(weights, source.rows()), visits, vector<double>(rates),
                                        vector<double>(radii), grid, {is_gaussian}, units);
        },
        array, maybe, array, array, array, array, nb::arg(), array, ReleaseGil());
}

}  // namespace

void bind_map_training(nb::module_& m) {
    bind_rows_of<DenseRowSource<double>, DenseRows<double>>(m);
    bind_rows_of<CsrRowSource<double>, CsrRows<double>>(m);
    bind_rows_of<DenseRowSource<float>, DenseRows<float>>(m);
    bind_rows_of<CsrRowSource<float>, CsrRows<float>>(m);
}

}  // namespace mercer::bindings
