// What Python asks of points that can be searched, the same of all of them.
#pragma once

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/owned.hpp"
#include "neighbors/any_metric.hpp"
#include "neighbors/batch.hpp"
#include "neighbors/metric.hpp"

namespace mercer::bindings {

// A metric as Python names it: its formula, its power and the weights of the features.
class MetricChoice {
   public:
    MetricChoice(std::string name, double p, MaybeIn1<double> weights) : name_(std::move(name)), p_(p) {
        const auto given = vector<double>(weights);
        weights_.assign(given.begin(), given.end());
        formula(1);
    }

    // For points of d features.
    neighbors::AnyMetric formula(std::size_t d) const {
        return neighbors::find_metric(name_, p_, weights_.empty() ? nullptr : weights_.data(), d);
    }
    void require_weights(std::size_t d) const { require(weights_.empty() || weights_.size() == d, "one weight for each feature"); }

   private:
    std::string name_;
    double p_;
    std::vector<double> weights_;
};

// What an index can be searched by.
enum class Takes { kAll, kAxial, kLengths, kEuclidean };

// The metric for points of d features, checked.
template <Takes kTakes>
neighbors::AnyMetric chosen_metric(const MetricChoice& choice, std::size_t d) {
    choice.require_weights(d);
    const neighbors::AnyMetric metric = choice.formula(d);
    require(kTakes != Takes::kAxial || metric.is_axial(), "a k-d tree cannot search by this metric");
    require(kTakes != Takes::kLengths || metric.has_length(), "a ball tree cannot search by this metric");
    return metric;
}

// Calls go(metric) with a metric of its type where it is a common one, else with one that is chosen as it goes.
template <Takes kTakes, class Go>
void with_metric(const MetricChoice& choice, std::size_t d, Go&& go) {
    const neighbors::AnyMetric metric = chosen_metric<kTakes>(choice, d);
    metric.choose([&](const auto& formula) {
        using Formula = std::remove_cvref_t<decltype(formula)>;
        constexpr bool kIsEuclidean = std::same_as<Formula, neighbors::Euclidean>;
        if constexpr (kIsEuclidean || (kTakes != Takes::kEuclidean && std::same_as<Formula, neighbors::Manhattan>)) {
            go(formula);
        } else if constexpr (kTakes != Takes::kEuclidean) {
            go(metric);
        } else {
            require(false, "products cannot search by this metric");
        }
    });
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

// What `find` finds within a radius, without the GIL, as arrays: starts, rows, distances.
template <class Find>
nb::tuple found_arrays(Find&& find) {
    neighbors::Surroundings found;
    {
        const ReleasedGil released;
        found = find();
    }
    const std::size_t n = found.starts.size(), count = found.count();
    auto starts = std::make_unique_for_overwrite<std::int64_t[]>(n);
    std::copy(found.starts.begin(), found.starts.end(), starts.get());
    return nb::make_tuple(owned(std::move(starts), n), owned(std::move(found.rows), count),
                          owned(std::move(found.distances), count));
}

// Read-only memory of `owner`, which stays alive as long as the array.
template <class T>
auto view_of(std::span<const T> data, nb::handle owner) {
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(data.data(), {data.size()}, owner);
}

// The children of all nodes of a tree: the place of their bounds, the slots from begin to end, and whether they are leaves.
inline nb::tuple children_of(const neighbors::TreeShape& shape) {
    std::size_t count = 0;
    for (const auto& node : shape.nodes()) count += node.n_children;
    const auto make = [&] { return std::make_unique_for_overwrite<std::int64_t[]>(count); };
    auto places = make(), begins = make(), ends = make(), is_leaf = make();
    std::size_t i = 0;
    for (std::size_t id = 0; id < shape.nodes().size(); ++id) {
        const auto& node = shape.nodes()[id];
        for (std::size_t c = 0; c < node.n_children; ++c, ++i) {
            places[i] = static_cast<std::int64_t>(id * neighbors::kBlock + c);
            begins[i] = node.starts[c];
            ends[i] = node.starts[c + 1];
            is_leaf[i] = node.nodes[c] == neighbors::ShapeNode::kLeaf;
        }
    }
    return nb::make_tuple(owned(std::move(places), count), owned(std::move(begins), count), owned(std::move(ends), count),
                          owned(std::move(is_leaf), count));
}

// The k nearest, from so many leaves of a tree at most.
template <class Index, Takes kTakes>
void search_nearest(const Index& index, const MetricChoice& choice, const QueriesChoice& queries, bool leave_out_self,
                    std::size_t most_leaves, std::span<std::int64_t> n_leaves, const Out2<double>& distances,
                    const Out2<std::int64_t>& found, int n_threads) {
    const auto out = rows<double>(distances);
    const auto out_rows = rows<std::int64_t>(found);
    require(out.rows == (queries.is_given ? queries.given.rows() : index.n_points()) && out_rows.rows == out.rows &&
                out_rows.cols == out.cols,
            "one line of results for each query");
    with_metric<kTakes>(choice, index.n_features(), [&](const auto& metric) {
        neighbors::nearest_points<Index, std::remove_cvref_t<decltype(metric)>>(
            {index, metric, queries.get(), leave_out_self, threads(n_threads), most_leaves, n_leaves}, out, out_rows);
    });
}

// nearest, within and count_within of an index type. The kernels run without the GIL.
template <class Index, Takes kTakes>
void def_searches(nb::class_<Index>& type) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    type.def(
        "nearest",
        [](const Index& index, const MetricChoice& choice, Queries1 singles, Queries2 doubles, bool leave_out_self,
           Out2<double> distances, Out2<std::int64_t> found, int n_threads) {
            search_nearest<Index, kTakes>(index, choice, {singles, doubles, index.n_features()}, leave_out_self,
                                          neighbors::kAllLeaves, {}, distances, found, n_threads);
        },
        array, maybe, maybe, nb::arg(), array, array, nb::arg(), ReleaseGil());
    if constexpr (neighbors::SearchTree<Index>) {
        type.def(
            "nearest_in_leaves",
            [](const Index& index, const MetricChoice& choice, Queries1 singles, Queries2 doubles, bool leave_out_self,
               std::size_t most_leaves, Out1<std::int64_t> n_leaves, Out2<double> distances, Out2<std::int64_t> found,
               int n_threads) {
                require(n_leaves.shape(0) == distances.shape(0), "one count of leaves for each query");
                search_nearest<Index, kTakes>(index, choice, {singles, doubles, index.n_features()}, leave_out_self, most_leaves,
                                              vector<std::int64_t>(n_leaves), distances, found, n_threads);
            },
            array, maybe, maybe, nb::arg(), nb::arg(), array, array, array, nb::arg(), ReleaseGil());
    }
    type.def(
        "within",
        [](const Index& index, const MetricChoice& choice, Queries1 singles, Queries2 doubles, double radius, bool leave_out_self,
           bool sorted, int n_threads) {
            return found_arrays([&] {
                neighbors::Surroundings found;
                const QueriesChoice queries(singles, doubles, index.n_features());
                with_metric<kTakes>(choice, index.n_features(), [&](const auto& metric) {
                    found = neighbors::points_within<Index, std::remove_cvref_t<decltype(metric)>>(
                        {index, metric, queries.get(), leave_out_self, threads(n_threads)}, radius, sorted);
                });
                return found;
            });
        },
        array, maybe, maybe, nb::arg(), nb::arg(), nb::arg(), nb::arg());
    type.def(
        "count_within",
        [](const Index& index, const MetricChoice& choice, Queries1 singles, Queries2 doubles, double radius,
           Out1<std::int64_t> counts, int n_threads) {
            const QueriesChoice queries(singles, doubles, index.n_features());
            const auto out = vector<std::int64_t>(counts);
            require(out.size() == (queries.is_given ? queries.given.rows() : index.n_points()), "one result for each query");
            with_metric<kTakes>(choice, index.n_features(), [&](const auto& metric) {
                neighbors::count_points_within<Index, std::remove_cvref_t<decltype(metric)>>(
                    {index, metric, queries.get(), false, threads(n_threads)}, radius, out);
            });
        },
        array, maybe, maybe, nb::arg(), array, nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings
