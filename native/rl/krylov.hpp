// The values of a chain, (I - discount P) v = r, by stabilised biconjugate gradients (van der Vorst, 1992).
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "rl/chain.hpp"

namespace mercer::rl {

struct KrylovEnd {
    std::size_t n_iter = 0;
    double residual = 0.0;  // the largest, measured anew at the end
};

class Bicgstab {
   public:
    Bicgstab(const Chain& chain, double discount, Threads threads)
        : chain_(chain), discount_(discount), threads_(threads), n_(chain.n_states()), chunks_(chunks_of_states(n_)) {
        for (auto* array : {&residual_, &shadow_, &direction_, &image_, &second_image_}) array->resize(n_);
    }

    // Improves v until the largest residual is at most tol, or it gives up: after max_iter products, or where the method breaks
    // down. v is then the best that it has met. O(outcomes) an iteration.
    KrylovEnd solve(std::span<double> v, double tol, std::size_t max_iter) {
        KrylovEnd end{0, restart(v)};
        best_.assign(v.begin(), v.end());
        double best = end.residual;
        while (end.residual > tol && end.n_iter < max_iter) {
            const bool goes_on = step(v);
            end.n_iter += 2;
            end.residual = goes_on ? largest(residual_) : restart(v);
            const bool is_claimed = end.residual <= tol;
            if (is_claimed && goes_on) end.residual = restart(v);  // what the recursion says may have drifted
            if (!(end.residual < best)) {
                if (!goes_on || !std::isfinite(end.residual) || end.residual > 1e6 * best) break;
                continue;
            }
            best = end.residual;
            std::copy(v.begin(), v.end(), best_.begin());
        }
        if (!(end.residual <= best)) std::copy(best_.begin(), best_.end(), v.begin());
        end.residual = restart(v);
        return end;
    }

   private:
    using Vector = std::vector<double>;

    // residual = r - (v - discount P v), the start of a new run from v; returns its largest entry.
    double restart(std::span<const double> v) {
        chain_.backup(discount_, v, residual_, threads_);
        each([&](std::size_t s) {
            residual_[s] -= v[s];
            direction_[s] = shadow_[s] = residual_[s];
        });
        rho_ = dot(shadow_, residual_);
        return largest(residual_);
    }

    // One iteration; false where it breaks down, and v is what it was.
    bool step(std::span<double> v) {
        apply(direction_, image_);
        const double slope = dot(shadow_, image_);
        const double alpha = rho_ / slope;
        if (!std::isfinite(alpha) || alpha == 0.0) return false;
        each([&](std::size_t s) { residual_[s] -= alpha * image_[s]; });
        apply(residual_, second_image_);
        const double omega = dot(second_image_, residual_) / dot(second_image_, second_image_);
        if (!std::isfinite(omega) || omega == 0.0) {
            each([&](std::size_t s) { v[s] += alpha * direction_[s]; });
            return false;
        }
        each([&](std::size_t s) {
            v[s] += alpha * direction_[s] + omega * residual_[s];
            residual_[s] -= omega * second_image_[s];
        });
        const double rho = dot(shadow_, residual_);
        const double beta = rho / rho_ * (alpha / omega);
        if (!std::isfinite(beta) || beta == 0.0) return false;
        rho_ = rho;
        each([&](std::size_t s) { direction_[s] = residual_[s] + beta * (direction_[s] - omega * image_[s]); });
        return true;
    }

    // y = x - discount P x.
    void apply(const Vector& x, Vector& y) {
        over_states(n_, chain_.n_operations(), threads_,
                    [&](std::size_t s, Change&) { y[s] = x[s] - discount_ * chain_.mean_after(s, x.data()); });
    }

    template <class Body>
    void each(Body&& body) {
        over_states(n_, 4.0 * static_cast<double>(n_), threads_, [&](std::size_t s, Change&) { body(s); });
    }

    double dot(const Vector& x, const Vector& y) {
        return sum_over(chunks_, threads_.for_work(2.0 * static_cast<double>(n_)), [&](std::size_t chunk) {
            double sum = 0.0;
            for (std::size_t s = chunks_.begin(chunk); s < chunks_.end(chunk); ++s) sum += x[s] * y[s];
            return sum;
        });
    }

    double largest(const Vector& x) {
        const Change found = over_states(n_, 2.0 * static_cast<double>(n_), threads_, [&](std::size_t s, Change& change) {
            change.see(std::isnan(x[s]) ? std::numeric_limits<double>::infinity() : std::abs(x[s]));
        });
        return found.most;
    }

    const Chain& chain_;
    double discount_;
    Threads threads_;
    std::size_t n_;
    Chunks chunks_;
    Vector residual_, shadow_, direction_, image_, second_image_, best_;
    double rho_ = 0.0;
};

}  // namespace mercer::rl
