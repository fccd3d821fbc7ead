// Shapley values of sums of trees, each tree by the shortest way: tables of its leaves' games where rows are many and paths short,
// otherwise quadrature (path-dependent) or walks for pairs of rows (interventional). What is added to a row's line does not depend
// on the number of threads.
#pragma once

#include <cmath>
#include <cstddef>

#include "inspection/by_tables.hpp"
#include "inspection/meetings.hpp"
#include "inspection/pair_quadrature.hpp"
#include "inspection/quadrature.hpp"

namespace mercer::inspection {

// Adds path-dependent values to `out`: a line for each row, of features, or of pairs of them without what is on the diagonal, to
// which `out` is symmetric.
template <Real T>
void add_path_dependent(const Model& model, const Matrix<const T>& x, bool has_pairs, RowMajor<double> out, Threads threads) {
    const auto quadrature = [&](const Splits& splits) {
        const auto n_nodes = static_cast<double>(QuadraturePlan::nodes_for(splits.n_features_of_path()));
        const double of_split = has_pairs ? 10 + n_nodes * static_cast<double>(splits.n_features_of_path()) : 10 + 2 * n_nodes;
        return static_cast<double>(splits.size()) * (static_cast<double>(x.rows) * of_split + 40 * n_nodes);
    };
    const Model rest = add_by_tables<T>(model, x, nullptr, has_pairs, out, threads, quadrature);
    if (!has_pairs) return add_by_quadrature(rest, x, out, threads);
    mirror_pairs(out, model.trees.n_features(), threads);
    add_pairs_by_quadrature(rest, x, out, threads);
}

// The same, interventional: means over the rows of a background, or over the products of their values with `scales` (rows x
// background) where these are given.
template <Real T>
void add_interventional(const Model& model, const Matrix<const T>& x, const Matrix<const T>& background,
                        RowMajor<const double> scales, bool has_pairs, RowMajor<double> out, Threads threads) {
    if (scales.data != nullptr) return add_by_meetings(model, x, background, scales, has_pairs, out, threads);
    const auto meetings = [&](const Splits& splits) {
        const double of_pair = (has_pairs ? 40 : 20) * std::sqrt(static_cast<double>(splits.size()));
        return static_cast<double>(x.rows) * static_cast<double>(background.rows) * of_pair;
    };
    const Model rest = add_by_tables<T>(model, x, &background, has_pairs, out, threads, meetings);
    if (has_pairs) mirror_pairs(out, model.trees.n_features(), threads);
    add_by_meetings(rest, x, background, scales, has_pairs, out, threads);
}

}  // namespace mercer::inspection
