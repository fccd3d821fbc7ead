#include "tree/grown.hpp"

namespace mercer::tree {

void Grown::append(const Grown& part, std::size_t first, std::size_t last, std::size_t n_values) {
    const auto node_shift = static_cast<std::uint32_t>(nodes.size() - first);
    const std::size_t word_shift = words.size();
    bool has_words = false;
    for (std::size_t i = first; i < last; ++i) {
        Node node = part.nodes[i];
        if (!node.is_leaf()) node.right += node_shift;
        if (node.is_categorical()) {
            node.threshold += static_cast<double>(word_shift);
            has_words = true;
        }
        nodes.push_back(node);
    }
    if (has_words) words.insert(words.end(), part.words.begin(), part.words.end());
    const auto copy = [&](auto& to, const auto& from, std::size_t each) {
        to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(first * each),
                  from.begin() + static_cast<std::ptrdiff_t>(last * each));
    };
    copy(impurity, part.impurity, 1);
    copy(weight, part.weight, 1);
    copy(n_rows, part.n_rows, 1);
    copy(values, part.values, n_values);
}

Grown Crown::flatten(const std::vector<Grown>& subtrees, std::size_t n_values) const {
    struct Place {
        std::size_t node;
        std::int64_t parent;  // of a right child, in the finished tree
    };
    Grown out;
    std::vector<Place> open{{0, kNone}};
    while (!open.empty()) {
        const Place at = open.back();
        open.pop_back();
        if (at.parent != kNone) out.nodes[static_cast<std::size_t>(at.parent)].right = static_cast<std::uint32_t>(out.size());
        if (subtree[at.node] != kNone) {
            const Grown& part = subtrees[static_cast<std::size_t>(subtree[at.node])];
            out.append(part, 0, part.size(), n_values);
            continue;
        }
        const auto place = static_cast<std::int64_t>(out.size());
        const bool is_leaf = left[at.node] == kNone;
        append_one(out, at.node, n_values);
        if (is_leaf) continue;
        open.push_back({static_cast<std::size_t>(right[at.node]), place});
        open.push_back({static_cast<std::size_t>(left[at.node]), kNone});
    }
    return out;
}

void Crown::append_one(Grown& out, std::size_t node, std::size_t n_values) const {
    const Node& entry = nodes.nodes[node];
    Node copy = entry;
    if (entry.is_categorical()) {
        const auto at = static_cast<std::size_t>(entry.threshold);
        copy.threshold = static_cast<double>(out.words.size());
        out.words.insert(out.words.end(), nodes.words.begin() + static_cast<std::ptrdiff_t>(at),
                         nodes.words.begin() + static_cast<std::ptrdiff_t>(at + 1 + nodes.words[at]));
    }
    out.nodes.push_back(copy);
    out.impurity.push_back(nodes.impurity[node]);
    out.weight.push_back(nodes.weight[node]);
    out.n_rows.push_back(nodes.n_rows[node]);
    out.values.insert(out.values.end(), nodes.values.begin() + static_cast<std::ptrdiff_t>(node * n_values),
                      nodes.values.begin() + static_cast<std::ptrdiff_t>((node + 1) * n_values));
}

}  // namespace mercer::tree
