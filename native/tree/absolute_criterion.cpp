#include "tree/absolute_criterion.hpp"

#include <cmath>
#include <utility>

#include "tree/running_median.hpp"

namespace mercer::tree {

template <class Median>
void AbsoluteCriterion::measure(const Cuts& cuts, std::size_t o, bool is_missing_left, Median& rest, const Sides& sides) const {
    const std::span<const Row> rows = cuts.feature.rows;
    const std::size_t n = rows.size();
    const std::size_t n_known = cuts.feature.n_known;
    const Row* ranks = ranks_.data() + o * y_.rows;
    const auto values = std::span(cuts.node.sorted).subspan(o * n, n);
    const auto weights = cuts.node.weights.empty() ? std::span<const double>{} : std::span(cuts.node.weights).subspan(o * n, n);
    const auto fill = [&](bool has_missing) {
        rest.fill(values, weights);
        for (std::size_t i = n_known; i < n && !has_missing; ++i) rest.remove(ranks[rows[i]]);
    };
    const auto take = [&](double& deviation, double& median) {
        const Crossing at = rest.crossing();
        median = values[at.rank] / 2 + values[at.before] / 2;
        deviation += rest.sum() - 2 * at.sum - median * (rest.total() - 2 * at.weight);
    };
    fill(is_missing_left);
    for (std::size_t i = n_known; i > 0; --i) {  // what is left when all behind the first i are gone
        take(sides.deviation[i], sides.left_median[i]);
        rest.remove(ranks[rows[i - 1]]);
    }
    fill(!is_missing_left);
    for (std::size_t i = 0; i < n_known; ++i) {
        take(sides.deviation[i], sides.right_median[i]);
        rest.remove(ranks[rows[i]]);
    }
    if (!is_missing_left && n_known < n) take(sides.deviation[n_known], sides.right_median[n_known]);
}

AbsoluteCriterion::Summary AbsoluteCriterion::summarise(std::span<const Row> rows) const {
    Summary out;
    out.n = rows.size();
    out.medians.assign(y_.cols, 0.0);
    if (rows.empty()) return out;
    weigh(rows, out);
    out.sorted.resize(y_.cols * rows.size());
    if (!weights_.empty()) out.weights.resize(out.sorted.size());
    std::vector<Row> order(rows.begin(), rows.end());
    double deviation = 0;
    for (std::size_t o = 0; o < y_.cols; ++o) deviation += sort_output(o, order, out);
    out.worth = -deviation / static_cast<double>(y_.cols);
    out.impurity = out.is_pure ? 0.0 : -out.worth / out.weight;
    return out;
}

Candidate AbsoluteCriterion::scan(const Ordered& feature, const Summary& node, const Bounds& bounds, bool is_bounded,
                                  const Limits& limits, Scratch& scratch) const {
    Candidate best;
    const Cuts cuts{feature, node, bounds, limits, is_bounded && feature.direction != 0};
    search(cuts, scratch, false, best);
    if (feature.n_missing() > 0) search(cuts, scratch, true, best);
    return best;
}

Weighed AbsoluteCriterion::weigh(std::span<const Row> left, std::span<const Row> right, const Summary& node,
                                 std::vector<double>& space) const {
    Weighed out{.n_left = left.size(), .worth = 0};
    for (const Row row : left) out.left_weight += weight_of(row);
    out.right_weight = node.weight - out.left_weight;
    if (left.empty() || right.empty()) return {};
    const std::array<double, 2> totals{out.left_weight, out.right_weight};
    space.resize(node.n);
    for (std::size_t o = 0; o < y_.cols; ++o) {
        for (const Row row : left) space[ranks_[o * y_.rows + row]] = 0;
        for (const Row row : right) space[ranks_[o * y_.rows + row]] = 1;
        const auto medians = side_medians(node, o, space, totals);
        for (std::size_t i = o * node.n; i < (o + 1) * node.n; ++i)
            out.worth -=
                (node.weights.empty() ? 1.0 : node.weights[i]) * std::abs(node.sorted[i] - medians[space[i - o * node.n] != 0]);
        out.left_value = node.medians[o] + medians[0];
        out.right_value = node.medians[o] + medians[1];
    }
    out.worth /= static_cast<double>(y_.cols);
    return out;
}

double AbsoluteCriterion::median_of(std::span<const Row> rows, std::size_t o) const {
    const Row* ranks = ranks_.data() + o * y_.rows;
    std::vector<Row> order(rows.begin(), rows.end());
    std::sort(order.begin(), order.end(), [&](Row a, Row b) { return ranks[a] < ranks[b]; });
    double total = 0;
    for (const Row row : rows) total += weight_of(row);
    return find_median(order, o, total);
}

void AbsoluteCriterion::weigh(std::span<const Row> rows, Summary& out) const {
    double least = weight_of(rows.front());
    double most = least;
    const double* first = y_.row(rows.front());
    for (const Row row : rows) {
        const double w = weight_of(row);
        out.weight += w;
        least = std::min(least, w);
        most = std::max(most, w);
        for (std::size_t o = 0; o < y_.cols; ++o) out.is_pure &= y_(row, o) == first[o];
    }
    out.has_like_weights = most <= kAlike * least;
}

double AbsoluteCriterion::find_median(std::span<const Row> order, std::size_t o, double total) const {
    double below = 0;
    std::size_t at = 0;
    while (at + 1 < order.size() && below + weight_of(order[at]) <= total / 2) below += weight_of(order[at++]);
    const double upper = y_(order[at], o);
    return at > 0 && below == total / 2 ? y_(order[at - 1], o) / 2 + upper / 2 : upper;
}

double AbsoluteCriterion::sort_output(std::size_t o, std::vector<Row>& order, Summary& out) const {
    const std::size_t n = order.size();
    std::sort(order.begin(), order.end(), [&](Row a, Row b) { return y_(a, o) != y_(b, o) ? y_(a, o) < y_(b, o) : a < b; });
    double* sorted = out.sorted.data() + o * n;
    const double median = find_median(order, o, out.weight);
    double deviation = 0;
    for (std::size_t i = 0; i < n; ++i) {
        ranks_[o * y_.rows + order[i]] = static_cast<Row>(i);
        sorted[i] = y_(order[i], o) - median;
        if (!weights_.empty()) out.weights[o * n + i] = weights_[order[i]];
        deviation += weight_of(order[i]) * std::abs(sorted[i]);
    }
    out.medians[o] = median;
    return deviation;
}

std::array<double, 2> AbsoluteCriterion::side_medians(const Summary& node, std::size_t o, std::span<const double> side,
                                                      std::array<double, 2> totals) {
    std::array<double, 2> below{};
    std::array<double, 2> last{};
    std::array<double, 2> medians{};
    std::array<bool, 2> is_passed{};
    for (std::size_t i = 0; i < node.n; ++i) {
        const std::size_t s = side[i] != 0;
        const double y = node.sorted[o * node.n + i];
        const double w = node.weights.empty() ? 1.0 : node.weights[o * node.n + i];
        if (!is_passed[s]) medians[s] = below[s] == totals[s] / 2 ? last[s] / 2 + y / 2 : y;
        below[s] += w;
        is_passed[s] |= below[s] > totals[s] / 2;
        last[s] = y;
    }
    return medians;
}

void AbsoluteCriterion::search(const Cuts& cuts, Scratch& scratch, bool is_missing_left, Candidate& best) const {
    const std::size_t size = cuts.feature.n_known + 1;
    scratch.extra.assign(3 * size, 0.0);
    const Sides sides{{scratch.extra.data(), size}, {scratch.extra.data() + size, size}, {scratch.extra.data() + 2 * size, size}};
    for (std::size_t o = 0; o < y_.cols; ++o) {
        if (cuts.node.has_like_weights) {
            measure(cuts, o, is_missing_left, scratch.list_median, sides);
        } else {
            measure(cuts, o, is_missing_left, scratch.tree_median, sides);
        }
    }
    choose(cuts, is_missing_left, sides, best);
}

void AbsoluteCriterion::choose(const Cuts& cuts, bool is_missing_left, const Sides& sides, Candidate& best) const {
    const Ordered& feature = cuts.feature;
    const std::size_t n = feature.rows.size();
    const std::size_t n_extra = is_missing_left ? feature.n_missing() : 0;
    const std::size_t least = std::max<std::size_t>(cuts.limits.min_rows_leaf, 1);
    const std::size_t last = is_missing_left ? feature.n_known - 1 : std::min(feature.n_known, n - 1);
    const double slack = -1e-12 * cuts.node.worth;  // many cuts are worth the same: the first is taken, whatever the rounding
    double weight = 0;
    for (std::size_t i = n - n_extra; i < n; ++i) weight += weight_of(feature.rows[i]);
    for (std::size_t i = 1; i <= last; ++i) {
        weight += weight_of(feature.rows[i - 1]);
        const double worth = -sides.deviation[i] / static_cast<double>(y_.cols);
        if (!(worth > best.worth + slack) || i + n_extra < least || n - n_extra - i < least) continue;
        if (weight < cuts.limits.min_weight_leaf || cuts.node.weight - weight < cuts.limits.min_weight_leaf) continue;
        if (cuts.is_bounded && !is_allowed(cuts, sides.left_median[i], sides.right_median[i])) continue;
        if (feature.is_border(i)) best = {worth, i, is_missing_left};
    }
}

bool AbsoluteCriterion::is_allowed(const Cuts& cuts, double left, double right) {
    const double lower = cuts.bounds.lower - cuts.node.medians[0];
    const double upper = cuts.bounds.upper - cuts.node.medians[0];
    return std::min(left, right) >= lower && std::max(left, right) <= upper && (left - right) * cuts.feature.direction <= 0;
}

Split split_categories(const AbsoluteCriterion& criterion, const Ordered& feature, const AbsoluteCriterion::Summary& node,
                       const Limits& limits, Scratch& scratch) {
    std::vector<std::span<const Row>> categories;
    for (std::size_t begin = 0, end = 1; begin < feature.n_known; begin = end++) {
        while (end < feature.n_known && feature.codes[feature.rows[end]] == feature.codes[feature.rows[begin]]) ++end;
        categories.push_back(feature.rows.subspan(begin, end - begin));
    }
    Split best;
    for (std::size_t o = 0; o < criterion.n_outputs(); ++o) {
        std::vector<std::pair<double, std::size_t>> order;
        for (std::size_t c = 0; c < categories.size(); ++c) order.emplace_back(criterion.median_of(categories[c], o), c);
        std::sort(order.begin(), order.end());
        std::vector<Row> rows;
        for (const auto& [median, c] : order) rows.insert(rows.end(), categories[c].begin(), categories[c].end());
        rows.insert(rows.end(), feature.rows.begin() + static_cast<std::ptrdiff_t>(feature.n_known), feature.rows.end());
        const Ordered arranged{.rows = rows, .codes = feature.codes, .n_known = feature.n_known};
        const Candidate found = criterion.scan(arranged, node, {}, false, limits, scratch);
        if (!(found.worth > best.at.worth)) continue;
        best.at = {found.worth, found.n_left + (found.is_missing_left ? feature.n_missing() : 0), found.is_missing_left};
        best.left_codes.clear();
        for (std::size_t i = 0; i < found.n_left; ++i)
            if (i == 0 || feature.codes[rows[i]] != feature.codes[rows[i - 1]]) best.left_codes.push_back(feature.codes[rows[i]]);
    }
    return best;
}

}  // namespace mercer::tree
