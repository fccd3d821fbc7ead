#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings/rows.hpp"
#include "cluster/assignment.hpp"
#include "cluster/lloyd.hpp"
#include "cluster/seeding.hpp"

namespace mercer::bindings {

namespace {

void check_labels(std::span<const std::int32_t> labels, std::size_t n_rows, std::size_t n_centres, std::int32_t least) {
    require(labels.size() == n_rows, "labels must have one value per row");
    const auto in_range = [&](std::int32_t c) { return c >= least && c < static_cast<std::int64_t>(n_centres); };
    require(std::all_of(labels.begin(), labels.end(), in_range), "a label is out of range");
}

void check_sums(const cluster::ClusterSums& sums, std::size_t n_rows, std::size_t n_centres, std::size_t n_features) {
    require(sums.sums.rows == n_centres && sums.sums.cols == n_features && sums.weights.size() == n_centres &&
                sums.members.size() == n_centres,
            "the sums must have one line per centre and one column per feature");
    const auto is_count = [&](std::int64_t count) { return count >= 0 && static_cast<std::uint64_t>(count) <= n_rows; };
    require(std::all_of(sums.members.begin(), sums.members.end(), is_count), "a cluster cannot have so many members");
}

template <class Source, class Rows>
void bind_kernels(nb::module_& m) {
    using T = typename Rows::Value;
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();

    m.def(
        "lloyd_step",
        [](const Source& given, MaybeIn1<T> weights, Rows2<T> centres, double total, std::optional<Out1<float>> upper,
           std::optional<Out1<float>> lower, MaybeIn1<double> moves, Out1<std::int32_t> labels, Out2<double> sums,
           Out1<double> cluster_weights, Out1<std::int64_t> members, int n_threads) {
            const auto source = rows_as<Rows>(given);
            const std::size_t n = source.rows();
            const auto c = rows<T>(centres);
            require(c.cols == source.cols() && c.rows >= 1, "the centres must have one column per feature");
            const cluster::ClusterSums all{rows<double>(sums), vector<double>(cluster_weights), vector<std::int64_t>(members)};
            check_sums(all, n, c.rows, c.cols);
            cluster::Bounds bounds;
            require(upper.has_value() == lower.has_value(), "the bounds come in pairs");
            if (upper) {
                bounds = {vector<float>(*upper), vector<float>(*lower), vector<double>(moves), !moves.has_value()};
                require(bounds.upper.size() == n && bounds.lower.size() == n, "the bounds must have one value per row");
                require(bounds.are_fresh || bounds.moves.size() == c.rows, "the moves must have one value per centre");
            }
            const bool needs_labels = upper && !bounds.are_fresh;
            check_labels(vector<std::int32_t>(labels), n, c.rows, needs_labels ? 0 : -1);
            const auto report = cluster::lloyd_step<Rows, T>(source, per_row<T>(weights, n), c, total, bounds,
                                                             vector<std::int32_t>(labels), all, threads(n_threads));
            return std::make_tuple(report.inertia, report.n_changed, report.n_scanned);
        },
        array, maybe, array, nb::arg(), maybe, maybe, maybe, array, array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "update_centres",
        [](const Source& given, MaybeIn1<T> weights, Rows2<T> centres, In1<std::int32_t> labels, Out2<double> sums,
           Out1<double> cluster_weights, Out1<std::int64_t> members, Out2<T> means, Out1<double> moves, int n_threads) {
            const auto source = rows_as<Rows>(given);
            const auto c = rows<T>(centres);
            const auto m = rows<T>(means);
            const cluster::ClusterSums all{rows<double>(sums), vector<double>(cluster_weights), vector<std::int64_t>(members)};
            require(c.cols == source.cols(), "the centres must have one column per feature");
            require(m.rows == c.rows && m.cols == c.cols && moves.shape(0) == c.rows,
                    "the results must have the shape of the centres");
            check_sums(all, source.rows(), c.rows, c.cols);
            check_labels(vector<std::int32_t>(labels), source.rows(), c.rows, 0);
            return cluster::update_centres<Rows, T>(source, per_row<T>(weights, source.rows()), c, vector<std::int32_t>(labels),
                                                    all, m, vector<double>(moves), threads(n_threads));
        },
        array, maybe, array, array, array, array, array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "inertia",
        [](const Source& given, MaybeIn1<T> weights, Rows2<T> centres, In1<std::int32_t> labels, int n_threads) {
            const auto source = rows_as<Rows>(given);
            const auto c = rows<T>(centres);
            require(c.cols == source.cols(), "the centres must have one column per feature");
            check_labels(vector<std::int32_t>(labels), source.rows(), c.rows, 0);
            return cluster::inertia<Rows, T>(source, per_row<T>(weights, source.rows()), c, vector<std::int32_t>(labels),
                                             threads(n_threads));
        },
        array, maybe, array, array, nb::arg(), ReleaseGil());

    m.def(
        "nearest_centres",
        [](const Source& given, Rows2<T> centres, Out1<std::int32_t> labels, int n_threads) {
            const auto source = rows_as<Rows>(given);
            const auto c = rows<T>(centres);
            require(c.cols == source.cols() && c.rows >= 1, "the centres must have one column per feature");
            require(labels.shape(0) == source.rows(), "labels must have one value per row");
            cluster::nearest_centres<Rows, T>(source, c, vector<std::int32_t>(labels), threads(n_threads));
        },
        array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "centre_distances",
        [](const Source& given, Rows2<T> centres, Out2<T> distances, int n_threads) {
            const auto source = rows_as<Rows>(given);
            const auto c = rows<T>(centres);
            const auto out = rows<T>(distances);
            require(c.cols == source.cols() && c.rows >= 1, "the centres must have one column per feature");
            require(out.rows == source.rows() && out.cols == c.rows,
                    "the distances must have one line per row and one column per centre");
            cluster::centre_distances<Rows, T>(source, c, out, threads(n_threads));
        },
        array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "kmeans_plusplus",
        [](const Source& given, MaybeIn1<T> weights, std::size_t first, Rows2<double> uniforms, Out1<std::int64_t> chosen,
           int n_threads) {
            const auto source = rows_as<Rows>(given);
            const auto draws = rows<double>(uniforms);
            require(first < source.rows(), "the first centre is not a row");
            require(chosen.shape(0) == draws.rows + 1 && (draws.rows == 0 || draws.cols >= 1),
                    "one line of draws for each centre but the first");
            cluster::kmeans_plusplus<Rows, T>(source, per_row<T>(weights, source.rows()), first, draws,
                                              vector<std::int64_t>(chosen), threads(n_threads));
        },
        array, maybe, nb::arg(), array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_cluster(nb::module_& m) {
    bind_kernels<DenseRowSource<double>, cluster::DenseRows<double>>(m);
    bind_kernels<CsrRowSource<double>, cluster::CsrRows<double>>(m);
    bind_kernels<DenseRowSource<float>, cluster::DenseRows<float>>(m);
    bind_kernels<CsrRowSource<float>, cluster::CsrRows<float>>(m);
}

}  // namespace mercer::bindings
