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
    RowMajor<const double> probabilities;
    RowMajor<const double> weighted;
    RowMajor<double> change;

    std::size_t outputs() const { return change.rows; }
    std::size_t rows() const { return change.cols; }
};

namespace detail {

// How hard the rows pull back: entry (k, i) of Hessian times change.
//
// Several outputs: w_ki (change_ki - mean_i), for the mean of the changes of a row under its probabilities, which is kept.
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

// One output: the pull itself is kept, so that a column's slope reads one number a row.
class SinglePull {
   public:
    explicit SinglePull(RowModel model) : model_(model), curvature_(model.rows()), pull_(model.rows()) {
        for (std::size_t i = 0; i < model.rows(); ++i) {
            curvature_[i] = model.weighted(0, i) * (1 - model.probabilities(0, i));
            pull_[i] = curvature_[i] * model.change(0, i);
        }
    }
    double at(std::size_t, std::size_t i) const { return pull_[i]; }
    double curvature(std::size_t, std::size_t i) const { return curvature_[i]; }
    void move(std::size_t, std::size_t i, double step) {
        model_.change(0, i) += step;
        pull_[i] += curvature_[i] * step;
    }

   private:
    RowModel model_;
    std::vector<double> curvature_;
    std::vector<double> pull_;
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

struct ElasticNetStrength {
    double l1 = 0;
    double l2 = 0;
};

namespace detail {

template <class Columns, class Pull>
class ColumnDescent {
   public:
    ColumnDescent(const Columns& x, RowModel model, Coordinates at, Intercepts intercepts, ElasticNetStrength penalty)
        : x_(x), n_(model.rows()), pull_(model), at_(at), intercepts_(intercepts), penalty_(penalty), curvature_(at.size()) {
        for (std::size_t c = 0; c < at.size(); ++c) {
            if (c % 1024 == 0) checkpoint();
            const std::size_t k = at.output(c);
            curvature_[c] =
                penalty.l2 + x.sum(at.column(c), [&](std::size_t i, double v) { return v * v * pull_.curvature(k, i); });
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
        const double slope = at_.gradient[c] + back + penalty_.l2 * w;
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
    Pull pull_;
    Coordinates at_;
    Intercepts intercepts_;
    ElasticNetStrength penalty_;
    std::vector<double> curvature_;
    std::vector<double> totals_;
};

}  // namespace detail

// Minimises the model of the rows plus the penalty over some coordinates and the intercepts, from where they are: `coef` and the
// moves of the intercepts change, and `model.change` by what that changes in the linear values. Returns the number of sweeps.
// O(entries of the columns in use + n K) a sweep.
template <class Columns>
std::size_t descend_on_columns(const Columns& x, RowModel model, Coordinates at, Intercepts intercepts, ElasticNetStrength penalty,
                               DescentRule rule) {
    if (model.outputs() == 1)
        return detail::ColumnDescent<Columns, detail::SinglePull>(x, model, at, intercepts, penalty).run(rule);
    return detail::ColumnDescent<Columns, detail::JointPull>(x, model, at, intercepts, penalty).run(rule);
}

}  // namespace mercer::linear_model
