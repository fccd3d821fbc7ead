// Faces of core/distance.hpp for its tests.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/arrays.hpp"
#include "core/distance.hpp"

namespace mercer::bindings {

namespace {

template <Real T>
Targets<T> checked_targets(const In2<T>& x, const Rows2<T>& y) {
    require(x.shape(1) == y.shape(1) && x.shape(1) >= 1, "both sides must have the same features, and at least one");
    return {rows<T>(y)};
}

// What passes over the row itself, where both sides are the same: row i of the group that starts at `first`.
struct NotItself {
    std::size_t first;
    bool is_asked;

    bool operator()(std::size_t i, std::size_t target) const { return !is_asked || first + i != target; }
};

constexpr auto kLeave = [](std::size_t, std::size_t, const auto&) {};

template <Real T, class M>
void write_distances(const M& metric, const In2<T>& x, const Rows2<T>& y, const Out2<T>& out, int n_threads) {
    auto targets = checked_targets<T>(x, y);
    const std::vector<T> zeros(targets.values.rows);
    targets.constants = zeros.data();
    const auto o = rows<T>(out);
    require(o.rows == x.shape(0) && o.cols == y.shape(0), "the distances must have one line per row and one column per target");
    measure_rows<T>(
        metric, matrix<T>(x), targets, [&](std::size_t first, std::size_t n) { return WriteAll<T>{o.row(first), o.cols, n}; },
        kLeave, threads(n_threads));
}

template <Real T>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "distances",
        [](const std::string& metric, double p, In2<T> x, Rows2<T> y, Out2<T> out, int n_threads) {
            if (metric == "sqeuclidean") return write_distances<T>(SquaredEuclidean{}, x, y, out, n_threads);
            if (metric == "inner") return write_distances<T>(Score{}, x, y, out, n_threads);
            if (metric == "manhattan") return write_distances<T>(Manhattan{}, x, y, out, n_threads);
            if (metric == "chebyshev") return write_distances<T>(Chebyshev{}, x, y, out, n_threads);
            require(metric == "minkowski", "there is no such metric");
            write_distances<T>(Minkowski{p}, x, y, out, n_threads);
        },
        nb::arg(), nb::arg(), array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "nearest",
        [](In2<T> x, Rows2<T> y, Out1<std::int64_t> found, Out1<T> best, Out1<T> second, int n_threads) {
            const auto targets = checked_targets<T>(x, y);
            const std::size_t n_rows = x.shape(0);
            require(found.shape(0) == n_rows && best.shape(0) == n_rows && second.shape(0) == n_rows, "one result for each row");
            measure_rows<T>(
                SquaredEuclidean{}, matrix<T>(x), targets, [](std::size_t, std::size_t) { return Nearest<T, true>(); },
                [&](std::size_t first, std::size_t n, const auto& nearest) {
                    Found<T> of_rows[kGroupRows<T>];
                    nearest.write(n, of_rows);
                    for (std::size_t i = 0; i < n; ++i) {
                        vector<std::int64_t>(found)[first + i] = of_rows[i].target;
                        vector<T>(best)[first + i] = of_rows[i].best;
                        vector<T>(second)[first + i] = of_rows[i].second;
                    }
                },
                threads(n_threads));
        },
        array, array, array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "nearest_some",
        [](In2<T> x, Rows2<T> y, bool not_itself, Out2<T> values, Out2<std::int64_t> found, int n_threads) {
            const auto targets = checked_targets<T>(x, y);
            const auto v = rows<T>(values);
            const auto f = rows<std::int64_t>(found);
            require(v.rows == x.shape(0) && f.rows == v.rows && f.cols == v.cols, "one line of results for each row");
            measure_rows<T>(
                SquaredEuclidean{}, matrix<T>(x), targets,
                [&](std::size_t first, std::size_t n) {
                    return Filtered<T, NearestSome<T>, NotItself>{{v.cols, n, v.row(first), f.row(first)}, {first, not_itself}, n};
                },
                kLeave, threads(n_threads));
        },
        array, array, nb::arg(), array, array, nb::arg(), ReleaseGil());

    m.def(
        "within_radius",
        [](In2<T> x, Rows2<T> y, T radius, int n_threads) {
            const auto targets = checked_targets<T>(x, y);
            std::vector<std::vector<Hit<T>>> hits((x.shape(0) + kGroupRows<T> - 1) / kGroupRows<T>);
            measure_rows<T>(
                SquaredEuclidean{}, matrix<T>(x), targets,
                [&](std::size_t first, std::size_t n) { return WithinRadius<T>{radius, n, &hits[first / kGroupRows<T>]}; }, kLeave,
                threads(n_threads));
            std::vector<std::tuple<std::size_t, std::int64_t, T>> all;
            for (std::size_t g = 0; g < hits.size(); ++g)
                for (const Hit<T>& hit : hits[g]) all.emplace_back(g * kGroupRows<T> + hit.row, hit.target, hit.value);
            return all;
        },
        array, array, nb::arg(), nb::arg());

    m.def(
        "count_within",
        [](In2<T> x, Rows2<T> y, T radius, Out1<std::int64_t> counts, int n_threads) {
            const auto targets = checked_targets<T>(x, y);
            require(counts.shape(0) == x.shape(0), "one result for each row");
            measure_rows<T>(
                SquaredEuclidean{}, matrix<T>(x), targets, [&](std::size_t, std::size_t) { return CountWithin<T>(radius); },
                [&](std::size_t first, std::size_t n, const auto& counted) {
                    counted.write(n, vector<std::int64_t>(counts).data() + first);
                },
                threads(n_threads));
        },
        array, array, nb::arg(), array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_distance(nb::module_& m) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
}

}  // namespace mercer::bindings
