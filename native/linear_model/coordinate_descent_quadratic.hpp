// The quadratic 1/2 ||b - A w||^2 of coordinate descent, by the Gram matrix of A or by its columns.
//
// Each keeps a state that is affine in w as w moves: gradients or residuals. With several tasks, w_j is the group of one column's
// coefficients, one a task; arrays of coefficients and gradients hold n_tasks values a column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/simd.hpp"
#include "linear_model/coordinate_descent_design.hpp"

namespace mercer::linear_model {

// The number of tasks, known to the compiler where it is one.
template <std::size_t kFixed>
struct Tasks {
    std::size_t n = kFixed;
    std::size_t count() const {
        if constexpr (kFixed != 0) {
            return kFixed;
        } else {
            return n;
        }
    }
};

// A quadratic by its Gram matrix: the gradient q - G w is kept for every column, so that a move costs O(size).
template <std::size_t kTasks>
class GramQuadratic {
   public:
    static constexpr std::size_t kFixedTasks = kTasks;

    // gram: size x size with rows `stride` apart; moments q = A' b; total = b' b; `gradient` is scratch for size x tasks.
    GramQuadratic(const double* gram, std::size_t stride, std::size_t size, std::span<const double> moments, double total,
                  std::span<double> gradient, Tasks<kTasks> tasks)
        : gram_(gram), stride_(stride), size_(size), moments_(moments), total_(total), gradient_(gradient), tasks_(tasks) {}

    std::size_t size() const { return size_; }
    Tasks<kTasks> tasks() const { return tasks_; }
    double curvature(std::size_t j) const { return gram_[j * stride_ + j]; }
    double gradient(std::size_t j, std::size_t t) const { return gradient_[j * tasks_.count() + t]; }
    std::span<double> state() const { return gradient_; }  // affine in w

    // out[k] = a_j' a_(columns[k])
    void products(std::size_t j, std::span<const std::size_t> columns, std::span<double> out) const {
        for (std::size_t k = 0; k < columns.size(); ++k) out[k] = gram_[j * stride_ + columns[k]];
    }
    // In multiplications.
    double cost_of_product() const { return 1; }
    double cost_of_move() const { return static_cast<double>(size_); }

    // w_j += delta
    void move(std::size_t j, const double* delta) {
        const double* row = gram_ + j * stride_;
        if constexpr (kTasks == 1) {
            const double d = delta[0];
            double* g = gradient_.data();
            for (std::size_t k = 0; k < size_; ++k) g[k] -= d * row[k];
        } else {
            const std::size_t n_tasks = tasks_.count();
            for (std::size_t k = 0; k < size_; ++k)
                for (std::size_t t = 0; t < n_tasks; ++t) gradient_[k * n_tasks + t] -= row[k] * delta[t];
        }
    }

    // The state from scratch. O(size times coefficients that are not zero).
    void refresh(std::span<const double> w) {
        std::copy(moments_.begin(), moments_.begin() + static_cast<std::ptrdiff_t>(gradient_.size()), gradient_.begin());
        const std::size_t n_tasks = tasks_.count();
        for (std::size_t j = 0; j < size_; ++j) {
            const auto group = w.subspan(j * n_tasks, n_tasks);
            if (std::any_of(group.begin(), group.end(), [](double v) { return v != 0; })) move(j, group.data());
        }
    }

    // ||b - A w||^2 and its product with b; exact up to rounding of b' b.
    double residual_squares(std::span<const double> w) const {
        const double taken = lane_sum(w.size(), [&](std::size_t k) { return w[k] * (moments_[k] + gradient_[k]); });
        return std::max(total_ - taken, 0.0);
    }
    double residual_target(std::span<const double> w) const {
        return total_ - lane_sum(w.size(), [&](std::size_t k) { return w[k] * moments_[k]; });
    }
    double loss(std::span<const double> w) const { return residual_squares(w) / 2; }

   private:
    const double* gram_;
    std::size_t stride_;
    std::size_t size_;
    std::span<const double> moments_;
    double total_;
    std::span<double> gradient_;
    Tasks<kTasks> tasks_;
};

// A quadratic by its columns: the residuals are kept, so that a move costs O(n). For working sets whose Gram matrix is too large,
// or not worth making.
template <std::size_t kTasks>
class ColumnQuadratic {
   public:
    static constexpr std::size_t kFixedTasks = kTasks;

    // The columns are the design's working columns, in their order; `residual` holds n values a task.
    ColumnQuadratic(const Design& design, std::span<const double> curvatures, std::span<const double> target,
                    std::span<double> residual, Tasks<kTasks> tasks)
        : design_(&design),
          curvatures_(curvatures),
          target_(target),
          residual_(residual),
          levels_(tasks.count(), 0.0),
          tasks_(tasks) {}

    std::size_t size() const { return curvatures_.size(); }
    Tasks<kTasks> tasks() const { return tasks_; }
    double curvature(std::size_t j) const { return curvatures_[j]; }
    double gradient(std::size_t j, std::size_t t) const { return design_->dot(j, run(t), levels_[t]); }
    std::span<double> state() const {
        settle();
        return residual_;
    }

    void products(std::size_t j, std::span<const std::size_t> columns, std::span<double> out) const {
        std::vector<double> column(design_->rows(), 0.0);
        double level = 0;
        design_->add(j, 1.0, column, level);
        for (std::size_t k = 0; k < columns.size(); ++k) out[k] = design_->dot(columns[k], column, level);
    }
    double cost_of_product() const { return static_cast<double>(design_->rows()); }
    double cost_of_move() const { return 2 * cost_of_product(); }  // with the gradient

    void move(std::size_t j, const double* delta) {
        for (std::size_t t = 0; t < tasks_.count(); ++t)
            if (delta[t] != 0) design_->add(j, -delta[t], run(t), levels_[t]);
    }
    void refresh(std::span<const double> w) {
        std::copy(target_.begin(), target_.end(), residual_.begin());
        std::fill(levels_.begin(), levels_.end(), 0.0);
        for (std::size_t j = 0; j < size(); ++j) move(j, w.data() + j * tasks_.count());
        settle();
    }
    // Makes the residuals those of the coefficients themselves; sums over them ask for it.
    void settle() const {
        for (std::size_t t = 0; t < tasks_.count(); ++t) design_->settle(run(t), levels_[t]);
    }
    double residual_squares(std::span<const double>) const {
        settle();
        return lane_sum(residual_.size(), [&](std::size_t i) { return residual_[i] * residual_[i]; });
    }
    double residual_target(std::span<const double>) const {
        settle();
        return lane_sum(residual_.size(), [&](std::size_t i) { return residual_[i] * target_[i]; });
    }
    double loss(std::span<const double> w) const { return residual_squares(w) / 2; }

   private:
    std::span<double> run(std::size_t t) const { return residual_.subspan(t * design_->rows(), design_->rows()); }

    const Design* design_;
    std::span<const double> curvatures_;
    std::span<const double> target_;
    std::span<double> residual_;
    mutable std::vector<double> levels_;  // of the residuals of each task: with them, what these stand for stays the same
    Tasks<kTasks> tasks_;
};

}  // namespace mercer::linear_model
