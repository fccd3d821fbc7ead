#include "bindings/grow_kernels.hpp"
#include "bindings/tree_rows.hpp"

namespace mercer::bindings {

namespace {

// X is how the rows come: In2 or sparse rows.
template <class X>
void bind_columns(nb::module_& m, nb::class_<tree::WideColumns>& type) {
    type.def(
        "__init__",
        [](tree::WideColumns* self, const X& given, std::int64_t n_looks, int n_threads) {
            const auto& x = values_of(given);
            new (self) tree::WideColumns(x, tree::count_entries(x, threads(n_threads)).n_entries, count_looks(n_looks),
                                         threads(n_threads));
        },
        nb::arg().noconvert(), nb::arg(), nb::arg(), ReleaseGil(), KeepsMatrix<X, 1, 2>());
    // None where ranked columns are faster.
    m.def(
        "wide_columns_if_faster",
        [](const X& given, std::int64_t max_features, std::int64_t n_looks, int n_threads) -> std::unique_ptr<tree::WideColumns> {
            require(max_features >= 1, "at least one feature must be looked at");
            const auto& x = values_of(given);
            const auto counts = tree::count_entries(x, threads(n_threads)).n_entries;
            if (!tree::WideColumns::suits(counts, tree::n_rows_of(x), static_cast<std::size_t>(max_features))) return nullptr;
            return std::make_unique<tree::WideColumns>(x, counts, count_looks(n_looks), threads(n_threads));
        },
        nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg(), ReleaseGil(), KeepsMatrix<X, 0, 1>());
}

}  // namespace

void bind_grow_wide(nb::module_& m) {
    nb::class_<tree::WideColumns> type(m, "WideColumns");
    bind_columns<In2<double>>(m, type);
    bind_columns<In2<float>>(m, type);
    bind_columns<tree::SparseRows>(m, type);
    def_facts(type);
    def_grow_pair<tree::WideColumns>(m);
    def_grow_classes<tree::WideColumns>(m);
    def_grow_means<tree::WideColumns>(m);
    def_grow_absolute<tree::WideColumns>(m);
}

}  // namespace mercer::bindings
