#include "bindings/arrays.hpp"
#include "bindings/neighbor_models.hpp"
#include "neighbors/interpolate.hpp"

namespace mercer::bindings {

namespace {

template <Real T>
void bind_kernel(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "interpolate_rows",
        [](Rows2<T> x, Rows2<T> others, In1<std::int64_t> starts, In1<std::int64_t> ends, Rows2<double> gaps, Out2<T> out,
           int n_threads) {
            const std::size_t n = out.shape(0), d = x.shape(1);
            require(others.shape(1) == d && out.shape(1) == d, "all rows must have the same columns");
            require(starts.shape(0) == n && ends.shape(0) == n && gaps.shape(0) == n, "one start, end and gap for each point");
            require(gaps.shape(1) == 1 || gaps.shape(1) == d, "one gap for each point, or for each of its attributes");
            neighbors::interpolate<T>(rows<T>(x), rows<T>(others),
                                      {vector<std::int64_t>(starts), vector<std::int64_t>(ends), rows<double>(gaps)}, rows<T>(out),
                                      threads(n_threads));
        },
        array, array, array, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_interpolate(nb::module_& m) {
    bind_kernel<double>(m);
    bind_kernel<float>(m);
}

}  // namespace mercer::bindings
