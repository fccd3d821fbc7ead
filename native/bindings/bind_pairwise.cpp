// Distances and kernels between all rows of two matrices.
#include <nanobind/stl/string.h>

#include <string>

#include "bindings/neighbor_models.hpp"
#include "bindings/rows.hpp"
#include "core/metric.hpp"
#include "pairwise/features.hpp"
#include "pairwise/maps.hpp"
#include "pairwise/products.hpp"
#include "pairwise/sparse.hpp"

namespace mercer::bindings {

namespace {

// A matrix of values that is written, for rows of x and of y; y is x itself where it is left out.
template <Real T>
struct Pairs {
    RowMajor<const T> x, y;
    RowMajor<T> out;
    bool is_symmetric;

    Pairs(const Rows2<T>& x_, const std::optional<Rows2<T>>& y_, const Out2<T>& out_)
        : x(rows<T>(x_)), y(y_ ? rows<T>(*y_) : x), out(rows<T>(out_)), is_symmetric(!y_) {
        require(x.cols == y.cols && x.cols >= 1, "both sides must have the same features, and at least one");
        require(out.rows == x.rows && out.cols == y.rows, "the result must have one line per row of x and one column per row of y");
    }
};

// Calls go(map) with what a name says is made of a squared distance.
template <class Go>
void with_squared_map(const std::string& map, double a, Go&& go) {
    if (map == "root") return go(pairwise::Root{});
    if (map == "exponential") return go(pairwise::Exponential{a});
    require(map == "scaled", "there is no such map of squared distances");
    go(pairwise::Scaled{a});
}

template <Real T>
void bind_products(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    m.def(
        "pairwise_products",
        [](const std::string& map, double gamma, double constant, double degree, Rows2<T> x, std::optional<Rows2<T>> y, Out2<T> out,
           int n_threads) {
            const Pairs<T> pairs(x, y, out);
            const auto go = [&](const pairwise::LineMap<T>& by) {
                pairwise::map_products<T>(pairs.x, pairs.y, pairs.is_symmetric, by, pairs.out, threads(n_threads));
            };
            if (map == "polynomial") return go(pairwise::Polynomial{gamma, constant, degree});
            if (map == "sigmoid") return go(pairwise::Sigmoid{gamma, constant});
            require(map == "same", "there is no such map of products");
            go(pairwise::Same{});
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), array, maybe, array, nb::arg(), ReleaseGil(),
        "Writes the map of the inner product of every row of x and of y.");
    m.def(
        "pairwise_squared",
        [](const std::string& map, double a, Rows2<T> x, std::optional<Rows2<T>> y, Out2<T> out, int n_threads) {
            const Pairs<T> pairs(x, y, out);
            constexpr std::size_t kFewFeatures = 12;  // products pay beyond
            with_squared_map(map, a, [&](const auto& by) {
                if (pairs.x.cols <= kFewFeatures) {
                    pairwise::map_features<T>(SquaredEuclidean{}, pairs.x, pairs.y, by, pairs.out, threads(n_threads));
                } else {
                    pairwise::map_squared_distances<T>(pairs.x, pairs.y, pairs.is_symmetric, by, pairs.out, threads(n_threads));
                }
            });
        },
        nb::arg(), nb::arg(), array, maybe, array, nb::arg(), ReleaseGil(),
        "Writes the map of the squared distance of every row of x and of y.");
}

template <Real T>
void bind_features(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "pairwise_features",
        [](const std::string& metric, double a, Rows2<T> x, Rows2<T> y, Out2<T> out, int n_threads) {
            const Pairs<T> pairs(x, y, out);
            const auto go = [&](const auto& by, const auto& map) {
                pairwise::map_features<T>(by, pairs.x, pairs.y, map, pairs.out, threads(n_threads));
            };
            if (metric == "manhattan") return go(Manhattan{}, pairwise::Same{});
            if (metric == "laplacian") return go(Manhattan{}, pairwise::Exponential{a});
            if (metric == "chebyshev") return go(Chebyshev{}, pairwise::Same{});
            if (metric == "additive_chi2") return go(pairwise::ChiSquared{}, pairwise::Scaled{-1});
            if (metric == "chi2") return go(pairwise::ChiSquared{}, pairwise::Exponential{a});
            if (metric == "squared_of_present") return go(pairwise::SquaredOfPresent{}, pairwise::Same{});
            if (metric == "count_of_present") return go(pairwise::CountOfPresent{}, pairwise::Same{});
            require(metric == "divergence", "there is no such metric");
            go(pairwise::Divergence{}, pairwise::Same{});
        },
        nb::arg(), nb::arg(), array, array, array, nb::arg(), ReleaseGil(),
        "Writes what grows feature by feature, for every row of x and of y.");
}

template <Real T>
void bind_sparse(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto check = [](const CsrRowSource<T>& x, const CsrRowSource<T>& y, RowMajor<T> out) {
        require(x.cols() == y.cols(), "both sides must have the same features");
        require(out.rows == x.rows() && out.cols == y.rows(),
                "the result must have one line per row of x and one column per row of y");
    };
    m.def(
        "sparse_manhattan",
        [check](double a, const CsrRowSource<T>& x, const CsrRowSource<T>& y, Out2<T> out, int n_threads) {
            check(x, y, rows<T>(out));
            if (a != 0) return pairwise::sparse_manhattan<T>(x.x, y.x, pairwise::Exponential{a}, rows<T>(out), threads(n_threads));
            pairwise::sparse_manhattan<T>(x.x, y.x, pairwise::Same{}, rows<T>(out), threads(n_threads));
        },
        nb::arg(), nb::arg(), nb::arg(), array, nb::arg(), ReleaseGil(),
        "Writes Manhattan's distance of every row of x and of y, or exp(a distance).");
    m.def(
        "sparse_squared",
        [check](const std::string& map, double a, const CsrRowSource<T>& x, const CsrRowSource<T>& y, Out2<T> out, int n_threads) {
            check(x, y, rows<T>(out));
            with_squared_map(map, a, [&](const pairwise::LineMap<T>& by) {
                pairwise::map_sparse_squared<T>(x, y, by, rows<T>(out), threads(n_threads));
            });
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), array, nb::arg(), ReleaseGil(),
        "Overwrites the inner products of every row of x and of y by the map of their squared distance.");
}

template <Real T>
void bind_kernels(nb::module_& m) {
    bind_products<T>(m);
    bind_features<T>(m);
    bind_sparse<T>(m);
}

}  // namespace

void bind_pairwise(nb::module_& m) {
    bind_kernels<double>(m);
    bind_kernels<float>(m);
}

}  // namespace mercer::bindings
