// Values of a policy from episodes: means of returns, temporal differences, and the equations whose solution they approach.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/views.hpp"
#include "rl/tiles.hpp"

namespace mercer::rl {

// Episodes as they are learnt from: the features of each state, and of the last state of each episode.
struct Lessons {
    RowMajor<const std::int32_t> features;       // steps x active features
    RowMajor<const std::int32_t> last_features;  // episodes x active features
    std::span<const double> rewards;
    std::span<const std::int64_t> starts;  // episodes + 1 offsets into the steps
    std::span<const std::uint8_t> is_end;  // of each episode; otherwise it was cut short
    std::span<const double> ratios;        // of each step: how much likelier its action is under the policy; none on policy
    std::size_t n_features = 0;

    std::size_t n_episodes() const { return starts.size() - 1; }
    std::size_t begin(std::size_t e) const { return static_cast<std::size_t>(starts[e]); }
    std::size_t end(std::size_t e) const { return static_cast<std::size_t>(starts[e + 1]); }
    double ratio(std::size_t t) const { return ratios.empty() ? 1.0 : ratios[t]; }
    // Of the state after step t of episode e. Another thread may write to features meanwhile: `at` brings them into range.
    const std::int32_t* after(std::size_t e, std::size_t t) const {
        return t + 1 < end(e) ? features.row(t + 1) : last_features.row(e);
    }
    std::size_t at(std::int32_t feature) const {
        return std::min(static_cast<std::size_t>(static_cast<std::uint32_t>(feature)), n_features - 1);
    }
    std::size_t width() const { return features.cols; }
    double value(std::span<const double> w, const std::int32_t* active) const {
        double sum = 0.0;
        for (std::size_t k = 0; k < width(); ++k) sum += w[at(active[k])];
        return sum;
    }
};

// Sums of returns, their squares and weights for each state (tables alone): what means and their errors are made of. `weights` are
// counts, or sums of importance ratios where the mean is weighted by them. Returns of episodes that were cut short are left out
// unless `takes_cut`. O(steps).
struct ReturnSums {
    std::span<double> sums, squares, weights;
};

inline void sum_returns(const Lessons& lessons, double discount, bool is_first_only, bool is_weighted, bool takes_cut,
                        ReturnSums out) {
    std::vector<std::size_t> first(lessons.n_features);
    for (std::size_t e = 0; e < lessons.n_episodes(); ++e) {
        if (e % 256 == 0) checkpoint();
        if (!lessons.is_end[e] && !takes_cut) continue;
        for (std::size_t t = lessons.end(e); t-- > lessons.begin(e);) first[lessons.at(lessons.features.row(t)[0])] = t;
        double total = 0.0, ratio = 1.0;
        for (std::size_t t = lessons.end(e); t-- > lessons.begin(e);) {
            total = lessons.rewards[t] + discount * total;
            ratio *= lessons.ratio(t);
            const std::size_t s = lessons.at(lessons.features.row(t)[0]);
            if (is_first_only && first[s] != t) continue;
            const double weight = is_weighted ? ratio : 1.0, value = is_weighted ? total : ratio * total;
            out.sums[s] += weight * value;
            out.squares[s] += weight * value * value;
            out.weights[s] += weight;
        }
    }
}

// Moves values towards returns by steps of one length.
inline void step_to_returns(const Lessons& lessons, double discount, bool is_first_only, double alpha, std::span<double> w) {
    std::vector<std::size_t> first(lessons.n_features);
    for (std::size_t e = 0; e < lessons.n_episodes(); ++e) {
        if (e % 256 == 0) checkpoint();
        for (std::size_t t = lessons.end(e); t-- > lessons.begin(e);) first[lessons.at(lessons.features.row(t)[0])] = t;
        double total = 0.0, ratio = 1.0;
        for (std::size_t t = lessons.end(e); t-- > lessons.begin(e);) {
            total = lessons.rewards[t] + discount * total;
            ratio *= lessons.ratio(t);
            const std::size_t s = lessons.at(lessons.features.row(t)[0]);
            if (!is_first_only || first[s] == t) w[s] += alpha * ratio * (total - w[s]);
        }
    }
}

struct DifferenceSettings {
    double discount = 1.0;
    double trace_decay = 0.0;
    bool has_replacing_traces = false;
    std::size_t n_steps = 1;
    double alpha = 0.1;
    double count_power = 0.0;  // above 0 the step is alpha over the number of visits to this power
};

// One pass of TD(lambda), with importance ratios in the traces. `counts` are the visits of each feature. O(steps x traces).
inline void pass_with_traces(const Lessons& lessons, const DifferenceSettings& settings, std::span<double> w,
                             std::span<double> counts) {
    struct Trace {
        std::size_t feature;
        double size;
    };
    std::vector<Trace> traces;
    const double width = static_cast<double>(lessons.width()), decay = settings.discount * settings.trace_decay;
    for (std::size_t e = 0; e < lessons.n_episodes(); ++e) {
        traces.clear();
        for (std::size_t t = lessons.begin(e); t < lessons.end(e); ++t) {
            if (t % 1024 == 0) checkpoint();
            const std::int32_t* const active = lessons.features.row(t);
            const bool is_last = t + 1 == lessons.end(e) && lessons.is_end[e];
            const double after = is_last ? 0.0 : settings.discount * lessons.value(w, lessons.after(e, t));
            const double error = lessons.rewards[t] + after - lessons.value(w, active);
            for (std::size_t k = 0; k < lessons.width(); ++k) {
                const std::size_t f = lessons.at(active[k]);
                counts[f] += 1.0;
                auto found = std::find_if(traces.begin(), traces.end(), [&](const Trace& trace) { return trace.feature == f; });
                if (found == traces.end())
                    traces.push_back({f, 1.0});
                else
                    found->size = settings.has_replacing_traces ? 1.0 : found->size + 1.0;
            }
            const double ratio = lessons.ratio(t);
            std::size_t kept = 0;
            for (Trace& trace : traces) {
                trace.size *= ratio;
                const double rate =
                    settings.alpha / (settings.count_power > 0.0 ? std::pow(counts[trace.feature], settings.count_power) : 1.0);
                w[trace.feature] += rate / width * error * trace.size;
                trace.size *= decay;
                if (trace.size > 1e-12) traces[kept++] = trace;
            }
            traces.resize(kept);
        }
    }
}

// One pass of n-step temporal differences: each state moves towards n rewards and the value n steps on. O(steps x n).
inline void pass_of_steps(const Lessons& lessons, const DifferenceSettings& settings, std::span<double> w,
                          std::span<double> counts) {
    const double width = static_cast<double>(lessons.width());
    for (std::size_t e = 0; e < lessons.n_episodes(); ++e) {
        const std::size_t end = lessons.end(e);
        // State t is updated when step t + n - 1 is over, or at the end of the episode.
        for (std::size_t t = lessons.begin(e); t < end; ++t) {
            if (t % 1024 == 0) checkpoint();
            const std::size_t last = std::min(t + settings.n_steps, end);
            double ratio = 1.0, total = 0.0;
            for (std::size_t i = t; i < last; ++i) ratio *= lessons.ratio(i);
            const bool is_over = last == end && lessons.is_end[e];
            if (!is_over) total = lessons.value(w, last < end ? lessons.features.row(last) : lessons.last_features.row(e));
            for (std::size_t i = last; i-- > t;) total = lessons.rewards[i] + settings.discount * total;
            const double error = ratio * (total - lessons.value(w, lessons.features.row(t)));
            for (std::size_t k = 0; k < lessons.width(); ++k) {
                const std::size_t f = lessons.at(lessons.features.row(t)[k]);
                counts[f] += 1.0;
                const double rate = settings.alpha / (settings.count_power > 0.0 ? std::pow(counts[f], settings.count_power) : 1.0);
                w[f] += rate / width * error;
            }
        }
    }
}

// Adds up A = sum z (phi - discount phi')^T and b = sum z r over the steps, with traces z. O(steps x features x active features).
inline void sum_equations(const Lessons& lessons, double discount, double trace_decay, RowMajor<double> a, std::span<double> b) {
    std::vector<double> z(lessons.n_features);
    for (std::size_t e = 0; e < lessons.n_episodes(); ++e) {
        std::fill(z.begin(), z.end(), 0.0);
        for (std::size_t t = lessons.begin(e); t < lessons.end(e); ++t) {
            if (t % 64 == 0) checkpoint();
            const std::int32_t* const active = lessons.features.row(t);
            const bool is_last = t + 1 == lessons.end(e) && lessons.is_end[e];
            const double ratio = lessons.ratio(t);
            for (double& each : z) each *= discount * trace_decay;
            for (std::size_t k = 0; k < lessons.width(); ++k) z[lessons.at(active[k])] += 1.0;
            for (double& each : z) each *= ratio;
            for (std::size_t i = 0; i < z.size(); ++i) {
                if (z[i] == 0.0) continue;
                for (std::size_t k = 0; k < lessons.width(); ++k) a(i, lessons.at(active[k])) += z[i];
                if (!is_last)
                    for (std::size_t k = 0; k < lessons.width(); ++k) a(i, lessons.at(lessons.after(e, t)[k])) -= discount * z[i];
                b[i] += z[i] * lessons.rewards[t];
            }
        }
    }
}

}  // namespace mercer::rl
