// Kohonen's rule for self-organising maps, one row after another.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/distance.hpp"
#include "core/interrupt.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

// How strongly the units around the winner follow it, by their squared distance on the grid.
struct MapNeighborhood {
    bool is_gaussian;  // exp(-q / (2 r^2)), or 1 up to the radius and 0 beyond

    double operator()(double squared, double radius) const {
        if (!is_gaussian) return squared <= radius * radius ? 1 : 0;
        return radius > 0 ? std::exp(-squared / (2 * radius * radius)) : squared == 0 ? 1 : 0;
    }
};

// Visits rows in this order: the units move towards each by rate h(unit, winner), of a row of weight w as w visits would move
// them. Visit t has the rate rates[t] and the radius radii[t]. O(visits units features).
template <class Rows, class T>
void train_map(const Rows& rows, std::span<const T> weights, std::span<const std::int64_t> order, std::span<const double> rates,
               std::span<const double> radii, RowMajor<const double> squared_distances, MapNeighborhood neighborhood,
               RowMajor<double> units) {
    const std::size_t d = units.cols;
    std::vector<double> row(d);
    for (std::size_t t = 0; t < order.size(); ++t) {
        if (t % 64 == 0) checkpoint();
        const auto i = static_cast<std::size_t>(order[t]);
        const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[i]);
        if (weight == 0) continue;
        std::fill(row.begin(), row.end(), 0.0);
        rows.for_each(i, [&](std::size_t j, T value) { row[j] = static_cast<double>(value); });
        std::size_t winner = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t u = 0; u < units.rows; ++u) {
            const double distance = squared_distance<double>(units.row(u), row.data(), d);
            if (distance < least) {
                least = distance;
                winner = u;
            }
        }
        for (std::size_t u = 0; u < units.rows; ++u) {
            double share = rates[t] * neighborhood(squared_distances(winner, u), radii[t]);
            if (share < 1e-12) continue;
            if (weight != 1) share = 1 - std::pow(1 - share, weight);
            double* const unit = units.row(u);
            for (std::size_t j = 0; j < d; ++j) unit[j] += share * (row[j] - unit[j]);
        }
    }
}

}  // namespace mercer::cluster
