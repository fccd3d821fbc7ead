#include "bindings/grow_kernels.hpp"

namespace mercer::bindings {

void bind_grow_random(nb::module_& m) {
    auto type = def_columns<tree::PlainColumns>(m, "PlainColumns");
    type.def(
        "__init__",
        [](tree::PlainColumns* self, const tree::SparseRows& x, MaybeIn1<std::uint8_t> is_categorical, int n_threads) {
            const auto flags = per_row<std::uint8_t>(is_categorical, x.n_columns());
            require(std::all_of(flags.begin(), flags.end(), [](std::uint8_t flag) { return flag == 0; }),
                    "sparse rows hold no categories");
            new (self) tree::PlainColumns(x, {}, threads(n_threads));
        },
        nb::arg(), nb::arg().noconvert().none(), nb::arg(), ReleaseGil());
    def_grow_pair<tree::PlainColumns>(m);
    def_grow_classes<tree::PlainColumns>(m);
    def_grow_means<tree::PlainColumns>(m);
    def_grow_absolute<tree::PlainColumns>(m);
}

}  // namespace mercer::bindings
