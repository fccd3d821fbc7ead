// Measures of clusterings.
#include <nanobind/stl/string.h>

#include <numeric>
#include <string>

#include "bindings/arrays.hpp"
#include "bindings/hierarchies.hpp"
#include "metrics/cluster_distances.hpp"
#include "metrics/expected_information.hpp"

namespace mercer::bindings {

namespace {

// Calls go(kept) with what a name says is kept of distances.
template <class Go>
void with_kept(const std::string& name, Go&& go) {
    if (name == "sum") return go(metrics::SumOf{});
    if (name == "least") return go(metrics::LeastOf{});
    require(name == "greatest", "there is nothing of that name to keep");
    go(metrics::GreatestOf{});
}

template <class Kept>
void measure_by(const std::string& metric, RowMajor<const double> x, std::size_t first, std::span<const std::int64_t> ends,
                RowMajor<double> out, Threads threads) {
    if (metric == "euclidean")
        return metrics::measure_clusters<SquaredEuclidean, metrics::RootOf, Kept>({}, x, first, ends, out, threads);
    if (metric == "sqeuclidean")
        return metrics::measure_clusters<SquaredEuclidean, metrics::ValueOf, Kept>({}, x, first, ends, out, threads);
    if (metric == "manhattan")
        return metrics::measure_clusters<Manhattan, metrics::ValueOf, Kept>({}, x, first, ends, out, threads);
    require(metric == "chebyshev", "there is no such metric");
    metrics::measure_clusters<Chebyshev, metrics::ValueOf, Kept>({}, x, first, ends, out, threads);
}

}  // namespace

void bind_cluster_measures(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "measure_clusters",
        [](const std::string& kept, const std::string& metric, Rows2<double> x, std::size_t first, In1<std::int64_t> ends,
           Out2<double> out, int n_threads) {
            const auto points = rows<double>(x);
            const auto to = rows<double>(out);
            const auto given = vector<std::int64_t>(ends);
            const std::vector<std::int64_t> own_ends(given.begin(), given.end());  // by which clusters are counted
            require(points.cols >= 1 && first <= points.rows && to.rows <= points.rows - first, "there are no such rows");
            require(!own_ends.empty() && own_ends.front() > 0 && static_cast<std::size_t>(own_ends.back()) == points.rows &&
                        std::adjacent_find(own_ends.begin(), own_ends.end(), std::greater_equal<>()) == own_ends.end(),
                    "clusters must have members, and end with the rows");
            require(to.cols == own_ends.size(), "one column for each cluster");
            with_kept(kept, [&]<class Kept>(Kept) { measure_by<Kept>(metric, points, first, own_ends, to, threads(n_threads)); });
        },
        nb::arg(), nb::arg(), array, nb::arg(), array, array, nb::arg(), ReleaseGil(),
        "Writes what is kept of the distances of some rows to the members of each cluster.");
    m.def(
        "gather_clusters",
        [](const std::string& kept, Rows2<double> distances, In1<std::int64_t> labels, Out2<double> out, int n_threads) {
            const auto from = rows<double>(distances);
            const auto to = rows<double>(out);
            const auto given = vector<std::int64_t>(labels);
            const std::vector<std::int64_t> own_labels(given.begin(), given.end());
            require(from.cols == own_labels.size() && from.rows == to.rows, "one label for each column, and one line for each row");
            require(std::all_of(own_labels.begin(), own_labels.end(),
                                [&](std::int64_t label) { return static_cast<std::uint64_t>(label) < to.cols; }),
                    "a label is out of range");
            with_kept(kept, [&]<class Kept>(Kept) { metrics::gather_clusters<Kept>(from, own_labels, to, threads(n_threads)); });
        },
        nb::arg(), array, array, array, nb::arg(), ReleaseGil(), "The same of given distances.");
    m.def(
        "expected_information",
        [](In1<std::int64_t> row_sizes, In1<std::int64_t> column_sizes, int n_threads) {
            const auto given_rows = vector<std::int64_t>(row_sizes), given_columns = vector<std::int64_t>(column_sizes);
            const std::vector<std::int64_t> a(given_rows.begin(), given_rows.end()), b(given_columns.begin(), given_columns.end());
            constexpr std::int64_t kMost = std::int64_t{1} << 31;
            std::int64_t totals[2] = {0, 0};
            for (const auto* sizes : {&a, &b}) {
                for (const std::int64_t size : *sizes) {
                    std::int64_t& total = totals[sizes == &a ? 0 : 1];
                    require(size >= 0 && size <= kMost - total, "sizes must not be negative, nor too many rows in all");
                    total += size;
                }
            }
            require(totals[0] == totals[1], "both labelings must have the same rows");
            return metrics::expected_information(a, b, totals[0], threads(n_threads));
        },
        array, array, nb::arg(), ReleaseGil(), "The expected mutual information of two labelings with clusters of these sizes.");
}

}  // namespace mercer::bindings
