#include "bindings/neighbors.hpp"
#include "bindings/search_kernels.hpp"
#include "neighbors/product_points.hpp"

namespace mercer::bindings {

namespace {

using neighbors::ProductPoints;

template <Real T>
void bind_points(nb::module_& m, const char* name) {
    nb::class_<ProductPoints<T>> type(m, name);
    type.def(
        "__init__",
        [](ProductPoints<T>* self, In2<T> x, int n_threads) { new (self) ProductPoints<T>(matrix<T>(x), threads(n_threads)); },
        nb::arg().noconvert(), nb::arg(), ReleaseGil());
    type.def_prop_ro("values", [](nb::handle self) { return view_of<T>(nb::cast<const ProductPoints<T>&>(self).values(), self); });
    def_searches<ProductPoints<T>, Takes::kEuclidean>(type);
}

}  // namespace

void bind_product_points(nb::module_& m) {
    bind_points<double>(m, "ProductPoints64");
    bind_points<float>(m, "ProductPoints32");
}

}  // namespace mercer::bindings
