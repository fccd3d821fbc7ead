#include "neighbors/any_metric.hpp"

#include <concepts>
#include <type_traits>

#include "core/errors.hpp"
#include "neighbors/blocks.hpp"
#include "neighbors/boxes.hpp"

namespace mercer::neighbors {

double AnyMetric::distance(double rank) const {
    return choose([&](const auto& formula) { return formula.distance(rank); });
}

Vector AnyMetric::distances(Vector ranks) const {
    return choose([&](const auto& formula) -> Vector {
        if constexpr (std::same_as<std::remove_cvref_t<decltype(formula)>, Euclidean>)
            if (formula.reading == Reading::kRoot) return formula.length(ranks);
        return by_lane(ranks, [&](double rank) { return formula.distance(rank); });
    });
}

double AnyMetric::rank_of(double distance) const {
    return choose([&](const auto& formula) { return formula.rank_of(distance); });
}

namespace {

template <class V>
V length_of(const AnyMetric& metric, V rank) {
    return metric.choose([&](const auto& formula) -> V {
        if constexpr (BallMetric<std::remove_cvref_t<decltype(formula)>>) return formula.length(rank);
        return rank;
    });
}

}  // namespace

double AnyMetric::length(double rank) const { return length_of(*this, rank); }
Vector AnyMetric::length(Vector rank) const { return length_of(*this, rank); }

Vector AnyMetric::rank_of_length(Vector length) const {
    return choose([&](const auto& formula) -> Vector {
        if constexpr (BallMetric<std::remove_cvref_t<decltype(formula)>>) return formula.rank_of_length(length);
        return length;
    });
}

double AnyMetric::power() const {
    return choose([](const auto& formula) -> double {
        if constexpr (BallMetric<std::remove_cvref_t<decltype(formula)>>) return formula.power();
        return 1;
    });
}

bool AnyMetric::is_axial() const {
    return choose([](const auto& formula) { return std::remove_cvref_t<decltype(formula)>::kIsAxial; });
}

bool AnyMetric::has_length() const {
    return choose([](const auto& formula) {
        using Formula = std::remove_cvref_t<decltype(formula)>;
        if constexpr (std::same_as<Formula, TableDistance>)
            return formula.formula != TableFormula::kKulsinski && formula.formula != TableFormula::kYule;
        return BallMetric<Formula>;
    });
}

bool AnyMetric::has_means() const {
    return !std::holds_alternative<Hamming>(formula_) && !std::holds_alternative<TableDistance>(formula_);
}

AnyMetric find_metric(std::string_view wanted, double p, const double* weights, std::size_t d) {
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

// ---- measuring

template <Real T>
BlockValues measure_chosen(const AnyMetric& metric, const double* query, const T* block, std::size_t d) {
    return metric.choose([&](const auto& formula) { return measure_block<0>(formula, query, block, d); });
}
template BlockValues measure_chosen(const AnyMetric&, const double*, const double*, std::size_t);
template BlockValues measure_chosen(const AnyMetric&, const double*, const float*, std::size_t);

namespace {

// Calls go(formula) with the formula of a metric that boxes bound.
template <class Go>
decltype(auto) choose_axial(const AnyMetric& metric, Go&& go) {
    return metric.choose([&](const auto& formula) -> decltype(go(Euclidean{})) {
        if constexpr (std::remove_cvref_t<decltype(formula)>::kIsAxial) return go(formula);
        refuse("boxes do not bound this metric");
    });
}

}  // namespace

double extent_chosen(const AnyMetric& metric, const Box& box) {
    return choose_axial(metric, [&](const auto& formula) { return extent(formula, box); });
}

template <Real T>
BlockValues bound_boxes_chosen(const AnyMetric& metric, const double* query, const T* line, std::size_t d) {
    return choose_axial(metric, [&](const auto& formula) { return bound_boxes<0>(formula, query, line, d); });
}
template BlockValues bound_boxes_chosen(const AnyMetric&, const double*, const double*, std::size_t);
template BlockValues bound_boxes_chosen(const AnyMetric&, const double*, const float*, std::size_t);

template <Real T>
BlockValues bound_boxes_above_chosen(const AnyMetric& metric, const double* query, const T* line, std::size_t d) {
    return choose_axial(metric, [&](const auto& formula) { return bound_boxes_above(formula, query, line, d); });
}
template BlockValues bound_boxes_above_chosen(const AnyMetric&, const double*, const double*, std::size_t);
template BlockValues bound_boxes_above_chosen(const AnyMetric&, const double*, const float*, std::size_t);

template <Real T>
BoxRanks rank_boxes_chosen(const AnyMetric& metric, const Box& box, const T* line, std::size_t d) {
    return choose_axial(metric, [&](const auto& formula) { return rank_boxes<0>(formula, box, line, d); });
}
template BoxRanks rank_boxes_chosen(const AnyMetric&, const Box&, const double*, std::size_t);
template BoxRanks rank_boxes_chosen(const AnyMetric&, const Box&, const float*, std::size_t);

}  // namespace mercer::neighbors
