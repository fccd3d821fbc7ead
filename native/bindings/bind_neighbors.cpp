#include "bindings/neighbors.hpp"
#include "bindings/search_kernels.hpp"
#include "neighbors/flat.hpp"

namespace mercer::bindings {

namespace {

using neighbors::FlatPoints;

template <Real T>
void bind_flat(nb::module_& m, const char* name) {
    nb::class_<FlatPoints<T>> type(m, name);
    type.def(
        "__init__",
        [](FlatPoints<T>* self, In2<T> x, int n_threads) { new (self) FlatPoints<T>(matrix<T>(x), threads(n_threads)); },
        nb::arg().noconvert(), nb::arg(), ReleaseGil());
    type.def_prop_ro("points",
                     [](nb::handle self) { return view_of<T>(nb::cast<const FlatPoints<T>&>(self).point_values(), self); });
    def_searches<FlatPoints<T>, Takes::kAll>(type);
}

}  // namespace

void bind_neighbors(nb::module_& m) {
    nb::class_<MetricChoice>(m, "SearchMetric")
        .def(nb::init<std::string, double, MaybeIn1<double>>(), nb::arg(), nb::arg(), nb::arg().noconvert().none());
    bind_flat<double>(m, "FlatPoints64");
    bind_flat<float>(m, "FlatPoints32");
}

}  // namespace mercer::bindings
