// The work by rows of a primal-dual interior-point method (Mehrotra's predictor and corrector) for sums of piecewise linear losses.
//
// A piece is up max(t - z, 0) + low max(z - t, 0), where z is the linear value of its row. With slacks z + under - over = t its
// dual variable a lies in [-low, up], under is complementary to up - a, over to a + low, and each Newton step eliminates all three:
// what is left is a system in the coefficients, with one curvature and one slope a row. A row may have several pieces: those of
// row i are i, i + n, i + 2 n, and so on. A piece with low + up = 0 is absent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "core/chunk_sums.hpp"
#include "core/parallel.hpp"
#include "core/views.hpp"
#include "linear_model/linear_loss.hpp"

namespace mercer::linear_model {

// What does not change: rows target, low, up, of one column a piece.
struct Pieces {
    RowMajor<const double> fields;

    std::size_t count() const { return fields.cols; }
    double target(std::size_t k) const { return fields(0, k); }
    double low(std::size_t k) const { return fields(1, k); }
    double up(std::size_t k) const { return fields(2, k); }
    bool is_present(std::size_t k) const { return low(k) + up(k) > 0; }
};

namespace detail {

// One piece at the current point: its room to both bounds, and the curvature that it hands to its row.
struct PiecePoint {
    double dual, under, over;
    double to_up, to_low;
    double theta;

    PiecePoint(const Pieces& pieces, RowMajor<const double> state, std::size_t k)
        : dual(state(0, k)),
          under(state(1, k)),
          over(state(2, k)),
          to_up(pieces.up(k) - dual),
          to_low(dual + pieces.low(k)),
          theta(1 / (under / to_up + over / to_low)) {}
};

struct PieceStep {
    double dual, under, over;
};

// The step that aims at complementarity products of zero (affine scaling). `gap` is t - z, `change` the step of z.
inline PieceStep affine_step(const PiecePoint& at, double gap, double change) {
    const double dual = at.theta * (gap - change);
    return {dual, at.under * (dual / at.to_up - 1), -at.over * (dual / at.to_low + 1)};
}

// What the complementarity products shall become, when the second-order terms of the affine step are taken off.
struct Aim {
    double under, over;

    Aim(const PieceStep& affine, double centre)
        : under(centre + affine.under * affine.dual), over(centre - affine.over * affine.dual) {}
};

// t - z as the corrected system has it.
inline double corrected_gap(const PiecePoint& at, const Aim& aim, double gap) {
    return gap - aim.under / at.to_up + aim.over / at.to_low;
}

inline PieceStep corrected_step(const PiecePoint& at, const Aim& aim, double gap, double change) {
    const double dual = at.theta * (corrected_gap(at, aim, gap) - change);
    return {dual, aim.under / at.to_up + at.under * (dual / at.to_up - 1), aim.over / at.to_low - at.over * (dual / at.to_low + 1)};
}

// The longest steps that keep slacks and room to the bounds from falling below zero; at most `kFar`.
struct StepLimits {
    static constexpr double kFar = 1e6;
    double primal = kFar;
    double dual = kFar;

    void tighten(const PiecePoint& at, const PieceStep& step) {
        limit(primal, at.under, step.under);
        limit(primal, at.over, step.over);
        limit(dual, at.to_up, -step.dual);
        limit(dual, at.to_low, step.dual);
    }
    void join(const StepLimits& other) {
        primal = std::min(primal, other.primal);
        dual = std::min(dual, other.dual);
    }

   private:
    static void limit(double& step, double value, double direction) {
        if (value + step * direction < 0) step = value / -direction;
    }
};

inline Chunks piece_chunks(std::size_t n_rows) { return Chunks::of(n_rows, 2048, 256); }

// Calls body(chunk, row) for every row.
template <class Body>
void for_each_row_of_pieces(const Chunks& chunks, std::size_t n_pieces, Threads threads, Body&& body) {
    parallel_for(chunks.count, threads.for_work(30.0 * static_cast<double>(n_pieces)), [&](std::size_t chunk) {
        for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) body(chunk, i);
    });
}

}  // namespace detail

// Writes the curvature of each row and, as its slope, the dual of the row plus curvature times (t - z): the right side of the
// affine system is X' slopes. O(pieces).
inline void interior_system(Pieces pieces, RowMajor<const double> state, std::span<const double> values, std::span<double> slopes,
                            std::span<double> curvatures, Threads threads) {
    const std::size_t n = values.size();
    detail::for_each_row_of_pieces(detail::piece_chunks(n), pieces.count(), threads, [&](std::size_t, std::size_t i) {
        slopes[i] = curvatures[i] = 0;
        for (std::size_t k = i; k < pieces.count(); k += n) {
            if (!pieces.is_present(k)) continue;
            const detail::PiecePoint at(pieces, state, k);
            slopes[i] += at.dual + at.theta * (pieces.target(k) - values[i]);
            curvatures[i] += at.theta;
        }
    });
}

// For the affine step, with `changes` of the linear values: writes to `summary` the longest primal and dual steps and the sums
// S0, S1, S2, S3 of which S0 + p S1 + d S2 + p d S3 is the sum of complementarity products after steps p and d. O(pieces).
inline void interior_predict(Pieces pieces, RowMajor<const double> state, std::span<const double> values,
                             std::span<const double> changes, std::span<double> summary, Threads threads) {
    const std::size_t n = values.size();
    const Chunks chunks = detail::piece_chunks(n);
    struct Part {
        detail::StepLimits limits;
        double sums[4] = {};
    };
    ChunkParts<Part> parts(chunks);
    detail::for_each_row_of_pieces(chunks, pieces.count(), threads, [&](std::size_t chunk, std::size_t i) {
        Part& part = parts[chunk];
        for (std::size_t k = i; k < pieces.count(); k += n) {
            if (!pieces.is_present(k)) continue;
            const detail::PiecePoint at(pieces, state, k);
            const detail::PieceStep step = detail::affine_step(at, pieces.target(k) - values[i], changes[i]);
            part.limits.tighten(at, step);
            part.sums[0] += at.under * at.to_up + at.over * at.to_low;
            part.sums[1] += step.under * at.to_up + step.over * at.to_low;
            part.sums[2] += (at.over - at.under) * step.dual;
            part.sums[3] += (step.over - step.under) * step.dual;
        }
    });
    const Part all = parts.joined([](Part& sum, const Part& part) {
        sum.limits.join(part.limits);
        for (std::size_t j = 0; j < 4; ++j) sum.sums[j] += part.sums[j];
    });
    summary[0] = all.limits.primal;
    summary[1] = all.limits.dual;
    std::copy_n(all.sums, 4, summary.data() + 2);
}

// Writes the slopes of the corrected system, whose complementarity products aim at `centre`. `affine` holds the changes of the
// linear values under the affine step. O(pieces).
inline void interior_correct(Pieces pieces, RowMajor<const double> state, std::span<const double> values,
                             std::span<const double> affine, double centre, std::span<double> slopes, Threads threads) {
    const std::size_t n = values.size();
    detail::for_each_row_of_pieces(detail::piece_chunks(n), pieces.count(), threads, [&](std::size_t, std::size_t i) {
        slopes[i] = 0;
        for (std::size_t k = i; k < pieces.count(); k += n) {
            if (!pieces.is_present(k)) continue;
            const detail::PiecePoint at(pieces, state, k);
            const double gap = pieces.target(k) - values[i];
            const detail::Aim aim(detail::affine_step(at, gap, affine[i]), centre);
            slopes[i] += at.dual + at.theta * detail::corrected_gap(at, aim, gap);
        }
    });
}

// Writes the corrected step of duals and slacks, with `changes` of the linear values, to `step`, and the longest primal and dual
// steps to `limits`. O(pieces).
inline void interior_step(Pieces pieces, RowMajor<const double> state, std::span<const double> values,
                          std::span<const double> affine, std::span<const double> changes, double centre, RowMajor<double> step,
                          std::span<double> limits, Threads threads) {
    const std::size_t n = values.size();
    const Chunks chunks = detail::piece_chunks(n);
    ChunkParts<detail::StepLimits> parts(chunks);
    detail::for_each_row_of_pieces(chunks, pieces.count(), threads, [&](std::size_t chunk, std::size_t i) {
        for (std::size_t k = i; k < pieces.count(); k += n) {
            step(0, k) = step(1, k) = step(2, k) = 0;
            if (!pieces.is_present(k)) continue;
            const detail::PiecePoint at(pieces, state, k);
            const double gap = pieces.target(k) - values[i];
            const detail::Aim aim(detail::affine_step(at, gap, affine[i]), centre);
            const detail::PieceStep moved = detail::corrected_step(at, aim, gap, changes[i]);
            parts[chunk].tighten(at, moved);
            step(0, k) = moved.dual;
            step(1, k) = moved.under;
            step(2, k) = moved.over;
        }
    });
    const auto all = parts.joined([](detail::StepLimits& least, const detail::StepLimits& part) { least.join(part); });
    limits[0] = all.primal;
    limits[1] = all.dual;
}

// Moves the state along `step`: slacks by `primal`, duals by `dual`. O(pieces).
inline void interior_move(RowMajor<const double> step, double primal, double dual, RowMajor<double> state, Threads threads) {
    const Chunks chunks = detail::piece_chunks(state.cols);
    const double lengths[3] = {dual, primal, primal};
    parallel_for(chunks.count, threads.for_work(6.0 * static_cast<double>(state.cols)), [&](std::size_t chunk) {
        for (std::size_t field = 0; field < 3; ++field)
            for (std::size_t k = chunks.begin(chunk); k < chunks.end(chunk); ++k)
                state(field, k) += lengths[field] * step(field, k);
    });
}

// Writes to `totals`, over all pieces: the loss at the linear values, and of the duals a the sums of t a, a, up - a and a + low.
// O(pieces).
inline void interior_totals(Pieces pieces, std::span<const double> duals, std::span<const double> values, std::span<double> totals,
                            Threads threads) {
    const std::size_t n = values.size();
    const Chunks chunks = detail::piece_chunks(n);
    constexpr std::size_t kTotals = 5;
    ChunkSums<double> parts(chunks, kTotals);
    detail::for_each_row_of_pieces(chunks, pieces.count(), threads, [&](std::size_t chunk, std::size_t i) {
        double* part = parts[chunk];
        for (std::size_t k = i; k < pieces.count(); k += n) {
            if (!pieces.is_present(k)) continue;
            const double gap = pieces.target(k) - values[i];
            part[0] += gap > 0 ? pieces.up(k) * gap : -pieces.low(k) * gap;
            part[1] += pieces.target(k) * duals[k];
            part[2] += duals[k];
            part[3] += pieces.up(k) - duals[k];
            part[4] += duals[k] + pieces.low(k);
        }
    });
    std::ranges::copy(parts.total(), totals.begin());
}

// Writes the sum of slopes_i (x_i - shift, 1) over the rows to `sums`. O(n d).
template <Real T>
void slope_sums(Matrix<const T> x, std::span<const double> shift, std::span<const double> slopes, std::span<double> sums,
                Threads threads) {
    const std::size_t q = x.cols + 1;
    const std::size_t p = Simd<double>::round_up(q);
    const Chunks chunks = detail::sample_chunks(x.rows, q, p);
    ChunkSums<double> parts(chunks, p);
    const double work = static_cast<double>(x.rows) * static_cast<double>(q);
    detail::for_each_row_block(x, shift, p, chunks, threads.for_work(work),
                               [&](const double* block, std::size_t n, std::size_t first, std::size_t chunk) {
                                   detail::add_slopes(block, n, p, slopes.data() + first, parts[chunk]);
                               });
    std::copy_n(parts.total().data(), q, sums.data());
}

}  // namespace mercer::linear_model
