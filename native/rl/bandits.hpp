// Bandits: one state, arms with unknown means, and strategies that find the best one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/rng.hpp"
#include "core/views.hpp"

namespace mercer::rl {

enum class Strategy : std::uint8_t { kEpsilonGreedy, kUpperBound, kThompson };

struct BanditSettings {
    Strategy strategy = Strategy::kUpperBound;
    bool is_bernoulli = true;
    double scale = 1.0;       // the standard deviation of normal rewards
    double confidence = 1.0;  // of upper bounds: sqrt(2) is UCB1
    double first_value = 0.0;
};

// Marsaglia and Tsang (2000), for shapes of one at least.
inline double draw_gamma(double shape, Philox& random) {
    const double d = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
    while (true) {
        const double x = draw_normal(random), root = 1.0 + c * x;
        if (root <= 0.0) continue;
        const double v = root * root * root;
        if (std::log1p(-random.uniform()) < 0.5 * x * x + d * (1.0 - v + std::log(v))) return d * v;
    }
}

// One player: pulls arms one after another, and knows of each how often it was pulled and what it paid.
class Player {
   public:
    Player(std::span<const double> means, const BanditSettings& settings, Philox random)
        : means_(means), settings_(settings), random_(random), pulls_(means.size()), totals_(means.size()) {}

    // What the pull was short of the best arm's mean; `epsilon` is the share of pulls by chance.
    std::size_t pull(double epsilon) {
        const std::size_t arm = choose(epsilon);
        const double mean = means_[arm];
        const double reward =
            settings_.is_bernoulli ? (random_.uniform() < mean ? 1.0 : 0.0) : mean + settings_.scale * draw_normal(random_);
        pulls_[arm] += 1.0;
        totals_[arm] += reward;
        n_pulls_ += 1.0;
        return arm;
    }

   private:
    std::size_t choose(double epsilon) {
        if (settings_.strategy == Strategy::kEpsilonGreedy) {
            if (epsilon > 0.0 && random_.uniform() < epsilon) return random_.below(static_cast<std::uint32_t>(means_.size()));
            return best_of([&](std::size_t a) { return pulls_[a] > 0.0 ? totals_[a] / pulls_[a] : settings_.first_value; });
        }
        if (settings_.strategy == Strategy::kUpperBound) {
            return best_of([&](std::size_t a) {
                if (pulls_[a] == 0.0) return std::numeric_limits<double>::infinity();
                return totals_[a] / pulls_[a] + settings_.confidence * std::sqrt(std::log(n_pulls_) / pulls_[a]);
            });
        }
        return best_of([&](std::size_t a) { return draw_posterior(a); });
    }

    // A draw of the mean of an arm given what it paid: a flat prior for coins, a flat one after a first pull for normal rewards.
    double draw_posterior(std::size_t arm) {
        if (settings_.is_bernoulli) {
            const double wins = draw_gamma(1.0 + totals_[arm], random_),
                         losses = draw_gamma(1.0 + pulls_[arm] - totals_[arm], random_);
            return wins / (wins + losses);
        }
        if (pulls_[arm] == 0.0) return std::numeric_limits<double>::infinity();
        return totals_[arm] / pulls_[arm] + settings_.scale * draw_normal(random_) / std::sqrt(pulls_[arm]);
    }

    template <class Value>
    std::size_t best_of(Value&& value) {
        std::size_t best = 0;
        double most = value(0);
        std::uint32_t n_equal = 1;
        for (std::size_t a = 1; a < means_.size(); ++a) {
            const double v = value(a);
            if (v > most) {
                most = v;
                best = a;
                n_equal = 1;
            } else if (v == most && random_.below(++n_equal) == 0) {
                best = a;
            }
        }
        return best;
    }

    std::span<const double> means_;
    const BanditSettings& settings_;
    Philox random_;
    std::vector<double> pulls_, totals_;
    double n_pulls_ = 0.0;
};

// Runs side by side: the arms that each pulls, and its regret so far after each pull. O(arms) a pull.
inline void play(std::span<const double> means, const BanditSettings& settings, std::span<const double> epsilons,
                 std::uint64_t seed, RowMajor<std::int32_t> arms, RowMajor<double> regrets, Threads threads) {
    const double best = *std::max_element(means.begin(), means.end());
    parallel_for(arms.rows, threads, [&](std::size_t run) {
        Player player(means, settings, Philox(seed, run));
        double regret = 0.0;
        for (std::size_t t = 0; t < arms.cols; ++t) {
            if (t % 1024 == 0) checkpoint();
            const std::size_t arm = player.pull(epsilons[t]);
            regret += best - means[arm];
            arms(run, t) = static_cast<std::int32_t>(arm);
            regrets(run, t) = regret;
        }
    });
}

}  // namespace mercer::rl
