// DBSCAN on a k-d tree, leaf by leaf: which points are core, which of them hang together, whom the others border on.
//
// A node whose box is no wider than eps is a cell: all its points are neighbours, which are counted and joined at once. Nodes whose
// core points are known to be of one cluster are passed over by others of that cluster. No list of neighbours is ever kept: memory
// is O(n).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/union_find.hpp"
#include "core/views.hpp"
#include "neighbors/blocks.hpp"
#include "neighbors/kd_tree.hpp"
#include "neighbors/near_boxes.hpp"

namespace mercer::cluster {

using neighbors::Box;
using neighbors::ChildPlace;
using neighbors::kBlock;
using neighbors::KdTree;
using neighbors::Leaf;
using neighbors::ShapeNode;
using neighbors::SlotRange;
using neighbors::Walk;

// The places of set bits, in rising order.
template <class Visit>
void for_bits(unsigned bits, Visit&& visit) {
    for (; bits != 0; bits &= bits - 1) visit(static_cast<std::size_t>(__builtin_ctz(bits)));
}

template <std::size_t kD, class M, Real T>
class Dbscan {
   public:
    static constexpr std::int32_t kNoise = -1;

    // `rank` is that of eps.
    Dbscan(const KdTree<T>& tree, const M& metric, double rank, Threads threads)
        : tree_(tree),
          metric_(metric),
          rank_(rank),
          threads_(threads.for_work(static_cast<double>(tree.n_points()) * 500)),
          nodes_(tree.shape().nodes()),
          leaves_(neighbors::leaves_of(tree.shape())),
          core_bits_(neighbors::round_to_blocks(tree.n_points()) / kBlock),
          sets_(tree.n_points()),
          first_core_(nodes_.size() * kBlock, kNone),
          is_one_(nodes_.size() * kBlock),
          labels_(tree.n_points(), kNoise) {}

    // Marks the points with at least `min_samples` points within eps, themselves included. A point's neighbours are counted until
    // there are enough.
    void find_core(std::size_t min_samples) {
        mark_cells(min_samples);
        for_leaves([&](const Leaf& leaf, const Box& box, Queries& queries) {
            if (is_all_core(leaf)) return;
            Counting counting(*this, leaf, queries, min_samples);
            if (counting.part(leaf) == Walk::kOn) neighbors::walk_near<kD>(tree_, metric_, box, rank_, counting);
            counting.mark();
        });
    }

    // The same by weights of the rows: the points whose neighbours weigh at least `least` together.
    void find_core(std::span<const double> weights, double least) {
        for_leaves([&](const Leaf& leaf, const Box& box, Queries& queries) {
            Weighing weighing(*this, leaf, queries, weights);
            neighbors::walk_near<kD>(tree_, metric_, box, rank_, weighing);
            weighing.mark(least);
        });
    }

    // Joins core points within eps of each other.
    void join_core() {
        find_first_core();
        for_leaves([&](const Leaf& leaf, const Box& box, Queries& queries) {
            if (has_core(leaf.place)) join_within(leaf, box, queries);
        });
        for_leaves([&](const Leaf& leaf, const Box& box, Queries& queries) {
            if (!has_core(leaf.place)) return;
            Joining joining(*this, leaf, queries);
            neighbors::walk_near<kD>(tree_, metric_, box, rank_, joining);
        });
    }

    // Writes the cluster of each row: clusters are numbered by their first core row, a border row goes to the lowest of the
    // clusters that it is near. Returns their number.
    std::size_t label_rows(std::span<std::int64_t> labels, std::span<std::uint8_t> is_core) {
        const std::size_t n_clusters = label_core();
        for_leaves([&](const Leaf& leaf, const Box& box, Queries& queries) {
            if (is_all_core(leaf)) return;
            Bordering bordering(*this, leaf, queries);
            neighbors::walk_near<kD>(tree_, metric_, box, rank_, bordering);
            bordering.write();
        });
        const auto rows = tree_.rows();
        for (std::size_t slot = 0; slot < rows.size(); ++slot) {
            const auto row = static_cast<std::size_t>(rows[slot]);
            labels[row] = labels_[slot];
            is_core[row] = this->is_core(slot) ? 1 : 0;
        }
        return n_clusters;
    }

   private:
    using Slot = UnionFind::Member;
    static constexpr Slot kNone = std::numeric_limits<Slot>::max();

    // The points of a leaf as queries.
    struct Queries {
        std::vector<double> values;
        std::size_t d = 0;

        void take(const KdTree<T>& tree, SlotRange slots) {
            d = tree.n_features();
            values.resize(slots.size() * d);
            for (std::size_t i = 0; i < slots.size(); ++i) tree.points().copy_point(slots.begin + i, values.data() + i * d);
        }
        const double* operator[](std::size_t i) const { return values.data() + i * d; }
    };

    // Calls body(leaf, box, queries) for every leaf, side by side.
    template <class Body>
    void for_leaves(Body&& body) {
        constexpr std::size_t kLeavesOfTask = 16;
        parallel_for((leaves_.size() + kLeavesOfTask - 1) / kLeavesOfTask, threads_, [&](std::size_t task) {
            Box box;
            Queries queries;
            const std::size_t last = std::min((task + 1) * kLeavesOfTask, leaves_.size());
            for (std::size_t l = task * kLeavesOfTask; l < last; ++l) {
                checkpoint();
                neighbors::take_box(tree_, leaves_[l].place, box);
                queries.take(tree_, leaves_[l].slots);
                body(leaves_[l], box, queries);
            }
        });
    }

    bool is_core(std::size_t slot) const { return (core_bits_[slot / kBlock] >> (slot % kBlock) & 1) != 0; }
    void mark_core(std::size_t slot) { core_bits_[slot / kBlock] |= static_cast<std::uint8_t>(1U << (slot % kBlock)); }
    bool is_all_core(const Leaf& leaf) const {
        for (std::size_t slot = leaf.slots.begin; slot < leaf.slots.end; slot += kBlock) {
            const unsigned all = neighbors::first_lanes(leaf.slots.end - slot);
            if ((core_bits_[slot / kBlock] & all) != all) return false;
        }
        return true;
    }
    bool has_core(ChildPlace place) const { return first_core_[place.index()] != kNone; }
    SlotRange slots_of(ChildPlace place) const { return nodes_[place.node].child(place.child); }
    template <class Visit>
    void for_core(SlotRange slots, Visit&& visit) const {
        for (std::size_t slot = slots.begin; slot < slots.end; slot += kBlock) {
            for_bits(core_bits_[slot / kBlock] & neighbors::first_lanes(slots.end - slot),
                     [&](std::size_t lane) { visit(static_cast<Slot>(slot + lane)); });
        }
    }

    // Points of a box no wider than eps that holds enough of them are core, all of them.
    void mark_cells(std::size_t min_samples) {
        Box box;
        std::vector<std::uint32_t> pending{0};
        while (!pending.empty()) {
            const std::uint32_t node = pending.back();
            pending.pop_back();
            for (std::uint32_t c = 0; c < nodes_[node].n_children; ++c) {
                const SlotRange slots = nodes_[node].child(c);
                if (slots.size() < min_samples) continue;
                neighbors::take_box(tree_, {node, c}, box);
                if (neighbors::extent(metric_, box) <= rank_) {
                    for (std::size_t slot = slots.begin; slot < slots.end; ++slot) mark_core(slot);
                } else if (nodes_[node].nodes[c] != ShapeNode::kLeaf) {
                    pending.push_back(static_cast<std::uint32_t>(nodes_[node].nodes[c]));
                }
            }
        }
    }

    // Counts the neighbours of the points of a leaf until each has enough.
    class Counting {
       public:
        Counting(Dbscan& all, const Leaf& leaf, const Queries& queries, std::size_t enough)
            : all_(all), leaf_(leaf), queries_(queries), enough_(enough), counts_(leaf.slots.size()) {
            for (std::size_t i = 0; i < counts_.size(); ++i) open_.push_back(static_cast<std::uint32_t>(i));
        }

        bool opens(ChildPlace place) const { return place.index() != leaf_.place.index(); }  // it was counted first
        Walk whole(ChildPlace place) {
            const std::size_t size = all_.slots_of(place).size();
            for (const std::uint32_t i : open_) counts_[i] += size;
            return close();
        }
        Walk part(const Leaf& other) {
            const auto points = all_.tree_.points();
            for (const std::uint32_t i : open_) {
                neighbors::hits_in_leaf<kD>(points, all_.metric_, queries_[i], other.slots, all_.rank_,
                                            [&](std::size_t, unsigned hits) {
                                                counts_[i] += static_cast<std::size_t>(__builtin_popcount(hits));
                                                return counts_[i] < enough_ ? Walk::kOn : Walk::kStop;
                                            });
            }
            return close();
        }
        void mark() {
            for (std::size_t i = 0; i < counts_.size(); ++i)
                if (counts_[i] >= enough_) all_.mark_core(leaf_.slots.begin + i);
        }

       private:
        Walk close() {
            std::erase_if(open_, [&](std::uint32_t i) { return counts_[i] >= enough_; });
            return open_.empty() ? Walk::kStop : Walk::kOn;
        }

        Dbscan& all_;
        const Leaf& leaf_;
        const Queries& queries_;
        std::size_t enough_;
        std::vector<std::size_t> counts_;
        std::vector<std::uint32_t> open_;  // points that lack neighbours yet
    };

    // Adds up the weights of the neighbours of the points of a leaf. Sums carry what rounding took (Neumaier), so that they hardly
    // depend on the order.
    class Weighing {
       public:
        Weighing(Dbscan& all, const Leaf& leaf, const Queries& queries, std::span<const double> weights)
            : all_(all), leaf_(leaf), queries_(queries), weights_(weights), sums_(leaf.slots.size()) {}

        bool opens(ChildPlace) const { return true; }
        Walk whole(ChildPlace place) {
            const SlotRange slots = all_.slots_of(place);
            for (std::size_t slot = slots.begin; slot < slots.end; ++slot)
                for (Sum& sum : sums_) sum.add(weight(slot));
            return Walk::kOn;
        }
        Walk part(const Leaf& other) {
            const auto points = all_.tree_.points();
            for (std::size_t i = 0; i < sums_.size(); ++i) {
                neighbors::hits_in_leaf<kD>(points, all_.metric_, queries_[i], other.slots, all_.rank_,
                                            [&](std::size_t slot, unsigned hits) {
                                                for_bits(hits, [&](std::size_t lane) { sums_[i].add(weight(slot + lane)); });
                                                return Walk::kOn;
                                            });
            }
            return Walk::kOn;
        }
        void mark(double least) {
            for (std::size_t i = 0; i < sums_.size(); ++i)
                if (sums_[i].total + sums_[i].lost >= least) all_.mark_core(leaf_.slots.begin + i);
        }

       private:
        struct Sum {
            double total = 0, lost = 0;

            void add(double x) {
                const double sum = total + x;
                lost += std::abs(total) >= std::abs(x) ? (total - sum) + x : (x - sum) + total;
                total = sum;
            }
        };
        double weight(std::size_t slot) const { return weights_[static_cast<std::size_t>(all_.tree_.rows()[slot])]; }

        Dbscan& all_;
        const Leaf& leaf_;
        const Queries& queries_;
        std::span<const double> weights_;
        std::vector<Sum> sums_;
    };

    // The first core point of each child, children after their parents.
    void find_first_core() {
        for (std::size_t node = nodes_.size(); node-- > 0;) {
            for (std::uint32_t c = 0; c < nodes_[node].n_children; ++c) {
                Slot first = kNone;
                if (nodes_[node].nodes[c] == ShapeNode::kLeaf) {
                    for_core(nodes_[node].child(c), [&](Slot slot) { first = std::min(first, slot); });
                } else {
                    const auto* const below = first_core_.data() + static_cast<std::size_t>(nodes_[node].nodes[c]) * kBlock;
                    first = *std::min_element(below, below + kBlock);
                }
                first_core_[node * kBlock + c] = first;
            }
        }
    }

    // Joins the core points of a leaf that are within eps.
    void join_within(const Leaf& leaf, const Box& box, const Queries& queries) {
        const Slot first = first_core_[leaf.place.index()];
        if (neighbors::extent(metric_, box) <= rank_) {
            for_core(leaf.slots, [&](Slot slot) { sets_.join(first, slot); });
            return;
        }
        for_core(leaf.slots,
                 [&](Slot slot) { join_hits(slot, queries[slot - leaf.slots.begin], {slot / kBlock * kBlock, leaf.slots.end}); });
    }

    // Joins a core point with those of a leaf within eps.
    void join_hits(Slot slot, const double* query, SlotRange slots) {
        neighbors::hits_in_leaf<kD>(tree_.points(), metric_, query, slots, rank_, [&](std::size_t begin, unsigned hits) {
            for_bits(hits & core_bits_[begin / kBlock],
                     [&](std::size_t lane) { sets_.join(slot, static_cast<Slot>(begin + lane)); });
            return Walk::kOn;
        });
    }

    // Whether the core points of a child are known to be of one set. What is found is remembered: sets only grow.
    bool is_one(ChildPlace place) {
        std::atomic_ref<std::uint8_t> known(is_one_[place.index()]);
        if (known.load(std::memory_order_relaxed) != 0) return true;
        const Slot root = sets_.find(first_core_[place.index()]);
        bool is_one = true;
        const std::int32_t below = nodes_[place.node].nodes[place.child];
        if (below == ShapeNode::kLeaf) {
            for_core(slots_of(place), [&](Slot slot) { is_one = is_one && sets_.find(slot) == root; });
        } else {
            const auto node = static_cast<std::uint32_t>(below);
            for (std::uint32_t c = 0; c < nodes_[node].n_children && is_one; ++c) {
                if (!has_core({node, c})) continue;
                is_one = std::atomic_ref<std::uint8_t>(is_one_[node * kBlock + c]).load(std::memory_order_relaxed) != 0 &&
                         sets_.find(first_core_[node * kBlock + c]) == root;
            }
        }
        if (is_one) known.store(1, std::memory_order_relaxed);
        return is_one;
    }

    // Joins the core points of a leaf with those of later slots.
    class Joining {
       public:
        Joining(Dbscan& all, const Leaf& leaf, const Queries& queries)
            : all_(all),
              leaf_(leaf),
              queries_(queries),
              first_(all.first_core_[leaf.place.index()]),
              is_one_(all.is_one(leaf.place)) {}

        bool opens(ChildPlace place) {
            if (all_.slots_of(place).end <= leaf_.slots.end || !all_.has_core(place)) return false;
            return !(is_one_ && all_.is_one(place) && are_joined(place));
        }
        Walk whole(ChildPlace place) {
            const Slot other = all_.first_core_[place.index()];
            all_.for_core(leaf_.slots, [&](Slot slot) { all_.sets_.join(slot, other); });
            if (!all_.is_one(place)) all_.for_core(all_.slots_of(place), [&](Slot slot) { all_.sets_.join(first_, slot); });
            is_one_ = all_.is_one(leaf_.place);
            return Walk::kOn;
        }
        Walk part(const Leaf& other) {
            if (is_one_ && all_.is_one(other.place)) {
                if (is_any_within(other)) all_.sets_.join(first_, all_.first_core_[other.place.index()]);
                return Walk::kOn;
            }
            all_.for_core(leaf_.slots, [&](Slot slot) { all_.join_hits(slot, queries_[slot - leaf_.slots.begin], other.slots); });
            is_one_ = is_one_ || all_.is_one(leaf_.place);
            return Walk::kOn;
        }

       private:
        bool are_joined(ChildPlace place) { return all_.sets_.find(first_) == all_.sets_.find(all_.first_core_[place.index()]); }
        bool is_any_within(const Leaf& other) const {
            bool is_found = false;
            all_.for_core(leaf_.slots, [&](Slot slot) {
                if (is_found) return;
                const double* const query = queries_[slot - leaf_.slots.begin];
                neighbors::hits_in_leaf<kD>(all_.tree_.points(), all_.metric_, query, other.slots, all_.rank_,
                                            [&](std::size_t begin, unsigned hits) {
                                                is_found = (hits & all_.core_bits_[begin / kBlock]) != 0;
                                                return is_found ? Walk::kStop : Walk::kOn;
                                            });
            });
            return is_found;
        }

        Dbscan& all_;
        const Leaf& leaf_;
        const Queries& queries_;
        Slot first_;
        bool is_one_;
    };

    // Labels core points by their set, sets in the order of their first rows. Returns the number of sets.
    std::size_t label_core() {
        const auto rows = tree_.rows();
        std::vector<Slot> slots(rows.size());
        for (std::size_t slot = 0; slot < rows.size(); ++slot)
            slots[static_cast<std::size_t>(rows[slot])] = static_cast<Slot>(slot);
        std::int32_t n_clusters = 0;
        for (const Slot slot : slots) {
            if (!is_core(slot)) continue;
            const Slot root = sets_.find(slot);
            if (labels_[root] == kNoise) labels_[root] = n_clusters++;
            labels_[slot] = labels_[root];
        }
        return static_cast<std::size_t>(n_clusters);
    }

    // Finds the lowest cluster of a core point within eps, for the points of a leaf that are not core.
    class Bordering {
       public:
        Bordering(Dbscan& all, const Leaf& leaf, const Queries& queries)
            : all_(all), leaf_(leaf), queries_(queries), lowest_(leaf.slots.size(), kNobody) {}

        bool opens(ChildPlace place) const { return all_.has_core(place); }
        Walk whole(ChildPlace place) {
            std::int32_t label = kNobody;
            if (all_.is_one(place)) {
                label = all_.labels_[all_.first_core_[place.index()]];
            } else {
                all_.for_core(all_.slots_of(place), [&](Slot slot) { label = std::min(label, all_.labels_[slot]); });
            }
            for (std::int32_t& lowest : lowest_) lowest = std::min(lowest, label);
            return Walk::kOn;
        }
        Walk part(const Leaf& other) {
            const bool is_one = all_.is_one(other.place);
            const std::int32_t label = all_.labels_[all_.first_core_[other.place.index()]];
            for (std::size_t i = 0; i < lowest_.size(); ++i) {
                if (all_.is_core(leaf_.slots.begin + i) || (is_one && label >= lowest_[i])) continue;
                lower(i, other.slots, is_one);
            }
            return Walk::kOn;
        }
        void write() {
            for (std::size_t i = 0; i < lowest_.size(); ++i) {
                const std::size_t slot = leaf_.slots.begin + i;
                if (!all_.is_core(slot) && lowest_[i] != kNobody) all_.labels_[slot] = lowest_[i];
            }
        }

       private:
        static constexpr std::int32_t kNobody = std::numeric_limits<std::int32_t>::max();

        void lower(std::size_t i, SlotRange slots, bool is_one) {
            neighbors::hits_in_leaf<kD>(
                all_.tree_.points(), all_.metric_, queries_[i], slots, all_.rank_, [&](std::size_t begin, unsigned hits) {
                    hits &= all_.core_bits_[begin / kBlock];
                    for_bits(hits, [&](std::size_t lane) { lowest_[i] = std::min(lowest_[i], all_.labels_[begin + lane]); });
                    return is_one && hits != 0 ? Walk::kStop : Walk::kOn;
                });
        }

        Dbscan& all_;
        const Leaf& leaf_;
        const Queries& queries_;
        std::vector<std::int32_t> lowest_;
    };

    const KdTree<T>& tree_;
    const M& metric_;
    double rank_;
    Threads threads_;
    const std::vector<ShapeNode>& nodes_;
    std::vector<Leaf> leaves_;
    std::vector<std::uint8_t> core_bits_;  // of each block
    UnionFind sets_;                       // of core points
    std::vector<Slot> first_core_;         // of each child; kNone
    std::vector<std::uint8_t> is_one_;     // of each child: its core points are known to be of one set
    std::vector<std::int32_t> labels_;     // by slot
};

}  // namespace mercer::cluster
