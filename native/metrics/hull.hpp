// The upper hull of a curve of points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mercer::metrics {

// Writes the places of the corners of the least concave curve that lies on or above the points (x, y), whose x and y do not fall;
// returns how many there are. The first and the last point are among them. O(n).
inline std::size_t upper_hull(std::span<const double> x, std::span<const double> y, std::span<std::int64_t> corners) {
    std::size_t n = 0;
    const auto place = [&](std::size_t k) { return static_cast<std::size_t>(corners[k]); };
    for (std::size_t i = 0; i < x.size(); ++i) {
        while (n >= 2) {
            const std::size_t a = place(n - 2), b = place(n - 1);
            // b stays only where the slope falls strictly there.
            if ((y[b] - y[a]) * (x[i] - x[b]) > (y[i] - y[b]) * (x[b] - x[a])) break;
            --n;
        }
        corners[n++] = static_cast<std::int64_t>(i);
    }
    return n;
}

}  // namespace mercer::metrics
