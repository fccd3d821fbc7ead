// The sigmoid as a map from scores to probabilities: its log loss with all derivatives, and its values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/chunk_sums.hpp"
#include "core/math.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "losses/loss.hpp"

namespace mercer::calibration {

// Of a sum of losses of raw = slope * score + intercept: its value, gradient and Hessian in slope and intercept.
struct SigmoidLoss {
    double value = 0;
    double gradient[2] = {};
    double hessian[3] = {};  // of (slope, slope), (slope, intercept), (intercept, intercept)

    void add(const SigmoidLoss& other) {
        value += other.value;
        for (std::size_t i = 0; i < 2; ++i) gradient[i] += other.gradient[i];
        for (std::size_t i = 0; i < 3; ++i) hessian[i] += other.hessian[i];
    }
};

namespace detail {

using S = Simd<double>;

inline double sum_lanes(S::Vector v) {
    double sum = 0;
    for (std::size_t l = 0; l < S::kLanes; ++l) sum += v[l];
    return sum;
}

// Sums in the lanes of vectors, over rows that are given a vector at a time.
struct SigmoidSums {
    S::Vector slope, intercept;
    S::Vector sums[6] = {};

    void add(const double* scores, const double* targets, const double* weights) {
        const S::Vector score = S::load(scores), weight = S::load(weights);
        const auto loss = losses::Logistic{}.at(S::load(targets), S::Vector(slope * score + intercept));
        const S::Vector residual = weight * loss.gradient, curvature = weight * loss.hessian, lever = curvature * score;
        sums[0] += weight * loss.value;
        sums[1] += residual * score;
        sums[2] += residual;
        sums[3] += lever * score;
        sums[4] += lever;
        sums[5] += curvature;
    }

    SigmoidLoss total() const {
        return {sum_lanes(sums[0]),
                {sum_lanes(sums[1]), sum_lanes(sums[2])},
                {sum_lanes(sums[3]), sum_lanes(sums[4]), sum_lanes(sums[5])}};
    }
};

}  // namespace detail

// Returns the sum of w (log(1 + e^raw) - t raw) with its derivatives, for targets t in [0, 1]; no exponential overflows. O(n).
inline SigmoidLoss sigmoid_loss(std::span<const double> scores, std::span<const double> targets, std::span<const double> weights,
                                double slope, double intercept, Threads threads) {
    constexpr std::size_t kLanes = Simd<double>::kLanes;
    const Chunks chunks = Chunks::of(scores.size(), 1 << 12, 256);
    ChunkParts<SigmoidLoss> parts(chunks);
    parallel_for(chunks.count, threads.for_work(20 * static_cast<double>(scores.size())), [&](std::size_t c) {
        detail::SigmoidSums sums{math::broadcast(slope), math::broadcast(intercept)};
        std::size_t i = chunks.begin(c);
        const std::size_t end = chunks.end(c);
        for (; i + kLanes <= end; i += kLanes) sums.add(scores.data() + i, targets.data() + i, weights.data() + i);
        if (i < end) {
            double score[kLanes] = {}, target[kLanes] = {}, weight[kLanes] = {};  // rows that are not there weigh nothing
            std::copy(scores.data() + i, scores.data() + end, score);
            std::copy(targets.data() + i, targets.data() + end, target);
            std::copy(weights.data() + i, weights.data() + end, weight);
            sums.add(score, target, weight);
        }
        parts[c] = sums.total();
    });
    return parts.joined([](SigmoidLoss& all, const SigmoidLoss& part) { all.add(part); });
}

// Writes 1 / (1 + exp(a score + b)) for each score. O(n).
template <Real T>
void sigmoid_values(std::span<const T> scores, double a, double b, std::span<double> probabilities, Threads threads) {
    constexpr std::size_t kLanes = Simd<double>::kLanes;
    const Chunks chunks = Chunks::of(scores.size(), 1 << 13, 256);
    parallel_for(chunks.count, threads.for_work(8 * static_cast<double>(scores.size())), [&](std::size_t c) {
        for (std::size_t i = chunks.begin(c), end = chunks.end(c); i < end; i += kLanes) {
            const std::size_t n = std::min(kLanes, end - i);
            math::Vector raw = {};
            for (std::size_t l = 0; l < n; ++l) raw[l] = a * static_cast<double>(scores[i + l]) + b;
            const math::Vector probability = 1.0 / (1.0 + math::exp(raw));
            for (std::size_t l = 0; l < n; ++l) probabilities[i + l] = probability[l];
        }
    });
}

}  // namespace mercer::calibration
