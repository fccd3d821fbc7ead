// Objectives of metric learning and their gradients.
#include "bindings/arrays.hpp"
#include "bindings/neighbor_models.hpp"
#include "neighbors/metric_learning.hpp"

namespace mercer::bindings {

namespace {

neighbors::MappedRows mapped_rows(const Rows2<double>& x, const Rows2<double>& z, const Rows2<double>& map,
                                  const In1<std::int64_t>& starts, const Out2<double>& gradient) {
    const neighbors::MappedRows made{rows<double>(x), rows<double>(z), rows<double>(map), vector<std::int64_t>(starts)};
    require(made.x.rows >= 1 && made.x.cols >= 1 && made.z.rows == made.x.rows && made.map.rows == made.z.cols &&
                made.map.cols == made.x.cols,
            "the images must have one line per row of x, and the map a line per column of them");
    require(gradient.shape(0) == made.map.rows && gradient.shape(1) == made.map.cols, "the gradient must be as large as the map");
    require(made.starts.size() >= 2 && made.starts.front() == 0 && std::is_sorted(made.starts.begin(), made.starts.end()) &&
                static_cast<std::size_t>(made.starts.back()) == made.x.rows,
            "the starts of the classes must rise from 0 to the number of rows");
    return made;
}

}  // namespace

void bind_metric_learning(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "neighbourhood_components",
        [](Rows2<double> x, Rows2<double> z, Rows2<double> map, In1<std::int64_t> starts, Out2<double> gradient, int n_threads) {
            return neighbors::neighbourhood_components(mapped_rows(x, z, map, starts, gradient), rows<double>(gradient),
                                                       threads(n_threads));
        },
        array, array, array, array, array, nb::arg(), ReleaseGil());
    m.def(
        "large_margins",
        [](Rows2<double> x, Rows2<double> z, Rows2<double> map, In1<std::int64_t> starts, Rows2<std::int64_t> targets, double push,
           double margin, Out2<double> gradient, int n_threads) {
            const auto made = mapped_rows(x, z, map, starts, gradient);
            const auto neighbours = rows<std::int64_t>(targets);
            require(neighbours.rows == made.n(), "there must be one line of target neighbours per row");
            for (std::size_t e = 0; e < neighbours.size(); ++e)
                require(neighbours.data[e] < static_cast<std::int64_t>(made.n()), "a target neighbour is no row");
            return neighbors::large_margins(made, {neighbours, push, margin}, rows<double>(gradient), threads(n_threads));
        },
        array, array, array, array, array, nb::arg(), nb::arg(), array, nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings
