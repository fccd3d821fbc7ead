// Kernels of sequences of symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer::pairwise {

// Sequences one after another: sequence i is [starts[i], starts[i + 1]).
struct Sequences {
    std::span<const std::int32_t> symbols;
    std::span<const std::int64_t> starts;

    std::size_t count() const { return starts.size() - 1; }
    std::span<const std::int32_t> operator[](std::size_t i) const {
        return symbols.subspan(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(starts[i + 1] - starts[i]));
    }
};

// The gap-weighted subsequence kernel (Lodhi et al. 2002): the sum of decay^(span in s + span in t) over pairs of equal
// subsequences of `length` symbols, each with the symbols that it spans. `ends` and `sums` are scratch memory. O(length |s| |t|).
inline double subsequence_kernel(std::span<const std::int32_t> s, std::span<const std::int32_t> t, std::size_t length, double decay,
                                 std::vector<double>& ends, std::vector<double>& sums) {
    if (s.size() < length || t.size() < length) return 0;
    const std::size_t width = t.size() + 1;
    const double squared = decay * decay;
    ends.resize(s.size() * t.size());  // of subsequences so far that end with s_i and t_j
    for (std::size_t i = 0; i < s.size(); ++i)
        for (std::size_t j = 0; j < t.size(); ++j) ends[i * t.size() + j] = s[i] == t[j] ? squared : 0;
    for (std::size_t l = 1; l < length; ++l) {
        sums.assign(2 * width, 0);  // over the ends up to (i, j), decayed to there: two lines of the table
        double *above = sums.data(), *line = above + width;
        for (std::size_t i = 0; i < s.size(); ++i) {
            double* const end = ends.data() + i * t.size();
            line[0] = 0;
            for (std::size_t j = 0; j < t.size(); ++j) {
                line[j + 1] = end[j] + decay * (above[j + 1] + line[j]) - squared * above[j];
                end[j] = s[i] == t[j] ? squared * above[j] : 0;
            }
            std::swap(above, line);
        }
    }
    double total = 0;
    for (const double value : ends) total += value;
    return total;
}

// Writes the subsequence kernel of all pairs; y is x itself where `is_symmetric`. O(length |x| |y|), of all symbols.
inline void subsequence_kernels(const Sequences& x, const Sequences& y, bool is_symmetric, std::size_t length, double decay,
                                RowMajor<double> out, Threads threads) {
    const double work = static_cast<double>(x.symbols.size()) * static_cast<double>(y.symbols.size()) * static_cast<double>(length);
    parallel_for(x.count(), threads.for_work(work), [&](std::size_t i) {
        std::vector<double> ends, sums;
        for (std::size_t j = is_symmetric ? i : 0; j < y.count(); ++j) {
            out(i, j) = subsequence_kernel(x[i], y[j], length, decay, ends, sums);
            if (is_symmetric) out(j, i) = out(i, j);
            checkpoint();
        }
    });
}

// Writes the subsequence kernel of each sequence with itself.
inline void subsequence_diagonal(const Sequences& x, std::size_t length, double decay, std::span<double> out, Threads threads) {
    const double work = static_cast<double>(x.symbols.size()) * static_cast<double>(length) * 16;
    parallel_for(x.count(), threads.for_work(work), [&](std::size_t i) {
        std::vector<double> ends, sums;
        out[i] = subsequence_kernel(x[i], x[i], length, decay, ends, sums);
    });
}

}  // namespace mercer::pairwise
