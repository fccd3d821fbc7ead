// Faces of core/distance.hpp for its tests.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
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
        [](const std::string& metric, In2<T> x, Rows2<T> y, Out2<T> out, int n_threads) {
            if (metric == "sqeuclidean") return write_distances<T>(SquaredEuclidean{}, x, y, out, n_threads);
            if (metric == "inner") return write_distances<T>(Score{}, x, y, out, n_threads);
            if (metric == "manhattan") return write_distances<T>(Manhattan{}, x, y, out, n_threads);
            require(metric == "chebyshev", "there is no such metric");
            write_distances<T>(Chebyshev{}, x, y, out, n_threads);
        },
        nb::arg(), array, array, array, nb::arg(), ReleaseGil());

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
}

}  // namespace

void bind_distance(nb::module_& m) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
}

}  // namespace mercer::bindings
