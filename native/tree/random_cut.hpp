// Where random splits cut: a threshold between the least and the largest value of a node's rows, or a set of categories.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/simd.hpp"
#include "tree/columns.hpp"
#include "tree/split.hpp"

namespace mercer::tree {

// A feature to look at, with what is drawn for it.
struct Trial {
    std::uint32_t feature = 0;
    std::uint32_t draw = 0;
};

// The known values of a feature in a node, from the least to the largest.
struct ValueRange {
    double least = kInfinity;
    double most = -kInfinity;
    void widen(double value) {
        least = std::min(least, value);
        most = std::max(most, value);
    }
};

// Where the rows of a node go by a trial: those whose number among the values is not above the threshold go left.
struct RandomCut {
    double threshold = 0;
    bool has_missing = false;
    bool is_missing_left = false;

    // Where a trial cuts numbers of a range. Nothing where they do not vary.
    static std::optional<RandomCut> of_range(const Trial& trial, const ValueRange& known, bool has_missing) {
        const auto [least, most] = known;
        const bool is_varied = is_above(most, least);
        if (!(least <= most) || (!is_varied && !has_missing)) return {};
        RandomCut out{.threshold = most, .has_missing = has_missing};
        if (!is_varied) return out;  // only what is missing differs: it goes right
        out.is_missing_left = (trial.draw & 1) != 0;
        const double share = trial.draw * 0x1p-32;
        out.threshold = least * (1 - share) + most * share;
        if (!(out.threshold >= least && out.threshold < most)) out.threshold = least;  // also where one of them is infinite
        return out;
    }

    // Where a trial cuts a feature's n values, which are made ready for that and have room for a vector behind them. Nothing where
    // they do not vary.
    static std::optional<RandomCut> of_values(const Trial& trial, double* values, std::size_t n, bool may_be_missing,
                                              bool is_categorical);
};

namespace detail {

// Whether a category goes left: a fair coin for each, named by the draw.
inline bool draws_left(std::uint32_t draw, double category) {
    std::uint64_t x = (std::uint64_t{draw} << 32) + static_cast<std::uint64_t>(category) + 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return ((x ^ (x >> 31)) & 1) != 0;
}

// The first name, from the draw on, by which not all categories go to the same side.
inline std::optional<std::uint32_t> category_draw(std::uint32_t draw, const double* values, std::size_t n) {
    constexpr std::uint32_t kTries = 64;
    for (std::uint32_t name = draw; name != draw + kTries; ++name) {
        std::array<bool, 2> is_met{};
        for (std::size_t i = 0; i < n && !(is_met[0] && is_met[1]); ++i)
            if (!std::isnan(values[i])) is_met[draws_left(name, values[i])] = true;
        if (is_met[0] && is_met[1]) return name;
    }
    return {};
}

// Replaces categories by -1 (left) and +1, drawing until both sides have one. All on the left where there is but one category.
inline bool draw_categories(std::uint32_t draw, double* values, std::size_t n, bool has_several) {
    const std::optional<std::uint32_t> name = has_several ? category_draw(draw, values, n) : draw;
    if (!name) return false;
    for (std::size_t i = 0; i < n; ++i)
        if (!std::isnan(values[i])) values[i] = !has_several || draws_left(*name, values[i]) ? -1 : 1;
    return true;
}

// Of n values, none of which is missing; there is room for a vector behind them.
inline ValueRange full_range(double* values, std::size_t n) {
    using S = Simd<double>;
    std::fill_n(values + n, S::kLanes, values[0]);
    auto least = S::load(values);
    auto most = least;
    for (std::size_t i = 0; i < n; i += S::kLanes) {
        const auto v = S::load(values + i);
        least = v < least ? v : least;
        most = v > most ? v : most;
    }
    ValueRange out{least[0], most[0]};
    for (std::size_t l = 1; l < S::kLanes; ++l) out = {std::min(out.least, least[l]), std::max(out.most, most[l])};
    return out;
}

inline ValueRange known_range(const double* values, std::size_t n) {
    ValueRange out;
    for (std::size_t i = 0; i < n; ++i)
        if (!std::isnan(values[i])) out.widen(values[i]);
    return out;
}

}  // namespace detail

inline std::optional<RandomCut> RandomCut::of_values(const Trial& trial, double* values, std::size_t n, bool may_be_missing,
                                                     bool is_categorical) {
    const bool has_missing = may_be_missing && std::any_of(values, values + n, [](double v) { return std::isnan(v); });
    const ValueRange known = has_missing ? detail::known_range(values, n) : detail::full_range(values, n);
    std::optional<RandomCut> out = of_range(trial, known, has_missing);
    if (!out) return {};
    if (is_categorical) {
        out->threshold = 0;
        if (!detail::draw_categories(trial.draw, values, n, known.least != known.most)) return {};
    }
    if (has_missing)
        for (std::size_t i = 0; i < n; ++i)
            if (std::isnan(values[i])) values[i] = out->is_missing_left ? -kInfinity : kInfinity;
    std::fill_n(values + n, Simd<double>::kLanes, kInfinity);
    return out;
}

}  // namespace mercer::tree
