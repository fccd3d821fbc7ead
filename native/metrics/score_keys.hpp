// Scores as whole numbers in falling order, so that they can be sorted by their digits.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "core/chunk_sums.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::metrics {

// The values among some scores; NaN and infinity only clear `is_finite`.
template <Real T>
struct ScoreRange {
    T least = std::numeric_limits<T>::infinity();
    T greatest = -std::numeric_limits<T>::infinity();
    T smallest = std::numeric_limits<T>::infinity();  // magnitude other than zero
    bool is_finite = true;

    static ScoreRange of(std::span<const T> scores) {
        using Vector = typename Simd<T>::Vector;
        constexpr std::size_t kLanes = Simd<T>::kLanes;
        const Vector zero = {}, infinity = Simd<T>::broadcast(std::numeric_limits<T>::infinity());
        Vector least = infinity, greatest = -infinity, smallest = infinity, poison = zero;
        std::size_t i = 0;
        for (; i + kLanes <= scores.size(); i += kLanes) {
            const Vector score = Simd<T>::load(scores.data() + i), magnitude = score < zero ? -score : score;
            poison += score * zero;  // NaN from NaN or infinity, and from then on
            least = score < least ? score : least;
            greatest = score > greatest ? score : greatest;
            smallest = (magnitude < smallest) & (magnitude > zero) ? magnitude : smallest;
        }
        ScoreRange range;
        for (std::size_t l = 0; l < kLanes; ++l) range.add({least[l], greatest[l], smallest[l], poison[l] == 0});
        for (; i < scores.size(); ++i) {
            const T magnitude = std::abs(scores[i]);
            range.add({scores[i], scores[i], magnitude > 0 ? magnitude : range.smallest, std::isfinite(scores[i])});
        }
        return range;
    }

    void add(const ScoreRange& other) {
        least = other.least < least ? other.least : least;
        greatest = other.greatest > greatest ? other.greatest : greatest;
        smallest = other.smallest < smallest ? other.smallest : smallest;
        is_finite = is_finite && other.is_finite;
    }
};

// The range of all scores. O(n), in parallel.
template <Real T>
ScoreRange<T> range_of(std::span<const T> scores, Threads threads) {
    const Chunks chunks = Chunks::of(scores.size(), 1 << 15, 64);
    ChunkParts<ScoreRange<T>> parts(chunks);
    parallel_for(chunks.count, threads.for_work(static_cast<double>(scores.size())), [&](std::size_t c) {
        parts[c] = ScoreRange<T>::of(scores.subspan(chunks.begin(c), chunks.end(c) - chunks.begin(c)));
    });
    return parts.joined([](ScoreRange<T>& all, const ScoreRange<T>& part) { all.add(part); });
}

// Counts the representable numbers between a score and the greatest one, where those nearer to zero than any score but zero
// itself are left out: equal scores have equal keys, greater scores smaller ones, and keys seldom need more than 63 bits.
template <Real T>
class ScoreKeys {
   public:
    explicit ScoreKeys(const ScoreRange<T>& range) : base_(bits(range.smallest)), top_(steps(range.greatest)) {
        most_ = distance(range.least);
    }

    // At most the key of the least score, also of one that was not among those of the range: keys index, and the scores may have
    // been written to since their range was found.
    std::uint64_t key(T score) const { return std::min(distance(score), most_); }
    std::uint64_t most() const { return most_; }  // the key of the least score

    T score(std::uint64_t key) const {
        const auto steps = static_cast<std::int64_t>(static_cast<std::uint64_t>(top_) - key);
        if (steps == 0) return 0;
        const auto magnitude = std::bit_cast<T>(static_cast<Bits>((steps < 0 ? -steps : steps) + base_ - 1));
        return steps < 0 ? -magnitude : magnitude;
    }

   private:
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

    static std::int64_t bits(T score) {
        return static_cast<std::int64_t>(std::bit_cast<Bits>(score) & (~Bits{0} >> 1));  // without the sign
    }
    std::uint64_t distance(T score) const { return static_cast<std::uint64_t>(top_) - static_cast<std::uint64_t>(steps(score)); }
    std::int64_t steps(T score) const {
        const std::int64_t magnitude = score == 0 ? 0 : bits(score) - base_ + 1;
        return score < 0 ? -magnitude : magnitude;
    }

    std::int64_t base_;
    std::int64_t top_;
    std::uint64_t most_ = 0;
};

}  // namespace mercer::metrics
