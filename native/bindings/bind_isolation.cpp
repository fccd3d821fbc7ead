#include <nanobind/stl/unique_ptr.h>

#include <optional>

#include "bindings/grown_arrays.hpp"
#include "bindings/tree_rows.hpp"
#include "tree/isolation.hpp"

namespace mercer::bindings {

namespace {

void require_places(RowMajor<const std::int64_t> places, std::size_t n, const char* message) {
    for (std::size_t i = 0; i < places.rows; ++i) {
        const std::int64_t* line = places.row(i);
        require(std::is_sorted(line, line + places.cols) && line[0] >= 0 && static_cast<std::size_t>(line[places.cols - 1]) < n,
                message);
    }
}

// X is how the rows come: In2 or sparse rows.
template <class X>
void bind_growth(nb::module_& m) {
    m.def(
        "grow_isolation",
        [](const X& x, Rows2<std::int64_t> sample, Rows2<std::int64_t> features, In1<std::uint64_t> seeds, std::int64_t max_depth,
           int n_threads) {
            const auto& values = values_of(x);
            const std::size_t n_columns = tree::n_columns_of(values);
            const auto drawn = rows<std::int64_t>(sample);
            const auto chosen = rows<std::int64_t>(features);
            const auto names = vector<std::uint64_t>(seeds);
            require(drawn.rows == names.size() && chosen.rows == names.size(), "there must be rows and features for each seed");
            require(drawn.cols > 0 && chosen.cols > 0 && max_depth >= 0, "a tree needs rows and features");
            require_places(drawn, tree::n_rows_of(values), "the rows of a tree must rise and be in range");
            require_places(chosen, n_columns, "the features of a tree must rise and be in range");
            std::optional<GrownArrays> grown;
            {
                const ReleasedGil released;
                tree::JoinedTrees joined(names.size());
                parallel_for(names.size(), threads(n_threads), [&](std::size_t t) {
                    joined.put(t, tree::grow_isolation(values, {drawn.row(t), drawn.cols}, {chosen.row(t), chosen.cols}, names[t],
                                                       static_cast<std::size_t>(max_depth)));
                });
                grown.emplace(joined, 1, n_columns);
            }
            return grown->to_python();
        },
        nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(), nb::arg());
}

}  // namespace

void bind_isolation(nb::module_& m) {
    m.def(
        "draw_samples",
        [](In1<std::uint64_t> seeds, std::int64_t n_rows, std::int64_t n_features, MaybeIn1<double> weights, bool is_repeated,
           Out2<std::int64_t> sample, Out2<std::int64_t> features, int n_threads) {
            const auto names = vector<std::uint64_t>(seeds);
            const auto drawn = rows<std::int64_t>(sample);
            const auto chosen = rows<std::int64_t>(features);
            require(0 < n_rows && n_rows < 0xFFFFFFFF && 0 < n_features && n_features < 0xFFFFFFFF,
                    "there must be rows and features");
            const auto n = static_cast<std::size_t>(n_rows);
            const auto d = static_cast<std::size_t>(n_features);
            const auto w = per_row<double>(weights, n);
            require(std::all_of(w.begin(), w.end(), [](double x) { return x >= 0 && x < tree::kInfinity; }),
                    "weights must be finite and >= 0");
            require(drawn.rows == names.size() && chosen.rows == names.size(), "there must be a line for each seed");
            require(is_repeated || drawn.cols <= n, "there are at most as many draws as rows");
            require(chosen.cols <= d, "there are at most as many features as columns");
            parallel_for(names.size(), threads(n_threads), [&](std::size_t t) {
                tree::draw_sample(names[t], n, d, w, is_repeated, {drawn.row(t), drawn.cols}, {chosen.row(t), chosen.cols});
            });
        },
        nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg().noconvert().none(), nb::arg(), nb::arg().noconvert(),
        nb::arg().noconvert(), nb::arg(), ReleaseGil());
    m.def("average_path_length", &tree::average_path_length, nb::arg());
    bind_growth<In2<double>>(m);
    bind_growth<In2<float>>(m);
    bind_growth<tree::SparseRows>(m);
}

}  // namespace mercer::bindings
