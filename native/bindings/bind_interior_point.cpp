#include "bindings/arrays.hpp"
#include "linear_model/interior_point.hpp"

namespace mercer::bindings {

namespace {

// The pieces of a loss, a whole number of them to each of n rows.
linear_model::Pieces pieces_of(const Rows2<double>& fields, std::size_t n_rows) {
    const auto view = rows<double>(fields);
    require(view.rows == 3, "the pieces must have three rows: target, low, up");
    require(n_rows == 0 ? view.cols == 0 : view.cols % n_rows == 0, "there must be a whole number of pieces per row of X");
    return {view};
}

template <class Array>
auto state_of(const Array& state, std::size_t n_pieces) {
    const auto view = rows<double>(state);
    require(view.rows == 3 && view.cols == n_pieces, "a state or a step must have three rows, with one value per piece");
    return view;
}

void require_rows(bool condition) { require(condition, "an array with one value per row has the wrong length"); }

template <Real T>
void bind_slope_sums(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "slope_sums",
        [](In2<T> x, In1<double> shift, In1<double> slopes, Out1<double> sums, int n_threads) {
            const auto rows_of_x = matrix<T>(x);
            require(shift.shape(0) == rows_of_x.cols, "the shift must have one value per column of X");
            require_rows(slopes.shape(0) == rows_of_x.rows);
            require(sums.shape(0) == rows_of_x.cols + 1, "there must be one sum per column of X, and that of the slopes");
            linear_model::slope_sums<T>(rows_of_x, vector<double>(shift), vector<double>(slopes), vector<double>(sums),
                                        threads(n_threads));
        },
        array, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_interior_point(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    bind_slope_sums<double>(m);
    bind_slope_sums<float>(m);

    m.def(
        "interior_system",
        [](Rows2<double> pieces, Rows2<double> state, In1<double> values, Out1<double> slopes, Out1<double> curvatures,
           int n_threads) {
            const auto loss = pieces_of(pieces, values.shape(0));
            require_rows(slopes.shape(0) == values.shape(0) && curvatures.shape(0) == values.shape(0));
            linear_model::interior_system(loss, state_of(state, loss.count()), vector<double>(values), vector<double>(slopes),
                                          vector<double>(curvatures), threads(n_threads));
        },
        array, array, array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "interior_predict",
        [](Rows2<double> pieces, Rows2<double> state, In1<double> values, In1<double> changes, Out1<double> summary,
           int n_threads) {
            const auto loss = pieces_of(pieces, values.shape(0));
            require_rows(changes.shape(0) == values.shape(0));
            require(summary.shape(0) == 6, "the summary has six values");
            linear_model::interior_predict(loss, state_of(state, loss.count()), vector<double>(values), vector<double>(changes),
                                           vector<double>(summary), threads(n_threads));
        },
        array, array, array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "interior_correct",
        [](Rows2<double> pieces, Rows2<double> state, In1<double> values, In1<double> affine, double centre, Out1<double> slopes,
           int n_threads) {
            const auto loss = pieces_of(pieces, values.shape(0));
            require_rows(affine.shape(0) == values.shape(0) && slopes.shape(0) == values.shape(0));
            linear_model::interior_correct(loss, state_of(state, loss.count()), vector<double>(values), vector<double>(affine),
                                           centre, vector<double>(slopes), threads(n_threads));
        },
        array, array, array, array, nb::arg(), array, nb::arg(), ReleaseGil());

    m.def(
        "interior_step",
        [](Rows2<double> pieces, Rows2<double> state, In1<double> values, In1<double> affine, In1<double> changes, double centre,
           Out2<double> step, Out1<double> limits, int n_threads) {
            const auto loss = pieces_of(pieces, values.shape(0));
            require_rows(affine.shape(0) == values.shape(0) && changes.shape(0) == values.shape(0));
            require(limits.shape(0) == 2, "there are two limits: of the primal and of the dual step");
            linear_model::interior_step(loss, state_of(state, loss.count()), vector<double>(values), vector<double>(affine),
                                        vector<double>(changes), centre, state_of(step, loss.count()), vector<double>(limits),
                                        threads(n_threads));
        },
        array, array, array, array, array, nb::arg(), array, array, nb::arg(), ReleaseGil());

    m.def(
        "interior_move",
        [](Rows2<double> step, double primal, double dual, Out2<double> state, int n_threads) {
            const auto by = rows<double>(step);
            linear_model::interior_move(state_of(step, by.cols), primal, dual, state_of(state, by.cols), threads(n_threads));
        },
        array, nb::arg(), nb::arg(), array, nb::arg(), ReleaseGil());

    m.def(
        "interior_totals",
        [](Rows2<double> pieces, In1<double> duals, In1<double> values, Out1<double> totals, int n_threads) {
            const auto loss = pieces_of(pieces, values.shape(0));
            require(duals.shape(0) == loss.count(), "there must be one dual variable per piece");
            require(totals.shape(0) == 5, "there are five totals");
            linear_model::interior_totals(loss, vector<double>(duals), vector<double>(values), vector<double>(totals),
                                          threads(n_threads));
        },
        array, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings
