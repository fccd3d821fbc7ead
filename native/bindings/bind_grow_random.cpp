#include "bindings/grow_kernels.hpp"

namespace mercer::bindings {

void bind_grow_random(nb::module_& m) {
    def_columns<tree::PlainColumns>(m, "PlainColumns");
    def_grow_pair<tree::PlainColumns>(m);
    def_grow_classes<tree::PlainColumns>(m);
    def_grow_means<tree::PlainColumns>(m);
    def_grow_absolute<tree::PlainColumns>(m);
}

}  // namespace mercer::bindings
