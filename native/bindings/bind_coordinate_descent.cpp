#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings/arrays.hpp"
#include "linear_model/coordinate_descent.hpp"
#include "linear_model/coordinate_descent_design.hpp"
#include "linear_model/coordinate_descent_working_set.hpp"
#include "linear_model/dense_design.hpp"
#include "linear_model/sparse_design.hpp"
#include "losses/penalties.hpp"

namespace mercer::bindings {

namespace {

using linear_model::Csc;
using linear_model::DenseDesign;
using linear_model::Design;
using linear_model::Reached;
using linear_model::SparseDesign;
using linear_model::Tasks;
using linear_model::Tolerance;
using losses::ElasticNet;
using losses::GroupL2;
using losses::Lp;
using losses::Positive;

// primal, dual, gap, update, n_active, is_stalled
using Figures = std::tuple<double, double, double, double, std::size_t, bool>;

Figures figures(const Reached& r) { return {r.primal, r.dual, r.gap, r.update, r.n_active, r.is_stalled}; }

// Designs that keep the Python arrays behind them alive.
template <Real T>
struct DenseDesignSource : DenseDesign<T> {
    DenseDesignSource(In2<T> x, MaybeIn1<T> weights, bool is_centred, int n_threads)
        : DenseDesign<T>(matrix<T>(x), per_row<T>(weights, x.shape(0)), is_centred, threads(n_threads)), x_array(x) {}
    In2<T> x_array;
};

template <Real T>
Csc<T> csc(const In1<T>& values, const In1<std::int32_t>& rows_of, const In1<std::int32_t>& column_starts, std::size_t n_rows) {
    const auto checked = csr<T>(values, rows_of, column_starts, n_rows);  // the transpose, whose columns are these rows
    return {checked.values, checked.columns, checked.row_starts, n_rows, checked.rows};
}

template <Real T>
struct SparseDesignSource : SparseDesign<T> {
    SparseDesignSource(In1<T> values, In1<std::int32_t> rows_of, In1<std::int32_t> column_starts, std::size_t n_rows,
                       MaybeIn1<T> weights, bool is_centred)
        : SparseDesign<T>(csc<T>(values, rows_of, column_starts, n_rows), per_row<T>(weights, n_rows), is_centred),
          values_array(values),
          rows_array(rows_of),
          starts_array(column_starts) {}
    In1<T> values_array;
    In1<std::int32_t> rows_array;
    In1<std::int32_t> starts_array;
};

template <class Class>
void bind_design_methods(Class& bound) {
    using Source = typename Class::Type;
    bound.def("n_columns", [](const Source& design) { return design.cols(); });
    bound.def("weight", [](const Source& design) { return design.weight(); });
    bound.def(
        "correlate",
        [](const Source& design, Rows2<double> r, Out2<double> out, int n_threads) {
            require(r.shape(1) == design.rows() && out.shape(0) == design.cols() && out.shape(1) == r.shape(0),
                    "the correlations must have a line per column and a value per line of the vectors of rows");
            design.correlate({checked_data(r), r.size()}, r.shape(0), {checked_data(out), out.size()}, threads(n_threads));
        },
        nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(), ReleaseGil());
    bound.def(
        "measures",
        [](const Source& design, Out1<double> means, Out1<double> squares) {
            require(means.shape(0) == design.cols() && squares.shape(0) == design.cols(),
                    "the results must have one value per column");
            std::copy(design.means().begin(), design.means().end(), vector<double>(means).begin());
            std::copy(design.squares().begin(), design.squares().end(), vector<double>(squares).begin());
        },
        nb::arg().noconvert(), nb::arg().noconvert());
}

template <Real T>
void bind_designs(nb::module_& m, const char* dense, const char* sparse) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    auto of_dense = nb::class_<DenseDesignSource<T>>(m, dense).def(nb::init<In2<T>, MaybeIn1<T>, bool, int>(), array, maybe,
                                                                   nb::arg(), nb::arg(), ReleaseGil());
    bind_design_methods(of_dense);
    auto of_sparse = nb::class_<SparseDesignSource<T>>(m, sparse).def(
        nb::init<In1<T>, In1<std::int32_t>, In1<std::int32_t>, std::size_t, MaybeIn1<T>, bool>(), array, array, array, nb::arg(),
        maybe, nb::arg(), ReleaseGil());
    bind_design_methods(of_sparse);
}

// A working set with its random stream.
template <class P, std::size_t kTasks>
struct PenalisedDescent : linear_model::WorkingSet<P, kTasks> {
    PenalisedDescent(Design& design, const Rows2<double>& target, bool is_random, std::uint64_t seed, int n_threads)
        : linear_model::WorkingSet<P, kTasks>(design, flat(target, design), Tasks<kTasks>{target.shape(0)}, threads(n_threads)),
          n_values(design.cols() * target.shape(0)),
          random(seed, 0),
          stream(is_random ? &random : nullptr) {}

    static std::span<const double> flat(const Rows2<double>& target, const Design& design) {
        require(target.shape(0) >= 1 && (kTasks == 0 || target.shape(0) == kTasks) && target.shape(1) == design.rows(),
                "the target must have a line for each task and a value per row");
        return {checked_data(target), target.size()};
    }
    std::size_t n_values;
    Philox random;
    Philox* stream;
};

template <class Source, class D>
void bind_constructor(nb::class_<D>& bound) {
    bound.def(
        "__init__",
        [](D* self, Source& design, Rows2<double> target, bool is_random, std::uint64_t seed, int n_threads) {
            new (self) D(design, target, is_random, seed, n_threads);
        },
        nb::keep_alive<1, 2>(), nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg());
}

template <class P, std::size_t kTasks>
void bind_working_set(nb::module_& m, const char* name) {
    using D = PenalisedDescent<P, kTasks>;
    const auto array = nb::arg().noconvert();
    auto bound = nb::class_<D>(m, name);
    bind_constructor<DenseDesignSource<double>>(bound);
    bind_constructor<DenseDesignSource<float>>(bound);
    bind_constructor<SparseDesignSource<double>>(bound);
    bind_constructor<SparseDesignSource<float>>(bound);
    bound.def("set_penalty", [](D& self, double first, double second) {
        P penalty{};
        if constexpr (std::is_same_v<P, Lp>) {
            require(second > 0 && second < 1, "p must lie between 0 and 1");
            penalty.scale = first;
            penalty.p = second;
        } else {
            penalty.l1 = first;
            penalty.l2 = second;
        }
        require(first >= 0 && second >= 0, "a penalty must not be negative");
        self.set_penalty(penalty);
    });
    bound.def(
        "set_coef",
        [](D& self, Rows2<double> coef, int n_threads) {
            require(coef.size() == self.n_values, "the coefficients must have a line per column and a value per task");
            self.set_coef({checked_data(coef), coef.size()}, threads(n_threads));
        },
        array, nb::arg(), ReleaseGil());
    bound.def(
        "coef",
        [](const D& self, Out2<double> coef) {
            require(coef.size() == self.n_values, "the coefficients must have a line per column and a value per task");
            self.write_coef({checked_data(coef), coef.size()});
        },
        array);
    bound.def(
        "moments",
        [](const D& self, Out2<double> moments) {
            require(moments.size() == self.n_values, "the moments must have a line per column and a value per task");
            std::copy(self.moments().begin(), self.moments().end(), checked_data(moments));
            return self.total();
        },
        array);
    bound.def("n_members", &D::n_members);
    bound.def("assess", [](D& self, int n_threads) { return figures(self.assess(threads(n_threads))); }, nb::arg(), ReleaseGil());
    bound.def(
        "step",
        [](D& self, double gap, double update, int n_threads) {
            return figures(self.step({gap, update}, self.stream, threads(n_threads)));
        },
        nb::arg(), nb::arg(), nb::arg(), ReleaseGil());
}

template <class P, std::size_t kTasks>
std::tuple<Figures, std::size_t> descend(const Rows2<double>& gram, const Rows2<double>& moments, double total,
                                         const Out2<double>& coef, const Out2<double>& gradient, P penalty, Tolerance tolerance,
                                         std::int64_t max_rounds, Philox* random) {
    const auto g = rows<double>(gram);
    linear_model::GramQuadratic<kTasks> quadratic(g.data, g.cols, g.rows, {checked_data(moments), moments.size()}, total,
                                                  {checked_data(gradient), gradient.size()}, Tasks<kTasks>{moments.shape(1)});
    linear_model::SupportNewton<P> newton;
    const auto n = static_cast<std::size_t>(std::max<std::int64_t>(max_rounds, 1));
    const auto [reached, n_rounds] =
        linear_model::descend(quadratic, penalty, {checked_data(coef), coef.size()}, newton, tolerance, n, random);
    return {figures(reached), n_rounds};
}

void check_gram(const Rows2<double>& gram, const Rows2<double>& moments, const Out2<double>& coef, const Out2<double>& gradient) {
    require(gram.shape(0) == gram.shape(1) && moments.shape(0) == gram.shape(0) && moments.shape(1) >= 1,
            "the moments must have a line per column of the Gram matrix, which is square");
    require(coef.shape(0) == moments.shape(0) && coef.shape(1) == moments.shape(1) && gradient.shape(0) == moments.shape(0) &&
                gradient.shape(1) == moments.shape(1),
            "the coefficients and the gradient must have the shape of the moments");
}

void bind_gram_descent(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "gram_descent",
        [](Rows2<double> gram, Rows2<double> moments, double total, Out2<double> coef, Out2<double> gradient, double l1, double l2,
           bool is_positive, double gap, double update, std::int64_t max_rounds, bool is_random, std::uint64_t seed,
           std::uint64_t stream) {
            check_gram(gram, moments, coef, gradient);
            Philox random(seed, stream);
            Philox* draws = is_random ? &random : nullptr;
            const Tolerance tolerance{gap, update};
            const bool is_single = moments.shape(1) == 1;
            require(is_single || !is_positive, "several tasks cannot be restricted to positive coefficients");
            if (is_positive)
                return descend<Positive<ElasticNet>, 1>(gram, moments, total, coef, gradient, {{l1, l2}}, tolerance, max_rounds,
                                                        draws);
            if (is_single)
                return descend<ElasticNet, 1>(gram, moments, total, coef, gradient, {l1, l2}, tolerance, max_rounds, draws);
            return descend<GroupL2, 0>(gram, moments, total, coef, gradient, {{l1, l2}}, tolerance, max_rounds, draws);
        },
        array, array, nb::arg(), array, array, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), ReleaseGil());
    m.def(
        "gram_descent_lp",
        [](Rows2<double> gram, Rows2<double> moments, double total, Out2<double> coef, Out2<double> gradient, double scale,
           double p, double gap, double update, std::int64_t max_rounds, bool is_random, std::uint64_t seed, std::uint64_t stream) {
            check_gram(gram, moments, coef, gradient);
            require(moments.shape(1) == 1, "the lp penalty is for one task");
            Philox random(seed, stream);
            return descend<Lp, 1>(gram, moments, total, coef, gradient, {scale, p}, {gap, update}, max_rounds,
                                  is_random ? &random : nullptr);
        },
        array, array, nb::arg(), array, array, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), ReleaseGil());
}

// For tests: value(x), prox(x, z) and distance(x, z) of one penalty, element by element.
template <losses::Penalty P>
void bind_penalty_test(nb::module_& m, const char* name, P (*make)(double, double)) {
    const auto array = nb::arg().noconvert();
    m.def(
        name,
        [make](double first, double second, In1<double> at, In1<double> other, Out1<double> value, Out1<double> prox,
               Out1<double> distance) {
            require(other.shape(0) == at.shape(0) && value.shape(0) == at.shape(0) && prox.shape(0) == at.shape(0) &&
                        distance.shape(0) == at.shape(0),
                    "all arrays must have the same length");
            const P penalty = make(first, second);
            const auto x = vector<double>(at), z = vector<double>(other);
            const auto values = vector<double>(value), proxes = vector<double>(prox), distances = vector<double>(distance);
            for (std::size_t i = 0; i < x.size(); ++i) {
                values[i] = penalty.value(x[i]);
                proxes[i] = penalty.prox(x[i], z[i]);
                distances[i] = penalty.distance(x[i], z[i]);
            }
        },
        nb::arg(), nb::arg(), array, array, array, array, array);
}

}  // namespace

void bind_coordinate_descent(nb::module_& m) {
    bind_designs<double>(m, "DenseDesign64", "SparseDesign64");
    bind_designs<float>(m, "DenseDesign32", "SparseDesign32");
    bind_working_set<ElasticNet, 1>(m, "ElasticNetDescent");
    bind_working_set<Positive<ElasticNet>, 1>(m, "PositiveDescent");
    bind_working_set<GroupL2, 0>(m, "GroupDescent");
    bind_working_set<Lp, 1>(m, "LpDescent");
    bind_gram_descent(m);
    auto tests = nb::cast<nb::module_>(m.attr("testing"));
    bind_penalty_test<losses::L1>(tests, "penalty_l1", [](double a, double) { return losses::L1{a}; });
    bind_penalty_test<ElasticNet>(tests, "penalty_elastic_net", [](double a, double b) { return ElasticNet{a, b}; });
    bind_penalty_test<Positive<ElasticNet>>(tests, "penalty_positive",
                                            [](double a, double b) { return Positive<ElasticNet>{{a, b}}; });
    bind_penalty_test<losses::Box>(tests, "penalty_box", [](double a, double b) { return losses::Box{-a, b}; });
    bind_penalty_test<Lp>(tests, "penalty_lp", [](double a, double b) { return Lp{a, b}; });
}

}  // namespace mercer::bindings
