#include "bindings/grow_kernels.hpp"
#include "bindings/tree_rows.hpp"

namespace mercer::bindings {

namespace {

std::span<const std::uint8_t> category_flags(const tree::SparseRows& x, const MaybeIn1<std::uint8_t>& is_categorical) {
    const auto flags = per_row<std::uint8_t>(is_categorical, x.n_columns());
    require(std::all_of(flags.begin(), flags.end(), [](std::uint8_t flag) { return flag == 0; }), "sparse rows hold no categories");
    return flags;
}

// X is how the rows come: In2 or sparse rows.
template <class X>
void def_plain(nb::class_<tree::PlainColumns>& type) {
    type.def(
        "__init__",
        [](tree::PlainColumns* self, const X& given, MaybeIn1<std::uint8_t> is_categorical, std::int64_t n_looks, int n_threads) {
            const auto& x = values_of(given);
            new (self) tree::PlainColumns(x, category_flags(x, is_categorical), count_looks(n_looks), threads(n_threads));
        },
        nb::arg().noconvert(), nb::arg().noconvert().none(), nb::arg(), nb::arg(), ReleaseGil(), KeepsMatrix<X, 1, 2>());
}

}  // namespace

void bind_grow_random(nb::module_& m) {
    nb::class_<tree::PlainColumns> type(m, "PlainColumns");
    def_plain<In2<double>>(type);
    def_plain<In2<float>>(type);
    def_plain<tree::SparseRows>(type);
    def_facts(type);
    def_grow_pair<tree::PlainColumns>(m);
    def_grow_classes<tree::PlainColumns>(m);
    def_grow_means<tree::PlainColumns>(m);
    def_grow_absolute<tree::PlainColumns>(m);
}

}  // namespace mercer::bindings
