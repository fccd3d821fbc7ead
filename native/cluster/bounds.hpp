// Bounds on the distances between rows and centres, by which a row is shown to stay in its cluster (Hamerly, SDM 2010).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/distance.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

// For each row an upper bound on the distance to its centre and a lower bound on the distance to any other, as floats rounded
// outwards. `moves` says how far each centre went since the bounds were true. Empty spans: no bounds are kept.
struct Bounds {
    std::span<float> upper;
    std::span<float> lower;
    std::span<const double> moves;
    bool are_fresh = true;  // nothing is known yet: look at every row and fill them
};

inline float round_up(double value) { return static_cast<float>(value) * (1 + 2 * std::numeric_limits<float>::epsilon()); }
inline float round_down(double value) { return static_cast<float>(value) * (1 - 2 * std::numeric_limits<float>::epsilon()); }

// Half the distance from each centre to its nearest other one: a row closer than that to its centre stays.
template <Real T>
std::vector<float> half_gaps(RowMajor<const T> centres) {
    const std::size_t k = centres.rows;
    std::vector<double> nearest(k, std::numeric_limits<double>::infinity());
    for (std::size_t a = 0; a < k; ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            const double sum = squared_distance(centres.row(a), centres.row(b), centres.cols);
            nearest[a] = std::min(nearest[a], sum);
            nearest[b] = std::min(nearest[b], sum);
        }
    }
    std::vector<float> gaps(k);
    for (std::size_t c = 0; c < k; ++c) gaps[c] = round_down(std::sqrt(nearest[c]) / 2);
    return gaps;
}

// Moves the bounds of a row along with the centres, and says whether they still prove its label.
class BoundsUpdate {
   public:
    template <Real T>
    BoundsUpdate(const Bounds& bounds, RowMajor<const T> centres, std::size_t n_rows) : bounds_(bounds) {
        if (bounds.are_fresh) return;
        gaps_ = centres.rows * 16 < n_rows ? half_gaps(centres) : std::vector<float>(centres.rows, 0.0f);
        moves_.resize(centres.rows);
        others_.assign(centres.rows, 0.0f);
        for (std::size_t c = 0; c < centres.rows; ++c) moves_[c] = round_up(bounds.moves[c]);
        const auto farthest = static_cast<std::size_t>(std::max_element(moves_.begin(), moves_.end()) - moves_.begin());
        float second = 0;
        for (std::size_t c = 0; c < moves_.size(); ++c)
            if (c != farthest) second = std::max(second, moves_[c]);
        for (std::size_t c = 0; c < moves_.size(); ++c) others_[c] = c == farthest ? second : moves_[farthest];
    }

    bool keeps(std::size_t row, std::size_t label) const {
        const float upper = round_up(bounds_.upper[row] + moves_[label]);
        const float lower = round_down(bounds_.lower[row] - others_[label]);
        bounds_.upper[row] = upper;
        bounds_.lower[row] = lower;
        return upper < std::max(lower, gaps_[label]);
    }

    bool keeps_at_distance(std::size_t row, std::size_t label, double distance) const {
        const float upper = round_up(distance);
        bounds_.upper[row] = upper;
        return upper < std::max(bounds_.lower[row], gaps_[label]);
    }

   private:
    const Bounds& bounds_;
    std::vector<float> gaps_;
    std::vector<float> moves_;   // by centre: how far it went
    std::vector<float> others_;  // by centre: how far the farthest of the others went
};

}  // namespace mercer::cluster
