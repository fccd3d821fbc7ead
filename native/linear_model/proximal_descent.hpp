// Coordinate descent for the quadratic models of a proximal Newton method: m(w) + sum_j (l1_j |w_j| + l2_j/2 w_j^2).
//
// The model is given by its gradient and either its Hessian as a matrix, or the curvatures of rows and the columns of X. Columns
// are a type: dense or sparse ones answer the same questions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::linear_model {

inline double soft_threshold(double z, double t) { return z > t ? z - t : z < -t ? z + t : 0.0; }

// Dense columns; fast where they are contiguous.
struct DenseColumns {
    Matrix<const double> x;

    std::size_t rows() const { return x.rows; }
    std::size_t cols() const { return x.cols; }
    std::size_t n_entries() const { return x.rows * x.cols; }
    // The sum of term(row, value) over the entries of a column.
    template <class Term>
    double sum(std::size_t j, Term&& term) const {
        return lane_sum(x.rows, [&](std::size_t i) { return term(i, x(i, j)); });
    }
    template <class Body>
    void for_each(std::size_t j, Body&& body) const {
        for (std::size_t i = 0; i < x.rows; ++i) body(i, x(i, j));
    }
};

// Sparse columns: the rows of a compressed matrix are the columns of X.
struct SparseColumns {
    Csr<double> x;

    std::size_t rows() const { return x.cols; }
    std::size_t cols() const { return x.rows; }
    std::size_t n_entries() const { return x.values.size(); }
    std::size_t row(std::size_t entry) const { return static_cast<std::size_t>(x.columns[entry]); }
    template <class Term>
    double sum(std::size_t j, Term&& term) const {
        double sums[4] = {};  // four at a time: additions need not wait for one another
        std::size_t e = x.begin(j);
        for (; e + 4 <= x.end(j); e += 4)
            for (std::size_t k = 0; k < 4; ++k) sums[k] += term(row(e + k), x.values[e + k]);
        for (; e < x.end(j); ++e) sums[0] += term(row(e), x.values[e]);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    template <class Body>
    void for_each(std::size_t j, Body&& body) const {
        for (std::size_t e = x.begin(j); e < x.end(j); ++e) body(row(e), x.values[e]);
    }
};

// out[j * n_outputs + k] = the product of column j and the values of output k (rows x n_outputs). O(entries K).
template <class Columns>
void column_products(const Columns& columns, RowMajor<const double> values, RowMajor<double> out, Threads threads) {
    const std::size_t n_outputs = values.cols;
    std::vector<double> transposed;
    const double* of_outputs = values.data;
    if (n_outputs > 1) {
        transposed.resize(values.size());
        for (std::size_t i = 0; i < values.rows; ++i)
            for (std::size_t k = 0; k < n_outputs; ++k) transposed[k * values.rows + i] = values(i, k);
        of_outputs = transposed.data();
    }
    const Chunks chunks = Chunks::of(columns.cols(), 16, 256);
    const double work = 2.0 * static_cast<double>(columns.n_entries()) * static_cast<double>(n_outputs);
    parallel_for(chunks.count, threads.for_work(work), [&](std::size_t chunk) {
        for (std::size_t j = chunks.begin(chunk); j < chunks.end(chunk); ++j)
            for (std::size_t k = 0; k < n_outputs; ++k)
                out(j, k) = columns.sum(j, [&](std::size_t i, double v) { return v * of_outputs[k * values.rows + i]; });
    });
}

// When a descent ends: after a sweep in which no coordinate's move, times its curvature, exceeds `tol`, or after `most_sweeps`.
struct DescentRule {
    double tol = 0;
    std::size_t most_sweeps = 1;
};

// Minimises g' (w - w0) + (w - w0)' H (w - w0) / 2 + sum_j l1_j |w_j| over w, from w = w0 on; coordinates without curvature stay.
// Returns the number of sweeps. O(q^2) a sweep, less where few coordinates move.
inline std::size_t descend_on_hessian(RowMajor<const double> hessian, std::span<const double> gradient, std::span<const double> l1,
                                      std::span<double> w, DescentRule rule) {
    const std::size_t q = w.size();
    std::vector<double> slope(gradient.begin(), gradient.end());
    std::size_t sweep = 0;
    for (double largest = rule.tol + 1; sweep < rule.most_sweeps && largest > rule.tol; ++sweep) {
        checkpoint();
        largest = 0;
        for (std::size_t j = 0; j < q; ++j) {
            const double h = hessian(j, j);
            if (!(h > 0)) continue;
            const double delta = soft_threshold(h * w[j] - slope[j], l1[j]) / h - w[j];
            if (delta == 0 || !std::isfinite(delta)) continue;
            w[j] += delta;
            largest = std::max(largest, h * std::abs(delta));
            const double* line = hessian.row(j);
            for (std::size_t i = 0; i < q; ++i) slope[i] += delta * line[i];
        }
    }
    return sweep;
}

// The softmax model of rows: probabilities p and weights times probabilities w, a line of n for each of K outputs. Row i has the
// Hessian diag(w_i) - w_i p_i' in its K linear values; `change` (K x n) is what these have changed by so far.
struct RowModel {
    std::span<const double> row_weights;
    RowMajor<const double> probabilities;
    RowMajor<const double> weighted;
    RowMajor<double> change;

    std::size_t outputs() const { return change.rows; }
    std::size_t rows() const { return change.cols; }
};

namespace detail {

// How hard the rows pull back: entry (k, i) of Hessian times change is w_ki (change_ki - mean_i), for the mean of the changes of
// a row under its probabilities, which is kept.
class JointPull {
   public:
    explicit JointPull(RowModel model) : model_(model), mean_(model.rows(), 0.0) {
        for (std::size_t k = 0; k < model.outputs(); ++k)
            for (std::size_t i = 0; i < model.rows(); ++i) mean_[i] += model.probabilities(k, i) * model.change(k, i);
    }
    double at(std::size_t k, std::size_t i) const { return model_.weighted(k, i) * (model_.change(k, i) - mean_[i]); }
    double curvature(std::size_t k, std::size_t i) const { return model_.weighted(k, i) * (1 - model_.probabilities(k, i)); }
    void move(std::size_t k, std::size_t i, double step) {
        model_.change(k, i) += step;
        mean_[i] += model_.probabilities(k, i) * step;
    }

   private:
    RowModel model_;
    std::vector<double> mean_;
};

}  // namespace detail

// The coordinates that a descent on columns may move: coefficient c belongs to column columns[c] and output outputs[c].
struct Coordinates {
    std::span<const std::int32_t> columns;
    std::span<const std::int32_t> outputs;
    std::span<const double> gradient;
    std::span<double> coef;

    std::size_t size() const { return columns.size(); }
    std::size_t column(std::size_t c) const { return static_cast<std::size_t>(columns[c]); }
    std::size_t output(std::size_t c) const { return static_cast<std::size_t>(outputs[c]); }
};

// One intercept for each output, without a penalty: its gradient, and how far it has moved. Empty where there are none.
struct Intercepts {
    std::span<const double> gradient;
    std::span<double> moves;
};

// l1 |w| + l2/2 w^2, and `damping` times a quarter of x'S x, the most that a logistic loss can curve, times (w - w0)^2 / 2: where
// rows are nearly certain the model is almost flat, but only nearby.
struct ModelPenalty {
    double l1 = 0;
    double l2 = 0;
    double damping = 0;
};

namespace detail {

// Coordinate descent for several outputs.
template <class Columns>
class JointDescent {
   public:
    JointDescent(const Columns& x, RowModel model, Coordinates at, Intercepts intercepts, ModelPenalty penalty)
        : x_(x),
          n_(model.rows()),
          pull_(model),
          at_(at),
          intercepts_(intercepts),
          penalty_(penalty),
          start_(at.coef.begin(), at.coef.end()),
          curvature_(at.size()),
          damping_(at.size()) {
        for (std::size_t c = 0; c < at.size(); ++c) {
            if (c % 1024 == 0) checkpoint();
            const std::size_t k = at.output(c);
            const double most = x.sum(at.column(c), [&](std::size_t i, double v) { return v * v * model.row_weights[i]; });
            damping_[c] = penalty.damping * most / 4;
            curvature_[c] = damping_[c] + penalty.l2 +
                            x.sum(at.column(c), [&](std::size_t i, double v) { return v * v * pull_.curvature(k, i); });
        }
        for (std::size_t k = 0; k < intercepts.moves.size(); ++k)
            totals_.push_back(lane_sum(n_, [&](std::size_t i) { return pull_.curvature(k, i); }));
    }

    // A sweep over all coordinates, then sweeps over those that are not zero until they rest.
    std::size_t run(DescentRule rule) {
        std::size_t sweep = 0;
        std::vector<std::size_t> active;
        while (sweep < rule.most_sweeps) {
            double largest = move_intercepts();
            active.clear();
            for (std::size_t c = 0; c < at_.size(); ++c) {
                if (c % 1024 == 0) checkpoint();
                largest = std::max(largest, move(c));
                if (at_.coef[c] != 0) active.push_back(c);
            }
            ++sweep;
            if (!(largest > rule.tol)) break;
            for (double inner = largest; sweep < rule.most_sweeps && inner > std::max(rule.tol, 0.1 * largest); ++sweep) {
                inner = move_intercepts();
                for (std::size_t a = 0; a < active.size(); ++a) {
                    if (a % 1024 == 0) checkpoint();
                    inner = std::max(inner, move(active[a]));
                }
            }
        }
        return sweep;
    }

   private:
    // Each returns curvature times the size of the move.
    double move(std::size_t c) {
        const double h = curvature_[c];
        if (!(h > 0)) return 0;
        const std::size_t k = at_.output(c), j = at_.column(c);
        double& w = at_.coef[c];
        const double back = x_.sum(j, [&](std::size_t i, double v) { return v * pull_.at(k, i); });
        const double slope = at_.gradient[c] + back + penalty_.l2 * w + damping_[c] * (w - start_[c]);
        const double delta = soft_threshold(h * w - slope, penalty_.l1) / h - w;
        if (delta == 0 || !std::isfinite(delta)) return 0;
        w += delta;
        x_.for_each(j, [&](std::size_t i, double v) { pull_.move(k, i, delta * v); });
        return h * std::abs(delta);
    }

    double move_intercepts() {
        double largest = 0;
        for (std::size_t k = 0; k < totals_.size(); ++k) {
            if (!(totals_[k] > 0)) continue;
            const double slope = intercepts_.gradient[k] + lane_sum(n_, [&](std::size_t i) { return pull_.at(k, i); });
            const double delta = -slope / totals_[k];
            if (!std::isfinite(delta)) continue;
            intercepts_.moves[k] += delta;
            for (std::size_t i = 0; i < n_; ++i) pull_.move(k, i, delta);
            largest = std::max(largest, std::abs(slope));
        }
        return largest;
    }

    const Columns& x_;
    std::size_t n_;
    JointPull pull_;
    Coordinates at_;
    Intercepts intercepts_;
    ModelPenalty penalty_;
    std::vector<double> start_;
    std::vector<double> curvature_;
    std::vector<double> damping_;
    std::vector<double> totals_;
};

// Weights, with a sum of one, of the last points of a linear iteration such that their combination is nearly its fixed point
// (Anderson's extrapolation). False where the points do not say. Point k is points[k]; the weights are those of points 1 .. kCount.
template <std::size_t kCount>
bool extrapolation_weights(const std::vector<double> (&points)[kCount + 1], double (&weights)[kCount]) {
    double gram[kCount][kCount + 1];
    double trace = 0;
    for (std::size_t a = 0; a < kCount; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
            gram[a][b] = gram[b][a] = lane_sum(points[0].size(), [&](std::size_t i) {
                return (points[a + 1][i] - points[a][i]) * (points[b + 1][i] - points[b][i]);
            });
        }
        gram[a][kCount] = 1;
        trace += gram[a][a];
    }
    if (!(trace > 0) || !std::isfinite(trace)) return false;
    for (std::size_t a = 0; a < kCount; ++a) gram[a][a] += 1e-10 * trace;
    double sum = 0;
    for (std::size_t a = 0; a < kCount; ++a) {  // elimination without pivots: the matrix is positive definite
        for (std::size_t b = a + 1; b < kCount; ++b) {
            const double factor = gram[b][a] / gram[a][a];
            for (std::size_t c = a; c <= kCount; ++c) gram[b][c] -= factor * gram[a][c];
        }
    }
    for (std::size_t a = kCount; a-- > 0;) {
        weights[a] = gram[a][kCount];
        for (std::size_t b = a + 1; b < kCount; ++b) weights[a] -= gram[a][b] * weights[b];
        weights[a] /= gram[a][a];
        sum += weights[a];
    }
    for (double& weight : weights) weight /= sum;
    return std::isfinite(sum) && sum != 0;
}

// Coordinate descent for one output: least squares with rows times the roots of their curvatures. The columns in use are copied
// that way, so that a step reads and writes one vector of rows; now and then the coefficients in use are extrapolated.
template <class Columns>
class SingleDescent {
   public:
    SingleDescent(const Columns& x, RowModel model, Coordinates at, Intercepts intercepts, ModelPenalty penalty)
        : x_(x), model_(model), at_(at), intercepts_(intercepts), penalty_(penalty), start_(at.coef.begin(), at.coef.end()) {
        const std::size_t n = model.rows();
        roots_.resize(n);
        values_.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            roots_[i] = std::sqrt(std::max(model.weighted(0, i) * (1 - model.probabilities(0, i)), 0.0));
            values_[i] = roots_[i] * model.change(0, i);
        }
        starts_.push_back(0);
        for (std::size_t c = 0; c < at.size(); ++c) {
            if (c % 1024 == 0) checkpoint();
            double square = 0, most = 0;
            x.for_each(at.column(c), [&](std::size_t i, double v) {
                entries_.push_back(v * roots_[i]);
                rows_.push_back(static_cast<std::int32_t>(i));
                square += entries_.back() * entries_.back();
                most += v * v * model.row_weights[i];
            });
            starts_.push_back(entries_.size());
            damping_.push_back(penalty.damping * most / 4);
            curvature_.push_back(square + penalty.l2 + damping_.back());
        }
        if (!intercepts.moves.empty()) total_ = lane_sum(n, [&](std::size_t i) { return roots_[i] * roots_[i]; });
    }

    std::size_t run(DescentRule rule) {
        std::size_t sweep = 0;
        while (sweep < rule.most_sweeps) {  // a sweep over all, then sweeps over those that are not zero until they rest
            double largest = move_intercept();
            active_.clear();
            for (std::size_t c = 0; c < at_.size(); ++c) {
                if (c % 1024 == 0) checkpoint();
                largest = std::max(largest, move(c));
                if (at_.coef[c] != 0) active_.push_back(c);
            }
            ++sweep;
            if (!(largest > rule.tol)) break;
            sweep += run_active(rule.most_sweeps - sweep, std::max(rule.tol, 0.1 * largest));
        }
        write_change();
        return sweep;
    }

   private:
    static constexpr std::size_t kMemory = 5;

    std::size_t run_active(std::size_t most_sweeps, double tol) {
        std::size_t sweep = 0;
        n_points_ = 0;
        for (double largest = tol + 1; sweep < most_sweeps && largest > tol; ++sweep) {
            remember();
            if (n_points_ > kMemory) extrapolate();
            largest = move_intercept();
            for (std::size_t a = 0; a < active_.size(); ++a) {
                if (a % 1024 == 0) checkpoint();
                largest = std::max(largest, move(active_[a]));
            }
        }
        return sweep;
    }

    // Each returns curvature times the size of the move.
    double move(std::size_t c) {
        const double h = curvature_[c];
        if (!(h > 0)) return 0;
        double& w = at_.coef[c];
        const double slope = at_.gradient[c] + product(c) + penalty_.l2 * w + damping_[c] * (w - start_[c]);
        const double delta = soft_threshold(h * w - slope, penalty_.l1) / h - w;
        if (delta == 0 || !std::isfinite(delta)) return 0;
        w += delta;
        for (std::size_t e = starts_[c]; e < starts_[c + 1]; ++e) values_[row(e)] += delta * entries_[e];
        return h * std::abs(delta);
    }

    double move_intercept() {
        if (!(total_ > 0)) return 0;
        const double slope =
            intercepts_.gradient[0] + lane_sum(values_.size(), [&](std::size_t i) { return roots_[i] * values_[i]; });
        const double delta = -slope / total_;
        if (!std::isfinite(delta)) return 0;
        intercepts_.moves[0] += delta;
        for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += delta * roots_[i];
        return std::abs(slope);
    }

    std::size_t row(std::size_t entry) const { return static_cast<std::size_t>(rows_[entry]); }
    double product(std::size_t c) const {
        double sums[4] = {};  // four at a time: additions need not wait for one another
        std::size_t e = starts_[c];
        for (; e + 4 <= starts_[c + 1]; e += 4)
            for (std::size_t k = 0; k < 4; ++k) sums[k] += entries_[e + k] * values_[row(e + k)];
        for (; e < starts_[c + 1]; ++e) sums[0] += entries_[e] * values_[row(e)];
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }

    // The model with the penalty, up to a constant, over the coefficients in use.
    double objective() const {
        double sum = lane_sum(values_.size(), [&](std::size_t i) { return values_[i] * values_[i]; }) / 2;
        for (const std::size_t c : active_) {
            const double w = at_.coef[c], moved = w - start_[c];
            sum += at_.gradient[c] * w + penalty_.l1 * std::abs(w) + penalty_.l2 / 2 * w * w + damping_[c] / 2 * moved * moved;
        }
        return total_ > 0 ? sum + intercepts_.gradient[0] * intercepts_.moves[0] : sum;
    }

    void remember() {
        points_[n_points_].clear();
        for (const std::size_t c : active_) points_[n_points_].push_back(at_.coef[c]);
        points_[n_points_].push_back(total_ > 0 ? intercepts_.moves[0] : 0.0);
        states_[n_points_++] = values_;
    }

    void restore(const std::vector<double>& point) {
        for (std::size_t a = 0; a < active_.size(); ++a) at_.coef[active_[a]] = point[a];
        if (total_ > 0) intercepts_.moves[0] = point.back();
    }

    // The values are linear in the coefficients: both are combined alike. Kept if the objective falls.
    void extrapolate() {
        n_points_ = 0;
        double weights[kMemory];
        if (!extrapolation_weights<kMemory>(points_, weights)) return;
        const double before = objective();
        std::vector<double> point(points_[0].size(), 0.0);
        std::fill(values_.begin(), values_.end(), 0.0);
        for (std::size_t k = 0; k < kMemory; ++k) {
            for (std::size_t a = 0; a < point.size(); ++a) point[a] += weights[k] * points_[k + 1][a];
            for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += weights[k] * states_[k + 1][i];
        }
        restore(point);
        if (objective() < before) return;
        restore(points_[kMemory]);
        values_ = states_[kMemory];
    }

    void write_change() {
        for (std::size_t c = 0; c < at_.size(); ++c) {
            const double delta = at_.coef[c] - start_[c];
            if (delta != 0) x_.for_each(at_.column(c), [&](std::size_t i, double v) { model_.change(0, i) += delta * v; });
        }
        if (total_ > 0)
            for (std::size_t i = 0; i < model_.rows(); ++i) model_.change(0, i) += intercepts_.moves[0];
    }

    const Columns& x_;
    RowModel model_;
    Coordinates at_;
    Intercepts intercepts_;
    ModelPenalty penalty_;
    std::vector<double> start_;
    std::vector<double> roots_;        // of the curvatures of the rows
    std::vector<double> values_;       // roots times the change of the linear values
    std::vector<double> entries_;      // of the columns in use, times roots
    std::vector<std::int32_t> rows_;   // where the entries are
    std::vector<std::size_t> starts_;  // the entries of each coordinate
    std::vector<double> curvature_;
    std::vector<double> damping_;
    double total_ = 0;
    std::vector<std::size_t> active_;
    std::vector<double> points_[kMemory + 1];
    std::vector<double> states_[kMemory + 1];
    std::size_t n_points_ = 0;
};

}  // namespace detail

// Minimises the model of the rows plus the penalty over some coordinates and the intercepts, from where they are: `coef` and the
// moves of the intercepts (zero at first) change, and `model.change` by what that changes in the linear values. Returns the number
// of sweeps.
// O(entries of the columns in use + n K) a sweep.
template <class Columns>
std::size_t descend_on_columns(const Columns& x, RowModel model, Coordinates at, Intercepts intercepts, ModelPenalty penalty,
                               DescentRule rule) {
    if (model.outputs() == 1) return detail::SingleDescent<Columns>(x, model, at, intercepts, penalty).run(rule);
    return detail::JointDescent<Columns>(x, model, at, intercepts, penalty).run(rule);
}

}  // namespace mercer::linear_model
