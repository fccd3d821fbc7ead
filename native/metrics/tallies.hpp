// How often each label occurs, and each pair of labels: what every measure of a confusion matrix is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/chunk_sums.hpp"
#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer::metrics {

// Labels are whole numbers from `low` to `low + size - 1`; `index` tells the place of one, and remembers if it had none.
struct LabelPlaces {
    std::int64_t low;
    std::size_t size;
    bool is_outside = false;

    std::size_t index(std::int64_t label) {
        const std::uint64_t place = static_cast<std::uint64_t>(label) - static_cast<std::uint64_t>(low);
        const bool fits = place < size;
        is_outside |= !fits;
        return fits ? static_cast<std::size_t>(place) : 0;
    }
};

// Adds up rows: add(row, places, sums) adds one to its part of `n_sums` sums; parts depend on the shape alone and are added in
// order.
template <class Sum, class Add>
void add_rows(std::size_t n_rows, LabelPlaces places, std::span<Sum> sums, Threads threads, Add&& add) {
    const std::size_t most_parts = sums.size() <= 4096 ? 64 : 1;  // many sums: to clear and add parts would cost more than it saves
    const Chunks chunks = Chunks::of(n_rows, 1 << 14, most_parts);
    ChunkSums<Sum> parts(chunks, sums.size());
    ChunkParts<bool> is_outside(chunks);
    parallel_for(chunks.count, threads.for_work(2 * static_cast<double>(n_rows)), [&](std::size_t c) {
        LabelPlaces own = places;
        for (std::size_t i = chunks.begin(c); i < chunks.end(c); ++i) add(i, own, parts[c]);
        is_outside[c] = own.is_outside;
    });
    require(!is_outside.joined([](bool& any, bool part) { any |= part; }), "a label is not in range");
    std::ranges::copy(parts.total(), sums.begin());
}

// A row's weight; where there are none, rows weigh 1.
template <class Sum>
struct Weights {
    std::span<const double> of_row;
    Sum operator[](std::size_t i) const { return of_row.empty() ? Sum{1} : static_cast<Sum>(of_row[i]); }
};

// Writes to `counts` how often each label occurs. O(n).
inline void count_labels(std::span<const std::int64_t> labels, std::int64_t low, std::span<std::int64_t> counts, Threads threads) {
    const auto add = [&](std::size_t i, LabelPlaces& places, std::int64_t* sums) { ++sums[places.index(labels[i])]; };
    add_rows(labels.size(), {low, counts.size()}, counts, threads, add);
}

// Writes to the rows of `sums` the weight of each label among the true ones, among the predicted ones, and where both agree. O(n).
template <class Sum>
void tally_labels(std::span<const std::int64_t> truth, std::span<const std::int64_t> predicted, Weights<Sum> weights,
                  std::int64_t low, RowMajor<Sum> sums, Threads threads) {
    const std::size_t size = sums.cols;
    add_rows(truth.size(), {low, size}, std::span<Sum>(sums.data, sums.size()), threads,
             [&](std::size_t i, LabelPlaces& places, Sum* part) {
                 const std::size_t t = places.index(truth[i]), p = places.index(predicted[i]);
                 const Sum weight = weights[i];
                 part[t] += weight;
                 part[size + p] += weight;
                 part[2 * size + t] += t == p ? weight : Sum{0};
             });
}

// Writes to table(t, p) the weight of the rows with true label t and predicted label p. O(n + size^2).
template <class Sum>
void tally_pairs(std::span<const std::int64_t> truth, std::span<const std::int64_t> predicted, Weights<Sum> weights,
                 std::int64_t low, RowMajor<Sum> table, Threads threads) {
    add_rows(truth.size(), {low, table.cols}, std::span<Sum>(table.data, table.size()), threads,
             [&](std::size_t i, LabelPlaces& places, Sum* part) {
                 part[places.index(truth[i]) * table.cols + places.index(predicted[i])] += weights[i];
             });
}

}  // namespace mercer::metrics
