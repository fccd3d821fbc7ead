#include <nanobind/stl/string.h>

#include <string>

#include "bindings/rows.hpp"
#include "linear_model/stochastic.hpp"
#include "linear_model/stochastic_bound.hpp"

namespace mercer::bindings {

namespace {

namespace stochastic = linear_model::stochastic;
using stochastic::Rule;

template <class T>
using MaybeOut2 = std::optional<Out2<T>>;

stochastic::Schedule schedule(int number) {
    require(number >= 0 && number <= static_cast<int>(stochastic::Schedule::kPassiveAggressive2), "the schedule is not known");
    return static_cast<stochastic::Schedule>(number);
}

// The rows as stochastic descent has them; its vectors want dense ones as they are, each in one piece.
template <class Own, Real T>
Own descent_rows(const DenseRowSource<T>& x) {
    require(x.x.has_contiguous_rows() && x.shift.empty(), "the rows of X must be contiguous, and without a shift");
    return rows_as<Own>(x);
}
template <class Own, Real T>
Own descent_rows(const CsrRowSource<T>& x) {
    return rows_as<Own>(x);
}

template <Real T>
stochastic::Targets<T> targets(std::size_t n_rows, std::size_t n_outputs, const In1<T>& y, const MaybeIn1<std::int32_t>& positives,
                               const MaybeIn1<T>& weights, const Rows2<double>& class_weights) {
    const stochastic::Targets<T> t{vector<T>(y), vector<std::int32_t>(positives), per_row<T>(weights, n_rows),
                                   rows<double>(class_weights)};
    require(t.y.size() == n_rows, "there must be one target per row of X");
    require(!positives || t.positives.size() == n_outputs, "there must be one positive class per output");
    require(t.class_weights.rows == n_outputs && t.class_weights.cols == 2, "there must be two class weights per output");
    return t;
}

template <Real T>
RowMajor<T> maybe_rows(const MaybeOut2<T>& a, std::size_t n_outputs, std::size_t n_features) {
    if (!a) return {};
    const auto r = rows<T>(*a);
    require(r.rows == n_outputs && r.cols == n_features, "there must be one line per output and one column per feature");
    return r;
}

template <Real T>
stochastic::Outputs<T> outputs(std::size_t n_rows, std::size_t n_features, const Rule& rule, const Out2<std::int32_t>& order,
                               const In1<std::int64_t>& seeds, const Out2<T>& coef, const MaybeOut2<T>& averages,
                               const MaybeOut2<T>& taxes, const Out2<double>& state) {
    const std::size_t k = coef.shape(0);
    const stochastic::Outputs<T> o{
        rows<std::int32_t>(order),           vector<std::int64_t>(seeds), rows<T>(coef), maybe_rows<T>(averages, k, n_features),
        maybe_rows<T>(taxes, k, n_features), rows<double>(state)};
    require(o.coef.cols == n_features, "the coefficients must have one column per feature");
    require(n_rows < 2147483648u && o.order.rows == k && o.order.cols == n_rows, "the order must have one line per output");
    const auto in_range = [&](std::int32_t row) { return row >= 0 && static_cast<std::size_t>(row) < n_rows; };
    require(std::all_of(o.order.data, o.order.data + o.order.size(), in_range), "the order names a row that is not there");
    require(o.seeds.size() == k, "there must be one seed per output");
    require(o.state.rows == k && o.state.cols == stochastic::kStateColumns, "the state must have one line per output");
    require(rule.average_from == 0 || averages, "averaging needs averages");
    require((rule.l1 <= 0 && rule.lp <= 0) || taxes, "an l1 or lp penalty needs taxes");
    return o;
}

template <Real T, class Rows>
void descend(const Rows& x, const In1<T>& y, const MaybeIn1<std::int32_t>& positives, const MaybeIn1<T>& weights,
             const Rows2<double>& class_weights, const Rule& rule, const In1<std::int64_t>& seeds, const Out2<std::int32_t>& order,
             const Out2<T>& coef, const MaybeOut2<T>& averages, const MaybeOut2<T>& taxes, const Out2<double>& state,
             const In1<std::int32_t>& is_done, int n_threads) {
    const std::size_t n = x.rows(), k = coef.shape(0);
    require(is_done.shape(0) == k, "there must be one flag per output");
    stochastic::descend<Rows, T>(x, targets<T>(n, k, y, positives, weights, class_weights), rule,
                                 outputs<T>(n, x.cols(), rule, order, seeds, coef, averages, taxes, state),
                                 vector<std::int32_t>(is_done), threads(n_threads));
}

template <Real T, class Rows>
void bound(const Rows& x, const In1<T>& y, const MaybeIn1<std::int32_t>& positives, const MaybeIn1<T>& weights,
           const Rows2<double>& class_weights, const Rule& rule, const Rows2<T>& coef, const In1<double>& intercepts,
           const Out2<double>& sums, const Out2<double>& sides, int n_threads) {
    const auto c = rows<T>(coef);
    const auto s = rows<double>(sums);
    const auto v = rows<double>(sides);
    require(c.cols == x.cols() && intercepts.shape(0) == c.rows, "the coefficients must fit X and the intercepts");
    require(s.rows == c.rows && s.cols == stochastic::kSumColumns, "the sums must have one line per output");
    require((v.rows == 2 * c.rows || v.rows == 0) && v.cols == c.cols, "the sides must have two lines per output, or none");
    stochastic::bound<Rows, T>(x, targets<T>(x.rows(), c.rows, y, positives, weights, class_weights), rule, c,
                               vector<double>(intercepts), s, v, threads(n_threads));
}

template <Real T, class Source, class Rows>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();

    m.def(
        "stochastic_descent",
        [](const Source& x, In1<T> y, MaybeIn1<std::int32_t> positives, MaybeIn1<T> weights, Rows2<double> class_weights,
           const Rule& rule, In1<std::int64_t> seeds, Out2<std::int32_t> order, Out2<T> coef, MaybeOut2<T> averages,
           MaybeOut2<T> taxes, Out2<double> state, In1<std::int32_t> is_done, int n_threads) {
            descend<T, Rows>(descent_rows<Rows>(x), y, positives, weights, class_weights, rule, seeds, order, coef, averages, taxes,
                             state, is_done, n_threads);
        },
        nb::arg(), array, maybe, maybe, array, nb::arg(), array, array, array, maybe, maybe, array, array, nb::arg(), ReleaseGil());
    m.def(
        "stochastic_bound",
        [](const Source& x, In1<T> y, MaybeIn1<std::int32_t> positives, MaybeIn1<T> weights, Rows2<double> class_weights,
           const Rule& rule, Rows2<T> coef, In1<double> intercepts, Out2<double> sums, Out2<double> sides, int n_threads) {
            bound<T, Rows>(descent_rows<Rows>(x), y, positives, weights, class_weights, rule, coef, intercepts, sums, sides,
                           n_threads);
        },
        nb::arg(), array, maybe, maybe, array, nb::arg(), array, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_stochastic(nb::module_& m) {
    nb::class_<Rule>(m, "StochasticRule")
        .def("__init__", [](Rule* self, const std::string& loss, double parameter, int kind, double eta0, double power_t,
                            double optimal_start, double alpha, double l2, double l1, double lp, double power, double low,
                            double high, double intercept_share, double average_from) {
            new (self) Rule{stochastic::Loss::of(loss, parameter),
                            schedule(kind),
                            eta0,
                            power_t,
                            optimal_start,
                            alpha,
                            l2,
                            l1,
                            lp,
                            power,
                            low,
                            high,
                            intercept_share,
                            average_from};
        });
    bind_kernels<double, DenseRowSource<double>, stochastic::DenseRows<double>>(m);
    bind_kernels<double, CsrRowSource<double>, stochastic::CsrRows<double>>(m);
    bind_kernels<float, DenseRowSource<float>, stochastic::DenseRows<float>>(m);
    bind_kernels<float, CsrRowSource<float>, stochastic::CsrRows<float>>(m);
}

}  // namespace mercer::bindings
