// Agglomeration: from dissimilarities, coordinates or a graph to the merges.
#include <nanobind/stl/string.h>

#include <string>

#include "bindings/arrays.hpp"
#include "bindings/hierarchies.hpp"
#include "bindings/merges.hpp"
#include "cluster/condensed.hpp"
#include "cluster/matrix_linkage.hpp"
#include "cluster/nearest_heap.hpp"
#include "cluster/ward.hpp"

namespace mercer::bindings {

namespace {

template <cluster::Linkage L>
std::vector<cluster::Merge> merge_reducible(const cluster::Condensed& matrix, Threads threads) {
    return cluster::single_linkage(cluster::MatrixLinkage<L>(matrix, threads).run().edges());
}

std::vector<cluster::Merge> merge_matrix(const std::string& linkage, const cluster::Condensed& matrix, Threads threads) {
    if (linkage == "single") return merge_reducible<cluster::SingleLink>(matrix, threads);
    if (linkage == "complete") return merge_reducible<cluster::CompleteLink>(matrix, threads);
    if (linkage == "average") return merge_reducible<cluster::AverageLink>(matrix, threads);
    if (linkage == "weighted") return merge_reducible<cluster::WeightedLink>(matrix, threads);
    if (linkage == "ward") return merge_reducible<cluster::WardLink>(matrix, threads);
    if (linkage == "centroid") return cluster::HeapLinkage<cluster::CentroidLink>(matrix).run();
    require(linkage == "median", "there is no such linkage");
    return cluster::HeapLinkage<cluster::MedianLink>(matrix).run();
}

}  // namespace

void bind_linkage(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "condense_rows",
        [](Rows2<double> block, std::size_t first, std::size_t n, Out1<double> out, int n_threads) {
            const auto given = rows<double>(block);
            const auto to = condensed(out, n);
            require(first <= n && given.rows <= n - first && given.cols >= first + given.rows, "the block has no such place");
            cluster::condense_rows(given, first, to, threads(n_threads));
        },
        array, nb::arg(), nb::arg(), array, nb::arg(), ReleaseGil(), "Copies whole rows of a square matrix to half a matrix.");
    m.def(
        "merge_matrix",
        [](const std::string& linkage, Out1<double> matrix, std::size_t n, Out2<std::int64_t> nodes, Out1<double> heights,
           Out1<std::int64_t> sizes, int n_threads) {
            const auto values = condensed(matrix, n);
            const MergesOut out(nodes, heights, sizes);
            require(n >= 2 && out.heights.size() == n - 1, "one line for each merge");
            out.write(merge_matrix(linkage, values, threads(n_threads)));
        },
        nb::arg(), array, nb::arg(), array, array, array, nb::arg(), ReleaseGil(),
        "Merges the nearest clusters until one is left; half a matrix of dissimilarities is consumed.");
    m.def(
        "merge_by_ward",
        [](In2<double> x, Out2<std::int64_t> nodes, Out1<double> heights, Out1<std::int64_t> sizes, int n_threads) {
            require(x.shape(1) >= 1, "points have coordinates");
            const MergesOut out(nodes, heights, sizes);
            require(x.shape(0) >= 2 && out.heights.size() == x.shape(0) - 1, "one line for each merge");
            out.write(cluster::single_linkage(cluster::WardLinkage(matrix<double>(x), threads(n_threads)).run().edges()));
        },
        array, array, array, array, nb::arg(), ReleaseGil(), "The same by Ward's linkage of points, without a matrix.");
}

}  // namespace mercer::bindings
