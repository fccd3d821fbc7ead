// Small symmetric positive semidefinite systems, solved on one thread and without BLAS: for kernels that solve many side by side.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace mercer::linear_model::detail {

// Fill `matrix`, call `factor`, then `solve` for each right side. By Cholesky where the matrix, scaled to unit diagonal, is well
// conditioned; else by its eigenvectors, without those of negligible eigenvalues: the solution of least norm. O(d^3).
class SymmetricSolver {
   public:
    explicit SymmetricSolver(std::size_t d) : d_(d), matrix_(d * d), factor_(d * d), vectors_(), scales_(d), work_(d) {}

    double* matrix() { return matrix_.data(); }

    // False where the matrix is not finite.
    bool factor() {
        if (!std::all_of(matrix_.begin(), matrix_.end(), [](double value) { return std::isfinite(value); })) return false;
        for (std::size_t i = 0; i < d_; ++i) {
            const double diagonal = matrix_[i * d_ + i];
            scales_[i] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 0.0;
        }
        has_cholesky_ = cholesky();
        if (!has_cholesky_) eigenvectors();
        return true;
    }

    // Overwrites b with the solution.
    void solve(double* b) { has_cholesky_ ? solve_cholesky(b) : solve_eigen(b); }

   private:
    static constexpr double kLeastPivot = 1e-10;  // of the unit diagonal; below, digits are lost that eigenvectors keep
    static constexpr double kNegligible = 1e-12;  // an eigenvalue, against the largest

    double& at(std::vector<double>& a, std::size_t i, std::size_t j) { return a[i * d_ + j]; }

    bool cholesky() {
        for (std::size_t i = 0; i < d_; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                double sum = matrix_[i * d_ + j] * scales_[i] * scales_[j];
                for (std::size_t k = 0; k < j; ++k) sum -= factor_[i * d_ + k] * factor_[j * d_ + k];
                if (i == j) {
                    if (!(sum > kLeastPivot)) return false;
                    factor_[i * d_ + i] = std::sqrt(sum);
                } else {
                    factor_[i * d_ + j] = sum / factor_[j * d_ + j];
                }
            }
        }
        return true;
    }

    void solve_cholesky(double* b) {
        for (std::size_t i = 0; i < d_; ++i) {
            double sum = b[i] * scales_[i];
            for (std::size_t k = 0; k < i; ++k) sum -= factor_[i * d_ + k] * b[k];
            b[i] = sum / factor_[i * d_ + i];
        }
        for (std::size_t i = d_; i-- > 0;) {
            double sum = b[i];
            for (std::size_t k = i + 1; k < d_; ++k) sum -= factor_[k * d_ + i] * b[k];
            b[i] = sum / factor_[i * d_ + i];
        }
        for (std::size_t i = 0; i < d_; ++i) b[i] *= scales_[i];
    }

    // Cyclic Jacobi rotations: the eigenvalues end on the diagonal of factor_, the eigenvectors in the columns of vectors_.
    void eigenvectors() {
        constexpr int kMostSweeps = 60;
        factor_ = matrix_;
        vectors_.assign(d_ * d_, 0.0);
        for (std::size_t i = 0; i < d_; ++i) vectors_[i * d_ + i] = 1;
        for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
            bool is_diagonal = true;
            for (std::size_t i = 0; i + 1 < d_; ++i)
                for (std::size_t j = i + 1; j < d_; ++j) is_diagonal = !rotate(i, j) && is_diagonal;
            if (is_diagonal) break;
        }
    }

    // Makes entry (i, j) zero; false where it already is, up to rounding.
    bool rotate(std::size_t i, std::size_t j) {
        auto& a = factor_;
        const double off = at(a, i, j);
        if (std::abs(off) <= 1e-17 * std::sqrt(std::abs(at(a, i, i))) * std::sqrt(std::abs(at(a, j, j))) || off == 0) return false;
        const double theta = (at(a, j, j) - at(a, i, i)) / (2 * off);
        const double tangent = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double cosine = 1 / std::hypot(tangent, 1.0);
        const double sine = tangent * cosine;
        for (std::size_t k = 0; k < d_; ++k) {
            const double x = at(a, k, i);
            const double y = at(a, k, j);
            at(a, k, i) = cosine * x - sine * y;
            at(a, k, j) = sine * x + cosine * y;
            const double u = at(vectors_, k, i);
            const double v = at(vectors_, k, j);
            at(vectors_, k, i) = cosine * u - sine * v;
            at(vectors_, k, j) = sine * u + cosine * v;
        }
        for (std::size_t k = 0; k < d_; ++k) {
            const double x = at(a, i, k);
            const double y = at(a, j, k);
            at(a, i, k) = cosine * x - sine * y;
            at(a, j, k) = sine * x + cosine * y;
        }
        return true;
    }

    void solve_eigen(double* b) {
        double largest = 0;
        for (std::size_t i = 0; i < d_; ++i) largest = std::max(largest, factor_[i * d_ + i]);
        for (std::size_t i = 0; i < d_; ++i) {
            double sum = 0;
            for (std::size_t k = 0; k < d_; ++k) sum += vectors_[k * d_ + i] * b[k];
            const double value = factor_[i * d_ + i];
            work_[i] = value > kNegligible * largest ? sum / value : 0.0;
        }
        for (std::size_t k = 0; k < d_; ++k) {
            double sum = 0;
            for (std::size_t i = 0; i < d_; ++i) sum += vectors_[k * d_ + i] * work_[i];
            b[k] = sum;
        }
    }

    std::size_t d_;
    std::vector<double> matrix_;
    std::vector<double> factor_;
    std::vector<double> vectors_;
    std::vector<double> scales_;
    std::vector<double> work_;
    bool has_cholesky_ = false;
};

}  // namespace mercer::linear_model::detail
