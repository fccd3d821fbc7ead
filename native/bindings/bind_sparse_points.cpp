#include "bindings/neighbors.hpp"
#include "bindings/rows.hpp"
#include "bindings/search_kernels.hpp"
#include "neighbors/sparse.hpp"

namespace mercer::bindings {

namespace {

using Rows = CsrRowSource<double>;
using neighbors::LeftOut;
using neighbors::SparseSearch;

// Calls go(search, metric) for what `queries` ask of `points`.
template <class Go>
void search(const MetricChoice& choice, const Rows& points, const Rows& queries, std::int64_t left_out, int n_threads, Go&& go) {
    require(points.cols() == queries.cols(), "queries must have as many columns as the points");
    require(points.rows() <= neighbors::TreeShape::kMostPoints, "there are too many points");
    with_metric<Takes::kAll>(choice, points.cols(), [&](const auto& metric) {
        require(neighbors::passes_over_zeros(metric), "sparse rows cannot be searched by this metric");
        using Metric = std::remove_cvref_t<decltype(metric)>;
        go(SparseSearch<Metric>(metric, points.x, queries.x, LeftOut{left_out}, threads(n_threads)), metric);
    });
}

}  // namespace

void bind_sparse_points(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "sparse_nearest",
        [](const MetricChoice& choice, const Rows& points, const Rows& queries, std::int64_t left_out, Out2<double> distances,
           Out2<std::int64_t> found, int n_threads) {
            const auto out = rows<double>(distances);
            const auto out_rows = rows<std::int64_t>(found);
            require(out.rows == queries.rows() && out_rows.rows == out.rows && out_rows.cols == out.cols,
                    "one line of results for each query");
            search(choice, points, queries, left_out, n_threads,
                   [&](const auto& search, const auto&) { neighbors::nearest_points(search, out, out_rows); });
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), array, array, nb::arg(), ReleaseGil());
    m.def(
        "sparse_within",
        [](const MetricChoice& choice, const Rows& points, const Rows& queries, std::int64_t left_out, double radius, bool sorted,
           int n_threads) {
            return found_arrays([&] {
                neighbors::Surroundings found;
                search(choice, points, queries, left_out, n_threads, [&](const auto& search, const auto& metric) {
                    found = neighbors::points_within(search, metric, radius, sorted);
                });
                return found;
            });
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
    m.def(
        "sparse_count_within",
        [](const MetricChoice& choice, const Rows& points, const Rows& queries, double radius, Out1<std::int64_t> counts,
           int n_threads) {
            const auto out = vector<std::int64_t>(counts);
            require(out.size() == queries.rows(), "one result for each query");
            search(choice, points, queries, -1, n_threads,
                   [&](const auto& search, const auto& metric) { neighbors::count_points_within(search, metric, radius, out); });
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), array, nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings
