// All points within a radius of every query, one list after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "neighbors/collectors.hpp"

namespace mercer::neighbors {

struct Surroundings {
    std::vector<std::int64_t> starts;  // of each query among them, and the end
    std::unique_ptr<std::int64_t[]> rows;
    std::unique_ptr<double[]> distances;
    std::size_t count() const { return static_cast<std::size_t>(starts.back()); }
};

// Gathers what runs of queries found, side by side and in any order, into one list in the order of the queries.
class SurroundingsOfRuns {
   public:
    SurroundingsOfRuns(std::size_t n_queries, std::size_t n_runs);

    // What a query of a run found, in the order of the rows, or of the distances (`sorted`). One thread at a time adds to a run.
    void add(std::size_t run_number, std::size_t query, std::vector<Neighbor>& found, bool sorted);

    // All of it; `distance(rank)` is what users see. O(what was found).
    template <class Distance>
    Surroundings join(Distance&& distance) {
        Surroundings all;
        for (std::size_t i = 0; i < homes_.size(); ++i) starts_[i + 1] += starts_[i];
        all.starts = std::move(starts_);
        all.rows = std::make_unique_for_overwrite<std::int64_t[]>(all.count());
        all.distances = std::make_unique_for_overwrite<double[]>(all.count());
        for (std::size_t i = 0; i < homes_.size(); ++i) {
            const Run& run = runs_[homes_[i].first];
            const std::size_t place = homes_[i].second;
            auto to = static_cast<std::size_t>(all.starts[i]);
            for (std::size_t f = place == 0 ? 0 : run.ends[place - 1]; f < run.ends[place]; ++f, ++to) {
                all.rows[to] = run.found[f].row;
                all.distances[to] = distance(run.found[f].rank);
            }
        }
        return all;
    }

   private:
    struct Run {
        std::vector<Neighbor> found;
        std::vector<std::size_t> ends;  // of each query of the run
    };
    std::vector<Run> runs_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> homes_;  // run and place in it, by query
    std::vector<std::int64_t> starts_;
};

}  // namespace mercer::neighbors
