// Kernel regression with windows that end: a weighted mean, or a linear fit, of the rows within the bandwidth of each query.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "kernel_regression/candidates.hpp"
#include "linear_model/local_system.hpp"

namespace mercer::kernel_regression {

namespace detail {

// The rows in the window of one query: the root of each one's weight, and the nearest of them.
template <class Window>
struct Inside {
    std::vector<std::pair<std::size_t, double>> roots;
    std::size_t nearest = 0;

    void find(const Sample& sample, Candidates& candidates, std::size_t number, const double* query, std::ptrdiff_t stride,
              double bandwidth) {
        roots.clear();
        double least = std::numeric_limits<double>::infinity();
        const double inverse = 1 / bandwidth;
        candidates.for_each(number, query, stride, [&](std::size_t i, double squared) {
            const double weight = sample.weight(i) * Window::weight(squared * inverse * inverse);
            if (!(weight > 0)) return;
            roots.emplace_back(i, std::sqrt(weight));
            if (squared < least) {
                least = squared;
                nearest = i;
            }
        });
    }
};

}  // namespace detail

// Writes a prediction for each query and target to `out` (m x t), and to `is_empty` whether no row is in its window: its line is
// then NaN. O(candidates d^2).
template <class Window>
void window_fits(const Sample& sample, const Lists& lists, double bandwidth, bool is_linear, Matrix<const double> queries,
                 RowMajor<double> out, std::span<std::uint8_t> is_empty, Threads threads) {
    const std::size_t per_query = lists.starts.empty() ? sample.x.rows : lists.rows.size() / (queries.rows + 1) + 1;
    const double work = static_cast<double>(queries.rows) * static_cast<double>(per_query) * static_cast<double>(sample.x.cols + 4);
    const Chunks chunks = Chunks::of(queries.rows, 4, 1024);
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        linear_model::LocalSystem<double> system(sample.x, sample.y, is_linear);
        Candidates candidates(sample, lists);
        detail::Inside<Window> inside;
        for (std::size_t q = chunks.begin(chunk); q < chunks.end(chunk); ++q) {
            inside.find(sample, candidates, q, queries.row(q), queries.col_stride, bandwidth);
            is_empty[q] = inside.roots.empty();
            if (is_empty[q]) {
                std::fill_n(out.row(q), out.cols, std::numeric_limits<double>::quiet_NaN());
                continue;
            }
            system.start(inside.nearest);
            for (const auto& [i, root] : inside.roots) system.add(i, root);
            system.predict(queries.row(q), queries.col_stride, out.row(q));
            checkpoint();
        }
    });
}

}  // namespace mercer::kernel_regression
