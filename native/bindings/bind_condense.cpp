#include <algorithm>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/neighbor_models.hpp"
#include "neighbors/condense.hpp"

namespace mercer::bindings {

namespace {

constexpr std::size_t kFewClasses = 1 << 16;  // there may be so many, however few the rows are; more would have no row

// Whole numbers from 0 to below `end`, in memory of our own: they are indexed by more than once.
std::vector<std::int64_t> places(const In1<std::int64_t>& given, std::size_t end) {
    const auto values = vector<std::int64_t>(given);
    std::vector<std::int64_t> own(values.begin(), values.end());
    const auto is_place = [end](std::int64_t value) { return value >= 0 && static_cast<std::uint64_t>(value) < end; };
    require(std::all_of(own.begin(), own.end(), is_place), "a class or a row is out of range");
    return own;
}

// No row may be asked for twice: rows are looked after side by side.
void require_distinct(const std::vector<std::int64_t>& rows, std::size_t end) {
    std::vector<std::uint8_t> is_seen(end);
    for (const std::int64_t row : rows) {
        require(is_seen[static_cast<std::size_t>(row)] == 0, "a row is visited twice");
        is_seen[static_cast<std::size_t>(row)] = 1;
    }
}

template <class Pairs>
std::size_t condensed(const Pairs& pairs, const In1<std::int64_t>& codes, std::size_t n_classes, std::size_t n_neighbors,
                      const In1<std::int64_t>& start, const In1<std::int64_t>& order, bool until_stable,
                      const Out1<std::int64_t>& kept, int n_threads) {
    const std::size_t n = pairs.rows();
    require(codes.shape(0) == n && kept.shape(0) == n, "there must be one class and one place per row");
    require(n_classes >= 1 && n_classes <= std::max(n, kFewClasses) && n_neighbors >= 1 && n_neighbors <= n,
            "there must be a class, hardly more of them than rows, and neighbours among the rows");
    const auto visited = places(order, n);
    require_distinct(visited, n);
    return neighbors::condense(pairs, places(codes, n_classes), n_classes, n_neighbors, places(start, n), visited, until_stable,
                               vector<std::int64_t>(kept), threads(n_threads));
}

template <Real T>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "condense",
        [](Rows2<T> x, double p, In1<std::int64_t> codes, std::size_t n_classes, std::size_t n_neighbors, In1<std::int64_t> start,
           In1<std::int64_t> order, bool until_stable, Out1<std::int64_t> kept, int n_threads) {
            return condensed(neighbors::DenseRowPairs<T>{rows<T>(x), {p}}, codes, n_classes, n_neighbors, start, order,
                             until_stable, kept, n_threads);
        },
        array, nb::arg(), array, nb::arg(), nb::arg(), array, array, nb::arg(), array, nb::arg(), ReleaseGil());
    m.def(
        "condense",
        [](In1<T> values, In1<std::int32_t> columns, In1<std::int32_t> row_starts, std::size_t n_columns, double p,
           In1<std::int64_t> codes, std::size_t n_classes, std::size_t n_neighbors, In1<std::int64_t> start,
           In1<std::int64_t> order, bool until_stable, Out1<std::int64_t> kept, int n_threads) {
            return condensed(neighbors::CsrRowPairs<T>{csr<T>(values, columns, row_starts, n_columns), {p}}, codes, n_classes,
                             n_neighbors, start, order, until_stable, kept, n_threads);
        },
        array, array, array, nb::arg(), nb::arg(), array, nb::arg(), nb::arg(), array, array, nb::arg(), array, nb::arg(),
        ReleaseGil());
}

}  // namespace

void bind_condense(nb::module_& m) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
}

}  // namespace mercer::bindings
