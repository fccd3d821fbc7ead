#include "neighbors/collectors.hpp"

#include <algorithm>

namespace mercer::neighbors {

const std::vector<Neighbor>& NearestFew::finish() {
    if (k_ > kFew) {
        if (kept_.size() > k_) cut();
        std::sort(kept_.begin(), kept_.end());
    }
    return kept_;
}

void NearestFew::cut() {
    const auto last = kept_.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
    std::nth_element(kept_.begin(), last, kept_.end());
    worst_ = *last;
    kept_.resize(k_);
}

}  // namespace mercer::neighbors
