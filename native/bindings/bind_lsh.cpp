#include "bindings/neighbors.hpp"
#include "bindings/search_kernels.hpp"
#include "neighbors/lsh.hpp"

namespace mercer::bindings {

namespace {

using neighbors::LshTables;

template <Real T>
void bind_class(nb::module_& m, const char* name) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    nb::class_<LshTables<T>> type(m, name);
    type.def(
        "__init__",
        [](LshTables<T>* self, In2<T> x, Rows2<double> planes, In1<double> offsets, std::size_t n_tables, int n_threads) {
            new (self) LshTables<T>(matrix<T>(x), rows<double>(planes), vector<double>(offsets), n_tables, threads(n_threads));
        },
        array, array, array, nb::arg(), nb::arg(), ReleaseGil());
    type.def(
        "nearest",
        [](const LshTables<T>& tables, const MetricChoice& choice, Queries1 singles, Queries2 doubles, std::size_t n_probes,
           MaybeIn1<std::int64_t> left_out, Out1<std::int64_t> n_compared, Out2<double> distances, Out2<std::int64_t> found,
           int n_threads) {
            const QueriesChoice queries(singles, doubles, tables.n_features());
            const auto out = rows<double>(distances);
            const auto out_rows = rows<std::int64_t>(found);
            require(queries.is_given && out.rows == queries.given.rows() && out_rows.rows == out.rows && out_rows.cols == out.cols,
                    "one line of results for each query");
            require(vector<std::int64_t>(n_compared).size() == out.rows, "one number of points for each query");
            const auto without = per_row<std::int64_t>(left_out, out.rows);
            chosen_metric<Takes::kAll>(choice, tables.n_features()).choose([&](const auto& formula) {
                if constexpr (std::same_as<std::remove_cvref_t<decltype(formula)>, neighbors::Euclidean>) {
                    neighbors::nearest_hashed(tables, formula, queries.given, n_probes, without, vector<std::int64_t>(n_compared),
                                              out, out_rows, threads(n_threads));
                } else {
                    refuse("planes divide rows of Euclidean distances");
                }
            });
        },
        array, maybe, maybe, nb::arg(), maybe, array, array, array, nb::arg(), ReleaseGil());
    type.def_prop_ro("points", [](nb::handle self) { return view_of<T>(nb::cast<const LshTables<T>&>(self).points(), self); });
}

}  // namespace

void bind_lsh(nb::module_& m) {
    bind_class<double>(m, "LshTables64");
    bind_class<float>(m, "LshTables32");
}

}  // namespace mercer::bindings
