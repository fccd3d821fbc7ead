// A metric that is chosen when a block is measured: what searches of all metrics but the commonest two share, so that they are
// compiled once.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/errors.hpp"
#include "neighbors/metric.hpp"
#include "neighbors/other_metrics.hpp"

namespace mercer::neighbors {

class AnyMetric {
   public:
    static constexpr bool kIsAxial = true;  // or so whoever chose it says: `is_axial`

    using Formulas =
        std::variant<Euclidean, Manhattan, Chebyshev, Minkowski, Hamming, Canberra, BrayCurtis, TableDistance, GappedEuclidean>;

    explicit AnyMetric(Formulas formula) : formula_(formula) {}

    // Calls go(formula) with the formula itself.
    template <class Go>
    [[gnu::always_inline]] decltype(auto) choose(Go&& go) const {
        return std::visit(std::forward<Go>(go), formula_);
    }

    double distance(double rank) const {
        return choose([&](const auto& formula) { return formula.distance(rank); });
    }
    // The distances of ranks, lane by lane.
    Vector distances(Vector ranks) const {
        return choose([&](const auto& formula) -> Vector {
            if constexpr (std::same_as<std::remove_cvref_t<decltype(formula)>, Euclidean>)
                if (formula.reading == Reading::kRoot) return formula.length(ranks);
            return by_lane(ranks, [&](double rank) { return formula.distance(rank); });
        });
    }
    double rank_of(double distance) const {
        return choose([&](const auto& formula) { return formula.rank_of(distance); });
    }
    template <class V>
    V length(V rank) const {
        return choose([&](const auto& formula) -> V {
            if constexpr (BallMetric<std::remove_cvref_t<decltype(formula)>>) return formula.length(rank);
            return rank;
        });
    }
    template <class V>
    V rank_of_length(V length) const {
        return choose([&](const auto& formula) -> V {
            if constexpr (BallMetric<std::remove_cvref_t<decltype(formula)>>) return formula.rank_of_length(length);
            return length;
        });
    }
    double power() const {
        return choose([](const auto& formula) -> double {
            if constexpr (BallMetric<std::remove_cvref_t<decltype(formula)>>) return formula.power();
            return 1;
        });
    }
    // Whether it grows with each difference of coordinates, as k-d trees need it.
    bool is_axial() const {
        return choose([](const auto& formula) { return std::remove_cvref_t<decltype(formula)>::kIsAxial; });
    }
    // Whether balls bound it.
    bool has_length() const {
        return choose([](const auto& formula) {
            using Formula = std::remove_cvref_t<decltype(formula)>;
            if constexpr (std::same_as<Formula, TableDistance>)
                return formula.formula != TableFormula::kKulsinski && formula.formula != TableFormula::kYule;
            return BallMetric<Formula>;
        });
    }

    // Whether a mean of points is near them: not where values are compared for being the same.
    bool has_means() const {
        return !std::holds_alternative<Hamming>(formula_) && !std::holds_alternative<TableDistance>(formula_);
    }

   private:
    Formulas formula_;
};

// The metric of a name, for points of d features, whose weights (of Minkowski's sum) outlive it.
inline AnyMetric find_metric(std::string_view wanted, double p, const double* weights, std::size_t d) {
    const auto n = static_cast<double>(d);
    const auto is = [&](const char* name) { return wanted == name; };
    if (is("euclidean")) return AnyMetric(Euclidean{});
    if (is("squared")) return AnyMetric(Euclidean{Reading::kSquare});
    if (is("half_squared")) return AnyMetric(Euclidean{Reading::kHalfSquare});
    if (is("arc")) return AnyMetric(Euclidean{Reading::kArc});
    if (is("manhattan")) return AnyMetric(Manhattan{});
    if (is("chebyshev")) return AnyMetric(Chebyshev{});
    if (is("minkowski")) return AnyMetric(Minkowski{p, weights});
    if (is("hamming")) return AnyMetric(Hamming{{}, n});
    if (is("canberra")) return AnyMetric(Canberra{});
    if (is("braycurtis")) return AnyMetric(BrayCurtis{});
    if (is("nan_euclidean")) return AnyMetric(GappedEuclidean{n});
    static constexpr std::pair<const char*, TableFormula> kTables[] = {
        {"jaccard", TableFormula::kJaccard},         {"dice", TableFormula::kDice},
        {"sokalsneath", TableFormula::kSokalSneath}, {"rogerstanimoto", TableFormula::kRogersTanimoto},
        {"russellrao", TableFormula::kRussellRao},   {"matching", TableFormula::kMatching},
        {"kulsinski", TableFormula::kKulsinski},     {"yule", TableFormula::kYule}};
    for (const auto& [name, table] : kTables)
        if (is(name)) return AnyMetric(TableDistance{{}, table, n});
    refuse("there is no such metric");
}

}  // namespace mercer::neighbors
