// What the walk of `quadrature.hpp` reads of a tree: its steps, and the factors of its splits at the nodes of a quadrature
// rule.
//
// The game of a leaf with value v: a coalition S of features is worth v prod_{j in S} h_j prod_{j not in S} c_j over the distinct
// features of the leaf's path, where h_j is 1 if the row satisfies all splits on j and 0 otherwise, and c_j is the product of the
// shares of training rows that these splits let through. With f_j(t) = h_j t + c_j (1 - t), its Shapley values are
//
//   phi_j = v (h_j - c_j) int_0^1 prod_{k != j} f_k(t) dt,
//
// the integral of a polynomial of a degree below the number of features, which n nodes of Gauss and Legendre give exactly for
// 2 n features (QuadratureTreeSHAP, arXiv 2605.04497). All factors lie between 0 and 1: nothing cancels, at any depth.
//
// Down the tree, P(t) = prod_j f_j(t) changes by a ratio at each split. With g_j = (h_j - c_j) / f_j, the sum over the leaves below
// a child, U(t) = sum v P(t), adds w(t) U(t) (g_new - g_old)(t) to phi_j, where g_old belongs to the last split on j above: what
// that one has added is taken back for these leaves. From c to c' along a way, with u = 1 - t:
//
//   h 1, stays 1:  ratio (t + c' u) / (t + c u),  difference (c - c') / ((t + c u) (t + c' u))
//   h 1, becomes 0:         c' u / (t + c u),               -1 / (u (t + c u))
//   h 0:                    c' / c,                          0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/prefetch.hpp"
#include "core/simd.hpp"
#include "inspection/legendre.hpp"
#include "inspection/splits.hpp"

namespace mercer::inspection {

// Above 1,024 features the rule is no longer exact for every polynomial. The products of f_k, whose zeros lie outside of (0, 1),
// are at their narrowest like t^a u^b: 512 nodes give those to the last digit up to some 14,000 features.
inline constexpr std::size_t kMostNodes = 512;

class QuadraturePlan {
   public:
    enum Kind : std::uint8_t { kOpen, kEnter, kLeaveFirst, kLeave };
    struct Step {
        std::uint32_t split;
        Kind kind;
        Way way;
    };

    // `values` has what each node of the tree adds as a leaf.
    QuadraturePlan(Splits splits, std::span<const double> values)
        : splits_(std::move(splits)),
          n_nodes_(nodes_for(splits_.n_features_of_path())),
          rule_(gauss_legendre(n_nodes_)),
          starts_(splits_.size()) {
        std::size_t n_factors = 0;
        for (std::size_t s = 0; s < splits_.size(); ++s) {
            starts_[s] = n_factors;
            n_factors += kStates * 2 * (has_leaf(splits_[s]) + n_inner(splits_[s]));
        }
        factors_.resize(n_factors * n_nodes_);
        for (std::size_t s = 0; s < splits_.size(); ++s) fill(s, values);
        if (splits_.size() > 0) list_steps();
    }

    static std::size_t nodes_for(std::size_t n_features) {
        return std::min(Simd<double>::round_up((n_features + 1) / 2), kMostNodes);
    }
    // Roughly, of a tree.
    static std::size_t bytes_of(std::size_t n_splits, std::size_t n_features) {
        return n_splits * (9 * nodes_for(n_features) * sizeof(double) + sizeof(Split) + 4 * sizeof(Step));
    }

    const Splits& splits() const { return splits_; }
    const std::vector<Step>& steps() const { return steps_; }
    const Rule& rule() const { return rule_; }
    std::size_t n_nodes() const { return n_nodes_; }

    static bool has_leaf(const Split& split) { return n_inner(split) < 2; }

    // Of the leaves right below a split: their v times ratio, and that times the difference.
    const double* leaf_ratios(std::size_t s, Way state) const { return factor(s, 0, 0, state); }
    const double* leaf_differences(std::size_t s, Way state) const { return factor(s, 0, 1, state); }
    // Of a child that is a split.
    const double* ratios(std::size_t s, Way way, Way state) const { return factor(s, place(s, way), 0, state); }
    const double* differences(std::size_t s, Way way, Way state) const { return factor(s, place(s, way), 1, state); }

    // Asks for what a step reads.
    void fetch(const Step& step) const {
        const bool is_open = step.kind == kOpen;
        if (is_open && !has_leaf(splits_[step.split])) return;
        const std::size_t which = step.kind == kLeave || step.kind == kLeaveFirst;
        const double* begin = factor(step.split, is_open ? 0 : place(step.split, step.way), which, kOff);
        prefetch_run(begin, (is_open ? 2 : 1) * kStates * n_nodes_);
    }

   private:
    static constexpr std::size_t kStates = 3;

    static std::size_t n_inner(const Split& split) {
        return static_cast<std::size_t>(!split.child(kLeft).is_leaf()) + static_cast<std::size_t>(!split.child(kRight).is_leaf());
    }
    std::size_t place(std::size_t s, Way way) const { return way == kRight ? 1 : has_leaf(splits_[s]) ? 1 : 0; }
    const double* factor(std::size_t s, std::size_t pair, std::size_t which, Way state) const {
        return factors_.data() + (starts_[s] + (2 * pair + which) * kStates + state) * n_nodes_;
    }
    double* factor(std::size_t s, std::size_t pair, std::size_t which, Way state) {
        return const_cast<double*>(std::as_const(*this).factor(s, pair, which, state));
    }

    void fill(std::size_t s, std::span<const double> values) {
        const Split& split = splits_[s];
        for (const Way way : {kLeft, kRight}) {
            const Child& child = split.child(way);
            const std::size_t pair = child.is_leaf() ? 0 : place(s, way);
            const double value = child.is_leaf() ? values[child.node] : 1.0;
            for (const Way state : {kOff, kLeft, kRight}) {
                double* ratios = factor(s, pair, 0, state);
                double* differences = factor(s, pair, 1, state);
                for (std::size_t q = 0; q < n_nodes_; ++q) {
                    const auto [ratio, difference] = change(split.share, child.share, state, way, q);
                    ratios[q] += value * ratio;
                    differences[q] += child.is_leaf() ? value * ratio * difference : difference;
                }
            }
        }
    }

    // The ratio of the product at node q of the rule, and the weighted difference, where a split takes the share from c to d.
    std::pair<double, double> change(double c, double d, Way state, Way way, std::size_t q) const {
        const double t = rule_.t[q], u = rule_.one_minus_t[q], weight = rule_.weights[q];
        if (state == kOff) return {c > 0 ? d / c : 0.0, 0.0};
        const double f = t + c * u;
        if (state != way) return {d * u / f, -weight / (u * f)};
        const double f_new = t + d * u;
        return {f_new / f, weight * (c - d) / (f * f_new)};
    }

    // Opens a split, and enters and leaves each of its children that is one.
    void list_steps() {
        struct Place {
            std::uint32_t split;
            Way next;
        };
        std::vector<Place> open{{0, kLeft}};
        steps_.push_back({0, kOpen, kOff});
        while (!open.empty()) {
            auto& [s, next] = open.back();
            const Split& split = splits_[s];
            if (next != kOff) {
                const Way way = next;
                next = way == kLeft ? kRight : kOff;
                if (split.child(way).is_leaf()) continue;
                steps_.push_back({s, kEnter, way});
                steps_.push_back({split.child(way).split, kOpen, kOff});
                open.push_back({split.child(way).split, kLeft});
                continue;
            }
            const Way way = split.parent_way;
            const std::uint32_t parent = split.parent;
            open.pop_back();
            if (parent == kNone) continue;
            const bool is_first = n_inner(splits_[parent]) == 2 && way == kLeft;  // no leaf, no other child yet
            steps_.push_back({parent, is_first ? kLeaveFirst : kLeave, way});
        }
    }

    Splits splits_;
    std::size_t n_nodes_;
    Rule rule_;
    std::vector<std::size_t> starts_;
    std::vector<double> factors_;
    std::vector<Step> steps_;
};

}  // namespace mercer::inspection
