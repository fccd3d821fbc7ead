// A search tree whose points are named by their slots, in the order of the leaves: what is kept of points that lie near each other
// then lies near too.
#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "neighbors/blocks.hpp"
#include "neighbors/collectors.hpp"
#include "neighbors/kd_tree.hpp"
#include "neighbors/traverse.hpp"

namespace mercer::neighbors {

template <Real T>
class BySlot {
   public:
    explicit BySlot(const KdTree<T>& tree) : tree_(tree), slots_(tree.n_points()) {
        std::iota(slots_.begin(), slots_.end(), Row{0});
    }

    std::size_t n_points() const { return slots_.size(); }
    const TreeShape& shape() const { return tree_.shape(); }
    const KdTree<T>& tree() const { return tree_; }
    Blocks<T> points() const { return {tree_.points().values, slots_.data(), slots_.size(), tree_.n_features()}; }
    Row first_row(std::size_t node, std::size_t child) const { return static_cast<Row>(shape().nodes()[node].starts[child]); }

    template <std::size_t kD, class M>
    [[gnu::always_inline]] BlockValues bound_children(const M& metric, const double* query, std::size_t node) const {
        return tree_.template bound_children<kD>(metric, query, node);
    }

    // The slot of each row.
    std::vector<Row> slots_by_row() const {
        std::vector<Row> slots(slots_.size());
        for (std::size_t slot = 0; slot < slots.size(); ++slot)
            slots[static_cast<std::size_t>(tree_.rows()[slot])] = static_cast<Row>(slot);
        return slots;
    }

   private:
    const KdTree<T>& tree_;
    std::vector<Row> slots_;
};

}  // namespace mercer::neighbors
