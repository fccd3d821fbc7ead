// What kernels of hierarchies read and write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bindings/arrays.hpp"
#include "cluster/condensed.hpp"
#include "cluster/linkage.hpp"

namespace mercer::bindings {

// Where merges are written: two nodes each, the height, and how many points are under it.
struct MergesOut {
    RowMajor<std::int64_t> nodes;
    std::span<double> heights;
    std::span<std::int64_t> sizes;

    MergesOut(const Out2<std::int64_t>& nodes_, const Out1<double>& heights_, const Out1<std::int64_t>& sizes_)
        : nodes(rows<std::int64_t>(nodes_)), heights(vector<double>(heights_)), sizes(vector<std::int64_t>(sizes_)) {
        require(nodes.cols == 2 && heights.size() == nodes.rows && sizes.size() == nodes.rows, "one line for each merge");
    }

    std::size_t write(const std::vector<cluster::Merge>& merges) const {
        require(merges.size() <= heights.size(), "there are more merges than lines");
        for (std::size_t i = 0; i < merges.size(); ++i) {
            nodes(i, 0) = merges[i].left;
            nodes(i, 1) = merges[i].right;
            heights[i] = merges[i].height;
            sizes[i] = merges[i].size;
        }
        return merges.size();
    }
};

inline cluster::Condensed condensed(const Out1<double>& values, std::size_t n) {
    require(n >= 1 && n < (std::size_t{1} << 32) && values.shape(0) == cluster::Condensed::size(n),
            "one value for each pair of points");
    return {vector<double>(values).data(), n};
}

}  // namespace mercer::bindings
