// Features of states: one for each state of a table, or the tiles of several shifted grids that a point lies in.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/errors.hpp"

namespace mercer::rl {

struct OneFeature {
    std::int32_t feature = 0;

    const std::int32_t* begin() const { return &feature; }
    const std::int32_t* end() const { return &feature + 1; }
};

inline constexpr std::size_t kMostTilings = 64;

struct TileFeatures {
    std::array<std::int32_t, kMostTilings> features{};
    std::size_t count = 1;

    const std::int32_t* begin() const { return features.data(); }
    const std::int32_t* end() const { return features.data() + count; }
};

// Grids over a box, each shifted against the others by odd multiples of a share of a tile (Miller and Glanz, 1996): tiling k of m
// is shifted by k (2 j + 1) / m tiles along axis j, modulo one.
class Tiling {
   public:
    Tiling(std::vector<double> low, std::vector<double> high, std::vector<std::int64_t> n_tiles, std::size_t n_tilings)
        : low_(std::move(low)), n_tiles_(std::move(n_tiles)), n_tilings_(n_tilings) {
        require(!low_.empty() && high.size() == low_.size() && n_tiles_.size() == low_.size(),
                "a tiling has one range for each axis");
        require(n_tilings >= 1 && n_tilings <= kMostTilings, "there are between 1 and 64 tilings");
        double n_features = static_cast<double>(n_tilings);
        for (std::size_t j = 0; j < low_.size(); ++j) {
            require(n_tiles_[j] >= 1 && high[j] > low_[j] && std::isfinite(high[j] - low_[j]), "an axis of a tiling has no extent");
            scale_.push_back(static_cast<double>(n_tiles_[j]) / (high[j] - low_[j]));
            n_features *= static_cast<double>(n_tiles_[j]) + 1;
        }
        require(n_features < 2147483648.0, "the tilings have too many tiles");
        n_features_ = static_cast<std::size_t>(n_features);
    }

    std::size_t n_axes() const { return low_.size(); }
    std::size_t n_features() const { return n_features_; }
    std::size_t n_tilings() const { return n_tilings_; }

    // The tile of each tiling that the point lies in; what is outside is in the tile at the border.
    template <class T>
    void encode(const T* point, std::int32_t* out) const {
        const double share = 1.0 / static_cast<double>(n_tilings_);
        for (std::size_t k = 0; k < n_tilings_; ++k) {
            auto place = static_cast<std::int64_t>(k);
            for (std::size_t j = 0; j < low_.size(); ++j) {
                const double shift = std::fmod(static_cast<double>(k * (2 * j + 1)) * share, 1.0);
                const double x = (static_cast<double>(point[j]) - low_[j]) * scale_[j] + shift;
                const auto last = static_cast<double>(n_tiles_[j]);
                const std::int64_t tile = x > 0.0 ? static_cast<std::int64_t>(std::min(x, last)) : 0;  // NaN is in the first
                place = place * (n_tiles_[j] + 1) + tile;
            }
            out[k] = static_cast<std::int32_t>(place);
        }
    }

    template <class T>
    TileFeatures features(const T* point) const {
        TileFeatures found;
        found.count = n_tilings_;
        encode(point, found.features.data());
        return found;
    }

   private:
    std::vector<double> low_, scale_;
    std::vector<std::int64_t> n_tiles_;
    std::size_t n_tilings_;
    std::size_t n_features_ = 0;
};

}  // namespace mercer::rl
