#include "bindings/density.hpp"
#include "cluster/condensed_tree.hpp"
#include "cluster/linkage.hpp"
#include "cluster/reached_rows.hpp"

namespace mercer::bindings {

namespace {

// Edges in memory of our own: they are checked, and indexed by, once each.
struct Edges {
    std::vector<std::int64_t> from, to;
    std::vector<double> weights;

    Edges(const In1<std::int64_t>& from_, const In1<std::int64_t>& to_, const In1<double>& weights_) {
        const auto f = vector<std::int64_t>(from_), t = vector<std::int64_t>(to_);
        const auto w = vector<double>(weights_);
        require(f.size() == w.size() && t.size() == w.size() && !w.empty(), "an edge has two ends and a weight");
        from.assign(f.begin(), f.end());
        to.assign(t.begin(), t.end());
        weights.assign(w.begin(), w.end());
    }
    cluster::TreeEdges view() const { return {from, to, weights}; }
    std::size_t n_points() const { return weights.size() + 1; }
};

// Marks of core rows in memory of our own: another thread may write to what was given.
std::vector<std::uint8_t> core_rows(const In1<std::uint8_t>& is_core, std::size_t n, const Out1<std::int64_t>& labels) {
    require(is_core.shape(0) == n && labels.shape(0) == n, "one mark and one label for each row");
    const auto given = vector<std::uint8_t>(is_core);
    return {given.begin(), given.end()};
}

std::size_t label_listed(In1<std::int64_t> starts, In1<std::int64_t> rows, In1<std::uint8_t> is_core, Out1<std::int64_t> labels) {
    const auto s = vector<std::int64_t>(starts), r = vector<std::int64_t>(rows);
    const std::vector<std::int64_t> own_starts(s.begin(), s.end()), own_rows(r.begin(), r.end());
    require(!own_starts.empty(), "lists have starts and an end");
    const std::size_t n = own_starts.size() - 1;
    require(own_starts.front() == 0 && std::is_sorted(own_starts.begin(), own_starts.end()) &&
                static_cast<std::size_t>(own_starts.back()) == own_rows.size(),
            "lists must begin at 0 and end with the rows");
    require(std::all_of(own_rows.begin(), own_rows.end(), [n](std::int64_t row) { return static_cast<std::uint64_t>(row) < n; }),
            "a neighbour is out of range");
    const auto marks = core_rows(is_core, n, labels);
    return cluster::label_reached(cluster::ListedNeighbors{own_starts, own_rows}, marks, vector<std::int64_t>(labels));
}

std::size_t label_tabled(Rows2<std::uint8_t> is_near, In1<std::uint8_t> is_core, Out1<std::int64_t> labels) {
    const auto table = rows<std::uint8_t>(is_near);
    require(table.rows == table.cols, "a table of neighbours is square");
    const auto marks = core_rows(is_core, table.rows, labels);
    return cluster::label_reached(cluster::TabledNeighbors{table}, marks, vector<std::int64_t>(labels));
}

}  // namespace

void bind_hierarchy(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def("label_reached", &label_listed, array, array, array, array, ReleaseGil());
    m.def("label_reached", &label_tabled, array, array, array, ReleaseGil());
    m.def(
        "single_linkage",
        [](In1<std::int64_t> from, In1<std::int64_t> to, In1<double> weights, Out2<std::int64_t> nodes, Out1<double> heights,
           Out1<std::int64_t> sizes) {
            const Edges edges(from, to, weights);
            const auto out = rows<std::int64_t>(nodes);
            require(out.rows == edges.weights.size() && out.cols == 2 && heights.shape(0) == out.rows && sizes.shape(0) == out.rows,
                    "one line for each merge");
            const auto merges = cluster::single_linkage(edges.view());
            for (std::size_t i = 0; i < merges.size(); ++i) {
                out(i, 0) = merges[i].left;
                out(i, 1) = merges[i].right;
                vector<double>(heights)[i] = merges[i].height;
                vector<std::int64_t>(sizes)[i] = merges[i].size;
            }
        },
        array, array, array, array, array, array, ReleaseGil());
    m.def(
        "condensed_labels",
        [](In1<std::int64_t> from, In1<std::int64_t> to, In1<double> weights, std::size_t min_cluster_size,
           std::size_t max_cluster_size, bool takes_leaves, bool allows_root, double epsilon, Out1<std::int64_t> labels,
           Out1<double> probabilities) {
            const Edges edges(from, to, weights);
            require(labels.shape(0) == edges.n_points() && probabilities.shape(0) == edges.n_points(), "one label for each row");
            auto tree = cluster::condense(cluster::single_linkage(edges.view()), std::max<std::size_t>(min_cluster_size, 2));
            cluster::weigh_clusters(tree);
            cluster::label_points(tree, {takes_leaves, allows_root, epsilon, max_cluster_size}, vector<std::int64_t>(labels),
                                  vector<double>(probabilities));
        },
        array, array, array, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), array, array, ReleaseGil());
    m.def(
        "cut_tree",
        [](In1<std::int64_t> from, In1<std::int64_t> to, In1<double> weights, double cut, std::size_t min_cluster_size,
           Out1<std::int64_t> labels) {
            const Edges edges(from, to, weights);
            require(labels.shape(0) == edges.n_points(), "one label for each row");
            cluster::cut_tree(edges.view(), cut, min_cluster_size, vector<std::int64_t>(labels));
        },
        array, array, array, nb::arg(), nb::arg(), array, ReleaseGil());
}

}  // namespace mercer::bindings
