#include "bindings/neighbors.hpp"
#include "bindings/search_kernels.hpp"
#include "neighbors/given.hpp"

namespace mercer::bindings {

namespace {

using neighbors::DistanceGraph;
using neighbors::DistanceLines;
using neighbors::LeftOut;

constexpr std::size_t kMostPoints = neighbors::TreeShape::kMostPoints;

template <Real T>
DistanceLines<T> lines(const In2<T>& distances) {
    require(distances.shape(1) <= kMostPoints, "there are too many points");
    return {matrix<T>(distances)};
}

template <class Lines>
void nearest(const Lines& given, std::int64_t left_out, const Out2<double>& distances, const Out2<std::int64_t>& found,
             int n_threads) {
    const auto out = rows<double>(distances);
    const auto out_rows = rows<std::int64_t>(found);
    require(out.rows == given.n_queries() && out_rows.rows == out.rows && out_rows.cols == out.cols,
            "one line of results for each query");
    neighbors::nearest_given(given, LeftOut{left_out}, out, out_rows, threads(n_threads));
}

template <Real T>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "nearest_given",
        [](In2<T> given, std::int64_t left_out, Out2<double> distances, Out2<std::int64_t> found, int n_threads) {
            nearest(lines<T>(given), left_out, distances, found, n_threads);
        },
        array, nb::arg(), array, array, nb::arg(), ReleaseGil());
    m.def(
        "nearest_given",
        [](In1<T> values, In1<std::int32_t> columns, In1<std::int32_t> row_starts, std::size_t n_columns, std::int64_t left_out,
           Out2<double> distances, Out2<std::int64_t> found, int n_threads) {
            nearest(DistanceGraph<T>{csr<T>(values, columns, row_starts, n_columns)}, left_out, distances, found, n_threads);
        },
        array, array, array, nb::arg(), nb::arg(), array, array, nb::arg(), ReleaseGil());
    m.def(
        "given_within",
        [](In2<T> given, std::int64_t left_out, double radius, bool sorted, int n_threads) {
            return found_arrays(
                [&] { return neighbors::given_within(lines<T>(given), LeftOut{left_out}, radius, sorted, threads(n_threads)); });
        },
        array, nb::arg(), nb::arg(), nb::arg(), nb::arg());
    m.def(
        "given_within",
        [](In1<T> values, In1<std::int32_t> columns, In1<std::int32_t> row_starts, std::size_t n_columns, std::int64_t left_out,
           double radius, bool sorted, int n_threads) {
            return found_arrays([&] {
                const DistanceGraph<T> graph{csr<T>(values, columns, row_starts, n_columns)};
                return neighbors::given_within(graph, LeftOut{left_out}, radius, sorted, threads(n_threads));
            });
        },
        array, array, array, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
}

}  // namespace

void bind_given(nb::module_& m) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
}

}  // namespace mercer::bindings
