// Grows one tree by exact splits where X has many columns or many zeros. A node sorts its rows by each column that it looks at, and
// keeps nothing of the others: O(m log m) a column for m rows, of a hollow column for its m entries in the node. The zeros of a
// hollow column are one step of its order: they are counted, not visited. The trees are those that ranked columns give.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/rng.hpp"
#include "tree/column_growth.hpp"
#include "tree/feature_draw.hpp"
#include "tree/node_rows.hpp"
#include "tree/split.hpp"
#include "tree/wide_columns.hpp"

namespace mercer::tree {

// What one thread needs for a node of n rows.
struct WideMemory {
    Scratch scratch;
    DrawMemory draw;
    NodeEntries collected;
    std::vector<std::uint32_t> chosen;
    std::vector<Row> rows;       // a column's list: its rows in the order of their values,
    std::vector<double> values;  // and these
    std::vector<Code> codes;
    std::vector<Row> places;
    std::vector<double> gathered;
    std::vector<std::uint8_t> is_listed;
    std::vector<std::uint64_t> entries;
    std::vector<std::uint64_t> space;

    explicit WideMemory(std::size_t n) : scratch(n), rows(n), values(n), codes(n), places(n + 1), gathered(n) {}
};

// A split of a node.
struct WideSplit {
    double value = -kInfinity;
    double threshold = 0;
    bool is_missing_left = false;
    std::size_t feature = 0;
    std::size_t turn = 0;  // of equal splits the one that was looked at first is better
    double worth() const { return value; }
    bool is_found() const { return value > -kInfinity; }
    bool is_better(const WideSplit& other) const { return value != other.value ? value > other.value : turn < other.turn; }
};

template <class Criterion>
class WideGrower final : private ColumnGrowth<Criterion, WideSplit, WideMemory, WideColumns> {
    using Base = ColumnGrowth<Criterion, WideSplit, WideMemory, WideColumns>;

   public:
    using Base::Base;

    Grown grow() {
        goes_left_.resize(columns_.n_rows());
        WideMemory memory(rows_.size());
        const List first = list_all(0, 0, rows_.size(), memory);  // in whose order the sums of ranked columns are taken
        return this->grow_from(first.rows);
    }

   private:
    using Split = WideSplit;
    using Base::columns_;
    using Base::criterion_;
    using Base::draw_;
    using Base::finder_;
    using Base::limits_;
    using Base::rows;
    using Base::rows_;
    using typename Base::Children;
    using typename Base::Lanes;
    using typename Base::Task;

    // Criteria without sums cannot tell what the zeros of a column add up to, and visit them.
    static constexpr bool kHasSums = requires(const Criterion& criterion) { criterion.n_sums(); };

    // ---- listing

    // Rows of a node in the order of their values in a column, those without one last. Rows of value zero may be left out.
    struct List {
        std::span<const Row> rows;
        std::span<const double> values;
        std::size_t n_known = 0;
        std::size_t n_negative = 0;
        std::size_t n_zeros = 0;  // that are left out

        std::size_t n_steps() const { return n_known + (n_zeros > 0 ? 1 : 0); }
        double value(std::size_t step) const {
            if (n_zeros == 0 || step < n_negative) return values[step];
            return step == n_negative ? 0.0 : values[step - 1];
        }
        bool varies() const {
            if (n_steps() == 0) return false;
            return n_known < rows.size() || is_above(value(n_steps() - 1), value(0));
        }
    };

    List list_full(std::size_t feature, std::size_t begin, std::size_t end, WideMemory& memory) const {
        const auto here = rows_.part(begin, end);
        const std::size_t n = here.size();
        columns_.gather(feature, here, memory.gathered.data());
        const std::span<const double> gathered(memory.gathered.data(), n);
        const std::span<Row> order(memory.places.data(), n);
        sort_places(gathered, order, memory.entries, memory.space);
        for (std::size_t i = 0; i < n; ++i) {
            memory.rows[i] = here[order[i]];
            memory.values[i] = gathered[order[i]];
        }
        List out{.rows = {memory.rows.data(), n}, .values = {memory.values.data(), n}, .n_known = n};
        while (out.n_known > 0 && std::isnan(out.values[out.n_known - 1])) --out.n_known;
        return out;
    }

    // `collected` are the node's entries, if they are there.
    List list_entries(std::size_t column, std::size_t begin, std::size_t end, const NodeEntries& collected,
                      WideMemory& memory) const {
        const auto hollow = columns_.hollow()[column];
        const std::size_t n = finder_.find(column, begin, end, collected, true, memory.places.data());
        List out{.rows = {memory.rows.data(), n}, .values = {memory.values.data(), n}, .n_zeros = end - begin - n};
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t place = memory.places[i];
            memory.rows[i] = hollow.rows[place];
            memory.values[i] = hollow.values[place];
            out.n_negative += place < hollow.n_negative;
            out.n_known += place < hollow.n_known;
        }
        return out;
    }

    // All rows, the zeros of a hollow column among them.
    List list_all(std::size_t feature, std::size_t begin, std::size_t end, WideMemory& memory) const {
        const std::uint32_t column = columns_.hollow().index(feature);
        if (column == HollowColumns::kNone) return list_full(feature, begin, end, memory);
        return with_zeros(list_entries(column, begin, end, memory.collected, memory), begin, end, memory);
    }

    List with_zeros(List list, std::size_t begin, std::size_t end, WideMemory& memory) const {
        const auto here = rows_.part(begin, end);
        memory.is_listed.assign(here.size(), 0);
        for (const Row row : list.rows) memory.is_listed[rows_.place(row) - begin] = 1;
        const std::size_t first = list.n_negative;
        const std::size_t n = list.rows.size();
        std::copy_backward(memory.rows.data() + first, memory.rows.data() + n, memory.rows.data() + here.size());
        std::copy_backward(memory.values.data() + first, memory.values.data() + n, memory.values.data() + here.size());
        Row* to = memory.rows.data() + first;
        for (std::size_t i = 0; i < here.size(); ++i)
            if (memory.is_listed[i] == 0) *to++ = here[i];
        std::fill_n(memory.values.data() + first, list.n_zeros, 0.0);
        return {.rows = {memory.rows.data(), here.size()},
                .values = {memory.values.data(), here.size()},
                .n_known = list.n_known + list.n_zeros};
    }

    // A list as the criteria read it.
    Ordered ordered(const List& list, std::size_t feature, WideMemory& memory) const {
        Ordered out{.rows = list.rows, .n_known = list.n_known, .n_zeros = list.n_zeros};
        if (list.n_zeros > 0) out.zeros_at = list.n_negative;
        if (this->is_bounded()) out.direction = this->directions_[feature];
        std::size_t n_distinct = 0;
        double first = 0;  // the least of the values that share a code
        const auto code_of = [&](double value) {
            if (n_distinct == 0 || is_above(value, first)) {
                first = value;
                ++n_distinct;
            }
            return static_cast<Code>(n_distinct);
        };
        for (std::size_t i = 0; i < list.n_known; ++i) {
            if (i == out.zeros_at) out.zeros_code = code_of(0);
            memory.codes[i] = code_of(list.values[i]);
        }
        if (out.zeros_at == list.n_known) out.zeros_code = code_of(0);
        if (n_distinct == list.n_steps()) return out;
        out.codes = memory.codes.data();
        out.has_codes_by_place = true;
        return out;
    }

    // ---- searching

    // Looks at one feature. Returns whether it varies in the node; if its split is better than the best so far, it becomes that.
    bool look(std::size_t feature, std::size_t turn, const Task& task, const NodeEntries& collected, WideMemory& memory,
              Split& best) const {
        const std::uint32_t column = columns_.hollow().index(feature);
        List list;
        if (column == HollowColumns::kNone) {
            list = list_full(feature, task.begin, task.end, memory);
        } else {
            if (collected.are_of(task.begin, task.end) && collected.count(column) == 0) return false;
            list = list_entries(column, task.begin, task.end, collected, memory);
        }
        if (!list.varies()) return false;
        if constexpr (!kHasSums)
            if (list.n_zeros > 0) list = with_zeros(list, task.begin, task.end, memory);
        const Candidate found =
            criterion_.scan(ordered(list, feature, memory), task.summary, task.bounds, this->is_bounded(), limits_, memory.scratch);
        Split split{.value = found.worth, .is_missing_left = found.is_missing_left, .feature = feature, .turn = turn};
        if (!split.is_found() || !split.is_better(best)) return true;
        split.threshold = middle_of(list, found.n_left);
        best = split;
        return true;
    }

    // Half way between the values on both sides of a cut; infinite where all known values go left.
    static double middle_of(const List& list, std::size_t n_left) {
        if (n_left == list.n_steps()) return kInfinity;
        return middle_between(list.value(n_left - 1), list.value(n_left));
    }

    // The best split of a node; of equal ones that of the feature that was looked at first. If none of the features drawn varies,
    // draws go on until one does.
    Split find(const Task& task, Lanes lanes) const override {
        WideMemory& first = lanes.front();
        const std::size_t d = columns_.count();
        const bool is_drawn = draw_.max_features < d;
        Philox random(draw_.seed, task.key);
        FeatureDraw draw(draw_.max_features, d, first.draw);
        first.chosen.clear();
        if (is_drawn)
            for (std::size_t k = 0; k < draw_.max_features; ++k) first.chosen.push_back(draw.next(random));
        if (is_drawn) {
            finder_.prepare(task.begin, task.end, first.chosen.size(),
                            this->n_entries(first.chosen, [](std::uint32_t feature) { return feature; }), first.collected);
        } else {
            const HollowColumns& hollow = columns_.hollow();
            finder_.prepare(task.begin, task.end, hollow.filled().size(), hollow.n_entries(), first.collected);
        }
        if (!is_drawn) choose_all(task, first);
        Split best;
        bool is_varied = look_at_chosen(task, lanes, is_drawn, best);
        if (is_varied || !is_drawn) return best;
        finder_.collect(task.begin, task.end, first.collected);
        if (columns_.full().empty() && !finder_.any_varies(task.size(), first.collected)) return best;
        while (!is_varied && !draw.is_over()) {
            const std::size_t turn = draw.count();
            is_varied = look(draw.next(random), turn, task, first.collected, first, best);
        }
        return best;
    }

    // All features but those known to be zero in the node.
    void choose_all(const Task& task, WideMemory& memory) const {
        const HollowColumns& hollow = columns_.hollow();
        memory.chosen.assign(columns_.full().begin(), columns_.full().end());
        if (memory.collected.are_of(task.begin, task.end)) {
            for (const std::uint32_t column : memory.collected.met()) memory.chosen.push_back(hollow.features()[column]);
        } else {
            memory.chosen.insert(memory.chosen.end(), hollow.filled().begin(), hollow.filled().end());
        }
    }

    bool look_at_chosen(const Task& task, Lanes lanes, bool is_drawn, Split& best) const {
        const std::span<const std::uint32_t> chosen = lanes.front().chosen;
        return this->best_of_lanes(lanes, best, [&](std::size_t lane, WideMemory& memory, Split& found) {
            bool is_varied = false;
            for (std::size_t k = lane; k < chosen.size(); k += lanes.size())
                is_varied |= look(chosen[k], is_drawn ? k : chosen[k], task, lanes.front().collected, memory, found);
            return is_varied;
        });
    }

    // ---- splitting

    Node node_of(const Split& split, const Task&, std::vector<Word>&) const override {
        return {.threshold = split.threshold, .tag = static_cast<std::uint32_t>(split.feature), .right = 1};
    }

    // Splits a node's rows. Where both children are leaves their summaries are all that is needed, and no row is moved.
    Children divide(const Split& split, const Task& task, Node& node, Lanes lanes) override {
        WideMemory& memory = lanes.front();
        const List list = list_all(split.feature, task.begin, task.end, memory);
        const auto known = list.values.first(list.n_known);
        const auto n_below = static_cast<std::size_t>(
            std::partition_point(known.begin(), known.end(), [&](double value) { return value <= split.threshold; }) -
            known.begin());
        const std::size_t n_missing = task.size() - list.n_known;
        const std::size_t n_left = n_below + (split.is_missing_left ? n_missing : 0);
        node.tag |= Base::sides(n_left, task.size(), n_missing > 0, split.is_missing_left, false);
        Row* space = memory.scratch.rows.data();
        Row* left = space;
        Row* right = space + n_left;
        for (std::size_t i = 0; i < task.size(); ++i) {
            const bool is_left = i < n_below || (i >= list.n_known && split.is_missing_left);
            goes_left_[list.rows[i]] = is_left;
            *(is_left ? left : right)++ = list.rows[i];
        }
        Children out = this->make_children(task, split.feature, {space, task.size()}, n_left);
        if (!out.left.is_leaf || !out.right.is_leaf) part(task, n_left, space);
        return out;
    }

    // Moves the marked rows of a node to its front, both sides rising as before.
    void part(const Task& task, std::size_t n_left, Row* space) {
        Row* left = space;
        Row* right = space + n_left;
        for (const Row row : rows(task)) *(goes_left_[row] != 0 ? left : right)++ = row;
        rows_.arrange(task.begin, {space, task.size()});
    }

    std::vector<std::uint8_t> goes_left_;
};

}  // namespace mercer::tree
