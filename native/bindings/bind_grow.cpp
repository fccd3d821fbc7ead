#include "bindings/grow_kernels.hpp"

namespace mercer::bindings {

namespace {

template <Real T>
void def_ranked(nb::class_<tree::RankedColumns>& type) {
    type.def(
        "__init__",
        [](tree::RankedColumns* self, In2<T> x, MaybeIn1<std::uint8_t> is_categorical, int n_threads) {
            const auto values = matrix<T>(x);
            new (self) tree::RankedColumns(values, category_flags(values, is_categorical), threads(n_threads));
        },
        nb::arg().noconvert(), nb::arg().noconvert().none(), nb::arg(), ReleaseGil(), nb::keep_alive<1, 2>());
}

}  // namespace

void bind_grow(nb::module_& m) {
    nb::class_<tree::RankedColumns> type(m, "RankedColumns");
    def_ranked<double>(type);
    def_ranked<float>(type);
    def_facts(type);

    nb::class_<tree::Limits>(m, "GrowthLimits")
        .def("__init__", [](tree::Limits* self, std::int64_t max_depth, std::int64_t min_rows_split, std::int64_t min_rows_leaf,
                            double min_weight_leaf, double min_gain, std::int64_t max_leaves) {
            require(max_depth >= 0 && min_rows_split >= 0 && min_rows_leaf >= 0 && max_leaves >= 0, "limits must not be negative");
            const auto size = [](std::int64_t x) { return static_cast<std::size_t>(x); };
            new (self) tree::Limits{size(max_depth), size(min_rows_split), size(min_rows_leaf), min_weight_leaf,
                                    min_gain,        size(max_leaves)};
        });

    def_grow_pair<tree::RankedColumns>(m);
    def_grow_classes<tree::RankedColumns>(m);

    m.def(
        "bootstrap_counts",
        [](std::uint64_t seed, std::int64_t n_draws, MaybeIn1<double> cumulative, Out1<double> counts) {
            require_draws(n_draws, counts.shape(0));
            const auto sums = per_row<double>(cumulative, counts.shape(0));
            require(sums.empty() || sums.back() > 0, "the running sums of the weights must be positive");
            if (n_draws > 0) tree::bootstrap_counts(seed, static_cast<std::size_t>(n_draws), sums, vector<double>(counts));
        },
        nb::arg(), nb::arg(), nb::arg().noconvert().none(), nb::arg().noconvert());
}

}  // namespace mercer::bindings
