#include <algorithm>
#include <cstdint>
#include <span>

#include "bindings/arrays.hpp"
#include "bindings/explanations.hpp"
#include "inspection/coalitions.hpp"
#include "inspection/exact_shapley.hpp"
#include "inspection/surrogate_products.hpp"

namespace mercer::bindings {

namespace {

bool are_below(std::span<const std::int32_t> indices, std::size_t n) {
    return std::ranges::all_of(indices, [=](std::int32_t i) { return i >= 0 && static_cast<std::size_t>(i) < n; });
}

template <Real T>
void bind_coalitions(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "coalition_rows",
        [](In2<T> x, Rows2<T> background, Rows2<std::uint8_t> masks, In1<std::int32_t> player_of, In1<std::int32_t> row_of,
           In1<std::int32_t> mask_of, Out2<T> out, int n_threads) {
            const auto source = matrix<T>(x);
            const auto others = rows<T>(background);
            const inspection::Pairs pairs{rows<std::uint8_t>(masks), vector<std::int32_t>(player_of), vector<std::int32_t>(row_of),
                                          vector<std::int32_t>(mask_of)};
            const auto target = rows<T>(out);
            require(source.cols == others.cols && target.cols == others.cols, "x, the background and the result differ in columns");
            require(pairs.player_of.size() == others.cols, "there must be one player per column");
            require(pairs.mask_of.size() == pairs.row_of.size(), "there must be one mask per row of a pair");
            require(target.rows == pairs.size() * others.rows, "the result must have a row per pair and row of the background");
            require(are_below(pairs.player_of, pairs.masks.cols), "a player is out of range");
            require(are_below(pairs.row_of, source.rows), "a row is out of range");
            require(are_below(pairs.mask_of, pairs.masks.rows), "a mask is out of range");
            inspection::coalition_rows<T>(source, others, pairs, target, threads(n_threads));
        },
        array, array, array, array, array, array, array, nb::arg(), ReleaseGil());
    m.def(
        "means_of_runs",
        [](Rows2<T> values, In1<double> weights, Out2<double> out, int n_threads) {
            const auto source = rows<T>(values);
            const auto target = rows<double>(out);
            require(target.cols == source.cols, "the means must have a column per column of values");
            require(source.rows == target.rows * weights.shape(0), "there must be one run of values per mean");
            inspection::means_of_runs<T>(source, vector<double>(weights), target, threads(n_threads));
        },
        array, array, array, nb::arg(), ReleaseGil());
}

void require_games(RowMajor<const double> values, RowMajor<double> out, std::size_t n_players, std::size_t n_outputs,
                   std::size_t n_results) {
    require(n_players >= 1 && n_players <= inspection::kMostPlayers, "there must be 1 to 25 players");
    require(n_outputs >= 1 && n_outputs <= values.cols, "there must be an output");
    require(values.cols == (std::size_t{1} << n_players) * n_outputs, "a game must have a value per coalition and output");
    require(out.rows == values.rows && out.cols == n_results * n_outputs, "the result has the wrong shape");
}

}  // namespace

void bind_games(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    bind_coalitions<double>(m);
    bind_coalitions<float>(m);
    m.def(
        "exact_shapley_values",
        [](Rows2<double> values, std::size_t n_players, std::size_t n_outputs, Out2<double> out, int n_threads) {
            const auto games = rows<double>(values);
            const auto target = rows<double>(out);
            require_games(games, target, n_players, n_outputs, n_players);
            inspection::exact_values(games, n_players, n_outputs, target, threads(n_threads));
        },
        array, nb::arg(), nb::arg(), array, nb::arg(), ReleaseGil());
    m.def(
        "exact_shapley_interactions",
        [](Rows2<double> values, std::size_t n_players, std::size_t n_outputs, Out2<double> out, int n_threads) {
            const auto games = rows<double>(values);
            const auto target = rows<double>(out);
            require_games(games, target, n_players, n_outputs, n_players * n_players);
            inspection::exact_interactions(games, n_players, n_outputs, target, threads(n_threads));
        },
        array, nb::arg(), nb::arg(), array, nb::arg(), ReleaseGil());
    m.def(
        "surrogate_products",
        [](Rows2<double> x, Rows2<double> y, In1<double> weights, Out2<double> out, int n_threads) {
            const auto table = rows<double>(x);
            const auto targets = rows<double>(y);
            const auto target = rows<double>(out);
            require(targets.rows == table.rows && weights.shape(0) == table.rows, "there must be one target and weight per row");
            require(target.cols == 1 + table.cols + targets.cols && target.rows == target.cols,
                    "the products have the wrong shape");
            inspection::surrogate_products(table, targets, vector<double>(weights), target, threads(n_threads));
        },
        array, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings
