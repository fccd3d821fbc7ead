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
#include "neighbors/surroundings.hpp"
#include "neighbors/traverse.hpp"

namespace mercer::neighbors {

template <class Index>
concept SearchTree = requires(const Index& index) { index.shape(); };

// What is asked: how, by whom, and whether points leave themselves out.
template <class Index, class M>
struct Batch {
    const Index& index;
    const M& metric;
    const GivenQueries* given;  // null: the points themselves
    bool leave_out_self;
    Threads threads;
    // Of a tree: how many leaves a search for the nearest may look into, those of the lowest bounds first, and, where that is
    // asked, how many it did.
    std::size_t most_leaves = kAllLeaves;
    std::span<std::int64_t> n_leaves = {};

    std::size_t n_queries() const { return given ? given->rows() : index.n_points(); }
};

namespace detail {

inline constexpr std::size_t kQueriesOfTask = 64;

// How many queries are asked together: enough to read the points for many of them at once, and few enough to occupy the threads.
template <class Index, class M>
std::size_t queries_of_task(const Batch<Index, M>& batch) {
    if constexpr (SearchTree<Index>) {
        return kQueriesOfTask;
    } else {
        std::size_t most = kQueriesOfTask;
        if constexpr (requires { Index::kQueriesOfTask; }) most = Index::kQueriesOfTask;
        const auto n_threads = static_cast<std::size_t>(std::max(batch.threads.count, 1));
        return std::clamp<std::size_t>(batch.n_queries() / (4 * n_threads), 12, most);
    }
}

// Roughly how many operations one query is.
template <class Index>
double work_of_query(const Index& index) {
    if constexpr (SearchTree<Index>) {
        return 1000;
    } else {
        return 1000 + static_cast<double>(index.n_points()) * static_cast<double>(index.n_features()) / 8;
    }
}

// The leaf that a query would be looked for first: where each step goes to the nearest child.
template <class Index, class M>
std::uint32_t first_leaf(const Index& index, const M& metric, const double* query) {
    const auto& nodes = index.shape().nodes();
    std::size_t node = 0;
    while (true) {
        const std::size_t child = index.template bound_children<0>(metric, query, node).least(nodes[node].n_children);
        if (nodes[node].nodes[child] == ShapeNode::kLeaf) return nodes[node].starts[child];
        node = static_cast<std::size_t>(nodes[node].nodes[child]);
    }
}

template <class Index, class M>
QueryOrder<Index> order_queries(const Batch<Index, M>& batch) {
    std::vector<std::uint32_t> order;
    if constexpr (SearchTree<Index>) {
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
    if constexpr (requires { batch.index.ask(batch.metric, queries, collectors); }) {
        batch.index.ask(batch.metric, queries, collectors);
    } else if constexpr (SearchTree<Index>) {
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
    const std::size_t n_together = queries_of_task(batch), n_tasks = (n + n_together - 1) / n_together;
    const double work = static_cast<double>(n) * work_of_query(batch.index);
    parallel_for(n_tasks, batch.threads.for_work(work), [&](std::size_t task) {
        const std::size_t first = task * n_together, last = std::min(first + n_together, n);
        std::vector<double> queries((last - first) * d);
        for (std::size_t i = first; i < last; ++i) order.copy(i, queries.data() + (i - first) * d);
        body(first, last, queries.data(), order);
    });
}

}  // namespace detail

// Writes what was found for one query, nearest first. Places for which there is no point hold infinity and -1.
template <class Distance>
void write_nearest(const std::vector<Neighbor>& found, Distance&& distance, std::size_t place, RowMajor<double> distances,
                   RowMajor<std::int64_t> rows) {
    for (std::size_t r = 0; r < distances.cols; ++r) {
        const bool is_there = r < found.size();
        distances(place, r) = is_there ? distance(found[r].rank) : std::numeric_limits<double>::infinity();
        rows(place, r) = is_there ? found[r].row : kNoRow;
    }
}

// The k nearest points of every query, nearest first, ties by row number. Places for which there is no point hold infinity and -1.
template <class Index, class M>
void nearest_points(const Batch<Index, M>& batch, RowMajor<double> distances, RowMajor<std::int64_t> rows) {
    const auto distance = [&](double rank) { return batch.metric.distance(rank); };
    detail::for_queries(batch, [&](std::size_t first, std::size_t last, const double* queries, const auto& order) {
        const auto left_out = [&](std::size_t i) { return batch.leave_out_self ? order.itself(i) : kNoRow; };
        if constexpr (SearchTree<Index>) {
            NearestFew collector(distances.cols);
            for (std::size_t i = first; i < last; ++i, queries += batch.index.n_features()) {
                collector.start(left_out(i));
                const std::size_t n_leaves =
                    batch.most_leaves < batch.index.n_points()
                        ? traverse_nearest_first<0>(batch.index, batch.metric, queries, collector, batch.most_leaves)
                        : batch.index.search(batch.metric, queries, collector);
                if (!batch.n_leaves.empty()) batch.n_leaves[order.place(i)] = static_cast<std::int64_t>(n_leaves);
                write_nearest(collector.finish(), distance, order.place(i), distances, rows);
            }
        } else {
            std::vector<NearestFew> collectors(last - first, NearestFew(distances.cols));
            for (std::size_t i = first; i < last; ++i) collectors[i - first].start(left_out(i));
            detail::ask<Index, M, NearestFew>(batch, queries, collectors);
            for (std::size_t i = first; i < last; ++i)
                write_nearest(collectors[i - first].finish(), distance, order.place(i), distances, rows);
        }
    });
}

// In the order of the rows, or of the distances (`sorted`). O(what is found) memory, a run of queries being found twice at most.
template <class Index, class M>
Surroundings points_within(const Batch<Index, M>& batch, double radius, bool sorted) {
    const double rank = rank_within(batch.metric, radius);
    const std::size_t n = batch.n_queries(), n_together = detail::queries_of_task(batch);
    SurroundingsOfRuns all(n, (n + n_together - 1) / n_together);
    detail::for_queries(batch, [&](std::size_t first, std::size_t last, const double* queries, const auto& order) {
        std::vector<std::vector<Neighbor>> found(last - first);
        std::vector<AllWithin> collectors;
        for (std::size_t i = first; i < last; ++i)
            collectors.push_back({rank, batch.leave_out_self ? order.itself(i) : kNoRow, &found[i - first]});
        detail::ask<Index, M, AllWithin>(batch, queries, collectors);
        for (std::size_t i = first; i < last; ++i) {
            all.add(first / n_together, order.place(i), found[i - first], sorted);
            std::vector<Neighbor>().swap(found[i - first]);
        }
    });
    return all.join([&](double value) { return batch.metric.distance(value); });
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
