#include "bindings/arrays.hpp"
#include "bindings/neighbor_models.hpp"
#include "neighbors/outliers.hpp"
#include "neighbors/votes.hpp"

namespace mercer::bindings {

namespace {

using neighbors::Classes;
using neighbors::Lists;
using neighbors::Ties;
using neighbors::Weighting;
using neighbors::Weights;

// As many neighbours of each query: columns of a wider array may be left out.
template <class Array>
std::span<const typename Array::Scalar> entries(const Array& a) {
    require(a.shape(1) <= 1 || a.stride(1) == 1, "the entries of a list must lie one after the other");
    require(a.shape(0) <= 1 || a.stride(0) >= static_cast<std::int64_t>(a.shape(1)), "lists must not overlap");
    const std::size_t size = a.shape(0) == 0 ? 0 : (a.shape(0) - 1) * static_cast<std::size_t>(a.stride(0)) + a.shape(1);
    return {checked_data(a), size};
}

Lists lists(const In2<std::int64_t>& rows) {
    return {entries(rows), {}, rows.shape(0), rows.shape(1), static_cast<std::size_t>(std::max<std::int64_t>(rows.stride(0), 0))};
}

// Any number of neighbours of each query.
Lists lists(const In1<std::int64_t>& starts, const In1<std::int64_t>& rows) {
    require(starts.shape(0) >= 1, "there must be a start for each query, and the end");
    return {vector<std::int64_t>(rows), vector<std::int64_t>(starts), starts.shape(0) - 1};
}

Weighting weighting(int kind, bool has_values) {
    require(kind >= 0 && kind <= 3, "there is no such weighting");
    require(kind == 0 || has_values, "this weighting needs values");
    return static_cast<Weighting>(kind);
}

Weights weights(int kind, double bandwidth, const In2<std::int64_t>& rows, const std::optional<In2<double>>& values) {
    if (!values) return {weighting(kind, false), nullptr, bandwidth};
    require(values->shape(0) == rows.shape(0) && values->shape(1) == rows.shape(1), "there must be one value per neighbour");
    require(rows.shape(0) <= 1 || values->stride(0) == rows.stride(0), "values must be laid out as neighbours are");
    return {weighting(kind, true), entries(*values).data(), bandwidth};
}

Weights weights(int kind, double bandwidth, const In1<std::int64_t>& rows, const MaybeIn1<double>& values) {
    if (!values) return {weighting(kind, false), nullptr, bandwidth};
    require(values->shape(0) == rows.shape(0), "there must be one value per neighbour");
    return {weighting(kind, true), vector<double>(*values).data(), bandwidth};
}

void write_shares(const Lists& of, const Weights& by, const In1<std::int32_t>& codes, const Out2<double>& out, int n_threads) {
    const auto shares = rows<double>(out);
    require(shares.rows == of.count, "there must be one line of shares per query");
    neighbors::vote_shares(of, by, Classes{vector<std::int32_t>(codes), shares.cols}, shares, threads(n_threads));
}

void write_winners(const Lists& of, const Weights& by, const In1<std::int32_t>& codes, std::size_t n_classes, bool by_closest,
                   const Out1<std::int64_t>& out, int n_threads) {
    require(out.shape(0) == of.count, "there must be one winner per query");
    require(n_classes <= codes.shape(0), "there are no more classes than rows");
    neighbors::elect(of, by, Classes{vector<std::int32_t>(codes), n_classes}, by_closest ? Ties::kClosest : Ties::kFirst,
                     vector<std::int64_t>(out), threads(n_threads));
}

void write_means(const Lists& of, const Weights& by, const Rows2<double>& targets, const Out2<double>& out, int n_threads) {
    const auto means = rows<double>(out);
    require(means.rows == of.count && means.cols == targets.shape(1), "there must be one line of means per query");
    neighbors::average(of, by, rows<double>(targets), means, threads(n_threads));
}

void bind_votes(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    using Square = In2<std::int64_t>;
    using Flat = In1<std::int64_t>;
    using Codes = In1<std::int32_t>;

    m.def(
        "vote_shares",
        [](Square rows, std::optional<In2<double>> values, int kind, double bandwidth, Codes codes, Out2<double> out,
           int n_threads) { write_shares(lists(rows), weights(kind, bandwidth, rows, values), codes, out, n_threads); },
        array, maybe, nb::arg(), nb::arg(), array, array, nb::arg(), ReleaseGil());
    m.def(
        "vote_shares",
        [](Flat starts, Flat rows, MaybeIn1<double> values, int kind, double bandwidth, Codes codes, Out2<double> out,
           int n_threads) { write_shares(lists(starts, rows), weights(kind, bandwidth, rows, values), codes, out, n_threads); },
        array, array, maybe, nb::arg(), nb::arg(), array, array, nb::arg(), ReleaseGil());
    m.def(
        "elect",
        [](Square rows, std::optional<In2<double>> values, int kind, double bandwidth, Codes codes, std::size_t n_classes,
           bool by_closest, Out1<std::int64_t> out, int n_threads) {
            write_winners(lists(rows), weights(kind, bandwidth, rows, values), codes, n_classes, by_closest, out, n_threads);
        },
        array, maybe, nb::arg(), nb::arg(), array, nb::arg(), nb::arg(), array, nb::arg(), ReleaseGil());
    m.def(
        "elect",
        [](Flat starts, Flat rows, MaybeIn1<double> values, int kind, double bandwidth, Codes codes, std::size_t n_classes,
           bool by_closest, Out1<std::int64_t> out, int n_threads) {
            write_winners(lists(starts, rows), weights(kind, bandwidth, rows, values), codes, n_classes, by_closest, out,
                          n_threads);
        },
        array, array, maybe, nb::arg(), nb::arg(), array, nb::arg(), nb::arg(), array, nb::arg(), ReleaseGil());
    m.def(
        "average_neighbors",
        [](Square rows, std::optional<In2<double>> values, int kind, double bandwidth, Rows2<double> targets, Out2<double> out,
           int n_threads) { write_means(lists(rows), weights(kind, bandwidth, rows, values), targets, out, n_threads); },
        array, maybe, nb::arg(), nb::arg(), array, array, nb::arg(), ReleaseGil());
    m.def(
        "average_neighbors",
        [](Flat starts, Flat rows, MaybeIn1<double> values, int kind, double bandwidth, Rows2<double> targets, Out2<double> out,
           int n_threads) { write_means(lists(starts, rows), weights(kind, bandwidth, rows, values), targets, out, n_threads); },
        array, array, maybe, nb::arg(), nb::arg(), array, array, nb::arg(), ReleaseGil());
}

neighbors::CountedLists counted(const Rows2<std::int64_t>& found, const std::optional<Rows2<double>>& counts) {
    if (!counts) return {rows<std::int64_t>(found), {}};
    require(counts->shape(0) == found.shape(0) && counts->shape(1) == found.shape(1), "there must be one count per neighbour");
    return {rows<std::int64_t>(found), rows<double>(*counts)};
}

void bind_outliers(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    m.def(
        "local_densities",
        [](Rows2<std::int64_t> found, std::optional<Rows2<double>> counts, Rows2<double> distances, In1<double> reach,
           Out1<double> out, int n_threads) {
            require(distances.shape(0) == found.shape(0) && distances.shape(1) == found.shape(1), "one distance per neighbour");
            require(out.shape(0) == found.shape(0), "there must be one density per query");
            neighbors::local_densities(counted(found, counts), rows<double>(distances), vector<double>(reach), vector<double>(out),
                                       threads(n_threads));
        },
        array, maybe, array, array, array, nb::arg(), ReleaseGil());
    m.def(
        "outlier_factors",
        [](Rows2<std::int64_t> found, std::optional<Rows2<double>> counts, In1<double> densities, In1<double> own, Out1<double> out,
           int n_threads) {
            require(own.shape(0) == found.shape(0) && out.shape(0) == found.shape(0), "there must be one factor per query");
            neighbors::outlier_factors(counted(found, counts), vector<double>(densities), vector<double>(own), vector<double>(out),
                                       threads(n_threads));
        },
        array, maybe, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_neighbor_votes(nb::module_& m) {
    bind_votes(m);
    bind_outliers(m);
}

}  // namespace mercer::bindings
