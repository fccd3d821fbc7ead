#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings/arrays.hpp"
#include "cluster/assignment.hpp"
#include "cluster/lloyd.hpp"
#include "cluster/seeding.hpp"

namespace mercer::bindings {

namespace {

using cluster::CsrRows;
using cluster::DenseRows;

// Rows that keep the Python arrays behind them alive.
template <Real T>
struct DenseSource : DenseRows<T> {
    DenseSource(In2<T> x, MaybeIn1<T> shift) : x_array(x), shift_array(shift) {
        this->x = matrix<T>(x_array);
        this->shift = vector<T>(shift_array);
        require(!shift || this->shift.size() == this->x.cols, "the shift must have one value per column");
        require(this->x.cols >= 1, "there must be a column");
    }
    In2<T> x_array;
    MaybeIn1<T> shift_array;
};

template <Real T>
struct CsrSource : CsrRows<T> {
    CsrSource(In1<T> values, In1<std::int32_t> columns, In1<std::int32_t> row_starts, std::size_t n_columns)
        : values_array(values), columns_array(columns), row_starts_array(row_starts) {
        this->x = csr<T>(values_array, columns_array, row_starts_array, n_columns);
        require(n_columns >= 1, "there must be a column");
    }
    In1<T> values_array;
    In1<std::int32_t> columns_array;
    In1<std::int32_t> row_starts_array;
};

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
        [](const Source& source, MaybeIn1<T> weights, Rows2<T> centres, double total, std::optional<Out1<float>> upper,
           std::optional<Out1<float>> lower, MaybeIn1<double> moves, Out1<std::int32_t> labels, Out2<double> sums,
           Out1<double> cluster_weights, Out1<std::int64_t> members, int n_threads) {
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
        [](const Source& source, MaybeIn1<T> weights, Rows2<T> centres, In1<std::int32_t> labels, Out2<double> sums,
           Out1<double> cluster_weights, Out1<std::int64_t> members, Out2<T> means, Out1<double> moves, int n_threads) {
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
        [](const Source& source, MaybeIn1<T> weights, Rows2<T> centres, In1<std::int32_t> labels, int n_threads) {
            const auto c = rows<T>(centres);
            require(c.cols == source.cols(), "the centres must have one column per feature");
            check_labels(vector<std::int32_t>(labels), source.rows(), c.rows, 0);
            return cluster::inertia<Rows, T>(source, per_row<T>(weights, source.rows()), c, vector<std::int32_t>(labels),
                                             threads(n_threads));
        },
        array, maybe, array, array, nb::arg(), ReleaseGil());

    m.def(
        "nearest_centres",
        [](const Source& source, Rows2<T> centres, Out1<std::int32_t> labels, int n_threads) {
            const auto c = rows<T>(centres);
            require(c.cols == source.cols() && c.rows >= 1, "the centres must have one column per feature");
            require(labels.shape(0) == source.rows(), "labels must have one value per row");
            cluster::nearest_centres<Rows, T>(source, c, vector<std::int32_t>(labels), threads(n_threads));
        },
        array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "centre_distances",
        [](const Source& source, Rows2<T> centres, Out2<T> distances, int n_threads) {
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
        [](const Source& source, MaybeIn1<T> weights, std::size_t first, Rows2<double> uniforms, Out1<std::int64_t> chosen,
           int n_threads) {
            const auto draws = rows<double>(uniforms);
            require(first < source.rows(), "the first centre is not a row");
            require(chosen.shape(0) == draws.rows + 1 && (draws.rows == 0 || draws.cols >= 1),
                    "one line of draws for each centre but the first");
            cluster::kmeans_plusplus<Rows, T>(source, per_row<T>(weights, source.rows()), first, draws,
                                              vector<std::int64_t>(chosen), threads(n_threads));
        },
        array, maybe, nb::arg(), array, array, nb::arg(), ReleaseGil());
}

template <Real T>
void bind_sources(nb::module_& m, const char* dense, const char* sparse) {
    nb::class_<DenseSource<T>>(m, dense).def(nb::init<In2<T>, MaybeIn1<T>>(), nb::arg().noconvert(), nb::arg().noconvert().none());
    nb::class_<CsrSource<T>>(m, sparse).def(nb::init<In1<T>, In1<std::int32_t>, In1<std::int32_t>, std::size_t>(),
                                            nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg());
    bind_kernels<DenseSource<T>, DenseRows<T>>(m);
    bind_kernels<CsrSource<T>, CsrRows<T>>(m);
}

}  // namespace

void bind_cluster(nb::module_& m) {
    bind_sources<double>(m, "DenseRows64", "CsrRows64");
    bind_sources<float>(m, "DenseRows32", "CsrRows32");
}

}  // namespace mercer::bindings
