// Clusters of a reachability plot by steepness xi: valleys between a steep way down and a steep way up (OPTICS, figure 19, with the
// corrections of scikit-learn, and with predecessors as Schubert and Gertz).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/interrupt.hpp"

namespace mercer::cluster {

struct XiRule {
    double xi;
    std::size_t min_samples;  // of points in a row that are not steep, that a steep area may have
    std::size_t min_cluster_size;
    bool corrects_predecessors;
};

// Places of the order, both included.
struct Valley {
    std::size_t begin, end;
};

class XiClusters {
   public:
    // `reachability` and `predecessor` in the order of the plot, predecessors as places of it (-1: none).
    XiClusters(std::span<const double> reachability, std::span<const std::int64_t> predecessor, const XiRule& rule)
        : plot_(reachability.begin(), reachability.end()), predecessor_(predecessor), rule_(rule), keep_(1 - rule.xi) {
        plot_.push_back(std::numeric_limits<double>::infinity());  // an end of the last valley
    }

    // Valleys, smaller ones before those around them.
    std::vector<Valley> find() {
        std::vector<Valley> clusters;
        std::size_t index = 0;
        double between = 0;  // the largest reachability since the last area
        for (std::size_t steep = 0; steep + 1 < plot_.size(); ++steep) {
            if (steep < index || !(is_steep_up(steep) || is_steep_down(steep))) continue;
            checkpoint();
            between = std::max(between, *std::max_element(plot_.begin() + static_cast<std::ptrdiff_t>(index),
                                                          plot_.begin() + static_cast<std::ptrdiff_t>(steep) + 1));
            keep_steep_downs(between);
            if (is_steep_down(steep)) {
                const std::size_t end = extend(steep, true);
                downs_.push_back({steep, end, 0});
                index = end + 1;
            } else {
                const std::size_t end = extend(steep, false);
                add_valleys(steep, end, clusters);
                index = end + 1;
            }
            between = plot_[index];
        }
        return clusters;
    }

   private:
    struct SteepDown {
        std::size_t begin, end;
        double between;  // the largest reachability after it
    };

    // Ratios with infinity over infinity are NaN: neither up nor down.
    double ratio(std::size_t i) const { return plot_[i] / plot_[i + 1]; }
    bool is_steep_up(std::size_t i) const { return ratio(i) <= keep_; }
    bool is_steep_down(std::size_t i) const { return ratio(i) >= 1 / keep_; }

    // The last steep point of the area that begins at a steep one: it goes on while points go the same way, and has no more than
    // min_samples in a row that are not steep.
    std::size_t extend(std::size_t begin, bool is_down) const {
        std::size_t end = begin, n_flat = 0;
        for (std::size_t i = begin; i + 1 < plot_.size(); ++i) {
            if (is_down ? is_steep_down(i) : is_steep_up(i)) {
                n_flat = 0;
                end = i;
            } else if (is_down ? ratio(i) < 1 : ratio(i) > 1) {
                break;
            } else if (++n_flat > rule_.min_samples) {
                break;
            }
        }
        return end;
    }

    // Drops the ways down that begin below what came after them.
    void keep_steep_downs(double between) {
        if (std::isinf(between)) return downs_.clear();
        std::erase_if(downs_, [&](const SteepDown& down) { return !(between <= plot_[down.begin] * keep_); });
        for (SteepDown& down : downs_) down.between = std::max(down.between, between);
    }

    void add_valleys(std::size_t up_begin, std::size_t up_end, std::vector<Valley>& clusters) const {
        for (std::size_t i = downs_.size(); i-- > 0;) {  // the later a way down, the smaller its valley
            const auto valley = valley_of(downs_[i], up_begin, up_end);
            if (valley) clusters.push_back(*valley);
        }
    }

    std::optional<Valley> valley_of(const SteepDown& down, std::size_t up_begin, std::size_t up_end) const {
        std::size_t begin = down.begin, end = up_end;
        const double top = plot_[down.begin], after = plot_[end + 1];
        if (after * keep_ < down.between) return {};
        if (top * keep_ >= after) {  // begin at the level of the end
            while (plot_[begin + 1] > after && begin < down.end) ++begin;
        } else if (after * keep_ >= top) {  // end at the level of the beginning
            while (end > up_begin && plot_[end - 1] > top) --end;
        }
        if (rule_.corrects_predecessors && !correct(begin, end)) return {};
        if (end - begin + 1 < rule_.min_cluster_size || begin > down.end || end < up_begin) return {};
        return Valley{begin, end};
    }

    // Moves the end back to a point that was reached from within. False where none is left.
    bool correct(std::size_t begin, std::size_t& end) const {
        for (; begin < end; --end) {
            if (plot_[begin] > plot_[end]) return true;
            const std::int64_t from = predecessor_[end];
            if (from >= static_cast<std::int64_t>(begin) && from < static_cast<std::int64_t>(end)) return true;
        }
        return false;
    }

    std::vector<double> plot_;
    std::span<const std::int64_t> predecessor_;
    XiRule rule_;
    double keep_;  // 1 - xi
    std::vector<SteepDown> downs_;
};

}  // namespace mercer::cluster
