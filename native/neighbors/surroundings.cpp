#include "neighbors/surroundings.hpp"

#include <algorithm>

namespace mercer::neighbors {

SurroundingsOfRuns::SurroundingsOfRuns(std::size_t n_queries, std::size_t n_runs)
    : runs_(n_runs), homes_(n_queries), starts_(n_queries + 1) {}

void SurroundingsOfRuns::add(std::size_t run_number, std::size_t query, std::vector<Neighbor>& found, bool sorted) {
    if (sorted) {
        std::sort(found.begin(), found.end());
    } else {
        std::sort(found.begin(), found.end(), [](const Neighbor& a, const Neighbor& b) { return a.row < b.row; });
    }
    Run& run = runs_[run_number];
    run.found.insert(run.found.end(), found.begin(), found.end());
    homes_[query] = {static_cast<std::uint32_t>(run_number), static_cast<std::uint32_t>(run.ends.size())};
    run.ends.push_back(run.found.size());
    starts_[query + 1] = static_cast<std::int64_t>(found.size());
}

}  // namespace mercer::neighbors
