// Sequential minimal optimisation on blocks of variables: what kernel support vector machines are solved by.
//
// All of them are one problem: minimise 1/2 b'Kb + q'b over b with low <= b <= up and a fixed sum of b in each of one or two groups
// of variables. The slope of variable i is f_i = (K b)_row(i) + q_i, where `values` = K b has one number a row of the kernel and a
// row may have two variables (regression). The variables of the first group come first. At a solution no variable that may
// rise has a slope below that of one of its group that may fall; what is left of this is the violation.
//
// A block of variables that violate most is solved with its square of the kernel in the cache, and the values of all rows are
// brought up to date once a block.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::svm {

inline constexpr double kEndless = std::numeric_limits<double>::infinity();

// The variables of a problem.
struct DualVariables {
    std::span<const std::int32_t> rows;  // of the kernel
    std::span<const double> linear;      // q
    std::span<const double> low, up;
    std::size_t group_end;  // where the second group begins: all variables where there is one

    std::size_t size() const { return rows.size(); }
};

// Of one group: the least slope of those that may rise, and the largest of those that may fall.
struct SlopeRange {
    double least_rising = kEndless;
    double most_falling = -kEndless;

    double violation() const { return most_falling - least_rising; }
};

// Writes the slopes of all variables. O(n).
inline void write_slopes(const DualVariables& of, std::span<const double> values, std::span<double> slopes) {
    for (std::size_t i = 0; i < of.size(); ++i) slopes[i] = values[static_cast<std::size_t>(of.rows[i])] + of.linear[i];
}

inline SlopeRange slope_range(const DualVariables& of, std::span<const double> duals, std::span<const double> slopes,
                              std::size_t begin, std::size_t end) {
    SlopeRange range;
    for (std::size_t i = begin; i < end; ++i) {
        if (duals[i] < of.up[i]) range.least_rising = std::min(range.least_rising, slopes[i]);
        if (duals[i] > of.low[i]) range.most_falling = std::max(range.most_falling, slopes[i]);
    }
    return range;
}

// Chooses a block: those of `kept` first, then from each group those that violate most, as many that may rise as may fall, until
// `block` is full or none violates. Writes the numbers of the variables, the first group first and each in rising order, and
// returns how many there are and how many are of the first group. O(n + m log m) for m variables that violate.
class BlockChoice {
   public:
    std::size_t size = 0, group_end = 0;

    BlockChoice(const DualVariables& of, std::span<const double> duals, std::span<const double> slopes,
                std::span<const std::int32_t> kept, std::span<std::int32_t> block)
        : of_(of), duals_(duals), slopes_(slopes), block_(block), is_in_(of.size(), 0) {
        for (const std::int32_t i : kept) add(static_cast<std::size_t>(i));
        const std::size_t room = block.size() - size;
        const bool has_two = of.group_end < of.size();
        if (has_two) take_violators(of.group_end, of.size(), room / 2);
        take_violators(0, of.group_end, block.size() - size);
        std::sort(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(size));
        while (group_end < size && static_cast<std::size_t>(block[group_end]) < of.group_end) ++group_end;
    }

   private:
    void add(std::size_t i) {
        if (is_in_[i] != 0 || size == block_.size()) return;
        is_in_[i] = 1;
        block_[size++] = static_cast<std::int32_t>(i);
    }

    void take_violators(std::size_t begin, std::size_t end, std::size_t room) {
        const SlopeRange range = slope_range(of_, duals_, slopes_, begin, end);
        if (!(range.violation() > 0)) return;
        std::vector<std::int32_t> rising, falling;
        for (std::size_t i = begin; i < end; ++i) {
            if (is_in_[i] != 0) continue;
            if (duals_[i] < of_.up[i] && slopes_[i] < range.most_falling) rising.push_back(static_cast<std::int32_t>(i));
            if (duals_[i] > of_.low[i] && slopes_[i] > range.least_rising) falling.push_back(static_cast<std::int32_t>(i));
        }
        const auto worse_rising = [this](std::int32_t a, std::int32_t b) {
            return slopes_[a] != slopes_[b] ? slopes_[a] < slopes_[b] : a < b;
        };
        const auto worse_falling = [this](std::int32_t a, std::int32_t b) {
            return slopes_[a] != slopes_[b] ? slopes_[a] > slopes_[b] : a < b;
        };
        keep_first(rising, room, worse_rising);
        keep_first(falling, room, worse_falling);
        const std::size_t end_of_room = std::min(size + room, block_.size());
        for (std::size_t k = 0; k < std::max(rising.size(), falling.size()) && size < end_of_room; ++k) {
            if (k < rising.size()) add(static_cast<std::size_t>(rising[k]));
            if (k < falling.size() && size < end_of_room) add(static_cast<std::size_t>(falling[k]));
        }
    }

    template <class Before>
    static void keep_first(std::vector<std::int32_t>& numbers, std::size_t n, const Before& before) {
        if (numbers.size() > n) {
            std::nth_element(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(n), numbers.end(), before);
            numbers.resize(n);
        }
        std::sort(numbers.begin(), numbers.end(), before);
    }

    const DualVariables& of_;
    std::span<const double> duals_, slopes_;
    std::span<std::int32_t> block_;
    std::vector<std::uint8_t> is_in_;
};

// What solving a block has come to.
struct BlockEnd {
    std::size_t n_steps = 0;
    double least_curvature = kEndless;  // of the pairs that were moved, relative to K_ii + K_jj
    double violation = 0;               // that is left within the block
};

// Sequential minimal optimisation of one block in memory of its own. The pair of a step is the variable i of least slope that may
// rise, and of those that may fall the one whose step gains most by the second-order model (Fan, Chen and Lin, 2005).
template <Real T>
class BlockSolver {
   public:
    using S = Simd<double>;
    using V = S::Vector;
    static constexpr std::size_t kLanes = S::kLanes;

    // Reads the square of the kernel from lines of `store`: the line of the block's variable k is slots[k], its column columns[k].
    // The second group begins at a whole vector, so that no vector has lanes of both.
    BlockSolver(RowMajor<const T> store, std::span<const std::int32_t> slots, std::span<const std::int32_t> columns,
                std::size_t group_end)
        : n_(slots.size()),
          n_first_(group_end),
          shift_(S::round_up(group_end) - group_end),
          width_(S::round_up(group_end) + S::round_up(n_ - group_end)),
          kernel_(n_ * width_),
          fields_(kFields * width_) {
        for (std::size_t i = 0; i < n_; ++i) {
            const T* const line = store.row(static_cast<std::size_t>(slots[i]));
            T* const own = kernel_.data() + i * width_;
            std::fill_n(own, width_, T{0});
            for (std::size_t j = 0; j < n_; ++j) own[place(j)] = line[static_cast<std::size_t>(columns[j])];
        }
        std::fill_n(fields_.data(), fields_.size(), 0.0);
        std::fill_n(rise(), width_, kEndless);
        std::fill_n(fall(), width_, -kEndless);
        for (std::size_t i = 0; i < n_; ++i) diagonal()[place(i)] = static_cast<double>(line_of(i)[place(i)]);
    }

    // Moves `duals` within [low, up] until the violation within the block is at most `tol`, or by `max_steps` pairs.
    BlockEnd solve(std::span<const double> low, std::span<const double> up, std::span<const double> slopes, double tol,
                   std::size_t max_steps, std::span<double> duals) {
        for (std::size_t i = 0; i < n_; ++i) {
            slope()[place(i)] = slopes[i];
            set_freedom(i, duals[i], low[i], up[i]);
        }
        BlockEnd end;
        Least least[2] = {least_rising(0, n_first_), least_rising(n_first_, n_)};
        while (true) {
            const std::size_t group = choose_group(least);
            const std::size_t i = least[group].number;
            if (i == kNone) break;
            const Best best = best_partner(i, least[group].value, group);
            end.violation = std::max(best.violation, 0.0);
            if (!(best.violation > tol) || best.number == kNone || end.n_steps == max_steps) break;
            const std::size_t j = best.number;
            const double scale = diagonal()[place(i)] + diagonal()[place(j)];
            const double curvature = scale - 2 * static_cast<double>(line_of(i)[place(j)]);
            end.least_curvature = std::min(end.least_curvature, curvature / std::max(std::abs(scale), kTau));
            const double wanted = (slope()[place(j)] - slope()[place(i)]) / std::max(curvature, kTau);
            const double room_up = up[i] - duals[i], room_down = duals[j] - low[j];
            const double step = std::min({wanted, room_up, room_down});
            duals[i] = step == room_up ? up[i] : duals[i] + step;
            duals[j] = step == room_down ? low[j] : duals[j] - step;
            set_freedom(i, duals[i], low[i], up[i]);
            set_freedom(j, duals[j], low[j], up[j]);
            ++end.n_steps;
            move(i, j, step, least);
        }
        return end;
    }

   private:
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    static constexpr double kTau = 1e-12;  // a curvature that is not above it counts as it, as in LIBSVM
    static constexpr std::size_t kFields = 4;

    struct Least {
        double value = kEndless;
        std::size_t number = kNone;
    };
    struct Best {
        double violation = -kEndless;
        std::size_t number = kNone;
    };

    std::size_t place(std::size_t i) const { return i < n_first_ ? i : i + shift_; }
    std::size_t number(std::size_t at) const { return at < n_first_ ? at : at - shift_; }
    const T* line_of(std::size_t i) const { return kernel_.data() + i * width_; }
    double* slope() { return fields_.data(); }
    double* rise() { return fields_.data() + width_; }          // 0 where the variable may rise, else infinity
    double* fall() { return fields_.data() + 2 * width_; }      // 0 where it may fall, else minus infinity
    double* diagonal() { return fields_.data() + 3 * width_; }  // of the kernel

    static V widened(const T* p) {
        if constexpr (sizeof(T) == sizeof(double)) {
            return S::load(p);
        } else {
            typedef T Half __attribute__((vector_size(kVectorBytes / 2)));
            Half half;
            std::memcpy(&half, p, sizeof half);
            return __builtin_convertvector(half, V);
        }
    }

    void set_freedom(std::size_t i, double dual, double low, double up) {
        rise()[place(i)] = dual < up ? 0.0 : kEndless;
        fall()[place(i)] = dual > low ? 0.0 : -kEndless;
    }

    // The lanes' least value; of equal ones the first.
    Least least_of(V values, S::Indices places) const {
        Least least;
        std::int64_t at = std::numeric_limits<std::int64_t>::max();
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            if (values[lane] < least.value || (values[lane] == least.value && values[lane] < kEndless && places[lane] < at)) {
                least.value = values[lane];
                at = places[lane];
            }
        }
        if (least.value < kEndless) least.number = number(static_cast<std::size_t>(at));
        return least;
    }

    static S::Indices first_places(std::size_t begin) {
        typename S::Indices places;
        for (std::size_t lane = 0; lane < kLanes; ++lane) places[lane] = static_cast<S::Index>(begin + lane);
        return places;
    }

    Least least_rising(std::size_t first, std::size_t last) {
        if (first == last) return {};
        const std::size_t begin = place(first), end = S::round_up(place(last - 1) + 1);
        V least = S::broadcast(kEndless);
        typename S::Indices places = first_places(begin), at = places;
        for (std::size_t k = begin; k < end; k += kLanes) {
            const V value = S::load(slope() + k) + S::load(rise() + k);
            at = value < least ? places : at;
            least = value < least ? value : least;
            places += static_cast<S::Index>(kLanes);
        }
        return least_of(least, at);
    }

    // b_i += step and b_j -= step: all slopes of the block, and in the same pass the least of those that may rise.
    void move(std::size_t i, std::size_t j, double step, Least (&least)[2]) {
        const T *const up_line = line_of(i), *const down_line = line_of(j);
        const V by = S::broadcast(step);
        const std::size_t ends[3] = {0, S::round_up(n_first_), width_};
        for (std::size_t group = 0; group < 2; ++group) {
            V lowest = S::broadcast(kEndless);
            typename S::Indices places = first_places(ends[group]), at = places;
            for (std::size_t k = ends[group]; k < ends[group + 1]; k += kLanes) {
                const V moved = S::load(slope() + k) + by * (widened(up_line + k) - widened(down_line + k));
                S::store(slope() + k, moved);
                const V value = moved + S::load(rise() + k);
                at = value < lowest ? places : at;
                lowest = value < lowest ? value : lowest;
                places += static_cast<S::Index>(kLanes);
            }
            least[group] = least_of(lowest, at);
        }
    }

    // The group that violates more.
    std::size_t choose_group(const Least (&least)[2]) {
        if (n_first_ == n_) return 0;
        if (n_first_ == 0) return 1;
        const auto violation = [&](std::size_t group, std::size_t begin, std::size_t end) {
            double most = -kEndless;
            for (std::size_t k = begin; k < end; ++k) most = std::max(most, slope()[k] + fall()[k]);
            return most - least[group].value;  // minus infinity where none may rise
        };
        return violation(1, S::round_up(n_first_), width_) > violation(0, 0, S::round_up(n_first_)) ? 1 : 0;
    }

    // Of the variables that may fall, the one with the largest gain (f_j - f_i)^2 / (K_ii + K_jj - 2 K_ij), and the largest f_j -
    // f_i.
    Best best_partner(std::size_t i, double least, std::size_t group) {
        const std::size_t begin = group == 0 ? 0 : S::round_up(n_first_), end = group == 0 ? S::round_up(n_first_) : width_;
        const T* const line = line_of(i);
        const V own = S::broadcast(diagonal()[place(i)]), from = S::broadcast(least), tau = S::broadcast(kTau),
                zero = S::broadcast(0);
        V most = S::broadcast(-kEndless), largest = zero;
        typename S::Indices places = first_places(begin), at = S::broadcast_index(-1);
        for (std::size_t k = begin; k < end; k += kLanes) {
            const V rise_of = S::load(slope() + k) + S::load(fall() + k) - from;
            const V curvature = own + S::load(diagonal() + k) - 2 * widened(line + k);
            const V gain = rise_of > zero ? rise_of * rise_of / (curvature > tau ? curvature : tau) : zero;
            most = rise_of > most ? rise_of : most;
            at = gain > largest ? places : at;
            largest = gain > largest ? gain : largest;
            places += static_cast<S::Index>(kLanes);
        }
        Best best;
        double gain = 0;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            best.violation = std::max(best.violation, static_cast<double>(most[lane]));
            if (at[lane] < 0) continue;
            const std::size_t found = number(static_cast<std::size_t>(at[lane]));
            if (largest[lane] > gain || (largest[lane] == gain && found < best.number)) {
                gain = largest[lane];
                best.number = found;
            }
        }
        return best;
    }

    std::size_t n_, n_first_, shift_, width_;
    Aligned<T> kernel_;  // n_ lines of width_
    Aligned<double> fields_;
};

// Solves one block of a problem, whose kernel rows are lines `slots` of the store, as above: reads `values`, moves `duals`.
// O(block^2 + steps block).
template <Real T>
BlockEnd solve_block(const DualVariables& of, RowMajor<const T> store, std::span<const std::int32_t> slots,
                     std::span<const std::int32_t> block, std::size_t group_end, std::span<const double> values, double tol,
                     std::size_t max_steps, std::span<double> duals) {
    const std::size_t n = block.size();
    std::vector<std::int32_t> columns(n);
    std::vector<double> fields(4 * n);
    const auto part = [&](std::size_t k) { return std::span<double>(fields).subspan(k * n, n); };
    const auto low = part(0), up = part(1), slopes = part(2), own = part(3);
    for (std::size_t k = 0; k < n; ++k) {
        const auto i = static_cast<std::size_t>(block[k]);
        columns[k] = of.rows[i];
        low[k] = of.low[i];
        up[k] = of.up[i];
        slopes[k] = values[static_cast<std::size_t>(of.rows[i])] + of.linear[i];
        own[k] = duals[i];
    }
    const BlockEnd end = BlockSolver<T>(store, slots, columns, group_end).solve(low, up, slopes, tol, max_steps, own);
    for (std::size_t k = 0; k < n; ++k) duals[static_cast<std::size_t>(block[k])] = own[k];
    return end;
}

// values += sum_k changes[k] line slots[k] of the store, columns in chunks side by side and the lines of each in order. O(n lines).
template <Real T>
void add_lines(RowMajor<const T> store, std::span<const std::int32_t> slots, std::span<const double> changes,
               std::span<double> values, Threads threads) {
    constexpr std::size_t kColumns = 1024;  // of which sums stay in the first-level cache
    const std::size_t n = store.cols, n_chunks = (n + kColumns - 1) / kColumns;
    const double work = static_cast<double>(n) * static_cast<double>(slots.size()) / 2;
    parallel_for(n_chunks, threads.for_work(work), [&](std::size_t chunk) {
        const std::size_t begin = chunk * kColumns, count = std::min(kColumns, n - begin);
        double* const sums = values.data() + begin;
        const auto line = [&](std::size_t k) { return store.row(static_cast<std::size_t>(slots[k])) + begin; };
        std::size_t k = 0;
        for (; k + 4 <= slots.size(); k += 4) {
            const T *const a = line(k), *const b = line(k + 1), *const c = line(k + 2), *const d = line(k + 3);
            const double w = changes[k], x = changes[k + 1], y = changes[k + 2], z = changes[k + 3];
            for (std::size_t j = 0; j < count; ++j)
                sums[j] += (w * static_cast<double>(a[j]) + x * static_cast<double>(b[j])) +
                           (y * static_cast<double>(c[j]) + z * static_cast<double>(d[j]));
        }
        for (; k < slots.size(); ++k) {
            const T* const a = line(k);
            for (std::size_t j = 0; j < count; ++j) sums[j] += changes[k] * static_cast<double>(a[j]);
        }
    });
}

}  // namespace mercer::svm
