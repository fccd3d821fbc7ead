// What pairs of features give together, path-dependent, by quadrature (see `quadrature_plan.hpp`).
//
// The interaction of i and j in the game of a leaf is half of v (h_i - c_i) (h_j - c_j) int prod_{k != i, j} f_k dt. At a split on
// j, U (g_new - g_old) is all that changes with j; times g_i of each other feature on the path, it is what the pairs (i, j) gain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "inspection/quadrature.hpp"

namespace mercer::inspection {

namespace detail {

// Of each split: the levels of the last splits above it on each other feature.
class OthersAbove {
   public:
    explicit OthersAbove(const Splits& splits) : starts_{0} {
        std::vector<std::vector<std::uint32_t>> open(splits.n_levels() + 1);  // by level: of each feature, the last split above
        for (const Split& split : splits) {
            const auto& above = open[split.level];
            const std::uint32_t own = split.before == kNone ? kNone : splits[split.before].level;
            auto& below = open[split.level + 1];
            below.clear();
            for (const std::uint32_t level : above)
                if (level != own) below.push_back(level);
            levels_.insert(levels_.end(), below.begin(), below.end());
            starts_.push_back(levels_.size());
            below.push_back(split.level);
        }
    }

    std::span<const std::uint32_t> of(std::size_t s) const {
        return std::span(levels_).subspan(starts_[s], starts_[s + 1] - starts_[s]);
    }

   private:
    std::vector<std::uint32_t> levels_;
    std::vector<std::size_t> starts_;
};

// Walks one tree for one row.
template <std::size_t kVectors>
class PairQuadratureWalk : public QuadratureWalk<kVectors> {
    using Base = QuadratureWalk<kVectors>;
    using Lanes = typename Base::Lanes;
    using Vector = typename Base::Vector;

   public:
    PairQuadratureWalk(const QuadraturePlan& plan, const OthersAbove& others)
        : Base(plan, 1),
          others_(others),
          gains_(this->splits_.n_levels() * this->n_lanes()),
          lost_(this->n_lanes()),
          terms_(this->n_lanes()),
          slots_(this->splits_.n_levels()),
          is_on_(this->splits_.n_levels()),
          pairs_(this->splits_.features().size() * this->splits_.features().size()) {
        for (std::size_t q = 0; q < this->n_lanes(); ++q) lost_[q] = -1 / plan.rule().one_minus_t[q];
    }

    // Adds what pairs give to `out` (features x features).
    template <class X>
    void add(const Trees::Part& tree, const X& x, std::size_t row, RowMajor<double> out) {
        std::fill(pairs_.begin(), pairs_.end(), 0.0);
        this->n_ = 1;
        for (const auto& step : this->plan_.steps()) {
            this->take(step, tree, x, row);
            pair_up(step);
        }
        const auto& features = this->splits_.features();
        for (std::size_t i = 0; i < features.size(); ++i) {
            for (std::size_t j = 0; j < features.size(); ++j) {
                const double half = (pairs_[i * features.size() + j] + pairs_[j * features.size() + i]) / 2;
                if (i != j) out(features[i], features[j]) += half;
            }
        }
    }

   private:
    void pair_up(const QuadraturePlan::Step& step) {
        const Split& split = this->splits_[step.split];
        const Way state = this->states_[this->at(split.level, 0)];
        if (step.kind == QuadraturePlan::kEnter) return open_gain(split, step.way, state);
        if (state == kOff || (step.kind == QuadraturePlan::kOpen && !QuadraturePlan::has_leaf(split))) return;
        const bool is_open = step.kind == QuadraturePlan::kOpen;
        const double* sums = is_open ? this->product(split.level, 0) : this->sum(split.level + 1, 0);
        const double* differences =
            is_open ? this->plan_.leaf_differences(step.split, state) : this->plan_.differences(step.split, step.way, state);
        for (std::size_t q = 0; q < this->n_lanes(); ++q) terms_[q] = sums[q] * differences[q];
        const double without = dot(terms_.data(), lost_.data());
        double* line = pairs_.data() + split.slot * this->splits_.features().size();
        for (const std::uint32_t level : others_.of(step.split))
            line[slots_[level]] += is_on_[level] ? dot(terms_.data(), gains_.data() + level * this->n_lanes()) : without;
    }

    // g of a split's feature below a child.
    void open_gain(const Split& split, Way way, Way state) {
        slots_[split.level] = split.slot;
        is_on_[split.level] = state == way;
        if (state != way) return;
        const double share = split.child(way).share;
        const Rule& rule = this->plan_.rule();
        double* gains = gains_.data() + split.level * this->n_lanes();
        for (std::size_t q = 0; q < this->n_lanes(); ++q) gains[q] = (1 - share) / (rule.t[q] + share * rule.one_minus_t[q]);
    }

    double dot(const double* a, const double* b) const {
        Vector sum{};
        for (std::size_t v = 0; v < this->n_vectors(); ++v)
            sum += Lanes::load(a + v * Lanes::kLanes) * Lanes::load(b + v * Lanes::kLanes);
        double total = 0;
        for (std::size_t l = 0; l < Lanes::kLanes; ++l) total += sum[l];
        return total;
    }

    const OthersAbove& others_;
    Aligned<double> gains_;
    Aligned<double> lost_;
    Aligned<double> terms_;
    std::vector<std::uint32_t> slots_;
    std::vector<std::uint8_t> is_on_;
    std::vector<double> pairs_;
};

}  // namespace detail

// Adds to `out` (a line of features x features for each row) half of what each pair of features gave together, at both of its
// places; the diagonal is left as it is.
template <class X>
void add_pairs_by_quadrature(const Model& model, const X& x, RowMajor<double> out, Threads threads) {
    const std::size_t d = model.trees.n_features();
    const auto chunks = Chunks::of(x.rows, 4, 1024);
    for (std::size_t begin = 0, end = 0; begin < model.count(); begin = end) {
        end = detail::end_of_run(model, begin);
        const auto plans = detail::make_plans(model, begin, end, threads);
        std::vector<std::unique_ptr<detail::OthersAbove>> others(plans.size());
        parallel_for(plans.size(), threads,
                     [&](std::size_t i) { others[i] = std::make_unique<detail::OthersAbove>(plans[i]->splits()); });
        parallel_for(chunks.count, threads, [&](std::size_t chunk) {
            for (std::size_t i = begin; i < end; ++i) {
                const QuadraturePlan& plan = *plans[i - begin];
                const auto tree = model.trees.part(model.tree(i));
                detail::for_vectors(plan.n_nodes() / Simd<double>::kLanes, [&](auto vectors) {
                    detail::PairQuadratureWalk<vectors> walk(plan, *others[i - begin]);
                    for (std::size_t row = chunks.begin(chunk); row < chunks.end(chunk); ++row) {
                        checkpoint();
                        walk.add(tree, x, row, RowMajor<double>{out.row(row), d, d});
                    }
                });
            }
        });
    }
}

}  // namespace mercer::inspection
