// Suprema of sums with random signs: what Rademacher complexities are means of.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/rng.hpp"
#include "core/views.hpp"

namespace mercer::theory {

// What is taken of the sum v of signed lines: |v|_2 (a ball of weights), max |v_j| (a ball of the l1 norm), max v_j (a finite
// class, a column each), or the root of the signed sum of v itself (a kernel matrix).
enum class Supremum { kEuclidean, kLargest, kMaximum, kForm };

// The signs of one draw, 32 lines at a time: those of a stream of its own, or the digits of its number, which goes through all.
class Signs {
   public:
    Signs(std::uint64_t seed, std::uint64_t draw, bool is_exact) : stream_(seed, draw), draw_(draw), is_exact_(is_exact) {}

    std::uint32_t next_word() {
        if (!is_exact_) return stream_.next_u32();
        const auto word = static_cast<std::uint32_t>(draw_);
        draw_ >>= 32;
        return word;
    }

   private:
    Philox stream_;
    std::uint64_t draw_;
    bool is_exact_;
};

// One supremum for each draw to `suprema`, without division by the number of lines. With `is_exact` draw k has the binary digits of
// k for signs. O(draws lines columns).
inline void sign_suprema(RowMajor<const double> lines, Supremum kind, std::uint64_t seed, bool is_exact, std::span<double> suprema,
                         Threads threads) {
    constexpr std::size_t kDraws = 8, kWord = 32;  // a line is read once for so many draws
    const std::size_t d = lines.cols, n_tasks = (suprema.size() + kDraws - 1) / kDraws;
    const double work = static_cast<double>(suprema.size()) * static_cast<double>(lines.size());
    parallel_for(n_tasks, threads.for_work(work), [&](std::size_t task) {
        const std::size_t first = task * kDraws, n_draws = std::min(kDraws, suprema.size() - first);
        std::vector<double> sums(n_draws * d);
        std::vector<std::uint32_t> words;  // of all draws, for forms
        std::vector<Signs> signs;
        for (std::size_t k = 0; k < n_draws; ++k) signs.emplace_back(seed, first + k, is_exact);
        for (std::size_t begin = 0; begin < lines.rows; begin += kWord) {
            checkpoint();
            std::array<std::uint32_t, kDraws> word{};
            for (std::size_t k = 0; k < n_draws; ++k) word[k] = signs[k].next_word();
            if (kind == Supremum::kForm) words.insert(words.end(), word.begin(), word.end());
            for (std::size_t i = begin; i < std::min(begin + kWord, lines.rows); ++i) {
                const double* const line = lines.row(i);
                for (std::size_t k = 0; k < n_draws; ++k) {
                    const double sign = (word[k] >> (i - begin) & 1U) != 0 ? 1.0 : -1.0;
                    double* const sum = sums.data() + k * d;
                    for (std::size_t j = 0; j < d; ++j) sum[j] += sign * line[j];
                }
            }
        }
        for (std::size_t k = 0; k < n_draws; ++k) {
            const std::span<const double> sum{sums.data() + k * d, d};
            double found = kind == Supremum::kMaximum ? sum[0] : 0.0;
            for (std::size_t j = 0; j < d; ++j) {
                switch (kind) {
                    case Supremum::kEuclidean:
                        found += sum[j] * sum[j];
                        break;
                    case Supremum::kLargest:
                        found = std::max(found, std::abs(sum[j]));
                        break;
                    case Supremum::kMaximum:
                        found = std::max(found, sum[j]);
                        break;
                    case Supremum::kForm:
                        found += (words[j / kWord * kDraws + k] >> (j % kWord) & 1U) != 0 ? sum[j] : -sum[j];
                        break;
                }
            }
            const bool is_square = kind == Supremum::kEuclidean || kind == Supremum::kForm;
            suprema[first + k] = is_square ? std::sqrt(std::max(found, 0.0)) : found;
        }
    });
}

}  // namespace mercer::theory
