// Path-dependent Shapley values of sums of trees, by quadrature (see `quadrature_plan.hpp`).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "inspection/quadrature_plan.hpp"

namespace mercer::inspection {

namespace detail {

// Walks one tree for a few rows at a time: what is read of the tree serves them all, and lanes are nodes of the rule. kVectors is
// how many vectors the rule takes; 0: as many as it takes.
template <std::size_t kVectors>
class QuadratureWalk {
   public:
    using Lanes = Simd<double>;
    using Vector = Lanes::Vector;

    QuadratureWalk(const QuadraturePlan& plan, std::size_t n_rows)
        : plan_(plan),
          splits_(plan.splits()),
          n_vectors_(kVectors > 0 ? kVectors : plan.n_nodes() / Lanes::kLanes),
          n_rows_(n_rows),
          states_(splits_.n_levels() * n_rows),
          products_(splits_.n_levels() * n_rows * plan.n_nodes()),
          sums_(splits_.n_levels() * n_rows * plan.n_nodes()),
          values_(splits_.features().size() * n_rows * plan.n_nodes()) {
        std::fill_n(products_.data(), n_rows * plan.n_nodes(), 1.0);
    }

    // Adds the values of rows [begin, begin + n) to their lines of `out`.
    template <class X>
    void add(const Trees::Part& tree, const X& x, std::size_t begin, std::size_t n, RowMajor<double> out) {
        std::fill_n(values_.data(), values_.size(), 0.0);
        n_ = n;
        const auto& steps = plan_.steps();
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (i + kAhead < steps.size()) plan_.fetch(steps[i + kAhead]);
            take(steps[i], tree, x, begin);
        }
        for (std::size_t slot = 0; slot < splits_.features().size(); ++slot)
            for (std::size_t r = 0; r < n; ++r) out(begin + r, splits_.features()[slot]) += total(values_of(slot, r));
    }

   protected:
    static constexpr std::size_t kAhead = 3;  // steps

    std::size_t n_vectors() const { return kVectors > 0 ? kVectors : n_vectors_; }
    std::size_t n_lanes() const { return n_vectors() * Lanes::kLanes; }
    std::size_t at(std::size_t level, std::size_t r) const { return level * n_rows_ + r; }
    double* product(std::size_t level, std::size_t r) { return products_.data() + at(level, r) * n_lanes(); }
    double* sum(std::size_t level, std::size_t r) { return sums_.data() + at(level, r) * n_lanes(); }
    double* values_of(std::size_t slot, std::size_t r) { return values_.data() + at(slot, r) * n_lanes(); }

    template <class X>
    void take(const QuadraturePlan::Step& step, const Trees::Part& tree, const X& x, std::size_t begin) {
        const Split& split = splits_[step.split];
        switch (step.kind) {
            case QuadraturePlan::kOpen:
                open(step.split, split, tree, x, begin);
                break;
            case QuadraturePlan::kEnter:
                for (std::size_t r = 0; r < n_; ++r) enter(step, split, r);
                break;
            case QuadraturePlan::kLeaveFirst:
                for (std::size_t r = 0; r < n_; ++r) leave<true>(step, split, r);
                break;
            case QuadraturePlan::kLeave:
                for (std::size_t r = 0; r < n_; ++r) leave<false>(step, split, r);
                break;
        }
    }

    Way way_of(const Split& split, std::size_t r, bool is_left) const {
        const bool is_on = split.before == kNone || states_[at(splits_[split.before].level, r)] == split.before_way;
        return static_cast<Way>(is_on * (2 - static_cast<int>(is_left)));
    }

    // Which way each row goes, and what the leaves right below give.
    template <class X>
    void open(std::size_t s, const Split& split, const Trees::Part& tree, const X& x, std::size_t begin) {
        const Node& node = tree.nodes[split.node];
        for (std::size_t r = 0; r < n_; ++r) {
            const bool is_left = tree::goes_left(node, x(begin + r, node.feature()), tree.words.data());
            states_[at(split.level, r)] = way_of(split, r, is_left);
        }
        if (!QuadraturePlan::has_leaf(split)) return;
        for (std::size_t r = 0; r < n_; ++r) {
            const Way state = states_[at(split.level, r)];
            const double* ratios = plan_.leaf_ratios(s, state);
            const double* differences = plan_.leaf_differences(s, state);
            const double* p = product(split.level, r);
            double* u = sum(split.level, r);
            double* values = values_of(split.slot, r);
            for (std::size_t v = 0; v < n_vectors(); ++v) {
                const std::size_t q = v * Lanes::kLanes;
                const Vector mine = Lanes::load(p + q);
                Lanes::store(u + q, mine * Lanes::load(ratios + q));
                Lanes::store(values + q, Lanes::load(values + q) + mine * Lanes::load(differences + q));
            }
        }
    }

    void enter(const QuadraturePlan::Step& step, const Split& split, std::size_t r) {
        const double* ratios = plan_.ratios(step.split, step.way, states_[at(split.level, r)]);
        const double* above = product(split.level, r);
        double* below = product(split.level + 1, r);
        for (std::size_t v = 0; v < n_vectors(); ++v) {
            const std::size_t q = v * Lanes::kLanes;
            Lanes::store(below + q, Lanes::load(above + q) * Lanes::load(ratios + q));
        }
    }

    template <bool kIsFirst>
    void leave(const QuadraturePlan::Step& step, const Split& split, std::size_t r) {
        const double* differences = plan_.differences(step.split, step.way, states_[at(split.level, r)]);
        const double* below = sum(split.level + 1, r);
        double* u = sum(split.level, r);
        double* values = values_of(split.slot, r);
        for (std::size_t v = 0; v < n_vectors(); ++v) {
            const std::size_t q = v * Lanes::kLanes;
            const Vector theirs = Lanes::load(below + q);
            Lanes::store(u + q, kIsFirst ? theirs : Lanes::load(u + q) + theirs);
            Lanes::store(values + q, Lanes::load(values + q) + theirs * Lanes::load(differences + q));
        }
    }

    double total(const double* lanes) const {
        Vector sum{};
        for (std::size_t v = 0; v < n_vectors(); ++v) sum += Lanes::load(lanes + v * Lanes::kLanes);
        double total = 0;
        for (std::size_t l = 0; l < Lanes::kLanes; ++l) total += sum[l];
        return total;
    }

    const QuadraturePlan& plan_;
    const Splits& splits_;
    std::size_t n_vectors_;
    std::size_t n_rows_;
    std::size_t n_ = 0;
    std::vector<Way> states_;
    Aligned<double> products_;
    Aligned<double> sums_;
    Aligned<double> values_;
};

// Calls work(std::integral_constant<number of vectors, 0 for any>).
template <class Work>
void for_vectors(std::size_t n_vectors, Work&& work) {
    switch (n_vectors) {
        case 1:
            return work(std::integral_constant<std::size_t, 1>{});
        case 2:
            return work(std::integral_constant<std::size_t, 2>{});
        case 3:
            return work(std::integral_constant<std::size_t, 3>{});
        case 4:
            return work(std::integral_constant<std::size_t, 4>{});
        default:
            return work(std::integral_constant<std::size_t, 0>{});
    }
}

// Plans of the trees [begin, end) of a model, made side by side.
inline std::vector<std::unique_ptr<QuadraturePlan>> make_plans(const Model& model, std::size_t begin, std::size_t end,
                                                               Threads threads) {
    std::vector<std::unique_ptr<QuadraturePlan>> plans(end - begin);
    parallel_for(plans.size(), threads, [&](std::size_t i) {
        const std::size_t t = model.tree(begin + i);
        plans[i] = std::make_unique<QuadraturePlan>(model.splits(t), model.of_tree(model.values, t));
    });
    return plans;
}

// The end of the run of trees from `begin` on whose plans may be in memory together.
inline std::size_t end_of_run(const Model& model, std::size_t begin) {
    constexpr std::size_t kMostBytes = std::size_t{1} << 27;
    std::size_t bytes = 0, end = begin;
    do {
        const std::size_t t = model.tree(end++);
        const std::size_t n_splits = model.trees.part(t).nodes.size() / 2;
        bytes += QuadraturePlan::bytes_of(n_splits, std::min(n_splits, model.trees.n_features()));
    } while (end < model.count() && bytes < kMostBytes);
    return end;
}

// How many rows walk a tree together: as many as leave their numbers in the second cache, up to 32.
inline std::size_t rows_at_once(const QuadraturePlan& plan, std::size_t n) {
    constexpr std::size_t kBytes = std::size_t{1} << 19;
    const std::size_t places = 2 * plan.splits().n_levels() + plan.splits().features().size();
    return std::min(std::clamp<std::size_t>(kBytes / (places * plan.n_nodes() * sizeof(double) + 1), 1, 32), n);
}

}  // namespace detail

// Adds to `out` (rows x features) what each feature gave to the model's output for each row of x. O(rows x splits x nodes of the
// rule). Rows are shared among threads; those of one row are added tree after tree.
template <class X>
void add_by_quadrature(const Model& model, const X& x, RowMajor<double> out, Threads threads) {
    const auto chunks = Chunks::of(x.rows, 16, 1024);
    for (std::size_t begin = 0, end = 0; begin < model.count(); begin = end) {
        end = detail::end_of_run(model, begin);
        const auto plans = detail::make_plans(model, begin, end, threads);
        parallel_for(chunks.count, threads, [&](std::size_t chunk) {
            for (std::size_t i = begin; i < end; ++i) {
                checkpoint();
                const QuadraturePlan& plan = *plans[i - begin];
                const auto tree = model.trees.part(model.tree(i));
                const std::size_t together = detail::rows_at_once(plan, x.rows);
                detail::for_vectors(plan.n_nodes() / Simd<double>::kLanes, [&](auto vectors) {
                    detail::QuadratureWalk<vectors> walk(plan, together);
                    for (std::size_t row = chunks.begin(chunk); row < chunks.end(chunk); row += together) {
                        if (plan.n_nodes() * plan.steps().size() > 100000) checkpoint();
                        walk.add(tree, x, row, std::min(together, chunks.end(chunk) - row), out);
                    }
                });
            }
        });
    }
}

}  // namespace mercer::inspection
