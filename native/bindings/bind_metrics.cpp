#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings/arrays.hpp"
#include "metrics/hull.hpp"
#include "metrics/log_loss.hpp"
#include "metrics/ranked_scores.hpp"
#include "metrics/tallies.hpp"

namespace mercer::bindings {

namespace {

using Labels = In1<std::int64_t>;

template <Real T>
void bind_ranked_scores(nb::module_& m, const char* name) {
    using Ranked = metrics::RankedScores<T>;
    const auto array = nb::arg().noconvert();
    nb::class_<Ranked>(m, name)
        .def(
            "__init__",
            [](Ranked* self, In1<T> scores, Labels labels, std::int64_t positive, MaybeIn1<double> weights, int n_threads) {
                require(labels.shape(0) == scores.shape(0), "there must be one label per score");
                new (self) Ranked(vector<T>(scores), vector<std::int64_t>(labels), positive,
                                  per_row<double>(weights, scores.shape(0)), threads(n_threads));
            },
            array, array, nb::arg(), nb::arg().noconvert().none(), nb::arg(), ReleaseGil())
        .def_prop_ro("is_finite", &Ranked::is_finite)
        .def_prop_ro("n_cuts", &Ranked::n_cuts)
        .def_prop_ro("total",
                     [](const Ranked& self) {
                         const metrics::Found total = self.total();
                         return std::tuple(total.positive, total.negative);
                     })
        .def(
            "roc_area", [](const Ranked& self, int n_threads) { return self.roc_area(threads(n_threads)); }, nb::arg(),
            ReleaseGil())
        .def(
            "average_precision", [](const Ranked& self, int n_threads) { return self.average_precision(threads(n_threads)); },
            nb::arg(), ReleaseGil())
        .def(
            "curve",
            [](const Ranked& self, Out1<T> scores, Out1<double> positive, Out1<double> negative, int n_threads) {
                require(
                    scores.shape(0) == self.n_cuts() && positive.shape(0) == self.n_cuts() && negative.shape(0) == self.n_cuts(),
                    "the results must have one value per distinct score");
                self.curve(vector<T>(scores), vector<double>(positive), vector<double>(negative), threads(n_threads));
            },
            array, array, array, nb::arg(), ReleaseGil());
}

template <Real T>
void bind_log_loss(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "log_loss",
        [](In2<T> probabilities, Labels labels, std::int64_t low, In1<std::int32_t> columns, MaybeIn1<double> weights,
           int n_threads) {
            const auto source = matrix<T>(probabilities);
            require(labels.shape(0) == source.rows, "there must be one label per row");
            const auto seen = metrics::log_loss<T>(source, vector<std::int64_t>(labels), {low, vector<std::int32_t>(columns)},
                                                   per_row<double>(weights, source.rows), threads(n_threads));
            require(!seen.is_outside, "a label has no column");
            return std::tuple(seen.loss, seen.weight, seen.least, seen.greatest, seen.deviation, seen.has_nan);
        },
        array, array, nb::arg(), array, nb::arg().noconvert().none(), nb::arg(), ReleaseGil());
}

template <class Sum>
void tally_labels(const Labels& truth, const Labels& predicted, metrics::Weights<Sum> weights, std::int64_t low,
                  const Out2<Sum>& sums, int n_threads) {
    require(predicted.shape(0) == truth.shape(0), "there must be one predicted label per true one");
    require(sums.shape(0) == 3 && sums.shape(1) > 0, "the result must have three rows and a column per label");
    metrics::tally_labels<Sum>(vector<std::int64_t>(truth), vector<std::int64_t>(predicted), weights, low, rows<Sum>(sums),
                               threads(n_threads));
}

template <class Sum>
void tally_pairs(const Labels& truth, const Labels& predicted, metrics::Weights<Sum> weights, std::int64_t low,
                 const Out2<Sum>& table, int n_threads) {
    require(predicted.shape(0) == truth.shape(0), "there must be one predicted label per true one");
    require(table.shape(0) == table.shape(1) && table.shape(1) > 0, "the result must have a row and a column per label");
    metrics::tally_pairs<Sum>(vector<std::int64_t>(truth), vector<std::int64_t>(predicted), weights, low, rows<Sum>(table),
                              threads(n_threads));
}

metrics::Weights<double> row_weights(const In1<double>& weights, const Labels& labels) {
    require(weights.shape(0) == labels.shape(0), "an array with one value per row has the wrong length");
    return {vector<double>(weights)};
}

// Rows that all weigh one are counted in whole numbers.
void bind_tallies(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "tally_labels",
        [](Labels truth, Labels predicted, std::int64_t low, Out2<std::int64_t> sums, int n_threads) {
            tally_labels<std::int64_t>(truth, predicted, {}, low, sums, n_threads);
        },
        array, array, nb::arg(), array, nb::arg(), ReleaseGil());
    m.def(
        "weigh_labels",
        [](Labels truth, Labels predicted, In1<double> weights, std::int64_t low, Out2<double> sums, int n_threads) {
            tally_labels<double>(truth, predicted, row_weights(weights, truth), low, sums, n_threads);
        },
        array, array, array, nb::arg(), array, nb::arg(), ReleaseGil());
    m.def(
        "tally_pairs",
        [](Labels truth, Labels predicted, std::int64_t low, Out2<std::int64_t> table, int n_threads) {
            tally_pairs<std::int64_t>(truth, predicted, {}, low, table, n_threads);
        },
        array, array, nb::arg(), array, nb::arg(), ReleaseGil());
    m.def(
        "weigh_pairs",
        [](Labels truth, Labels predicted, In1<double> weights, std::int64_t low, Out2<double> table, int n_threads) {
            tally_pairs<double>(truth, predicted, row_weights(weights, truth), low, table, n_threads);
        },
        array, array, array, nb::arg(), array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_metrics(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    bind_ranked_scores<double>(m, "RankedScores64");
    bind_ranked_scores<float>(m, "RankedScores32");
    bind_log_loss<double>(m);
    bind_log_loss<float>(m);
    bind_tallies(m);
    m.def(
        "count_labels",
        [](Labels labels, std::int64_t low, Out1<std::int64_t> counts, int n_threads) {
            require(counts.shape(0) > 0, "the result must have a value per label");
            metrics::count_labels(vector<std::int64_t>(labels), low, vector<std::int64_t>(counts), threads(n_threads));
        },
        array, nb::arg(), array, nb::arg(), ReleaseGil());
    m.def(
        "upper_hull",
        [](In1<double> x, In1<double> y, Out1<std::int64_t> corners) {
            require(y.shape(0) == x.shape(0) && corners.shape(0) == x.shape(0), "the arrays must have one value per point");
            return metrics::upper_hull(vector<double>(x), vector<double>(y), vector<std::int64_t>(corners));
        },
        array, array, array, ReleaseGil());
}

}  // namespace mercer::bindings
