// Kernel regression: predictions by windows that end, and leave-one-out predictions for many bandwidths.
#include <nanobind/stl/string.h>

#include <string>

#include "bindings/arrays.hpp"
#include "bindings/neighbor_models.hpp"
#include "kernel_regression/left_out.hpp"
#include "kernel_regression/window.hpp"
#include "kernel_regression/window_fits.hpp"

namespace mercer::bindings {

namespace {

using kernel_regression::Lists;
using kernel_regression::Sample;

Sample checked_sample(const In2<double>& x, const In2<double>& y, const MaybeIn1<double>& weights) {
    const Sample sample{matrix<double>(x), matrix<double>(y), per_row<double>(weights, x.shape(0))};
    require(sample.x.rows >= 1 && sample.x.cols >= 1 && sample.y.rows == sample.x.rows,
            "there must be rows, and one line of targets per row of X");
    require(sample.x.row_stride == 1 || sample.x.rows == 1, "the columns of X must lie together");
    return sample;
}

void check_rows(std::span<const std::int64_t> numbers, std::size_t n_rows) {
    for (const std::int64_t row : numbers)
        require(row >= 0 && static_cast<std::size_t>(row) < n_rows, "a list names a row that there is not");
}

Lists checked_lists(const MaybeIn1<std::int64_t>& starts, const MaybeIn1<std::int64_t>& numbers, const MaybeIn1<double>& distances,
                    std::size_t n_queries, std::size_t n_rows) {
    const Lists lists{vector<std::int64_t>(starts), vector<std::int64_t>(numbers), vector<double>(distances)};
    if (!starts) return {};
    require(lists.starts.size() == n_queries + 1 && lists.starts.front() == 0 &&
                std::is_sorted(lists.starts.begin(), lists.starts.end()) &&
                static_cast<std::size_t>(lists.starts.back()) == lists.rows.size() && lists.distances.size() == lists.rows.size(),
            "the lists must have a start for each query, and a row and a distance for each entry");
    check_rows(lists.rows, n_rows);
    return lists;
}

// Calls go(window) with a window that ends.
template <class Go>
void with_window(const std::string& name, Go&& go) {
    if (name == "box") return go(kernel_regression::BoxWindow{});
    if (name == "epanechnikov") return go(kernel_regression::EpanechnikovWindow{});
    require(name == "tricube", "there is no such window");
    go(kernel_regression::TricubeWindow{});
}

}  // namespace

void bind_kernel_regression(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    m.def(
        "window_fits",
        [](const std::string& window, double bandwidth, bool is_linear, In2<double> x, In2<double> y, MaybeIn1<double> weights,
           MaybeIn1<std::int64_t> starts, MaybeIn1<std::int64_t> numbers, MaybeIn1<double> distances, In2<double> queries,
           Out2<double> out, Out1<std::uint8_t> is_empty, int n_threads) {
            const Sample sample = checked_sample(x, y, weights);
            const auto asked = matrix<double>(queries);
            require(asked.cols == sample.x.cols, "queries must have the columns of X");
            require(out.shape(0) == asked.rows && out.shape(1) == sample.y.cols && is_empty.shape(0) == asked.rows,
                    "there must be one prediction per query and target, and one mark per query");
            const Lists lists = checked_lists(starts, numbers, distances, asked.rows, sample.x.rows);
            with_window(window, [&]<class Window>(Window) {
                kernel_regression::window_fits<Window>(sample, lists, bandwidth, is_linear, asked, rows<double>(out),
                                                       vector<std::uint8_t>(is_empty), threads(n_threads));
            });
        },
        nb::arg(), nb::arg(), nb::arg(), array, array, maybe, maybe, maybe, maybe, array, array, array, nb::arg(), ReleaseGil());
    m.def(
        "left_out_fits",
        [](const std::string& window, In1<double> bandwidths, bool is_linear, In2<double> x, In2<double> y,
           MaybeIn1<double> weights, MaybeIn1<std::int64_t> starts, MaybeIn1<std::int64_t> numbers, MaybeIn1<double> distances,
           In1<std::int64_t> nearest, In1<double> nearest_distances, std::size_t first, Out2<double> out, int n_threads) {
            const Sample sample = checked_sample(x, y, weights);
            const auto widths = vector<double>(bandwidths);
            const std::size_t n = sample.x.rows, n_queries = out.shape(0);
            require(!widths.empty() && std::is_sorted(widths.rbegin(), widths.rend()), "bandwidths must fall, from the widest on");
            require(first <= n && n_queries <= n - first && out.shape(1) == sample.y.cols * widths.size(),
                    "there must be one prediction per row, target and bandwidth");
            require(nearest.shape(0) == n && nearest_distances.shape(0) == n, "there must be a nearest row for each row");
            check_rows(vector<std::int64_t>(nearest), n);
            const Lists lists = checked_lists(starts, numbers, distances, n_queries, n);
            const auto go = [&]<class Window>(Window) {
                kernel_regression::left_out_fits<Window>(sample, lists, widths, is_linear,
                                                         {vector<std::int64_t>(nearest), vector<double>(nearest_distances)}, first,
                                                         rows<double>(out), threads(n_threads));
            };
            if (window == "gaussian") return go(kernel_regression::GaussianWindow{});
            with_window(window, go);
        },
        nb::arg(), array, nb::arg(), array, array, maybe, maybe, maybe, maybe, array, array, nb::arg(), array, nb::arg(),
        ReleaseGil());
}

}  // namespace mercer::bindings
