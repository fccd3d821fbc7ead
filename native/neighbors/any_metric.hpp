// A metric that is chosen when a block is measured: what searches of all metrics but the commonest two share, so that they are
// compiled once.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>

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

    double distance(double rank) const;
    Vector distances(Vector ranks) const;  // lane by lane
    double rank_of(double distance) const;
    double length(double rank) const;
    Vector length(Vector rank) const;
    Vector rank_of_length(Vector length) const;
    double power() const;
    bool is_axial() const;    // whether it grows with each difference of coordinates, as k-d trees need it
    bool has_length() const;  // whether balls bound it
    bool has_means() const;   // whether a mean of points is near them: not where values are compared for being the same

   private:
    Formulas formula_;
};

// The metric of a name, for points of d features, whose weights (of Minkowski's sum) outlive it.
AnyMetric find_metric(std::string_view wanted, double p, const double* weights, std::size_t d);

}  // namespace mercer::neighbors
