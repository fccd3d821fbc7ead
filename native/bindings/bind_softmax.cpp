#include "bindings/arrays.hpp"
#include "linear_model/hessian_descent.hpp"
#include "linear_model/proximal_descent.hpp"
#include "linear_model/softmax.hpp"

namespace mercer::bindings {

namespace {

using linear_model::DenseColumns;
using linear_model::SparseColumns;

linear_model::LabelledRows labelled(const In1<std::int32_t>& codes, const MaybeIn1<double>& weights, bool has_reference,
                                    std::size_t n_rows, std::size_t n_outputs) {
    require(codes.shape(0) == n_rows, "there must be one class per row");
    require(n_outputs >= 1, "there must be an output");
    const std::size_t n_classes = n_outputs + (has_reference ? 1 : 0);
    const auto all = vector<std::int32_t>(codes);
    const auto in_range = [&](std::int32_t c) { return c >= 0 && static_cast<std::size_t>(c) < n_classes; };
    require(std::all_of(all.begin(), all.end(), in_range), "a class is out of range");
    return {all, per_row<double>(weights, n_rows), has_reference};
}

void require_square(const RowMajor<double>& curvature, std::size_t n_outputs) {
    require(curvature.rows == n_outputs && curvature.cols == n_outputs, "the curvature must be square, a line an output");
}

void require_indices(std::span<const std::int32_t> indices, std::size_t count) {
    const auto in_range = [&](std::int32_t j) { return j >= 0 && static_cast<std::size_t>(j) < count; };
    require(std::all_of(indices.begin(), indices.end(), in_range), "a column or output is out of range");
}

template <Real T>
void bind_dense(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "softmax_loss",
        [](In2<T> x, In1<double> shift, In1<std::int32_t> codes, MaybeIn1<double> weights, bool has_reference, Rows2<double> coef,
           Out2<double> gradient, Out2<double> curvature, int n_threads) {
            const auto rows_of_x = matrix<T>(x);
            const auto w = rows<double>(coef);
            const auto g = rows<double>(gradient);
            const auto c = rows<double>(curvature);
            require(shift.shape(0) == rows_of_x.cols, "the shift must have one value per column of X");
            require(w.cols == rows_of_x.cols + 1, "the coefficients must have one value per column of X, and the intercept");
            require(g.rows == w.rows && g.cols == w.cols, "the gradient must have the shape of the coefficients");
            require_square(c, w.rows);
            const auto labels = labelled(codes, weights, has_reference, rows_of_x.rows, w.rows);
            return linear_model::softmax_loss<T>(rows_of_x, vector<double>(shift), labels, w, g, c, threads(n_threads));
        },
        array, array, array, nb::arg().noconvert().none(), nb::arg(), array, array, array, nb::arg(), ReleaseGil());
}

// Columns that keep the Python arrays behind them alive.
struct DenseSource : DenseColumns {
    explicit DenseSource(In2<double> x) : DenseColumns{matrix<double>(x)}, array(x) {}
    In2<double> array;
};

struct SparseSource : SparseColumns {
    SparseSource(In1<double> values, In1<std::int32_t> rows_of_entries, In1<std::int32_t> column_starts, std::size_t n_rows)
        : SparseColumns{csr<double>(values, rows_of_entries, column_starts, n_rows)},
          values_array(values),
          rows_array(rows_of_entries),
          starts_array(column_starts) {}
    In1<double> values_array;
    In1<std::int32_t> rows_array;
    In1<std::int32_t> starts_array;
};

template <class Source>
void bind_columns(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "column_products",
        [](const Source& columns, Rows2<double> values, Out2<double> out, int n_threads) {
            const auto v = rows<double>(values);
            const auto o = rows<double>(out);
            require(v.rows == columns.rows(), "there must be one line of values per row of X");
            require(o.rows == columns.cols() && o.cols == v.cols, "the products must have one line per column of X");
            linear_model::column_products(columns, v, o, threads(n_threads));
        },
        nb::arg(), array, array, nb::arg(), ReleaseGil());

    m.def(
        "descend_on_columns",
        [](const Source& x, In1<double> row_weights, Rows2<double> probabilities, Rows2<double> weighted, Out2<double> change,
           In1<std::int32_t> columns, In1<std::int32_t> outputs, In1<double> gradient, Out1<double> coef,
           MaybeIn1<double> intercept_gradient, Out1<double> intercept_moves, double l1, double l2, double damping, double tol,
           int most_sweeps) {
            const linear_model::RowModel model{vector<double>(row_weights), rows<double>(probabilities), rows<double>(weighted),
                                               rows<double>(change)};
            const std::size_t n_outputs = model.outputs();
            require(row_weights.shape(0) == x.rows(), "there must be one weight per row of X");
            const auto fits = [&](const auto& m) { return m.rows == n_outputs && m.cols == x.rows(); };
            require(n_outputs >= 1 && fits(model.probabilities) && fits(model.weighted) && fits(model.change),
                    "the model must have one line per output and one value per row of X");
            const linear_model::Coordinates at{vector<std::int32_t>(columns), vector<std::int32_t>(outputs),
                                               vector<double>(gradient), vector<double>(coef)};
            require(at.outputs.size() == at.size() && at.gradient.size() == at.size() && at.coef.size() == at.size(),
                    "there must be one output, slope and coefficient per column in use");
            require_indices(at.columns, x.cols());
            require_indices(at.outputs, n_outputs);
            linear_model::Intercepts intercepts;
            if (intercept_gradient) intercepts = {vector<double>(*intercept_gradient), vector<double>(intercept_moves)};
            require(!intercept_gradient || (intercepts.gradient.size() == n_outputs && intercepts.moves.size() == n_outputs),
                    "there must be one intercept per output");
            return linear_model::descend_on_columns(x, model, at, intercepts, {l1, l2, damping},
                                                    {tol, static_cast<std::size_t>(std::max(most_sweeps, 0))});
        },
        nb::arg(), array, array, array, array, array, array, array, array, nb::arg().noconvert().none(), array, nb::arg(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), ReleaseGil());
}

}  // namespace

void bind_softmax(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    bind_dense<double>(m);
    bind_dense<float>(m);
    m.def(
        "softmax_of_values",
        [](In1<std::int32_t> codes, MaybeIn1<double> weights, bool has_reference, Rows2<double> raw, Out2<double> slopes,
           Out2<double> curvature, int n_threads) {
            const auto values = rows<double>(raw);
            const auto s = rows<double>(slopes);
            const auto c = rows<double>(curvature);
            require(s.rows == values.rows && s.cols == values.cols, "the slopes must have the shape of the linear values");
            require_square(c, values.cols);
            const auto labels = labelled(codes, weights, has_reference, values.rows, values.cols);
            return linear_model::softmax_of_values(labels, values, s, c, threads(n_threads));
        },
        array, nb::arg().noconvert().none(), nb::arg(), array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "descend_on_hessian",
        [](Rows2<double> hessian, In1<double> gradient, In1<double> l1, Out1<double> coef, double tol, int most_sweeps) {
            const auto h = rows<double>(hessian);
            require(h.rows == h.cols && gradient.shape(0) == h.rows && l1.shape(0) == h.rows && coef.shape(0) == h.rows,
                    "the Hessian must be square, with one slope, strength and coefficient a line");
            return linear_model::descend_on_hessian(h, vector<double>(gradient), vector<double>(l1), vector<double>(coef),
                                                    {tol, static_cast<std::size_t>(std::max(most_sweeps, 0))});
        },
        array, array, array, array, nb::arg(), nb::arg(), ReleaseGil());

    nb::class_<DenseSource>(m, "DenseColumns").def(nb::init<In2<double>>(), array);
    nb::class_<SparseSource>(m, "SparseColumns")
        .def(nb::init<In1<double>, In1<std::int32_t>, In1<std::int32_t>, std::size_t>(), array, array, array, nb::arg());
    bind_columns<DenseSource>(m);
    bind_columns<SparseSource>(m);
}

}  // namespace mercer::bindings
