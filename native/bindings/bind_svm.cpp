#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings/rows.hpp"
#include "svm/block_choice.hpp"
#include "svm/block_solver.hpp"
#include "svm/dual_descent.hpp"
#include "svm/kernel_lines.hpp"
#include "svm/multiclass_descent.hpp"

namespace mercer::bindings {

namespace {

void require_below(std::span<const std::int32_t> numbers, std::size_t count, const char* message) {
    const auto in_range = [&](std::int32_t i) { return i >= 0 && static_cast<std::size_t>(i) < count; };
    require(std::all_of(numbers.begin(), numbers.end(), in_range), message);
}

template <class Rows>
void checked_epoch(const Rows& x, const Rows2<double>& fields, double epsilon, double prior, double patience, std::uint64_t seed,
                   std::uint64_t epoch, std::int64_t n_active, const Out1<std::int32_t>& active, const Out1<double>& duals,
                   const Out1<double>& coef, const Out1<double>& summary) {
    const std::size_t n = x.rows();
    const auto terms = rows<double>(fields);
    require(terms.rows == n && terms.cols == 5, "the terms must have a line of five values per row of X");
    require(active.shape(0) == n && duals.shape(0) == n, "there must be one number and one dual variable per row of X");
    require(coef.shape(0) == x.cols() + 1, "the coefficients must have one value per column of X, and the intercept");
    require(n_active >= 0 && static_cast<std::size_t>(n_active) <= n, "there are not so many rows to be active");
    require(summary.shape(0) == 2, "the summary has two values");
    const auto numbers = vector<std::int32_t>(active);
    require_below(numbers, n, "the number of a row is out of range");
    svm::dual_epoch(x, {terms, epsilon, prior}, patience, seed, epoch, static_cast<std::size_t>(n_active), numbers,
                    vector<double>(duals), vector<double>(coef), vector<double>(summary));
}

template <class Rows>
void checked_multiclass_epoch(const Rows& x, const In1<std::int32_t>& labels, const In1<double>& costs,
                              const In1<double>& squared_norms, double prior, double patience, std::uint64_t seed,
                              std::uint64_t epoch, std::int64_t n_active, const Out1<std::int32_t>& active,
                              const Out2<double>& duals, const Out2<double>& coef, const Out1<double>& summary) {
    const std::size_t n = x.rows();
    const auto a = rows<double>(duals);
    const auto w = rows<double>(coef);
    require(labels.shape(0) == n && costs.shape(0) == n && squared_norms.shape(0) == n,
            "there must be one class, one cost and one squared norm per row of X");
    require(active.shape(0) == n && a.rows == n, "there must be one number and one line of dual variables per row of X");
    constexpr std::size_t kPad = svm::kClassesTogether;
    require(w.rows == x.cols() + 1 && a.cols > 0 && w.cols == (a.cols + kPad - 1) / kPad * kPad,
            "the coefficients must have one line per column of X, and the intercepts, with a value per class, padded to eights");
    require(n_active >= 0 && static_cast<std::size_t>(n_active) <= n, "there are not so many rows to be active");
    require(summary.shape(0) == 2, "the summary has two values");
    const auto numbers = vector<std::int32_t>(active);
    require_below(numbers, n, "the number of a row is out of range");
    require_below(vector<std::int32_t>(labels), a.cols, "a class is out of range");
    svm::multiclass_epoch(x, {vector<std::int32_t>(labels), vector<double>(costs), vector<double>(squared_norms), prior}, patience,
                          seed, epoch, static_cast<std::size_t>(n_active), numbers, a, w, vector<double>(summary));
}

template <class Source, class Rows>
void bind_epochs(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto number = nb::arg();
    m.def(
        "dual_epoch",
        [](const Source& x, Rows2<double> terms, double epsilon, double prior, double patience, std::uint64_t seed,
           std::uint64_t epoch, std::int64_t n_active, Out1<std::int32_t> active, Out1<double> duals, Out1<double> coef,
           Out1<double> summary) {
            checked_epoch<Rows>(x, terms, epsilon, prior, patience, seed, epoch, n_active, active, duals, coef, summary);
        },
        number, array, number, number, number, number, number, number, array, array, array, array, ReleaseGil());
    m.def(
        "multiclass_epoch",
        [](const Source& x, In1<std::int32_t> labels, In1<double> costs, In1<double> squared_norms, double prior, double patience,
           std::uint64_t seed, std::uint64_t epoch, std::int64_t n_active, Out1<std::int32_t> active, Out2<double> duals,
           Out2<double> coef, Out1<double> summary) {
            checked_multiclass_epoch<Rows>(x, labels, costs, squared_norms, prior, patience, seed, epoch, n_active, active, duals,
                                           coef, summary);
        },
        number, array, array, array, number, number, number, number, number, array, array, array, array, ReleaseGil());
}

// The variables of a dual problem over a kernel of `n_values` rows.
svm::DualVariables dual_variables(const In1<std::int32_t>& rows, const In1<double>& linear, const In1<double>& low,
                                  const In1<double>& up, std::size_t group_end, std::size_t n_values) {
    const svm::DualVariables of{vector<std::int32_t>(rows), vector<double>(linear), vector<double>(low), vector<double>(up),
                                group_end};
    require(of.linear.size() == of.size() && of.low.size() == of.size() && of.up.size() == of.size(),
            "there must be one linear term and two bounds per variable");
    require(group_end <= of.size(), "the first group is longer than all variables");
    require_below(of.rows, n_values, "the row of a variable is out of range");
    return of;
}

void bind_block_choice(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "choose_block",
        [](In1<std::int32_t> rows, In1<double> linear, In1<double> low, In1<double> up, std::size_t group_end, In1<double> values,
           In1<double> duals, In1<std::int32_t> kept, Out1<std::int32_t> block) {
            const auto of = dual_variables(rows, linear, low, up, group_end, values.shape(0));
            require(duals.shape(0) == of.size(), "there must be one dual per variable");
            // What is chosen by is read once: another thread may write to it.
            const auto given = vector<std::int32_t>(kept);
            const std::vector<std::int32_t> numbers(given.begin(), given.end());
            require_below(numbers, of.size(), "the number of a variable is out of range");
            require(numbers.size() <= block.shape(0), "the block is smaller than what is kept of the last");
            const svm::BlockChoice choice(of, vector<double>(duals), vector<double>(values), numbers, vector<std::int32_t>(block));
            return std::tuple(choice.size, choice.group_end, choice.violation);
        },
        array, array, array, array, nb::arg(), array, array, array, array, ReleaseGil(),
        "Writes the variables of the next block; returns how many, how many of the first group, and the largest violation of all.");
    m.def(
        "keep_part",
        [](In1<std::int32_t> rows, In1<double> linear, In1<double> low, In1<double> up, In1<double> duals, In1<std::int32_t> block,
           In1<std::int32_t> kept_before, Out1<std::int32_t> kept) {
            const auto of = dual_variables(rows, linear, low, up, rows.shape(0), std::numeric_limits<std::int32_t>::max());
            require(duals.shape(0) == of.size(), "there must be one dual per variable");
            const auto given = vector<std::int32_t>(block);
            const std::vector<std::int32_t> numbers(given.begin(), given.end());
            require_below(numbers, of.size(), "the number of a variable is out of range");
            return svm::keep_part(of, vector<double>(duals), numbers, vector<std::int32_t>(kept_before),
                                  vector<std::int32_t>(kept));
        },
        array, array, array, array, array, array, array, array, ReleaseGil(),
        "Writes the part of a block that stays in the next one; returns how many variables it has.");
}

template <Real T>
void bind_blocks(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "solve_block",
        [](In1<std::int32_t> rows_of, In1<double> linear, In1<double> low, In1<double> up, Rows2<T> store, In1<std::int32_t> slots,
           In1<std::int32_t> block, std::size_t group_end, In1<double> values, double tol, std::size_t max_steps,
           Out1<double> duals, int n_threads) {
            const auto kernel = rows<T>(store);
            const auto of = dual_variables(rows_of, linear, low, up, rows_of.shape(0), values.shape(0));
            require(kernel.cols == values.shape(0), "a line of the store must have one number per value");
            require(duals.shape(0) == of.size(), "there must be one dual per variable");
            require(slots.shape(0) == block.shape(0) && group_end <= block.shape(0),
                    "there must be one line per variable of the block");
            // Indices are read once: another thread may write to them.
            const auto in_block = vector<std::int32_t>(block), in_store = vector<std::int32_t>(slots);
            const std::vector<std::int32_t> numbers(in_block.begin(), in_block.end()), lines(in_store.begin(), in_store.end());
            require_below(numbers, of.size(), "the number of a variable is out of range");
            require_below(lines, kernel.rows, "the number of a line is out of range");
            const svm::BlockEnd end = svm::solve_block<T>(of, kernel, lines, numbers, group_end, vector<double>(values), tol,
                                                          max_steps, vector<double>(duals), threads(n_threads));
            return std::tuple(end.n_steps, end.least_curvature, end.gain);
        },
        array, array, array, array, array, array, array, nb::arg(), array, nb::arg(), nb::arg(), array, nb::arg(), ReleaseGil(),
        "Moves the duals of a block; returns the steps taken, the least curvature met and by how much the objective has fallen.");
    m.def(
        "add_lines",
        [](Rows2<T> store, In1<std::int32_t> slots, In1<double> changes, Out1<double> values, int n_threads) {
            const auto lines = rows<T>(store);
            require(values.shape(0) == lines.cols, "a line must have one number per value");
            require(slots.shape(0) == changes.shape(0), "there must be one change per line");
            const auto given = vector<std::int32_t>(slots);
            const std::vector<std::int32_t> numbers(given.begin(), given.end());
            require_below(numbers, lines.rows, "the number of a line is out of range");
            svm::add_lines<T>(lines, numbers, vector<double>(changes), vector<double>(values), threads(n_threads));
        },
        array, array, array, array, nb::arg(), ReleaseGil(), "Adds lines of the store times their changes to the values.");
    m.def(
        "compact_lines",
        [](Out2<T> store, In1<std::int32_t> slots, In1<std::int32_t> columns) {
            const auto lines = rows<T>(store);
            const auto rising = [](const In1<std::int32_t>& given, std::size_t count) {
                const auto numbers = vector<std::int32_t>(given);
                std::vector<std::int32_t> copy(numbers.begin(), numbers.end());
                require_below(copy, count, "the number of a line or column is out of range");
                require(copy.size() <= count && std::is_sorted(copy.begin(), copy.end()),
                        "lines and columns must be in rising order, each once");
                return copy;
            };
            svm::compact_lines<T>(lines, rising(slots, lines.rows), rising(columns, lines.cols));
        },
        array, array, array, ReleaseGil(), "Leaves some lines of the store, and some columns of them, at its beginning.");
}

}  // namespace

void bind_svm(nb::module_& m) {
    bind_block_choice(m);
    bind_blocks<double>(m);
    bind_blocks<float>(m);
    bind_epochs<DenseRowSource<double>, DenseRows<double>>(m);
    bind_epochs<CsrRowSource<double>, CsrRows<double>>(m);
}

}  // namespace mercer::bindings
