#include <nanobind/stl/string.h>

#include "bindings/growth_plan.hpp"
#include "tree/absolute_criterion.hpp"
#include "tree/mean_criterion.hpp"

namespace mercer::bindings {

namespace {

using tree::Limits;
using tree::RankedColumns;

template <class Measure>
nb::tuple grow_means(const Plan& plan, RowMajor<const double> y, std::span<const double> offsets) {
    return grow(plan, y.cols, [&](std::span<const double> weights, auto&& with) {
        return with(tree::MeanCriterion<Measure>(y, offsets, weights));
    });
}

}  // namespace

void bind_grow_regression(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    const auto number = nb::arg();

    m.def(
        "grow_means",
        [](const std::string& measure, const RankedColumns& x, Rows2<double> y, In1<double> offsets, MaybeIn1<double> weights,
           In1<std::uint64_t> seeds, std::int64_t n_draws, std::int64_t max_features, const Limits& limits, int n_threads) {
            const Plan plan = make_plan(x, weights, seeds, n_draws, max_features, {}, limits, n_threads);
            const auto targets = targets_for(x, y);
            require(offsets.shape(0) == targets.cols, "there must be one offset per output");
            if (measure == "poisson") return grow_means<tree::HalfPoisson>(plan, targets, vector<double>(offsets));
            require(measure == "squared_error", "there is no such measure");
            return grow_means<tree::SquaredError>(plan, targets, vector<double>(offsets));
        },
        number, number, array, array, maybe, array, number, number, number, number);

    m.def(
        "grow_absolute",
        [](const RankedColumns& x, Rows2<double> y, MaybeIn1<double> weights, In1<std::uint64_t> seeds, std::int64_t n_draws,
           std::int64_t max_features, MaybeIn1<std::int8_t> directions, const Limits& limits, int n_threads) {
            const Plan plan = make_plan(x, weights, seeds, n_draws, max_features, directions, limits, n_threads);
            const auto targets = targets_for(x, y);
            require(!directions || targets.cols == 1, "directions are for one output");
            return grow(plan, targets.cols,
                        [&](std::span<const double> given, auto&& with) { return with(tree::AbsoluteCriterion(targets, given)); });
        },
        number, array, maybe, array, number, number, maybe, number, number);
}

}  // namespace mercer::bindings
