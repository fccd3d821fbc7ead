// Dense or sparse rows as one role. A kernel is a template over Rows and asks it for
//   Rows::Centres(centres)                 the centres, prepared once
//   rows.capacity(), rows.n_entries()      how many rows to search at a time; how many numbers the rows hold
//   Rows::Search(rows)                     scratch memory for one thread, with
//     nearest<kWithSecond>(ids, centres, found)      the nearest centres of some rows
//     squared_distances(ids, centres, out)           to out[i * k + c]
//   rows.squared_distance(id, centres, c), rows.squared_norm(id), rows.add_to(id, factor, sums)
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "cluster/nearest.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

// Dense rows, read in place through any strides, seen shifted by a common vector.
template <Real T>
struct DenseRows {
    using Value = T;
    Matrix<const T> x;
    std::span<const T> shift;

    std::size_t rows() const { return x.rows; }
    std::size_t cols() const { return x.cols; }
    static constexpr std::size_t capacity() { return kGroupRows<T>; }
    std::size_t n_entries() const { return x.rows * x.cols; }
    T at(std::size_t row, std::size_t j) const { return x(row, j) - (shift.empty() ? T{0} : shift[j]); }

    struct Centres {
        explicit Centres(RowMajor<const T> c) : values(c), norms(half_norms(c)) {}
        RowMajor<const T> values;
        std::vector<T> norms;
    };

    double squared_distance(std::size_t row, const Centres& centres, std::size_t c) const {
        const T* centre = centres.values.row(c);
        return sum_over(row, [&](std::size_t j, T value) {
            const double difference = static_cast<double>(value) - static_cast<double>(centre[j]);
            return difference * difference;
        });
    }
    double squared_norm(std::size_t row) const {
        return sum_over(row, [](std::size_t, T value) { return static_cast<double>(value) * value; });
    }
    void add_to(std::size_t row, double factor, double* target) const {
        if (!x.has_contiguous_rows() || shift.empty()) {
            for (std::size_t j = 0; j < x.cols; ++j) target[j] += factor * static_cast<double>(at(row, j));
            return;
        }
        const T* source = x.row(row);
        for (std::size_t j = 0; j < x.cols; ++j) target[j] += factor * static_cast<double>(source[j] - shift[j]);
    }

    class Search {
       public:
        explicit Search(const DenseRows& source)
            : source_(source), rows_(Simd<T>::kLanes * source.cols()), group_(source.cols() * kGroupRows<T>) {}

        template <bool kWithSecond>
        void nearest(std::span<const std::size_t> ids, const Centres& centres, Found<T>* found) {
            gather(ids);
            Nearest<T, kWithSecond> collector;
            measure_group<Measure::kScore>(group_.data(), centres.values, centres.norms.data(), collector);
            collector.write(ids.size(), found);
        }
        void squared_distances(std::span<const std::size_t> ids, const Centres& centres, T* out) {
            gather(ids);
            WriteAll<T> collector{out, centres.values.rows, ids.size()};
            measure_group<Measure::kSquared>(group_.data(), centres.values, centres.norms.data(), collector);
        }

       private:
        // Copies rows into the group, shifted and transposed. Lanes without a row hold what the last row holds.
        void gather(std::span<const std::size_t> ids) {
            if (ids.empty()) return;
            const T* lines[Simd<T>::kLanes];
            // Long rows are copied one after the other first: reading memory in order is twice as fast as some of each row in turn.
            const bool needs_copy = !source_.x.has_contiguous_rows() || source_.cols() * sizeof(T) >= 256;
            for (std::size_t first = 0; first < kGroupRows<T>; first += Simd<T>::kLanes) {
                for (std::size_t lane = 0; lane < Simd<T>::kLanes; ++lane) {
                    const std::size_t row = ids[std::min(first + lane, ids.size() - 1)];
                    lines[lane] = needs_copy ? copy_shifted(row, lane) : source_.x.row(row);
                }
                transpose_lines(lines, needs_copy || source_.shift.empty() ? nullptr : source_.shift.data(), group_.data() + first);
            }
        }

        const T* copy_shifted(std::size_t row, std::size_t lane) const {
            T* copy = rows_.data() + lane * source_.cols();
            if (!source_.x.has_contiguous_rows() || source_.shift.empty()) {
                for (std::size_t j = 0; j < source_.cols(); ++j) copy[j] = source_.at(row, j);
                return copy;
            }
            const T* source = source_.x.row(row);
            const T* shift = source_.shift.data();
            for (std::size_t j = 0; j < source_.cols(); ++j) copy[j] = source[j] - shift[j];
            return copy;
        }

        void transpose_lines(const T* const* lines, const T* shift, T* out) const {
            using S = Simd<T>;
            const std::size_t d = source_.cols();
            std::size_t j = 0;
            for (; j + S::kLanes <= d; j += S::kLanes) {
                const typename S::Vector offset = shift ? S::load(shift + j) : typename S::Vector{};
                typename S::Vector square[S::kLanes];
#pragma GCC unroll 16
                for (std::size_t i = 0; i < S::kLanes; ++i) square[i] = S::load(lines[i] + j) - offset;
                transpose<T>(square);
#pragma GCC unroll 16
                for (std::size_t i = 0; i < S::kLanes; ++i) S::store(out + (j + i) * kGroupRows<T>, square[i]);
            }
            for (; j < d; ++j)
                for (std::size_t i = 0; i < S::kLanes; ++i) out[j * kGroupRows<T> + i] = lines[i][j] - (shift ? shift[j] : T{0});
        }

        const DenseRows& source_;
        Aligned<T> rows_;  // as many as a vector has lanes
        Aligned<T> group_;
    };

   private:
    template <class Term>
    double sum_over(std::size_t row, Term&& term) const {
        if (x.has_contiguous_rows() && !shift.empty()) {
            const T* source = x.row(row);
            return lane_sum(x.cols, [&](std::size_t j) { return term(j, source[j] - shift[j]); });
        }
        return lane_sum(x.cols, [&](std::size_t j) { return term(j, at(row, j)); });
    }
};

// Sparse rows, unshifted (a shift would fill them). The centres are turned feature by feature, so that an entry of a row is one
// pass over a line.
template <Real T>
struct CsrRows {
    using Value = T;
    Csr<T> x;

    std::size_t rows() const { return x.rows; }
    std::size_t cols() const { return x.cols; }
    static constexpr std::size_t capacity() { return 16; }
    std::size_t n_entries() const { return static_cast<std::size_t>(x.row_starts.back()); }

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
        for (std::size_t e = x.begin(row); e < x.end(row); ++e) {
            const double value = x.values[e];
            const double coordinate = centre[x.columns[e]];
            sum += value * (value - 2 * coordinate);
        }
        return std::max(sum, 0.0);
    }
    double squared_norm(std::size_t row) const {
        double sum = 0;
        for (std::size_t e = x.begin(row); e < x.end(row); ++e) sum += static_cast<double>(x.values[e]) * x.values[e];
        return sum;
    }
    void add_to(std::size_t row, double factor, double* target) const {
        for (std::size_t e = x.begin(row); e < x.end(row); ++e) target[x.columns[e]] += factor * static_cast<double>(x.values[e]);
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
            for (std::size_t e = source_.x.begin(row); e < source_.x.end(row); ++e) {
                const T value = source_.x.values[e];
                const T* line = centres.lines.data() + static_cast<std::size_t>(source_.x.columns[e]) * scores_.size();
                for (std::size_t c = 0; c < scores_.size(); ++c) scores_[c] -= value * line[c];
            }
        }

        const CsrRows& source_;
        std::vector<T> scores_;
    };
};

}  // namespace mercer::cluster
