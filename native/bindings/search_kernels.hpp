// What Python asks of points that can be searched, the same of all of them.
#pragma once

#include <nanobind/stl/string.h>

#include <string>

#include "bindings/arrays.hpp"
#include "neighbors/batch.hpp"
#include "neighbors/metric.hpp"

namespace mercer::bindings {

// A metric as Python names it: its formula, its power and the weights of the features.
struct MetricChoice {
    std::string name;
    double p;
    std::vector<double> weights;

    MetricChoice(std::string name_, double p_, MaybeIn1<double> weights_) : name(std::move(name_)), p(p_) {
        require(name == "euclidean" || name == "manhattan" || name == "chebyshev" || name == "minkowski",
                "there is no such metric");
        const auto given = vector<double>(weights_);
        weights.assign(given.begin(), given.end());
    }
};

// Calls go(metric) with a metric of its type, for points of d features.
template <bool kAxialOnly, class Go>
void with_metric(const MetricChoice& choice, std::size_t d, Go&& go) {
    require(choice.weights.empty() || choice.weights.size() == d, "one weight for each feature");
    if (choice.name == "euclidean") return go(neighbors::Euclidean{});
    if (choice.name == "manhattan") return go(neighbors::Manhattan{});
    if (choice.name == "chebyshev") return go(neighbors::Chebyshev{});
    go(neighbors::Minkowski{choice.p, choice.weights.empty() ? nullptr : choice.weights.data()});
}

using Queries1 = std::optional<In2<float>>;
using Queries2 = std::optional<In2<double>>;

// Queries of at most one of the two precisions.
struct QueriesChoice {
    neighbors::GivenQueries given;
    bool is_given;

    QueriesChoice(const Queries1& singles, const Queries2& doubles, std::size_t d) : is_given(singles || doubles) {
        require(!singles || !doubles, "queries have one precision");
        if (singles) given.singles = matrix<float>(*singles);
        if (doubles) given.doubles = matrix<double>(*doubles);
        require(!is_given || given.rows() == 0 || given.cols() == d, "queries must have as many columns as the points");
    }
    const neighbors::GivenQueries* get() const { return is_given ? &given : nullptr; }
};

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> owned(std::unique_ptr<T[]> data, std::size_t n) {
    T* const values = data.release();
    return {values, {n}, nb::capsule(values, [](void* p) noexcept { delete[] static_cast<T*>(p); })};
}

// nearest, within and count_within of an index type. The kernels run without the GIL.
template <class Index, bool kAxialOnly>
void def_searches(nb::class_<Index>& type) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    type.def(
        "nearest",
        [](const Index& index, const MetricChoice& choice, Queries1 singles, Queries2 doubles, bool leave_out_self,
           Out2<double> distances, Out2<std::int64_t> found, int n_threads) {
            const QueriesChoice queries(singles, doubles, index.n_features());
            const auto out = rows<double>(distances);
            const auto out_rows = rows<std::int64_t>(found);
            require(out.rows == (queries.is_given ? queries.given.rows() : index.n_points()) && out_rows.rows == out.rows &&
                        out_rows.cols == out.cols,
                    "one line of results for each query");
            with_metric<kAxialOnly>(choice, index.n_features(), [&](const auto& metric) {
                neighbors::nearest_points<Index, std::remove_cvref_t<decltype(metric)>>(
                    {index, metric, queries.get(), leave_out_self, threads(n_threads)}, out, out_rows);
            });
        },
        array, maybe, maybe, nb::arg(), array, array, nb::arg(), ReleaseGil());
    type.def(
        "within",
        [](const Index& index, const MetricChoice& choice, Queries1 singles, Queries2 doubles, double radius, bool leave_out_self,
           bool sorted, int n_threads) {
            neighbors::Surroundings found;
            {
                const ReleasedGil released;
                const QueriesChoice queries(singles, doubles, index.n_features());
                with_metric<kAxialOnly>(choice, index.n_features(), [&](const auto& metric) {
                    found = neighbors::points_within<Index, std::remove_cvref_t<decltype(metric)>>(
                        {index, metric, queries.get(), leave_out_self, threads(n_threads)}, radius, sorted);
                });
            }
            const std::size_t n = found.starts.size(), count = found.count();
            auto starts = std::make_unique_for_overwrite<std::int64_t[]>(n);
            std::copy(found.starts.begin(), found.starts.end(), starts.get());
            return nb::make_tuple(owned(std::move(starts), n), owned(std::move(found.rows), count),
                                  owned(std::move(found.distances), count));
        },
        array, maybe, maybe, nb::arg(), nb::arg(), nb::arg(), nb::arg());
    type.def(
        "count_within",
        [](const Index& index, const MetricChoice& choice, Queries1 singles, Queries2 doubles, double radius,
           Out1<std::int64_t> counts, int n_threads) {
            const QueriesChoice queries(singles, doubles, index.n_features());
            const auto out = vector<std::int64_t>(counts);
            require(out.size() == (queries.is_given ? queries.given.rows() : index.n_points()), "one result for each query");
            with_metric<kAxialOnly>(choice, index.n_features(), [&](const auto& metric) {
                neighbors::count_points_within<Index, std::remove_cvref_t<decltype(metric)>>(
                    {index, metric, queries.get(), false, threads(n_threads)}, radius, out);
            });
        },
        array, maybe, maybe, nb::arg(), array, nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings
