// Divisive analysis (DIANA): clusters are split from the top, each by a splinter group that grows from the point farthest from
// the others on average.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "cluster/condensed.hpp"
#include "cluster/linkage.hpp"
#include "core/interrupt.hpp"
#include "core/parallel.hpp"

namespace mercer::cluster {

// Sums of dissimilarities within a cluster go over to its parts while it is split, point by point: a split costs O(m) for each
// point that moves. The farthest of a point is sought anew only where it left the cluster and the bound it leaves could be the
// diameter.
class Diana {
   public:
    Diana(Condensed matrix, Threads threads)
        : matrix_(matrix),
          threads_(threads),
          cluster_of_(matrix.n, 0),
          farthest_(matrix.n, 0),
          reach_(matrix.n),
          within_(matrix.n),
          to_splinter_(matrix.n) {}

    // Splits as merges, from the lowest to the highest; a split's height is the diameter of what was split. O(n^2) memory (that of
    // the matrix); O(n^2) time where splits take off few points, O(n^2 log n) where they halve, O(n^3) at worst.
    std::vector<Merge> run() {
        std::vector<std::size_t> all(matrix_.n);
        std::iota(all.begin(), all.end(), std::size_t{0});
        parallel_for(
            matrix_.n, threads_.for_work(static_cast<double>(matrix_.n) * static_cast<double>(matrix_.n)), [&](std::size_t i) {
                measure(i, all);
                within_[i] = std::accumulate(all.begin(), all.end(), 0.0,
                                             [&](double sum, std::size_t j) { return j == i ? sum : sum + matrix_.at(i, j); });
            });
        std::vector<std::vector<std::size_t>> open;
        if (matrix_.n > 1) open.push_back(std::move(all));
        while (!open.empty()) {
            std::vector<std::size_t> members = std::move(open.back());
            open.pop_back();
            const double diameter = find_diameter(members);
            std::vector<std::size_t> splinter = split(members, diameter);
            from_.push_back(static_cast<std::int64_t>(members[0]));
            to_.push_back(static_cast<std::int64_t>(splinter[0]));
            heights_.push_back(diameter);
            const std::size_t name = from_.size();
            for (const std::size_t i : splinter) cluster_of_[i] = name;
            if (members.size() > 1) open.push_back(std::move(members));
            if (splinter.size() > 1) open.push_back(std::move(splinter));
            report_progress(from_.size(), matrix_.n);
        }
        for (auto* list : {&from_, &to_}) std::reverse(list->begin(), list->end());  // of equal heights the parts come first
        std::reverse(heights_.begin(), heights_.end());
        return single_linkage({from_, to_, heights_});
    }

   private:
    // The farthest member from i. O(m).
    void measure(std::size_t i, const std::vector<std::size_t>& members) {
        reach_[i] = 0;
        farthest_[i] = i;
        for (const std::size_t j : members) {
            if (j == i) continue;
            const double value = matrix_.at(i, j);
            if (value > reach_[i]) {
                reach_[i] = value;
                farthest_[i] = j;
            }
        }
    }

    double find_diameter(const std::vector<std::size_t>& members) {
        while (true) {
            const std::size_t i = *std::max_element(members.begin(), members.end(),
                                                    [&](std::size_t a, std::size_t b) { return reach_[a] < reach_[b]; });
            if (cluster_of_[farthest_[i]] == cluster_of_[i]) return reach_[i];
            measure(i, members);
            checkpoint();
        }
    }

    // Takes the splinter group off the members. O(m) for each of its points.
    std::vector<std::size_t> split(std::vector<std::size_t>& members, double diameter) {
        for (const std::size_t i : members) to_splinter_[i] = 0;
        std::vector<std::size_t> splinter;
        std::size_t leaving = best_place(members, [&](std::size_t i) { return within_[i]; });
        while (true) {
            const std::size_t mover = members[leaving];
            members.erase(members.begin() + static_cast<std::ptrdiff_t>(leaving));
            splinter.push_back(mover);
            for (const auto* part : {&members, &splinter}) {
                for (const std::size_t i : *part) {
                    if (i == mover) continue;
                    const double value = matrix_.at(i, mover);
                    within_[i] -= value;
                    to_splinter_[i] += value;
                }
            }
            checkpoint();
            if (members.size() == 1) break;
            const auto n_rest = static_cast<double>(members.size() - 1), n_splinter = static_cast<double>(splinter.size());
            const auto gain = [&](std::size_t i) { return within_[i] / n_rest - to_splinter_[i] / n_splinter; };
            leaving = best_place(members, gain);
            constexpr double kRounding = 1e-12;
            if (!(gain(members[leaving]) > kRounding * diameter)) break;
        }
        for (const std::size_t i : splinter) within_[i] = to_splinter_[i];
        return splinter;
    }

    template <class Value>
    static std::size_t best_place(const std::vector<std::size_t>& members, const Value& value) {
        std::size_t best = 0;
        for (std::size_t place = 1; place < members.size(); ++place)
            if (value(members[place]) > value(members[best])) best = place;
        return best;
    }

    Condensed matrix_;
    Threads threads_;
    std::vector<std::size_t> cluster_of_;  // of each point, by the number of splits when it was made
    std::vector<std::size_t> farthest_;    // of each point, in its cluster when it was measured
    std::vector<double> reach_;            // how far that is: no member is farther
    std::vector<double> within_, to_splinter_;
    std::vector<std::int64_t> from_, to_;
    std::vector<double> heights_;
};

}  // namespace mercer::cluster
