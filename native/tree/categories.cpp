#include "tree/categories.hpp"

#include <numeric>

namespace mercer::tree::detail {

void sort_by_keys(std::span<const double> keys, std::span<std::size_t> order) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
}

}  // namespace mercer::tree::detail
