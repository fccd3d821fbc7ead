#include "bindings/grow_kernels.hpp"

namespace mercer::bindings {

void bind_grow_regression(nb::module_& m) {
    def_grow_means<tree::RankedColumns>(m);
    def_grow_absolute<tree::RankedColumns>(m);
}

}  // namespace mercer::bindings
