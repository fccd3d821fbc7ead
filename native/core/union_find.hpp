// Disjoint sets that threads may join at the same time. Which sets come out depends on what was joined alone, not on the order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace mercer {

// Each set is a tree of parents with the least member as root, linked by compare-and-swap (Anderson and Woll).
class UnionFind {
   public:
    using Member = std::uint32_t;

    explicit UnionFind(std::size_t n) : parents_(n) { std::iota(parents_.begin(), parents_.end(), Member{0}); }

    std::size_t size() const { return parents_.size(); }

    // The least member of the set of x. Paths are halved on the way: a parent that another thread replaced meanwhile is still an
    // ancestor.
    Member find(Member x) {
        Member parent = at(x).load(std::memory_order_relaxed);
        while (parent != x) {
            const Member above = at(parent).load(std::memory_order_relaxed);
            if (above != parent) at(x).store(above, std::memory_order_relaxed);
            x = parent;
            parent = above;
        }
        return x;
    }

    // Joins the sets of a and b; returns whether they were two.
    bool join(Member a, Member b) {
        while (true) {
            a = find(a);
            b = find(b);
            if (a == b) return false;
            if (a < b) std::swap(a, b);
            Member root = a;
            if (at(a).compare_exchange_strong(root, b, std::memory_order_relaxed)) return true;
        }
    }

   private:
    std::atomic_ref<Member> at(Member x) { return std::atomic_ref<Member>(parents_[x]); }

    std::vector<Member> parents_;
};

}  // namespace mercer
