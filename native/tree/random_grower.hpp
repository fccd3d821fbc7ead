// Grows one tree by random splits (extremely randomised trees): for each feature that is looked at one threshold between its least
// and its largest value in the node, or one set of categories, is drawn; the best of them splits the node. O(n) a feature and
// level.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "core/rng.hpp"
#include "core/simd.hpp"
#include "tree/column_growth.hpp"
#include "tree/feature_draw.hpp"
#include "tree/node_rows.hpp"
#include "tree/plain_columns.hpp"
#include "tree/random_cut.hpp"
#include "tree/split.hpp"

namespace mercer::tree {

// What one thread needs for a node of n rows.
struct RandomMemory {
    static constexpr std::size_t kAtOnce = 8;  // features that are read together
    static constexpr std::size_t kRoom = 16;   // behind each: at least a vector's width

    std::size_t stride;
    std::vector<double> values;  // of the features that are looked at, one after another
    std::vector<double> best;    // of the best split so far, and where it cuts them
    RandomCut best_cut;
    std::uint64_t best_node = 0;  // whose split that is,
    bool has_best = false;        // if it is the best still
    std::vector<double> weights;  // of the node's rows
    std::vector<double> targets;
    std::vector<double> sums;
    std::vector<Row> rows;
    DrawMemory draw;
    std::vector<Trial> trials;
    NodeEntries collected;
    std::vector<std::uint32_t> places;  // of a hollow column's entries

    explicit RandomMemory(std::size_t n)
        : stride(n + kRoom), values(kAtOnce * stride), best(stride), weights(stride), targets(stride), rows(n + 1), places(n + 1) {}
};

// A split of a node. The draw says which categories go left.
struct RandomSplit {
    double value = -kInfinity;
    Trial trial;
    std::size_t turn = 0;  // of equal splits the one that was looked at first is better
    double worth() const { return value; }
    bool is_found() const { return value > -kInfinity; }
    bool is_better(const RandomSplit& other) const { return value != other.value ? value > other.value : turn < other.turn; }
};

template <class Criterion>
class RandomGrower final : private ColumnGrowth<Criterion, RandomSplit, RandomMemory, PlainColumns> {
    using Base = ColumnGrowth<Criterion, RandomSplit, RandomMemory, PlainColumns>;

   public:
    using Base::Base;

    Grown grow() { return this->grow_from(rows_.all()); }

   private:
    using Split = RandomSplit;
    using S = Simd<double>;
    using Base::columns_;
    using Base::criterion_;
    using Base::draw_;
    using Base::finder_;
    using Base::is_weighted_;
    using Base::limits_;
    using Base::rows;
    using Base::rows_;
    using typename Base::Children;
    using typename Base::Lanes;
    using typename Base::Task;

    // Criteria whose sums are a weight and one more are summed a vector of rows at a time.
    static constexpr bool kHasPairSums = requires { std::integral_constant<std::size_t, Criterion::n_sums()>{}; };
    static constexpr bool kHasSums = requires(const Criterion& criterion) { criterion.n_sums(); };

    bool is_depth_first(Lanes lanes) const { return lanes.size() == 1 && limits_.max_leaves == 0; }

    // Where a trial cuts the values of a node's rows.
    std::optional<RandomCut> cut(const Trial& trial, double* values, std::size_t n) const {
        return RandomCut::of_values(trial, values, n, columns_.has_missing(trial.feature), columns_.is_categorical(trial.feature));
    }

    // ---- weighing

    // The weights and targets of a node's rows, in their order.
    void prepare(std::span<const Row> rows, RandomMemory& memory) const {
        if constexpr (kHasPairSums) {
            for (std::size_t i = 0; i < rows.size(); ++i) {
                double sums[2] = {0, 0};
                criterion_.add(rows[i], sums);
                memory.weights[i] = sums[0];
                memory.targets[i] = sums[1];
            }
            std::fill_n(memory.weights.data() + rows.size(), S::kLanes, 0.0);
            std::fill_n(memory.targets.data() + rows.size(), S::kLanes, 0.0);
        }
    }

    Weighed weigh(double threshold, const double* values, const Task& task, RandomMemory& memory,
                  const RandomMemory& prepared) const {
        if constexpr (kHasPairSums) {
            return weigh_pairs(threshold, values, task, prepared);
        } else if constexpr (kHasSums) {
            return weigh_sums(threshold, values, task, memory);
        } else {
            return weigh_sets(threshold, values, task, memory);
        }
    }

    Weighed weigh_pairs(double threshold, const double* values, const Task& task, const RandomMemory& prepared) const {
        auto count = S::broadcast(0.0);
        auto weight = count;
        auto sum = count;
        for (std::size_t i = 0; i < task.size(); i += S::kLanes) {
            const auto is_left = S::load(values + i) <= threshold;
            count += is_left ? S::broadcast(1.0) : S::broadcast(0.0);
            sum += is_left ? S::load(prepared.targets.data() + i) : S::broadcast(0.0);
            if (is_weighted_) weight += is_left ? S::load(prepared.weights.data() + i) : S::broadcast(0.0);
        }
        double n_left = 0;
        double left[2] = {0, 0};
        for (std::size_t l = 0; l < S::kLanes; ++l) {
            n_left += count[l];
            left[0] += is_weighted_ ? weight[l] : count[l];
            left[1] += sum[l];
        }
        const double right[2] = {task.summary.weight - left[0], criterion_.rest(task.summary.sum, left[1])};
        return from_sums(static_cast<std::size_t>(n_left), left, right);
    }

    Weighed weigh_sums(double threshold, const double* values, const Task& task, RandomMemory& memory) const {
        const std::size_t n_sums = criterion_.n_sums();
        memory.sums.assign(2 * n_sums, 0.0);
        const auto here = rows(task);
        std::size_t n_right = 0;
        for (std::size_t i = 0; i < here.size(); ++i) {  // without branches: which way a row goes cannot be foretold
            const std::size_t is_right = values[i] > threshold;
            n_right += is_right;
            criterion_.add(here[i], memory.sums.data() + is_right * n_sums);
        }
        return from_sums(here.size() - n_right, memory.sums.data(), memory.sums.data() + n_sums);
    }

    Weighed from_sums(std::size_t n_left, const double* left, const double* right) const {
        return {n_left,
                criterion_.worth(left) + criterion_.worth(right),
                left[0],
                right[0],
                criterion_.key(left, 0),
                criterion_.key(right, 0)};
    }

    Weighed weigh_sets(double threshold, const double* values, const Task& task, RandomMemory& memory) const {
        const auto here = rows(task);
        const std::size_t n_left = separate(threshold, values, here, memory.rows.data());
        const std::span<const Row> moved(memory.rows.data(), here.size());
        return criterion_.weigh(moved.first(n_left), moved.subspan(n_left), task.summary, memory.sums);
    }

    bool is_allowed(const Weighed& weighed, const Task& task, std::size_t feature) const {
        const std::size_t least = std::max<std::size_t>(limits_.min_rows_leaf, 1);
        if (weighed.n_left < least || task.size() - weighed.n_left < least) return false;
        if (!(weighed.left_weight >= limits_.min_weight_leaf && weighed.right_weight >= limits_.min_weight_leaf)) return false;
        if (!this->is_bounded() || this->directions_[feature] == 0) return true;
        const auto [lower, upper] = task.bounds;
        return std::min(weighed.left_value, weighed.right_value) >= lower &&
               std::max(weighed.left_value, weighed.right_value) <= upper &&
               (weighed.left_value - weighed.right_value) * this->directions_[feature] <= 0;
    }

    // ---- what Growth asks for

    // Looks at some trials, the first of which has the given turn. Returns whether one of their features varies in the node; if a
    // split is better than the best so far, it becomes that.
    bool look(std::span<const Trial> trials, std::size_t turn, const Task& task, RandomMemory& memory, const RandomMemory& prepared,
              Split& best) const {
        bool is_varied = false;
        const std::size_t n = task.size();
        for (std::size_t first = 0; first < trials.size(); first += RandomMemory::kAtOnce) {
            const auto some = trials.subspan(first, std::min(RandomMemory::kAtOnce, trials.size() - first));
            gather(some, task, memory);
            for (std::size_t k = 0; k < some.size(); ++k) {
                double* values = memory.values.data() + k * memory.stride;
                const std::uint32_t column = columns_.hollow().index(some[k].feature);
                if (column != HollowColumns::kNone) {
                    is_varied |= look_at_entries(column, some[k], turn + first + k, task, memory, prepared, values, best);
                } else if (const auto found = cut(some[k], values, n)) {
                    is_varied = true;
                    weigh_and_keep(*found, some[k], turn + first + k, task, memory, prepared, values, best);
                }
            }
        }
        return is_varied;
    }

    void weigh_and_keep(const RandomCut& found, const Trial& trial, std::size_t turn, const Task& task, RandomMemory& memory,
                        const RandomMemory& prepared, const double* values, Split& best) const {
        const Weighed weighed = weigh(found.threshold, values, task, memory, prepared);
        const Split split{weighed.worth, trial, turn};
        if (!is_allowed(weighed, task, trial.feature) || !split.is_better(best)) return;
        best = split;
        keep(found, values, task, memory);
    }

    // Looks at a hollow column, whose zeros are counted and not visited.
    bool look_at_entries(std::uint32_t column, const Trial& trial, std::size_t turn, const Task& task, RandomMemory& memory,
                         const RandomMemory& prepared, double* values, Split& best) const {
        const NodeEntries& collected = prepared.collected;
        const std::size_t n = finder_.find(column, task.begin, task.end, collected, false, memory.places.data());
        const auto hollow = columns_.hollow()[column];
        ValueRange known;
        std::size_t n_known = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double value = hollow.values[memory.places[i]];
            if (std::isnan(value)) continue;
            known.widen(value);
            ++n_known;
        }
        if (n < task.size()) known.widen(0);
        const auto found = RandomCut::of_range(trial, known, n_known < n);
        if (!found) return false;
        if constexpr (kHasSums) {
            const Weighed weighed = weigh_entries(*found, hollow, n, task, memory);
            const Split split{weighed.worth, trial, turn};
            if (!is_allowed(weighed, task, trial.feature) || !split.is_better(best)) return true;
            best = split;
            memory.has_best = false;
        } else {
            write_values(trial.feature, task, memory, collected, values);
            weigh_and_keep(cut(trial, values, task.size()).value_or(*found), trial, turn, task, memory, prepared, values, best);
        }
        return true;
    }

    // Weighs a cut of a hollow column by its n entries in the node, whose places are in the memory.
    Weighed weigh_entries(const RandomCut& found, const HollowColumns::Column& hollow, std::size_t n, const Task& task,
                          RandomMemory& memory) const {
        const std::size_t n_sums = criterion_.n_sums();
        memory.sums.assign(4 * n_sums, 0.0);
        double* left = memory.sums.data();
        double* right = left + n_sums;
        for (std::size_t i = 0; i < n; ++i) memory.rows[i] = hollow.rows[memory.places[i]];
        const bool are_zeros_left = 0 <= found.threshold;
        if (n < task.size())
            sum_others(criterion_, {memory.rows.data(), n}, task.summary, are_zeros_left ? left : right, right + n_sums);
        std::size_t n_left = are_zeros_left ? task.size() - n : 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double value = hollow.values[memory.places[i]];
            const bool is_left = std::isnan(value) ? found.is_missing_left : value <= found.threshold;
            n_left += is_left;
            criterion_.add(memory.rows[i], is_left ? left : right);
        }
        return from_sums(n_left, left, right);
    }

    // Writes the values of a node's rows in a hollow column.
    void write_values(std::size_t feature, const Task& task, RandomMemory& memory, const NodeEntries& collected,
                      double* out) const {
        const std::uint32_t column = columns_.hollow().index(feature);
        const std::size_t n = finder_.find(column, task.begin, task.end, collected, false, memory.places.data());
        const auto hollow = columns_.hollow()[column];
        std::fill_n(out, task.size(), 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t place = memory.places[i];
            out[rows_.place(hollow.rows[place]) - task.begin] = hollow.values[place];
        }
    }

    // Writes the values of the features that are not hollow.
    void gather(std::span<const Trial> trials, const Task& task, RandomMemory& memory) const {
        std::array<std::uint32_t, RandomMemory::kAtOnce> features;
        for (std::size_t k = 0; k < trials.size(); ++k) features[k] = trials[k].feature;
        columns_.gather({features.data(), trials.size()}, rows(task), memory.values.data(), memory.stride);
    }

    static void keep(const RandomCut& cut, const double* values, const Task& task, RandomMemory& memory) {
        std::copy_n(values, task.size(), memory.best.data());
        memory.best_cut = cut;
        memory.best_node = task.key;
        memory.has_best = true;
    }

    // The best of max_features trials; if none of them varies, trials go on until one does.
    Split find(const Task& task, Lanes lanes) const override {
        RandomMemory& first = lanes.front();
        prepare(rows(task), first);
        Philox random(draw_.seed, task.key);
        FeatureDraw draw(draw_.max_features, columns_.count(), first.draw);
        const auto next = [&]() -> Trial {
            const std::uint32_t feature = draw.next(random);
            return {feature, random.next_u32()};
        };
        first.trials.resize(std::min(draw_.max_features, columns_.count()));
        for (Trial& trial : first.trials) trial = next();
        finder_.prepare(task.begin, task.end, first.trials.size(),
                        this->n_entries(first.trials, [](const Trial& trial) { return trial.feature; }), first.collected);
        Split best;
        bool is_varied = lanes.size() == 1 ? look(first.trials, 0, task, first, first, best) : look_together(task, lanes, best);
        if (is_varied || draw.is_over()) return best;
        finder_.collect(task.begin, task.end, first.collected);
        if (columns_.full().empty() && !finder_.any_varies(task.size(), first.collected)) return best;
        while (!is_varied && !draw.is_over()) {
            const std::size_t turn = draw.count();
            const Trial trial = next();
            is_varied = look({&trial, 1}, turn, task, first, first, best);
        }
        return best;
    }

    bool look_together(const Task& task, Lanes lanes, Split& best) const {
        const std::span<const Trial> trials = lanes.front().trials;
        const Chunks parts{trials.size(), lanes.size()};
        return this->best_of_lanes(lanes, best, [&](std::size_t lane, RandomMemory& memory, Split& found) {
            const std::size_t begin = parts.begin(lane);
            return look(trials.subspan(begin, parts.end(lane) - begin), begin, task, memory, lanes.front(), found);
        });
    }

    Node node_of(const Split& split, const Task& task, std::vector<Word>& words) const override {
        Node node{.tag = split.trial.feature, .right = 1};
        if (columns_.is_categorical(split.trial.feature)) {
            node.tag |= Node::kCategorical;
            node.threshold = static_cast<double>(words.size());
            write_set(split.trial, rows(task), words);
        }
        return node;
    }

    void write_set(const Trial& trial, std::span<const Row> rows, std::vector<Word>& words) const {
        std::vector<double> values(rows.size());
        columns_.gather({&trial.feature, 1}, rows, values.data(), 0);
        const auto name = detail::category_draw(trial.draw, values.data(), values.size());
        std::vector<std::size_t> categories;
        for (const double value : values)
            if (!std::isnan(value) && (!name || detail::draws_left(*name, value)))
                categories.push_back(static_cast<std::size_t>(value));
        append_set(categories, words);
    }

    // Writes the rows that go left, then the others, each in their order. Returns how many go left.
    static std::size_t separate(double threshold, const double* values, std::span<const Row> rows, Row* out) {
        std::size_t n_left = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) n_left += values[i] <= threshold;
        Row* left = out;
        Row* right = out + n_left;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::size_t is_left = values[i] <= threshold;
            *(is_left != 0 ? left : right) = rows[i];
            left += is_left;
            right += 1 - is_left;
        }
        return n_left;
    }

    Children divide(const Split& split, const Task& task, Node& node, Lanes lanes) override {
        RandomMemory& memory = lanes.front();
        const auto here = rows(task);
        const std::size_t feature = split.trial.feature;
        if (!is_depth_first(lanes) || !memory.has_best || memory.best_node != task.key) {  // else the split has just been found
            if (columns_.hollow().has(feature)) {
                write_values(feature, task, memory, memory.collected, memory.values.data());
            } else {
                gather({&split.trial, 1}, task, memory);
            }
            // Where X has changed meanwhile all may go left.
            const RandomCut again = cut(split.trial, memory.values.data(), task.size()).value_or(RandomCut{.threshold = kInfinity});
            keep(again, memory.values.data(), task, memory);
        }
        const RandomCut found = memory.best_cut;
        const std::size_t n_left = separate(found.threshold, memory.best.data(), here, memory.rows.data());
        if (!columns_.is_categorical(feature)) node.threshold = found.threshold;
        node.tag |= Base::sides(n_left, here.size(), found.has_missing, found.is_missing_left, columns_.is_categorical(feature));
        Children out = this->make_children(task, feature, {memory.rows.data(), here.size()}, n_left);
        if (!out.left.is_leaf || !out.right.is_leaf) rows_.arrange(task.begin, {memory.rows.data(), here.size()});
        return out;
    }
};

}  // namespace mercer::tree
