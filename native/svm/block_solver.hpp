// Sequential minimal optimisation of one block of variables (svm/block_choice.hpp).
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
#include "svm/block_choice.hpp"

namespace mercer::svm {

// What solving a block has come to.
struct BlockEnd {
    std::size_t n_steps = 0;
    double least_curvature = kEndless;  // of the pairs that were moved, relative to K_ii + K_jj
    double gain = 0;                    // by which the objective has fallen
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
    // The kernel is symmetric: half of its square is read, and the other half is the mirror image.
    BlockSolver(RowMajor<const T> store, std::span<const std::int32_t> slots, std::span<const std::int32_t> columns,
                std::size_t group_end, Threads threads)
        : n_(slots.size()),
          n_first_(group_end),
          shift_(round_up(group_end) - group_end),
          width_(round_up(group_end) + round_up(n_ - group_end)),
          kernel_(n_ * width_),
          inverse_(n_ * width_),
          fields_(kFields * width_) {
        std::fill_n(fields_.data(), fields_.size(), 0.0);
        std::fill_n(rise(), width_, kEndless);
        std::fill_n(fall(), width_, -kEndless);
        read_square(store, slots, columns, threads);
    }

    // Moves `duals` within [low, up] until the violation within the block is at most `tol`, or by `max_steps` pairs.
    BlockEnd solve(std::span<const double> low, std::span<const double> up, std::span<const double> slopes, double tol,
                   std::size_t max_steps, std::span<double> duals) {
        const std::vector<double> before(duals.begin(), duals.end());
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
        for (std::size_t i = 0; i < n_; ++i) end.gain -= (duals[i] - before[i]) * (slopes[i] + slope()[place(i)]) / 2;
        return end;
    }

   private:
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    static constexpr double kTau = 1e-12;  // a curvature that is not above it counts as it, as in LIBSVM
    static constexpr std::size_t kFields = 4;
    // Passes over a line keep results of two vectors apart, so that no comparison waits for the last one.
    static constexpr std::size_t kApart = 2, kStride = kApart * kLanes;

    struct Least {
        double value = kEndless;
        std::size_t number = kNone;
    };
    struct Best {
        double violation = -kEndless;
        std::size_t number = kNone;
    };

    void read_square(RowMajor<const T> store, std::span<const std::int32_t> slots, std::span<const std::int32_t> columns,
                     Threads threads) {
        constexpr std::size_t kRows = 16;
        const std::size_t n_tasks = (n_ + kRows - 1) / kRows;
        const Threads useful = threads.for_work(static_cast<double>(n_) * static_cast<double>(n_));
        const auto for_rows = [&](auto&& body) {
            parallel_for(n_tasks, useful, [&](std::size_t task) { body(task * kRows, std::min((task + 1) * kRows, n_)); });
        };
        for_rows([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const T* const line = store.row(static_cast<std::size_t>(slots[i]));
                T* const own = kernel_.data() + i * width_;
                std::fill_n(own, width_, T{0});
                for (std::size_t j = i; j < n_; ++j) own[place(j)] = line[static_cast<std::size_t>(columns[j])];
            }
        });
        for_rows([&](std::size_t begin, std::size_t end) {
            for (std::size_t j = 0; j < end; ++j) {
                const T* const other = line_of(j);
                for (std::size_t i = std::max(begin, j + 1); i < end; ++i) kernel_.data()[i * width_ + place(j)] = other[place(i)];
            }
        });
        for (std::size_t i = 0; i < n_; ++i) diagonal()[place(i)] = static_cast<double>(line_of(i)[place(i)]);
        for_rows([&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) write_inverses(i);
        });
    }

    void write_inverses(std::size_t i) {
        const double own = diagonal()[place(i)];
        for (std::size_t k = 0; k < width_; ++k) {
            const double curvature = own + diagonal()[k] - 2 * static_cast<double>(line_of(i)[k]);
            inverse_.data()[i * width_ + k] = static_cast<T>(1 / std::max(curvature, kTau));
        }
    }

    static std::size_t round_up(std::size_t n) { return (n + kStride - 1) / kStride * kStride; }
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

    // The least value on the way through a line, of which each lane has its own; of equal ones the first.
    struct Lowest {
        V values[kApart];
        typename S::Indices at[kApart];

        explicit Lowest(std::size_t begin) {
            for (std::size_t v = 0; v < kApart; ++v) values[v] = S::broadcast(kEndless), at[v] = first_places(begin);
        }
        void take(std::size_t v, V value, S::Indices places) {
            at[v] = value < values[v] ? places : at[v];
            values[v] = value < values[v] ? value : values[v];
        }
    };

    Least least_of(const Lowest& lowest) const {
        Least least;
        std::int64_t at = std::numeric_limits<std::int64_t>::max();
        for (std::size_t v = 0; v < kApart; ++v) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const double value = lowest.values[v][lane];
                if (value < least.value || (value == least.value && value < kEndless && lowest.at[v][lane] < at)) {
                    least.value = value;
                    at = lowest.at[v][lane];
                }
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
        const std::size_t begin = place(first), end = round_up(place(last - 1) + 1);
        Lowest lowest(begin);
        typename S::Indices places = first_places(begin);
        for (std::size_t k = begin; k < end; k += kStride) {
#pragma GCC unroll 2
            for (std::size_t v = 0; v < kApart; ++v, places += static_cast<S::Index>(kLanes))
                lowest.take(v, S::load(slope() + k + v * kLanes) + S::load(rise() + k + v * kLanes), places);
        }
        return least_of(lowest);
    }

    // b_i += step and b_j -= step: all slopes of the block, and in the same pass the least of those that may rise.
    void move(std::size_t i, std::size_t j, double step, Least (&least)[2]) {
        const T *const up_line = line_of(i), *const down_line = line_of(j);
        const V by = S::broadcast(step);
        const std::size_t ends[3] = {0, round_up(n_first_), width_};
        for (std::size_t group = 0; group < 2; ++group) {
            Lowest lowest(ends[group]);
            typename S::Indices places = first_places(ends[group]);
            for (std::size_t k = ends[group]; k < ends[group + 1]; k += kStride) {
#pragma GCC unroll 2
                for (std::size_t v = 0; v < kApart; ++v, places += static_cast<S::Index>(kLanes)) {
                    const std::size_t at = k + v * kLanes;
                    const V moved = S::load(slope() + at) + by * (widened(up_line + at) - widened(down_line + at));
                    S::store(slope() + at, moved);
                    lowest.take(v, moved + S::load(rise() + at), places);
                }
            }
            least[group] = least_of(lowest);
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
        return violation(1, round_up(n_first_), width_) > violation(0, 0, round_up(n_first_)) ? 1 : 0;
    }

    // Of the variables that may fall, the one with the largest gain (f_j - f_i)^2 / (K_ii + K_jj - 2 K_ij), and the largest f_j -
    // f_i.
    Best best_partner(std::size_t i, double least, std::size_t group) {
        const std::size_t begin = group == 0 ? 0 : round_up(n_first_), end = group == 0 ? round_up(n_first_) : width_;
        const T* const inverse = inverse_.data() + i * width_;
        const V from = S::broadcast(least), zero = S::broadcast(0);
        V most[kApart], largest[kApart];
        typename S::Indices places = first_places(begin), at[kApart];
        for (std::size_t v = 0; v < kApart; ++v) most[v] = -S::broadcast(kEndless), largest[v] = zero, at[v] = places;
        for (std::size_t k = begin; k < end; k += kStride) {
#pragma GCC unroll 2
            for (std::size_t v = 0; v < kApart; ++v, places += static_cast<S::Index>(kLanes)) {
                const std::size_t now = k + v * kLanes;
                const V rise_of = S::load(slope() + now) + S::load(fall() + now) - from;
                const V above = rise_of > zero ? rise_of : zero, gain = above * above * widened(inverse + now);
                most[v] = rise_of > most[v] ? rise_of : most[v];
                at[v] = gain > largest[v] ? places : at[v];
                largest[v] = gain > largest[v] ? gain : largest[v];
            }
        }
        Best best;
        double gain = 0;
        for (std::size_t v = 0; v < kApart; ++v) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                best.violation = std::max(best.violation, static_cast<double>(most[v][lane]));
                if (!(largest[v][lane] > 0)) continue;
                const std::size_t found = number(static_cast<std::size_t>(at[v][lane]));
                if (largest[v][lane] > gain || (largest[v][lane] == gain && found < best.number)) {
                    gain = largest[v][lane];
                    best.number = found;
                }
            }
        }
        return best;
    }

    std::size_t n_, n_first_, shift_, width_;
    Aligned<T> kernel_, inverse_;  // n_ lines of width_: the kernel, and of each pair 1 / (K_ii + K_jj - 2 K_ij)
    Aligned<double> fields_;
};

// Solves one block of a problem, whose kernel rows are lines `slots` of the store, as above: reads `values`, moves `duals`.
// O(block^2 + steps block).
template <Real T>
BlockEnd solve_block(const DualVariables& of, RowMajor<const T> store, std::span<const std::int32_t> slots,
                     std::span<const std::int32_t> block, std::size_t group_end, std::span<const double> values, double tol,
                     std::size_t max_steps, std::span<double> duals, Threads threads) {
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
    const BlockEnd end = BlockSolver<T>(store, slots, columns, group_end, threads).solve(low, up, slopes, tol, max_steps, own);
    for (std::size_t k = 0; k < n; ++k) duals[static_cast<std::size_t>(block[k])] = own[k];
    return end;
}

}  // namespace mercer::svm
