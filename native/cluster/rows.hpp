// What clustering asks of rows beside their role in core/rows.hpp: distances to centres. A kernel is a template over Rows and asks
// it for
//   Rows::Centres(centres)                 the centres, prepared once
//   rows.run(k), rows.unit()               how many rows to search at a time for k centres; in multiples of how many
//   rows.capacity()                        what `run` is at most
//   Rows::Search(rows)                     scratch memory for one thread, with
//     nearest<kWithSecond>(ids, centres, found)      the nearest centres of some rows
//     squared_distances(ids, centres, out)           to out[i * k + c]
//   rows.squared_distance(id, centres, c)
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/distance.hpp"
#include "core/rows.hpp"

namespace mercer::cluster {

// Dense rows: several together meet blocks of the centres.
template <Real T>
struct DenseRows : mercer::DenseRows<T> {
    static constexpr std::size_t capacity() { return kMostGroups * kGroupRows<T>; }
    std::size_t run(std::size_t n_centres) const { return RowGroups<T>::capacity(this->cols(), n_centres); }
    static constexpr std::size_t unit() { return kGroupRows<T>; }

    struct Centres {
        explicit Centres(RowMajor<const T> c) : values(c), norms(half_norms(c)) {}
        RowMajor<const T> values;
        std::vector<T> norms;
    };

    double squared_distance(std::size_t row, const Centres& centres, std::size_t c) const {
        const T* centre = centres.values.row(c);
        return this->sum_over(row, [&](std::size_t j, T value) {
            const double difference = static_cast<double>(value) - static_cast<double>(centre[j]);
            return difference * difference;
        });
    }
    class Search {
       public:
        explicit Search(const DenseRows& source) : source_(source), groups_(source.cols()) {}

        template <bool kWithSecond>
        void nearest(std::span<const std::size_t> ids, const Centres& centres, Found<T>* found) {
            measure(
                Score{}, ids, {centres.values, centres.norms.data()},
                [](std::size_t, std::size_t) { return Nearest<T, kWithSecond>(); },
                [&](std::size_t first, std::size_t n, const auto& nearest) { nearest.write(n, found + first); });
        }
        void squared_distances(std::span<const std::size_t> ids, const Centres& centres, T* out) {
            const std::size_t k = centres.values.rows;
            measure(
                SquaredEuclidean{}, ids, {centres.values},
                [&](std::size_t first, std::size_t n) { return WriteAll<T>{out + first * k, k, n}; },
                [](std::size_t, std::size_t, const auto&) {});
        }

       private:
        // Calls start(first, n) and finish(first, n, collector) for the rows from `first` on, a group at a time.
        template <class M, class Start, class Finish>
        void measure(const M& metric, std::span<const std::size_t> ids, const Targets<T>& targets, Start&& start, Finish&& finish) {
            const std::size_t capacity = RowGroups<T>::capacity(source_.cols(), targets.values.rows);
            for (std::size_t begin = 0; begin < ids.size(); begin += capacity) {
                const std::size_t n = std::min(capacity, ids.size() - begin);
                groups_.fill(source_.x, source_.shift, ids.subspan(begin, n));
                const auto size = [&](std::size_t g) { return std::min(kGroupRows<T>, n - g * kGroupRows<T>); };
                groups_.measure(
                    metric, targets, [&](std::size_t g) { return start(begin + g * kGroupRows<T>, size(g)); },
                    [&](std::size_t g, const auto& collector) { finish(begin + g * kGroupRows<T>, size(g), collector); });
            }
        }

        const DenseRows& source_;
        RowGroups<T> groups_;
    };
};

// Sparse rows. The centres are turned feature by feature, so that an entry of a row is one pass over a line.
template <Real T>
struct CsrRows : mercer::CsrRows<T> {
    static constexpr std::size_t capacity() { return 16; }
    static std::size_t run(std::size_t) { return capacity(); }
    static constexpr std::size_t unit() { return capacity(); }

    struct Centres {
        explicit Centres(RowMajor<const T> c) : values(c), norms(half_norms(c)), lines(c.size()) {
            for (std::size_t i = 0; i < c.rows; ++i)
                for (std::size_t j = 0; j < c.cols; ++j) lines[j * c.rows + i] = c(i, j);
        }
        RowMajor<const T> values;
        std::vector<T> norms;
        std::vector<T> lines;
    };

    double squared_distance(std::size_t row, const Centres& centres, std::size_t c) const {
        const T* centre = centres.values.row(c);
        double sum = 2 * static_cast<double>(centres.norms[c]);
        this->for_each(row, [&](std::size_t j, double value) { sum += value * (value - 2 * static_cast<double>(centre[j])); });
        return std::max(sum, 0.0);
    }

    class Search {
       public:
        explicit Search(const CsrRows& source) : source_(source) {}

        template <bool kWithSecond>
        void nearest(std::span<const std::size_t> ids, const Centres& centres, Found<T>* found) {
            for (std::size_t i = 0; i < ids.size(); ++i) {
                score_row(ids[i], centres);
                Found<T> best{0, scores_[0], std::numeric_limits<T>::infinity()};
                for (std::size_t c = 1; c < scores_.size(); ++c) {
                    if (scores_[c] < best.best) {
                        best = {static_cast<std::int32_t>(c), scores_[c], best.best};
                    } else {
                        best.second = std::min(best.second, scores_[c]);
                    }
                }
                found[i] = best;
            }
        }
        void squared_distances(std::span<const std::size_t> ids, const Centres& centres, T* out) {
            for (std::size_t i = 0; i < ids.size(); ++i) {
                score_row(ids[i], centres);
                const auto norm = static_cast<T>(source_.squared_norm(ids[i]));
                for (std::size_t c = 0; c < scores_.size(); ++c)
                    out[i * scores_.size() + c] = std::max(T{0}, norm + 2 * scores_[c]);
            }
        }

       private:
        void score_row(std::size_t row, const Centres& centres) {
            scores_.assign(centres.norms.begin(), centres.norms.end());
            source_.for_each(row, [&](std::size_t j, T value) {
                const T* line = centres.lines.data() + j * scores_.size();
                for (std::size_t c = 0; c < scores_.size(); ++c) scores_[c] -= value * line[c];
            });
        }

        const CsrRows& source_;
        std::vector<T> scores_;
    };
};

}  // namespace mercer::cluster
