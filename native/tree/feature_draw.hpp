// Draws of features, named by the node that makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/rng.hpp"

namespace mercer::tree {

// What a thread keeps between two draws.
struct DrawMemory {
    std::vector<std::uint32_t> features;  // all of them, in their order between two nodes
    std::vector<std::size_t> swaps;       // by which a node's draw has them in another
};

// Features without replacement, or all in their order. The memory is put back at the end: what a node draws does not depend on the
// nodes before it. O(1) a draw.
class FeatureDraw {
   public:
    FeatureDraw(std::size_t max_features, std::size_t n_features, DrawMemory& memory)
        : is_drawn_(max_features < n_features), memory_(memory) {
        memory.swaps.clear();
        if (memory.features.size() == n_features) return;
        memory.features.resize(n_features);
        std::iota(memory.features.begin(), memory.features.end(), 0u);
    }
    FeatureDraw(const FeatureDraw&) = delete;
    FeatureDraw& operator=(const FeatureDraw&) = delete;
    ~FeatureDraw() {
        auto& [features, swaps] = memory_;
        for (std::size_t k = swaps.size(); k-- > 0;) std::swap(features[k], features[swaps[k]]);
    }

    std::uint32_t next(Philox& random) {
        auto& [features, swaps] = memory_;
        const std::size_t turn = turn_++;
        if (is_drawn_) {
            const std::size_t other = turn + random.below(static_cast<std::uint32_t>(features.size() - turn));
            std::swap(features[turn], features[other]);
            swaps.push_back(other);
        }
        return features[turn];
    }

    std::size_t count() const { return turn_; }
    bool is_over() const { return turn_ == memory_.features.size(); }

   private:
    bool is_drawn_;
    DrawMemory& memory_;
    std::size_t turn_ = 0;
};

}  // namespace mercer::tree
