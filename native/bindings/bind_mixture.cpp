#include "bindings/rows.hpp"
#include "bindings/sequences.hpp"
#include "mixture/gaussians.hpp"
#include "mixture/moments.hpp"

namespace mercer::bindings {

namespace {

// Factors are d lines of d values a Gaussian, or for all of them; those of independent features one line a Gaussian.
void check_gaussians(RowMajor<const double> means, RowMajor<const double> factors, std::span<const double> offsets,
                     std::size_t n_features, bool is_full) {
    require(means.rows >= 1 && means.cols == n_features && n_features >= 1, "the means must have one column per feature");
    require(offsets.size() == means.rows, "one offset for each Gaussian");
    require(factors.cols == n_features, "the factors must have one column per feature");
    if (is_full) {
        require(factors.rows % n_features == 0 && (factors.rows == n_features || factors.rows / n_features == means.rows),
                "one square factor for each Gaussian, or one for all");
    } else {
        require(factors.rows == means.rows, "one line of factors for each Gaussian");
    }
}

mixture::MomentSums moment_sums(const Out1<double>& shares, const Out2<double>& firsts, const Out2<double>& seconds, std::size_t k,
                                std::size_t d, bool is_full) {
    const mixture::MomentSums sums{vector<double>(shares), rows<double>(firsts), rows<double>(seconds)};
    require(sums.shares.size() == k && sums.firsts.rows == k && sums.firsts.cols == d, "the sums must have a line per component");
    require(sums.seconds.rows == (is_full ? k * d : k) && sums.seconds.cols == d, "the sums of squares have another shape");
    return sums;
}

template <class T, template <class> class Factors, template <class> class MomentsOf>
void bind_gaussians(nb::module_& m, const char* log_densities, const char* expect, const char* moments) {
    using Moments = MomentsOf<T>;
    constexpr bool kIsFull = std::is_same_v<Moments, mixture::FullMoments<T>>;
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();

    m.def(
        log_densities,
        [](In2<T> x, Rows2<double> means, Rows2<double> factors, In1<double> offsets, Out2<T> out, int n_threads) {
            const auto view = matrix<T>(x);
            const auto centres = rows<double>(means), by = rows<double>(factors);
            check_gaussians(centres, by, vector<double>(offsets), view.cols, kIsFull);
            const auto result = rows<T>(out);
            require(result.rows == view.rows && result.cols == centres.rows, "one line per row and one column per Gaussian");
            mixture::log_densities<Factors<T>>(view, {centres, by, vector<double>(offsets)}, result, threads(n_threads));
        },
        array, array, array, array, array, nb::arg(), ReleaseGil());

    m.def(
        expect,
        [](In2<T> x, MaybeIn1<double> weights, Rows2<double> means, Rows2<double> factors, In1<double> offsets, Out1<double> shares,
           Out2<double> firsts, Out2<double> seconds, int n_threads) {
            const auto view = matrix<T>(x);
            const auto centres = rows<double>(means), by = rows<double>(factors);
            check_gaussians(centres, by, vector<double>(offsets), view.cols, kIsFull);
            return mixture::moments_of_densities<Moments, Factors<T>>(
                view, per_row<double>(weights, view.rows), {centres, by, vector<double>(offsets)},
                moment_sums(shares, firsts, seconds, centres.rows, view.cols, kIsFull), threads(n_threads));
        },
        array, maybe, array, array, array, array, array, array, nb::arg(), ReleaseGil());

    m.def(
        moments,
        [](In2<T> x, Rows2<double> given, Rows2<double> centres, Out1<double> shares, Out2<double> firsts, Out2<double> seconds,
           int n_threads) {
            const auto view = matrix<T>(x);
            const auto middles = rows<double>(centres), of_rows = rows<double>(given);
            require(middles.rows >= 1 && middles.cols == view.cols && view.cols >= 1,
                    "the centres must have one column per feature");
            require(of_rows.rows == view.rows && of_rows.cols == middles.rows, "one line of shares per row, one column per centre");
            mixture::moments_of_shares<Moments, T>(
                view, of_rows, middles, moment_sums(shares, firsts, seconds, middles.rows, view.cols, kIsFull), threads(n_threads));
        },
        array, array, array, array, array, array, nb::arg(), ReleaseGil());
}

template <class T>
void bind_all(nb::module_& m) {
    bind_gaussians<T, mixture::FullFactors, mixture::FullMoments>(m, "gaussian_log_densities", "gaussian_expectations",
                                                                  "gaussian_moments");
    bind_gaussians<T, mixture::DiagonalFactors, mixture::DiagonalMoments>(m, "diagonal_log_densities", "diagonal_expectations",
                                                                          "diagonal_moments");
}

}  // namespace

void bind_mixture(nb::module_& m) {
    bind_all<double>(m);
    bind_all<float>(m);
}

}  // namespace mercer::bindings
