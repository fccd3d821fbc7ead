// Scores of two classes from the greatest to the least: one sort from which every curve and its areas follow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/radix_sort.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "metrics/score_keys.hpp"

namespace mercer::metrics {

// A row without weight: its key, and in the last bit whether it is positive.
struct PlainRow {
    std::uint64_t bits;

    std::uint64_t sort_key() const { return bits; }
    std::uint64_t score_key() const { return bits >> 1; }
    bool is_positive() const { return bits & 1; }
    double weight() const { return 1; }
};

class WeightedRow {
   public:
    WeightedRow(std::uint64_t key, double weight, bool is_positive) : key_(key), weight_(weight), is_positive_(is_positive) {}

    std::uint64_t sort_key() const { return key_; }
    std::uint64_t score_key() const { return key_; }
    bool is_positive() const { return is_positive_; }
    double weight() const { return weight_; }

   private:
    std::uint64_t key_;
    double weight_;
    bool is_positive_;
};

// What has a score of at least some cut-off: the weight of the positive rows and of the others.
struct Found {
    double positive = 0;
    double negative = 0;
};
inline Found operator+(Found a, Found b) { return {a.positive + b.positive, a.negative + b.negative}; }

// The sorted rows, in runs that can be walked side by side: none begins amid equal scores.
template <class Row>
class RankedRows {
   public:
    // Takes over n rows in any order, whose sort keys are at most `most`.
    RankedRows(Aligned<Row> rows, std::size_t n, std::uint64_t most, Threads threads) : rows_(std::move(rows)), n_(n) {
        {
            Aligned<Row> scratch(n);
            const auto key_of = [](const Row& row) { return row.sort_key(); };
            if (radix_sort(rows_.data(), scratch.data(), n, key_of, most, threads) != rows_.data()) std::swap(rows_, scratch);
        }
        const Chunks chunks = Chunks::of(n, 1 << 14, 256);
        runs_.resize(chunks.count + 1);
        std::vector<Run> totals(chunks.count);
        for (std::size_t c = 0; c <= chunks.count; ++c) runs_[c].begin = c < chunks.count ? next_score(chunks.begin(c)) : n;
        parallel_for(chunks.count, threads.for_work(2 * static_cast<double>(n)), [&](std::size_t c) {
            totals[c].n_cuts = walk(c, [](std::size_t, std::uint64_t, Found, Found) {}, totals[c].before);
        });
        for (std::size_t c = 0; c < chunks.count; ++c) {
            runs_[c + 1].n_cuts = runs_[c].n_cuts + totals[c].n_cuts;
            runs_[c + 1].before = runs_[c].before + totals[c].before;
        }
    }

    std::size_t n_cuts() const { return runs_.back().n_cuts; }
    Found total() const { return runs_.back().before; }

    // Calls visit(number of the cut, key, found above it, found down to it) for each distinct score, in falling order within a run.
    // Runs are shared among the threads; what `visit` returns is added up run by run, and then in the order of the runs.
    template <class Visit>
    double sum_over_cuts(Threads threads, Visit&& visit) const {
        std::vector<double> sums(runs_.size() - 1);
        parallel_for(sums.size(), threads.for_work(2 * static_cast<double>(n_)), [&](std::size_t c) {
            double sum = 0;
            Found here;
            const Found before = runs_[c].before;
            const auto term = [&](std::size_t number, std::uint64_t key, Found above, Found upto) {
                sum += visit(runs_[c].n_cuts + number, key, before + above, before + upto);
            };
            walk(c, term, here);
            sums[c] = sum;
        });
        double sum = 0;
        for (const double part : sums) sum += part;
        return sum;
    }

   private:
    struct Run {
        std::size_t begin = 0;
        std::size_t n_cuts = 0;  // before it
        Found before;
    };

    // The first row from the i-th on whose score differs from the one before. O(log n).
    std::size_t next_score(std::size_t i) const {
        if (i == 0 || i >= n_) return i;
        const std::uint64_t key = rows_[i - 1].score_key();
        const Row *first = rows_.data(), *end = first + n_;
        const auto is_same = [key](const Row& row) { return row.score_key() == key; };
        return static_cast<std::size_t>(std::partition_point(first + i, end, is_same) - first);
    }

    // Walks over one run. Writes what it holds to `found` and returns its number of cuts.
    template <class Term>
    std::size_t walk(std::size_t run, Term&& term, Found& found) const {
        std::size_t n_cuts = 0;
        Found above;
        for (std::size_t i = runs_[run].begin, end = runs_[run + 1].begin; i < end; ++n_cuts) {
            const std::uint64_t key = rows_[i].score_key();
            Found upto = above;
            do {
                const double weight = rows_[i].weight();
                upto.positive += rows_[i].is_positive() ? weight : 0;
                upto.negative += rows_[i].is_positive() ? 0 : weight;
            } while (++i < end && rows_[i].score_key() == key);
            term(n_cuts, key, above, upto);
            above = upto;
        }
        found = above;
        return n_cuts;
    }

    Aligned<Row> rows_;
    std::size_t n_;
    std::vector<Run> runs_;
};

template <Real T>
class RankedScores {
   public:
    // Ranks the rows by score; a row is positive where its label is. Rows of weight zero are as if absent. `weights` is empty or
    // has one value a row. Scores must be finite: `is_finite` is false otherwise, and nothing else may then be asked. O(n).
    RankedScores(std::span<const T> scores, std::span<const std::int64_t> labels, std::int64_t positive,
                 std::span<const double> weights, Threads threads)
        : range_(range_of(scores, threads)), keys_(range_) {
        if (!range_.is_finite || scores.empty()) return;
        constexpr auto kMostPlain = std::uint64_t{1} << 63;
        if (weights.empty() && keys_.most() < kMostPlain) {
            const auto row = [&](std::size_t i) {
                return PlainRow{keys_.key(scores[i]) << 1 | std::uint64_t{labels[i] == positive}};
            };
            Aligned<PlainRow> rows(scores.size());
            const Chunks chunks = Chunks::of(scores.size(), 1 << 15, 64);
            parallel_for(chunks.count, threads.for_work(2 * static_cast<double>(scores.size())), [&](std::size_t c) {
                for (std::size_t i = chunks.begin(c); i < chunks.end(c); ++i) rows[i] = row(i);
            });
            ranked_.template emplace<RankedRows<PlainRow>>(std::move(rows), scores.size(), keys_.most() << 1 | 1, threads);
        } else {
            Aligned<WeightedRow> rows(scores.size());
            std::size_t n = 0;
            for (std::size_t i = 0; i < scores.size(); ++i) {
                const double weight = weights.empty() ? 1 : weights[i];
                rows[n] = WeightedRow(keys_.key(scores[i]), weight, labels[i] == positive);
                n += weight != 0;
            }
            ranked_.template emplace<RankedRows<WeightedRow>>(std::move(rows), n, keys_.most(), threads);
        }
    }

    bool is_finite() const { return range_.is_finite; }
    std::size_t n_cuts() const {
        return visit(0, [](const auto& rows) { return rows.n_cuts(); });
    }
    Found total() const {
        return visit(Found{}, [](const auto& rows) { return rows.total(); });
    }

    // The area under the ROC curve, times the weight of the positive rows and that of the others.
    double roc_area(Threads threads) const {
        const auto trapezium = [](std::size_t, std::uint64_t, Found above, Found upto) {
            return (upto.negative - above.negative) * (upto.positive + above.positive);  // exact where there are no weights
        };
        return visit(0.0, [&](const auto& rows) { return rows.sum_over_cuts(threads, trapezium) / 2; });
    }

    // The sum of precision times gain in recall over the cuts, times the weight of the positive rows.
    double average_precision(Threads threads) const {
        const auto step = [](std::size_t, std::uint64_t, Found above, Found upto) {
            const double all = upto.positive + upto.negative;
            return all == 0 ? 0 : (upto.positive - above.positive) * (upto.positive / all);
        };
        return visit(0.0, [&](const auto& rows) { return rows.sum_over_cuts(threads, step); });
    }

    // Writes each distinct score, falling, and the weight of the positive rows and of the others with at least that score.
    void curve(std::span<T> scores, std::span<double> positive, std::span<double> negative, Threads threads) const {
        visit(0.0, [&](const auto& rows) {
            return rows.sum_over_cuts(threads, [&](std::size_t cut, std::uint64_t key, Found, Found upto) {
                scores[cut] = keys_.score(key);
                positive[cut] = upto.positive;
                negative[cut] = upto.negative;
                return 0.0;
            });
        });
    }

   private:
    template <class Result, class Function>
    Result visit(Result none, Function&& function) const {
        if (const auto* plain = std::get_if<RankedRows<PlainRow>>(&ranked_)) return static_cast<Result>(function(*plain));
        if (const auto* weighted = std::get_if<RankedRows<WeightedRow>>(&ranked_)) return static_cast<Result>(function(*weighted));
        return none;
    }

    ScoreRange<T> range_;
    ScoreKeys<T> keys_;
    std::variant<std::monostate, RankedRows<PlainRow>, RankedRows<WeightedRow>> ranked_;
};

}  // namespace mercer::metrics
