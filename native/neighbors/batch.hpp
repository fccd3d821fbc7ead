// Many queries: side by side, in an order that suits the cache, each answered into its own place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/views.hpp"
#include "neighbors/blocks.hpp"
#include "neighbors/collectors.hpp"
#include "neighbors/flat.hpp"
#include "neighbors/metric.hpp"
#include "neighbors/queries.hpp"
#include "neighbors/traverse.hpp"

namespace mercer::neighbors {

// What is asked: how, by whom, and whether points leave themselves out.
template <class Index, class M>
struct Batch {
    const Index& index;
    const M& metric;
    const GivenQueries* given;  // null: the points themselves
    bool leave_out_self;
    Threads threads;
};

namespace detail {

inline constexpr std::size_t kQueriesOfTask = 64;

// The leaf that a query would be looked for first: where each step goes to the nearest child.
template <class Index, class M>
std::uint32_t first_leaf(const Index& index, const M& metric, const double* query) {
    const auto& nodes = index.shape().nodes();
    std::size_t node = 0;
    while (true) {
        alignas(64) double bound[kBlock];
        index.template bound_children<0>(metric, query, node).store(bound);
        const auto child = static_cast<std::size_t>(std::min_element(bound, bound + nodes[node].n_children) - bound);
        if (nodes[node].nodes[child] == ShapeNode::kLeaf) return nodes[node].starts[child];
        node = static_cast<std::size_t>(nodes[node].nodes[child]);
    }
}

template <class Index, class M>
QueryOrder<Index> order_queries(const Batch<Index, M>& batch) {
    std::vector<std::uint32_t> order;
    if constexpr (requires { batch.index.shape(); }) {
        constexpr std::size_t kWorthwhile = 64;
        if (batch.given && batch.given->rows() >= kWorthwhile) {
            const std::size_t n = batch.given->rows();
            std::vector<std::uint64_t> keys(n);
            parallel_for((n + 255) / 256, batch.threads, [&](std::size_t task) {
                std::vector<double> query(batch.index.n_features());
                for (std::size_t i = task * 256; i < std::min(task * 256 + 256, n); ++i) {
                    batch.given->copy_row(i, query.data());
                    keys[i] = std::uint64_t{first_leaf(batch.index, batch.metric, query.data())} << 32 | i;
                }
            });
            std::sort(keys.begin(), keys.end());
            order.resize(n);
            for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(keys[i] & 0xffffffff);
        }
    }
    return {batch.index, batch.given, std::move(order)};
}

// Asks the queries [begin, end) of the order, collector c for query begin + c.
template <class Index, class M, class Collector>
void ask(const Batch<Index, M>& batch, const double* queries, std::span<Collector> collectors) {
    const std::size_t d = batch.index.n_features();
    if constexpr (requires { batch.index.shape(); }) {
        for (std::size_t i = 0; i < collectors.size(); ++i) batch.index.search(batch.metric, queries + i * d, collectors[i]);
    } else {
        const auto points = batch.index.points();
        const std::size_t piece = std::max<std::size_t>(16384 / (d * sizeof(typename Index::Value)) / kBlock, 1) * kBlock;
        for (std::size_t begin = 0; begin < points.n; begin += piece) {
            for (std::size_t i = 0; i < collectors.size(); ++i)
                scan<0>(batch.metric, points, queries + i * d, begin, std::min(begin + piece, points.n), collectors[i]);
            checkpoint();
        }
    }
}

// Calls body(first, last, queries, order) for runs of queries, side by side.
template <class Index, class M, class Body>
void for_queries(const Batch<Index, M>& batch, Body&& body) {
    const QueryOrder<Index> order = order_queries(batch);
    const std::size_t n = order.size(), d = batch.index.n_features();
    const std::size_t n_tasks = (n + kQueriesOfTask - 1) / kQueriesOfTask;
    const double work = static_cast<double>(n) * 1000;
    parallel_for(n_tasks, batch.threads.for_work(work), [&](std::size_t task) {
        const std::size_t first = task * kQueriesOfTask, last = std::min(first + kQueriesOfTask, n);
        std::vector<double> queries((last - first) * d);
        for (std::size_t i = first; i < last; ++i) order.copy(i, queries.data() + (i - first) * d);
        body(first, last, queries.data(), order);
    });
}

}  // namespace detail

// The k nearest points of every query, nearest first, ties by row number. Places for which there is no point hold infinity and -1.
template <class Index, class M>
void nearest_points(const Batch<Index, M>& batch, RowMajor<double> distances, RowMajor<std::int64_t> rows) {
    const std::size_t k = distances.cols;
    detail::for_queries(batch, [&](std::size_t first, std::size_t last, const double* queries, const auto& order) {
        std::vector<NearestFew> collectors(last - first, NearestFew(k));
        for (std::size_t i = first; i < last; ++i) collectors[i - first].start(batch.leave_out_self ? order.itself(i) : kNoRow);
        detail::ask<Index, M, NearestFew>(batch, queries, collectors);
        for (std::size_t i = first; i < last; ++i) {
            const auto& found = collectors[i - first].finish();
            const std::size_t place = order.place(i);
            for (std::size_t r = 0; r < k; ++r) {
                const bool is_there = r < found.size();
                distances(place, r) = is_there ? batch.metric.distance(found[r].rank) : std::numeric_limits<double>::infinity();
                rows(place, r) = is_there ? found[r].row : kNoRow;
            }
        }
    });
}

// All points within a radius of every query.
struct Surroundings {
    std::vector<std::int64_t> starts;  // of each query among them, and the end
    std::unique_ptr<std::int64_t[]> rows;
    std::unique_ptr<double[]> distances;
    std::size_t count() const { return static_cast<std::size_t>(starts.back()); }
};

// In the order of the rows, or of the distances (`sorted`). O(what is found) memory, a run of queries being found twice at most.
template <class Index, class M>
Surroundings points_within(const Batch<Index, M>& batch, double radius, bool sorted) {
    struct Run {
        std::vector<Neighbor> found;
        std::vector<std::size_t> ends;  // of each query of the run
    };
    const double rank = rank_within(batch.metric, radius);
    const std::size_t n = batch.given ? batch.given->rows() : batch.index.n_points();
    std::vector<Run> runs((n + detail::kQueriesOfTask - 1) / detail::kQueriesOfTask);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> homes(n);  // run and place in it, by query
    Surroundings all;
    all.starts.assign(n + 1, 0);
    detail::for_queries(batch, [&](std::size_t first, std::size_t last, const double* queries, const auto& order) {
        Run& run = runs[first / detail::kQueriesOfTask];
        std::vector<std::vector<Neighbor>> found(last - first);
        std::vector<AllWithin> collectors;
        for (std::size_t i = first; i < last; ++i)
            collectors.push_back({rank, batch.leave_out_self ? order.itself(i) : kNoRow, &found[i - first]});
        detail::ask<Index, M, AllWithin>(batch, queries, collectors);
        for (std::size_t i = first; i < last; ++i) {
            auto& some = found[i - first];
            if (sorted) {
                std::sort(some.begin(), some.end());
            } else {
                std::sort(some.begin(), some.end(), [](const Neighbor& a, const Neighbor& b) { return a.row < b.row; });
            }
            run.found.insert(run.found.end(), some.begin(), some.end());
            run.ends.push_back(run.found.size());
            homes[order.place(i)] = {static_cast<std::uint32_t>(first / detail::kQueriesOfTask),
                                     static_cast<std::uint32_t>(i - first)};
            all.starts[order.place(i) + 1] = static_cast<std::int64_t>(some.size());
            std::vector<Neighbor>().swap(some);
        }
    });
    for (std::size_t i = 0; i < n; ++i) all.starts[i + 1] += all.starts[i];
    all.rows = std::make_unique_for_overwrite<std::int64_t[]>(all.count());
    all.distances = std::make_unique_for_overwrite<double[]>(all.count());
    for (std::size_t i = 0; i < n; ++i) {
        const Run& run = runs[homes[i].first];
        const std::size_t begin = homes[i].second == 0 ? 0 : run.ends[homes[i].second - 1];
        auto to = static_cast<std::size_t>(all.starts[i]);
        for (std::size_t f = begin; f < run.ends[homes[i].second]; ++f, ++to) {
            all.rows[to] = run.found[f].row;
            all.distances[to] = batch.metric.distance(run.found[f].rank);
        }
    }
    return all;
}

template <class Index, class M>
void count_points_within(const Batch<Index, M>& batch, double radius, std::span<std::int64_t> counts) {
    const double rank = rank_within(batch.metric, radius);
    detail::for_queries(batch, [&](std::size_t first, std::size_t last, const double* queries, const auto& order) {
        std::vector<CountOfWithin> collectors(last - first, CountOfWithin{rank});
        detail::ask<Index, M, CountOfWithin>(batch, queries, collectors);
        for (std::size_t i = first; i < last; ++i) counts[order.place(i)] = collectors[i - first].count;
    });
}

}  // namespace mercer::neighbors
