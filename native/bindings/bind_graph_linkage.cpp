// Hierarchies along the edges of a graph, from the top, and their cuts.
#include <nanobind/stl/string.h>

#include <string>

#include "bindings/arrays.hpp"
#include "bindings/hierarchies.hpp"
#include "bindings/merges.hpp"
#include "cluster/diana.hpp"
#include "cluster/graph_linkage.hpp"

namespace mercer::bindings {

namespace {

// Neighbours of each node in memory of our own, which is checked: a symmetric graph without loops, in ascending order.
cluster::GraphLists graph_lists(const In1<double>& distances, const In1<std::int32_t>& columns,
                                const In1<std::int32_t>& row_starts) {
    const auto d = vector<double>(distances);
    const auto c = vector<std::int32_t>(columns), s = vector<std::int32_t>(row_starts);
    const std::vector<std::int32_t> own_columns(c.begin(), c.end()), own_starts(s.begin(), s.end());
    require(own_starts.size() >= 2 && own_starts.front() == 0 && std::is_sorted(own_starts.begin(), own_starts.end()) &&
                static_cast<std::size_t>(own_starts.back()) == own_columns.size() && d.size() == own_columns.size(),
            "the graph has no such rows");
    const std::size_t n = own_starts.size() - 1;
    cluster::GraphLists lists(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::int32_t e = own_starts[i]; e < own_starts[i + 1]; ++e) {
            const auto j = static_cast<std::uint32_t>(own_columns[static_cast<std::size_t>(e)]);
            require(j < n && j != i && (lists[i].empty() || lists[i].back().node < j), "neighbours must rise, without loops");
            lists[i].push_back({j, d[static_cast<std::size_t>(e)]});
        }
    }
    return lists;
}

std::vector<cluster::Merge> merge_lists(const std::string& linkage, cluster::GraphLists lists, std::size_t n_merges) {
    const auto merge = [&]<class L>(L) { return cluster::merge_graph(std::move(lists), cluster::EdgeLinkage<L>{}, n_merges); };
    if (linkage == "single") return merge(cluster::SingleLink{});
    if (linkage == "complete") return merge(cluster::CompleteLink{});
    if (linkage == "average") return merge(cluster::AverageLink{});
    require(linkage == "weighted", "there is no such linkage of a graph");
    return merge(cluster::WeightedLink{});
}

}  // namespace

void bind_graph_linkage(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "merge_graph",
        [](const std::string& linkage, In1<double> distances, In1<std::int32_t> columns, In1<std::int32_t> row_starts,
           Out2<std::int64_t> nodes, Out1<double> heights, Out1<std::int64_t> sizes) {
            const MergesOut out(nodes, heights, sizes);
            return out.write(merge_lists(linkage, graph_lists(distances, columns, row_starts), out.heights.size()));
        },
        nb::arg(), array, array, array, array, array, array, ReleaseGil(),
        "Merges clusters along the edges of a graph; returns how many merges there were.");
    m.def(
        "merge_graph_by_ward",
        [](In2<double> x, In1<std::int32_t> columns, In1<std::int32_t> row_starts, Out2<std::int64_t> nodes, Out1<double> heights,
           Out1<std::int64_t> sizes, In1<double> distances) {
            require(x.shape(1) >= 1 && row_starts.shape(0) == x.shape(0) + 1, "the graph has a row for each point");
            const MergesOut out(nodes, heights, sizes);
            return out.write(cluster::merge_graph(graph_lists(distances, columns, row_starts),
                                                  cluster::MeanLinkage(matrix<double>(x)), out.heights.size()));
        },
        array, array, array, array, array, array, array, ReleaseGil(), "The same by Ward's linkage of points.");
    m.def(
        "split_matrix",
        [](Out1<double> values, std::size_t n, Out2<std::int64_t> nodes, Out1<double> heights, Out1<std::int64_t> sizes,
           int n_threads) {
            const auto from = condensed(values, n);
            const MergesOut out(nodes, heights, sizes);
            require(n >= 2 && out.heights.size() == n - 1, "one line for each merge");
            out.write(cluster::Diana(from, threads(n_threads)).run());
        },
        array, nb::arg(), array, array, array, nb::arg(), ReleaseGil(), "Splits clusters from the top; splits are told as merges.");
    m.def(
        "label_leaves",
        [](Rows2<std::int64_t> nodes, Out1<std::int64_t> labels) {
            const auto children = rows<std::int64_t>(nodes);
            const auto out = vector<std::int64_t>(labels);
            require(children.cols == 2 && out.size() > children.rows, "one label for each node");
            const std::size_t n_leaves = out.size() - children.rows;
            for (std::size_t i = children.rows; i-- > 0;) {
                const std::int64_t label = out[n_leaves + i];
                if (label < 0) continue;
                for (std::size_t side = 0; side < 2; ++side) {
                    const auto child = static_cast<std::uint64_t>(children(i, side));
                    require(child < n_leaves + i, "a node comes before what is under it");
                    out[child] = label;
                }
            }
        },
        array, array, ReleaseGil(), "Hands labels of nodes down to what is under them; nodes without one have -1.");
}

}  // namespace mercer::bindings
