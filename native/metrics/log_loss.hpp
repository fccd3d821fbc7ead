// The logarithmic loss of predicted probabilities, with all that is to be known of them from the same pass.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/chunk_sums.hpp"
#include "core/errors.hpp"
#include "core/math.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::metrics {

struct LogLoss {
    double loss = 0;                                         // weighted sum over the rows
    double weight = 0;                                       // of all rows
    double least = std::numeric_limits<double>::infinity();  // probability
    double greatest = -std::numeric_limits<double>::infinity();
    double deviation = 0;  // the largest distance of a row's sum from one; 0 where there is one column
    bool has_nan = false;
    bool is_outside = false;  // a label had no column

    void add(const LogLoss& other) {
        loss += other.loss;
        weight += other.weight;
        least = other.least < least ? other.least : least;
        greatest = other.greatest > greatest ? other.greatest : greatest;
        deviation = other.deviation > deviation ? other.deviation : deviation;
        has_nan |= other.has_nan;
        is_outside |= other.is_outside;
    }
    void see(double probability) {
        least = probability < least ? probability : least;
        greatest = probability > greatest ? probability : greatest;
        has_nan |= probability != probability;
    }
};

// Which column of the probabilities belongs to a label: columns[label - low].
struct LabelColumns {
    std::int64_t low;
    std::span<const std::int32_t> columns;

    // -1 where the label has none.
    std::int32_t of(std::int64_t label) const {
        const std::uint64_t place = static_cast<std::uint64_t>(label) - static_cast<std::uint64_t>(low);
        return place < columns.size() ? columns[static_cast<std::size_t>(place)] : -1;
    }
};

namespace detail {

// Writes the probability that the row gave to its own label, cut to [eps, 1 - eps], and notes what there is to note of the row.
template <Real T>
T probability_of_label(Matrix<const T> probabilities, std::size_t i, std::int32_t column, LogLoss& seen) {
    constexpr T eps = std::numeric_limits<T>::epsilon();
    T chosen = 0;
    if (probabilities.cols == 1) {  // that of the second of two classes
        chosen = probabilities(i, 0);
        seen.see(chosen);
        chosen = column == 1 ? chosen : 1 - chosen;
        seen.is_outside |= column < 0 || column > 1;
    } else {
        double sum = 0;
        for (std::size_t j = 0; j < probabilities.cols; ++j) {
            const T probability = probabilities(i, j);
            seen.see(probability);
            sum += probability;
        }
        const bool fits = column >= 0 && static_cast<std::size_t>(column) < probabilities.cols;
        seen.is_outside |= !fits;
        if (fits) chosen = probabilities(i, static_cast<std::size_t>(column));
        seen.deviation = std::max(seen.deviation, std::abs(sum - 1));
    }
    return chosen < eps ? eps : (chosen > 1 - eps ? 1 - eps : chosen);
}

}  // namespace detail

// Minus the sum of w log p over the rows, where p is the probability given to the row's own label (cut to [eps, 1 - eps] of its
// type), and what was seen on the way. One column is the probability of the second of two classes. O(n k), one pass.
template <Real T>
LogLoss log_loss(Matrix<const T> probabilities, std::span<const std::int64_t> labels, LabelColumns columns,
                 std::span<const double> weights, Threads threads) {
    constexpr std::size_t kBlock = 64 * Simd<double>::kLanes;
    const Chunks chunks = Chunks::of(probabilities.rows, 1 << 13, 256);
    ChunkParts<LogLoss> parts(chunks);
    const double work = 4 * static_cast<double>(probabilities.rows) * static_cast<double>(1 + probabilities.cols);
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t c) {
        LogLoss seen;
        alignas(64) double chosen[kBlock], weight[kBlock];
        for (std::size_t begin = chunks.begin(c); begin < chunks.end(c); begin += kBlock) {
            const std::size_t n = std::min(kBlock, chunks.end(c) - begin);
            for (std::size_t i = 0; i < n; ++i) {
                chosen[i] = detail::probability_of_label(probabilities, begin + i, columns.of(labels[begin + i]), seen);
                weight[i] = weights.empty() ? 1 : weights[begin + i];
                seen.weight += weight[i];
            }
            for (std::size_t i = n; i < kBlock; ++i) chosen[i] = 1, weight[i] = 0;
            math::Vector sum = {};
            for (std::size_t i = 0; i < kBlock; i += Simd<double>::kLanes)
                sum += Simd<double>::load(weight + i) * math::log(Simd<double>::load(chosen + i));
            for (std::size_t l = 0; l < Simd<double>::kLanes; ++l) seen.loss -= sum[l];
        }
        parts[c] = seen;
    });
    return parts.joined([](LogLoss& all, const LogLoss& part) { all.add(part); });
}

}  // namespace mercer::metrics
