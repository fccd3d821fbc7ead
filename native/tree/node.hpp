// A fitted tree: nodes in one flat array, parents before children and left before right. Sixteen bytes a node, for every model.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/views.hpp"

namespace mercer::tree {

// A split or a leaf. The left child of a split is the node after it, so that only the right one is named; node 0 is the root and
// nobody's child, so that a right child of 0 marks a leaf.
struct Node {
    double threshold = 0;     // of a split on numbers: x <= threshold goes left. On categories: where the set of those that go left
                              // begins among the tree's words. Of a leaf: what it adds to a prediction of one number.
    std::uint32_t tag = 0;    // the feature, and the flags below; 0 in a leaf
    std::uint32_t right = 0;  // counted from the tree's root

    static constexpr std::uint32_t kMissingLeft = 1u << 31;  // a missing value goes left
    static constexpr std::uint32_t kOtherLeft = 1u << 30;    // a category never seen goes left: more rows went there
    static constexpr std::uint32_t kCategorical = 1u << 29;
    static constexpr std::uint32_t kFeature = kCategorical - 1;

    bool is_leaf() const { return right == 0; }
    bool is_categorical() const { return (tag & kCategorical) != 0; }
    std::size_t feature() const { return tag & kFeature; }
};
static_assert(sizeof(Node) == 16);

// The words of a set of categories: first their number n, then 32 categories a word.
using Word = std::uint32_t;

inline constexpr std::size_t kMostCategories = 1'000'000;

inline bool holds(const Word* set, std::size_t category) {
    return category < std::size_t{32} * set[0] && ((set[1 + category / 32] >> (category % 32)) & 1) != 0;
}

// Appends a set. `categories` may come in any order, and more than once. One that X cannot have held when it was checked is left
// out: it would take the memory of all below it.
template <class Categories>
void append_set(const Categories& categories, std::vector<Word>& words) {
    const std::size_t start = words.size();
    words.push_back(0);
    for (const std::size_t category : categories) {
        if (category >= kMostCategories) continue;
        const std::size_t place = start + 1 + category / 32;
        if (words.size() <= place) words.resize(place + 1, 0);
        words[place] |= Word{1} << (category % 32);
    }
    words[start] = static_cast<Word>(words.size() - start - 1);
}

// Whether a value goes left. Categories are whole numbers from 0; a negative one was never seen in training.
template <Real T>
bool goes_left(const Node& node, T value, const Word* words) {
    if (std::isnan(value)) return (node.tag & Node::kMissingLeft) != 0;
    if (!node.is_categorical()) return static_cast<double>(value) <= node.threshold;
    if (value < 0 || value >= static_cast<T>(Node::kFeature)) return (node.tag & Node::kOtherLeft) != 0;
    return holds(words + static_cast<std::size_t>(node.threshold), static_cast<std::size_t>(value));
}

// Trees one after another. Never changed once made, so that views of it may be shared.
class Trees {
   public:
    struct Part {
        std::span<const Node> nodes;
        std::span<const Word> words;
    };

    // Takes nodes and words of all trees, with the number of each tree's nodes and words. Throws unless every tree is one: a
    // prediction can then neither leave the arrays nor run for ever.
    Trees(std::vector<Node> nodes, std::vector<Word> words, std::span<const std::int64_t> node_counts,
          std::span<const std::int64_t> word_counts, std::size_t n_features)
        : nodes_(std::move(nodes)), words_(std::move(words)), n_features_(n_features) {
        require(node_counts.size() == word_counts.size(), "trees: there must be as many counts of words as of nodes");
        require(n_features > 0, "trees: there must be a feature");  // a leaf's tag reads as feature 0
        require(n_features <= Node::kFeature, "trees: there are too many features");
        node_starts_ = starts_of(node_counts, nodes_.size(), "trees: the counts of nodes do not add up to the nodes");
        word_starts_ = starts_of(word_counts, words_.size(), "trees: the counts of words do not add up to the words");
        for (std::size_t t = 0; t < count(); ++t) check(part(t));
    }

    std::size_t count() const { return node_starts_.size() - 1; }
    std::size_t n_features() const { return n_features_; }
    bool has_categories() const { return !words_.empty(); }
    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<Word>& words() const { return words_; }
    const std::vector<std::size_t>& node_starts() const { return node_starts_; }
    const std::vector<std::size_t>& word_starts() const { return word_starts_; }

    Part part(std::size_t t) const {
        return {{nodes_.data() + node_starts_[t], node_starts_[t + 1] - node_starts_[t]},
                {words_.data() + word_starts_[t], word_starts_[t + 1] - word_starts_[t]}};
    }

   private:
    static std::vector<std::size_t> starts_of(std::span<const std::int64_t> counts, std::size_t total, const char* message) {
        std::vector<std::size_t> starts{0};
        for (const std::int64_t count : counts) {
            require(count >= 0 && static_cast<std::uint64_t>(count) <= total - starts.back(), message);
            starts.push_back(starts.back() + static_cast<std::size_t>(count));
        }
        require(starts.back() == total, message);
        return starts;
    }

    // Walks the nodes in their order; `open` holds where each split on the way down has its right child.
    void check(const Part& tree) const {
        require(tree.nodes.size() < 0xFFFFFFFF, "trees: a tree has too many nodes");
        std::vector<std::size_t> open{tree.nodes.size()};
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            const Node& node = tree.nodes[i];
            require(!open.empty(), "trees: a node belongs to no tree");
            if (node.is_leaf()) {
                require(open.back() == i + 1 && node.tag == 0, "trees: a leaf is not where its parent has it");
                open.pop_back();
                continue;
            }
            require(node.right > i + 1 && node.right < open.back(), "trees: a child is out of range");
            require(node.feature() < n_features_, "trees: a feature is out of range");
            if (node.is_categorical()) check_set(node.threshold, tree.words);
            open.push_back(node.right);
        }
        require(open.empty(), "trees: a tree has no nodes or lacks some");
    }

    static void check_set(double offset, std::span<const Word> words) {
        const auto n_words = static_cast<double>(words.size());
        require(offset >= 0 && offset < n_words && offset == std::floor(offset), "trees: a set of categories is out of range");
        const auto at = static_cast<std::size_t>(offset);
        require(words[at] < words.size() - at, "trees: a set of categories is too long");
    }

    std::vector<Node> nodes_;
    std::vector<Word> words_;
    std::vector<std::size_t> node_starts_;
    std::vector<std::size_t> word_starts_;
    std::size_t n_features_;
};

}  // namespace mercer::tree
