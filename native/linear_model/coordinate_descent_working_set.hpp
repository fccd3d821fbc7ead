// Least squares with a sparse penalty by working sets: the problem is solved on a few columns, and then the other columns say
// whether they pull at their zero coefficients hard enough to be let in.
//
// Three things make a path cheap. The Gram matrix of the columns ever let in is kept from one penalty to the next, and so is the
// factor of Newton's method for those in use. And a correlation a_j' r that was computed once bounds later ones by ||a_j|| times
// the way the residuals have gone since, so that most columns are certified without being read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "linear_model/coordinate_descent.hpp"

namespace mercer::linear_model {

template <losses::Penalty P, std::size_t kTasks>
class WorkingSet {
   public:
    // Most columns whose Gram matrix is kept (128 MB); beyond it the residuals are kept instead.
    static constexpr std::size_t kMostGram = 4096;

    // target: n values a task, centred and times the roots of the weights. The design outlives this. O(n d).
    WorkingSet(Design& design, std::span<const double> target, Tasks<kTasks> tasks, Threads threads)
        : design_(design),
          target_(target.begin(), target.end()),
          tasks_(tasks),
          residual_(target_),
          correlations_(design.cols() * tasks.count()),
          measured_at_(design.cols(), 0.0),
          norms_(design.cols()),
          is_member_(design.cols(), false) {
        for (std::size_t j = 0; j < design.cols(); ++j) norms_[j] = std::sqrt(design.squares()[j]);
        total_ = dot(target_, target_);
        design_.correlate(residual_, n_tasks(), correlations_, threads);
        moments_at_zero_ = correlations_;
    }

    double total() const { return total_; }                               // b' b
    std::span<const double> moments() const { return moments_at_zero_; }  // A' b, tasks values a column
    std::span<const double> residual() const { return residual_; }
    std::size_t n_members() const { return members_.size(); }

    void set_penalty(P penalty) {
        guess_ = predict(penalty);
        penalty_ = penalty;
        inner_share_ = kInnerShare;
        is_solved_ = false;
        ++n_penalties_;
    }

    // Starts from these coefficients, tasks values a column.
    void set_coef(std::span<const double> coef, Threads threads) {
        std::vector<Column> wanted;
        for (std::size_t j = 0; j < design_.cols(); ++j)
            if (!is_member_[j] && is_nonzero(coef.data() + j * n_tasks())) wanted.push_back(static_cast<Column>(j));
        admit(wanted, threads);
        guess_.clear();
        for (std::size_t k = 0; k < members_.size(); ++k) {
            const std::size_t j = member(k);
            for (std::size_t t = 0; t < n_tasks(); ++t)
                w_[k * n_tasks() + t] = design_.squares()[j] > 0 ? coef[j * n_tasks() + t] : 0.0;
        }
        update_residual();
    }

    // Writes tasks values a column.
    void write_coef(std::span<double> coef) const {
        std::fill(coef.begin(), coef.end(), 0.0);
        for (std::size_t k = 0; k < members_.size(); ++k)
            std::copy_n(w_.data() + k * n_tasks(), n_tasks(), coef.data() + member(k) * n_tasks());
    }

    // Measures the present point against the present penalty. Reads the columns that may pull beyond their threshold.
    Reached assess(Threads threads) {
        measure(threads);
        Assessment<P, kTasks> assessment(penalty_, tasks_);
        const std::vector<double> zeros(n_tasks(), 0.0);
        for (std::size_t j = 0; j < design_.cols(); ++j) {
            if (is_member_[j] || measured_at_[j] < way_) continue;
            assessment.add(zeros.data(), correlations_.data() + j * n_tasks(), design_.squares()[j]);
        }
        for (std::size_t k = 0; k < members_.size(); ++k)
            assessment.add(w_.data() + k * n_tasks(), correlations_.data() + member(k) * n_tasks(), design_.squares()[member(k)]);
        Reached reached = assessment.reached(dot(residual_, residual_), dot(residual_, target_));
        reached.update = last_update_;
        last_gap_ = reached.gap;
        n_active_ = reached.n_active;
        return reached;
    }

    // One round: lets in the columns that pull hardest, solves on all that are in, and assesses the result. To be called after
    // assess() with the same penalty.
    Reached step(Tolerance tolerance, Philox* random, Threads threads) {
        const std::size_t n_new = admit_strongest(threads);
        const double way = way_;
        const double rough = kRoughShare * last_gap_;
        const bool is_rough = n_new > 0 && rough > tolerance.gap;  // more columns are missing, most likely
        if (n_new == 0 && is_solved_) inner_share_ *= 0.1;         // nobody is missing, so the solution itself is not good enough
        is_solved_ = !is_rough;
        const Tolerance inner = is_rough ? Tolerance{rough, std::numeric_limits<double>::max()}
                                         : Tolerance{inner_share_ * tolerance.gap, tolerance.update};
        if (is_gram_worth_making()) {
            descend_on_gram(inner, random, threads);
        } else {
            descend_on_columns(inner, random);
        }
        Reached reached = assess(threads);
        reached.is_stalled = n_new == 0 && way_ == way;
        return reached;
    }

   private:
    static constexpr std::size_t kInnerRounds = 100;
    static constexpr double kInnerShare = 0.3;   // of the gap that is asked for; outsiders need the rest
    static constexpr double kRoughShare = 0.05;  // of the gap before, where more columns will be missing
    static constexpr std::size_t kLeastAdmitted = 64;
    static constexpr std::size_t kMostAdmittedFirst = 256;

    std::size_t n_tasks() const { return tasks_.count(); }
    std::size_t member(std::size_t k) const { return static_cast<std::size_t>(members_[k]); }
    static double dot(std::span<const double> a, std::span<const double> b) {
        return lane_sum(a.size(), [&](std::size_t i) { return a[i] * b[i]; });
    }
    bool is_nonzero(const double* group) const {
        return std::any_of(group, group + n_tasks(), [](double v) { return v != 0; });
    }
    double strength(std::size_t j) const {
        const double* g = correlations_.data() + j * n_tasks();
        if constexpr (kTasks == 1) return P::strength(g[0]);
        return std::sqrt(lane_sum(n_tasks(), [&](std::size_t t) { return g[t] * g[t]; }));
    }

    // Brings the correlations up to date wherever they could matter: of members, and of columns whose bound exceeds the threshold.
    void measure(Threads threads) {
        std::vector<Column> doubtful;
        for (std::size_t j = 0; j < design_.cols(); ++j) {
            if (measured_at_[j] == way_ || !(norms_[j] > 0)) continue;
            const double most = strength(j) + norms_[j] * (way_ - measured_at_[j] + 1e-14 * way_);
            if (is_member_[j] || !(most <= penalty_.threshold(design_.squares()[j]))) doubtful.push_back(static_cast<Column>(j));
        }
        if (doubtful.empty()) return;
        if (static_cast<double>(doubtful.size()) * design_.cost_of_one() > static_cast<double>(design_.cols())) {
            design_.correlate(residual_, n_tasks(), correlations_, threads);
            std::fill(measured_at_.begin(), measured_at_.end(), way_);
            return;
        }
        design_.correlate_some(doubtful, residual_, n_tasks(), correlations_, threads);
        for (const Column j : doubtful) measured_at_[static_cast<std::size_t>(j)] = way_;
    }

    // Lets in the strongest of the columns beyond their threshold, and of those just below it; returns how many.
    std::size_t admit_strongest(Threads threads) {
        std::vector<std::pair<double, Column>> candidates;
        bool has_violation = false;
        for (std::size_t j = 0; j < design_.cols(); ++j) {
            if (is_member_[j] || measured_at_[j] < way_ || !(norms_[j] > 0)) continue;
            const double threshold = penalty_.threshold(design_.squares()[j]);
            const double pull = strength(j);
            has_violation |= pull > threshold;
            if (pull > 0.9 * threshold) candidates.emplace_back(threshold > 0 ? -pull / threshold : -pull, static_cast<Column>(j));
        }
        if (!has_violation) return 0;
        // A round costs a pass over X, and its members their Gram matrix: as many as are in use, and a good share of rows at first.
        const std::size_t first = std::clamp(design_.rows() / 4, kLeastAdmitted, kMostAdmittedFirst);
        const std::size_t most = members_.empty() ? first : std::max(kLeastAdmitted, n_active_);
        const std::size_t n = std::min(candidates.size(), most);
        std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(n), candidates.end());
        std::vector<Column> chosen(n);
        for (std::size_t k = 0; k < n; ++k) chosen[k] = candidates[k].second;
        admit(chosen, threads);
        return n;
    }

    void admit(std::span<const Column> columns, Threads threads) {
        if (columns.empty()) return;
        const std::size_t old = members_.size();
        members_.insert(members_.end(), columns.begin(), columns.end());
        for (const Column j : columns) is_member_[static_cast<std::size_t>(j)] = true;
        w_.resize(members_.size() * n_tasks(), 0.0);
        moments_.resize(w_.size());
        curvatures_.resize(members_.size());
        for (std::size_t k = old; k < members_.size(); ++k) {
            std::copy_n(moments_at_zero_.data() + member(k) * n_tasks(), n_tasks(), moments_.data() + k * n_tasks());
            curvatures_[k] = design_.squares()[member(k)];
        }
        design_.add_columns(columns, threads);
    }

    // Members move by their columns at most four times as dearly if they are half as many as the rows: then only further penalties
    // repay the Gram matrix.
    bool is_gram_worth_making() const {
        return members_.size() <= kMostGram && (2 * members_.size() <= design_.rows() || n_penalties_ > 1);
    }

    // The coefficients for the next penalty of a path, if they went on in a straight line. Empty where there is no line yet, and
    // where Newton's method does better: its factor outlasts a change of l1, but not of l2.
    std::vector<double> predict(P next) {
        std::vector<double> guess;
        if constexpr (losses::HasDual<P>) {
            const double here = penalty_.l1 + penalty_.l2;
            const double ratio = (next.l1 + next.l2 - here) / (here - place_before_);
            if (n_penalties_ > 1 && (kTasks != 1 || next.l2 > 0) && ratio > 0 && ratio <= 2) {
                before_.resize(w_.size(), 0.0);
                guess.resize(w_.size());
                for (std::size_t k = 0; k < w_.size(); ++k) {
                    const double value = w_[k] + ratio * (w_[k] - before_[k]);
                    guess[k] = value * w_[k] > 0 ? value : 0.0;  // nobody enters, and nobody changes sign
                }
            }
            before_ = w_;
            place_before_ = here;
        }
        return guess;
    }

    // Starts from the guess where its objective is lower.
    void try_guess(GramQuadratic<kTasks>& quadratic) {
        std::vector<double> guess = std::exchange(guess_, {});
        if (guess.empty()) return;
        guess.resize(w_.size(), 0.0);
        const auto objective = [&](const std::vector<double>& w) {
            quadratic.refresh(w);
            return linear_model::assess(quadratic, penalty_, std::span<const double>(w), {}).primal;
        };
        if (objective(guess) < objective(w_)) w_ = std::move(guess);
    }

    void descend_on_gram(Tolerance tolerance, Philox* random, Threads threads) {
        if (const std::size_t known = gram_.size(); known < members_.size()) {
            gram_.resize(members_.size());
            design_.fill_gram(known, gram_, threads);
        }
        std::vector<double> gradient(w_.size());
        GramQuadratic<kTasks> quadratic(gram_.data(), gram_.stride(), members_.size(), moments_, total_, gradient, tasks_);
        try_guess(quadratic);
        last_update_ = descend(quadratic, penalty_, w_, newton_, tolerance, kInnerRounds, random).first.update;
        update_residual();
    }

    void descend_on_columns(Tolerance tolerance, Philox* random) {
        const std::vector<double> before = residual_;
        ColumnQuadratic<kTasks> quadratic(design_, curvatures_, target_, residual_, tasks_);
        last_update_ = descend(quadratic, penalty_, w_, newton_, tolerance, kInnerRounds, random).first.update;
        quadratic.settle();
        add_way(before);
    }

    // r = b - A w, and how far that is from where the residuals were.
    void update_residual() {
        const std::vector<double> before = std::exchange(residual_, target_);
        for (std::size_t t = 0; t < n_tasks(); ++t) {
            const auto run = std::span<double>(residual_).subspan(t * design_.rows(), design_.rows());
            double level = 0;
            for (std::size_t k = 0; k < members_.size(); ++k)
                if (const double w = w_[k * n_tasks() + t]; w != 0) design_.add(k, -w, run, level);
            design_.settle(run, level);
        }
        add_way(before);
    }
    void add_way(const std::vector<double>& before) {
        const double squares = lane_sum(before.size(), [&](std::size_t i) {
            const double step = residual_[i] - before[i];
            return step * step;
        });
        way_ += std::sqrt(squares);
    }

    Design& design_;
    std::vector<double> target_;
    Tasks<kTasks> tasks_;
    std::vector<double> residual_;
    std::vector<double> correlations_;  // a_j' r when it was last computed,
    std::vector<double> measured_at_;   // and the way the residuals had gone by then
    std::vector<double> norms_;
    std::vector<char> is_member_;
    std::vector<double> moments_at_zero_;
    double total_ = 0;
    double way_ = 0;
    P penalty_{};

    std::vector<Column> members_;
    std::vector<double> w_, moments_, curvatures_;
    std::vector<double> guess_;   // of w for the present penalty; empty once it was tried
    std::vector<double> before_;  // w for the penalty before,
    double place_before_ = 0;     // and l1 + l2 there
    GrowingGram gram_;
    SupportNewton<P> newton_;
    double last_gap_ = std::numeric_limits<double>::infinity();
    double last_update_ = 0;
    std::size_t n_active_ = 0;
    double inner_share_ = kInnerShare;
    bool is_solved_ = false;
    std::size_t n_penalties_ = 0;
};

}  // namespace mercer::linear_model
