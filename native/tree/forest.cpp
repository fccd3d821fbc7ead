#include "tree/forest.hpp"

namespace mercer::tree {

std::vector<double> running_sums(std::span<const double> weights) {
    std::vector<double> out(weights.begin(), weights.end());
    for (std::size_t i = 1; i < out.size(); ++i) out[i] += out[i - 1];
    return out;
}

void bootstrap_counts(std::uint64_t seed, std::size_t n_draws, std::span<const double> cumulative, std::span<double> counts) {
    std::fill(counts.begin(), counts.end(), 0.0);
    for_each_draw(seed, n_draws, cumulative, counts.size(), [&](std::size_t row) { counts[row] += 1; });
}

// Room is made for as much as all trees are going to need by those that are there, and an eighth: what is not used is never
// touched, whereas an array that is moved is there twice meanwhile.
template <class T>
void JoinedTrees::extend(std::vector<T>& to, const std::vector<T>& from) const {
    const std::size_t size = to.size() + from.size();
    const std::size_t n_trees = node_counts.size() + 1;
    if (size > to.capacity()) to.reserve(std::max(size, size / n_trees * waiting_.size() / 8 * 9));
    to.insert(to.end(), from.begin(), from.end());
}

void JoinedTrees::append(const Grown& tree) {
    extend(all.nodes, tree.nodes);
    extend(all.words, tree.words);
    extend(all.impurity, tree.impurity);
    extend(all.weight, tree.weight);
    extend(all.n_rows, tree.n_rows);
    extend(all.values, tree.values);
    node_counts.push_back(static_cast<std::int64_t>(tree.nodes.size()));
    word_counts.push_back(static_cast<std::int64_t>(tree.words.size()));
}

void JoinedTrees::put(std::size_t number, Grown tree) {
    turns_.take([&] {
        waiting_[number] = std::move(tree);
        for (; node_counts.size() < waiting_.size() && waiting_[node_counts.size()]; waiting_[node_counts.size() - 1].reset())
            append(*waiting_[node_counts.size()]);
    });
}

}  // namespace mercer::tree
