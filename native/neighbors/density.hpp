// Sums of a kernel over the points of a search tree, for every query: sum_i w_i K(d(query, x_i) / h), as logarithms.
//
// Nodes are visited from the nearest on. The kernel falls with the distance, so that the bounds of a node bound what its points
// add: where the two are as near to each other as the tolerance allows, or what is left cannot change the last digit of the sum,
// the node is added as a whole. Every weight's share of the error is then at most its share of the tolerance.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "core/math.hpp"
#include "core/views.hpp"
#include "neighbors/any_metric.hpp"
#include "neighbors/batch.hpp"
#include "neighbors/blocks.hpp"
#include "neighbors/traverse.hpp"

namespace mercer::neighbors {

enum class KernelShape { kGaussian, kTophat, kEpanechnikov, kExponential, kLinear, kCosine };

// K(u) for u = distance / h, up to its norm; times e^shift for the two that have no end.
struct DensityKernel {
    KernelShape shape;
    double h;
    double shift = 0;

    bool is_endless() const { return shape == KernelShape::kGaussian || shape == KernelShape::kExponential; }
    // -log K(u) of these two.
    double depth(double distance) const {
        const double u = distance / h;
        return shape == KernelShape::kGaussian ? u * u / 2 : u;
    }
    Vector operator()(Vector distance) const {
        const Vector u = distance / Doubles::broadcast(h);
        switch (shape) {
            case KernelShape::kGaussian:
                return math::exp(shift - u * u / 2);
            case KernelShape::kExponential:
                return math::exp(shift - u);
            case KernelShape::kTophat:
                return u < 1.0 ? Doubles::broadcast(1) : Vector{};
            case KernelShape::kEpanechnikov:
                return u < 1.0 ? 1 - u * u : Vector{};
            case KernelShape::kLinear:
                return u < 1.0 ? 1 - u : Vector{};
            case KernelShape::kCosine:
                break;
        }
        return by_lane(u, [](double x) { return x < 1 ? std::cos(std::numbers::pi / 2 * x) : 0; });
    }
};

struct Tolerance {
    double absolute, relative;  // of the sum without its norm

    bool is_zero() const { return absolute == 0 && relative == 0; }
};

// Weights of points by slot, and the sums of those before each.
class SlotWeights {
   public:
    SlotWeights(std::span<const double> by_row, std::span<const Row> rows) : n_(rows.size()) {
        if (by_row.empty()) return;
        by_slot_.resize(round_to_blocks(n_));
        before_.resize(n_ + 1);
        for (std::size_t slot = 0; slot < n_; ++slot) {
            by_slot_[slot] = by_row[static_cast<std::size_t>(rows[slot])];
            before_[slot + 1] = before_[slot] + by_slot_[slot];
        }
    }

    double total() const { return of({0, n_}); }
    double of(SlotRange range) const {
        return before_.empty() ? static_cast<double>(range.size()) : before_[range.end] - before_[range.begin];
    }
    double without(std::size_t own, SlotRange range) const {
        return of(range) - (own >= range.begin && own < range.end ? of({own, own + 1}) : 0);
    }
    // Of the eight slots from `slot` on; zero for those that are none, and for `own`.
    BlockValues block(std::size_t slot, std::size_t own) const {
        alignas(64) double weights[kBlock];
        for (std::size_t lane = 0; lane < kBlock; ++lane)
            weights[lane] = slot + lane < n_ ? (before_.empty() ? 1.0 : by_slot_[slot + lane]) : 0.0;
        if (own - slot < kBlock) weights[own - slot] = 0;
        BlockValues values;
        for (std::size_t v = 0; v < kParts; ++v) values.part[v] = Doubles::load(weights + v * Doubles::kLanes);
        return values;
    }
    bool are_all_one() const { return before_.empty(); }

   private:
    std::size_t n_;
    std::vector<double> by_slot_, before_;
};

// The sum for one query at a time.
template <class Tree>
class DensitySum {
   public:
    static constexpr std::size_t kNoSlot = std::numeric_limits<std::size_t>::max();

    DensitySum(const Tree& tree, const AnyMetric& metric, const SlotWeights& weights, DensityKernel kernel, Tolerance tolerance)
        : tree_(tree), metric_(metric), weights_(weights), kernel_(kernel), tolerance_(tolerance) {}

    // The logarithm of the sum over all points but `own_slot`.
    double logarithm(const double* query, std::size_t own_slot) {
        kernel_.shift = 0;
        double sum = add_up(query, own_slot);
        constexpr double kFaint = 1e-250;  // where terms that vanished may have been missed
        if (kernel_.is_endless() && sum < kFaint && weights_.total() > 0) {
            NearestFew nearest(1);
            nearest.start(own_slot == kNoSlot ? kNoRow : tree_.rows()[own_slot]);
            tree_.search(metric_, query, nearest);
            const auto& found = nearest.finish();
            if (!found.empty()) kernel_.shift = kernel_.depth(metric_.distance(found[0].rank));
            if (!std::isfinite(kernel_.shift)) return -std::numeric_limits<double>::infinity();
            sum = add_up(query, own_slot);
        }
        return std::log(sum) - kernel_.shift;
    }

   private:
    struct Open {
        double most;  // of the kernel, in this node
        double least;
        std::uint32_t node, child;
    };

    double add_up(const double* query, std::size_t own_slot) {
        const auto& nodes = tree_.shape().nodes();
        const bool asks_above = !tolerance_.is_zero() || kernel_.shape == KernelShape::kTophat;
        double sum = 0, promised = 0;  // what was added; the least that open nodes will add
        Open open[TreeShape::kMostPending];
        std::size_t n_open = 0, node = 0;
        while (true) {
            alignas(64) double most[kBlock], least[kBlock] = {};
            values_at(tree_.template bound_children<0>(metric_, query, node)).store(most);
            if (asks_above) values_at(tree_.bound_children_above(metric_, query, node)).store(least);
            const std::size_t bottom = n_open;
            for (std::uint32_t c = 0; c < nodes[node].n_children; ++c) {
                if (most[c] == 0) continue;
                std::size_t place = n_open++;
                for (; place > bottom && open[place - 1].most > most[c]; --place) open[place] = open[place - 1];
                open[place] = {most[c], least[c], static_cast<std::uint32_t>(node), c};
                promised += least[c] * weights_.without(own_slot, nodes[node].child(c));
            }
            bool goes_on = false;
            while (n_open > 0 && !goes_on) {
                const Open next = open[--n_open];
                const ShapeNode& parent = nodes[next.node];
                const SlotRange range = parent.child(next.child);
                const double weight = weights_.without(own_slot, range);
                promised -= next.least * weight;
                if (is_settled(next, sum + std::fmax(promised, 0))) {
                    sum += weight * (asks_above ? (next.most + next.least) / 2 : 0);
                } else if (parent.nodes[next.child] == ShapeNode::kLeaf) {
                    sum += leaf_sum(query, range, own_slot);
                } else {
                    node = static_cast<std::size_t>(parent.nodes[next.child]);
                    goes_on = true;
                }
            }
            if (!goes_on) return sum;
        }
    }

    // Whether a node may be added as a whole, given the least that the sum will be.
    bool is_settled(const Open& next, double least_sum) const {
        constexpr double kLastDigit = 0x1p-56;
        const double total = weights_.total();
        if (next.most * total <= kLastDigit * least_sum) return true;
        return next.most - next.least <= 2 * (tolerance_.absolute + tolerance_.relative * least_sum) / total &&
               (!tolerance_.is_zero() || next.most == next.least);
    }

    BlockValues values_at(BlockValues ranks) const {
        for (std::size_t v = 0; v < kParts; ++v) {
            const Vector rank = ranks.part[v] > Vector{} ? ranks.part[v] : Vector{};
            // No point that counts has more than one: only that which asks, where it is left out, is nearer than the nearest.
            ranks.part[v] = math::min(kernel_(metric_.distances(rank)), Doubles::broadcast(1));
        }
        return ranks;
    }

    double leaf_sum(const double* query, SlotRange range, std::size_t own_slot) const {
        const auto points = tree_.points();
        Vector sums[kParts] = {};
        for (std::size_t slot = range.begin; slot < range.end; slot += kBlock) {
            const BlockValues values = values_at(measure_block<0>(metric_, query, points.block(slot), points.d));
            const bool is_plain = weights_.are_all_one() && slot + kBlock <= points.n && !(own_slot - slot < kBlock);
            if (is_plain) {
                for (std::size_t v = 0; v < kParts; ++v) sums[v] = sums[v] + values.part[v];
            } else {
                const BlockValues weights = weights_.block(slot, own_slot);
                for (std::size_t v = 0; v < kParts; ++v) sums[v] = sums[v] + weights.part[v] * values.part[v];
            }
        }
        double sum = 0;
        for (const Vector& part : sums)
            for (std::size_t lane = 0; lane < Doubles::kLanes; ++lane) sum += part[lane];
        return sum;
    }

    const Tree& tree_;
    const AnyMetric& metric_;
    const SlotWeights& weights_;
    DensityKernel kernel_;
    Tolerance tolerance_;
};

// The logarithm of each query's sum. Points that ask leave themselves out if told so. O(n d) a query at worst.
template <class Tree>
void kernel_densities(const Batch<Tree, AnyMetric>& batch, const SlotWeights& weights, DensityKernel kernel, Tolerance tolerance,
                      std::span<double> out) {
    using Sum = DensitySum<Tree>;
    detail::for_queries(batch, [&](std::size_t first, std::size_t last, const double* queries, const auto& order) {
        Sum sum(batch.index, batch.metric, weights, kernel, tolerance);
        for (std::size_t i = first; i < last; ++i) {
            const std::size_t own = batch.leave_out_self && !batch.given ? i : Sum::kNoSlot;
            out[order.place(i)] = sum.logarithm(queries + (i - first) * batch.index.n_features(), own);
        }
    });
}

}  // namespace mercer::neighbors
