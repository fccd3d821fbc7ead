#include "bindings/arrays.hpp"
#include "bindings/theory.hpp"
#include "theory/random_signs.hpp"
#include "theory/replaced_rows.hpp"

namespace mercer::bindings {

namespace {

theory::Supremum supremum(int kind) {
    require(kind >= 0 && kind <= 3, "sign_suprema: there are four kinds of suprema");
    return static_cast<theory::Supremum>(kind);
}

// Indices that no other thread can write to once they are checked.
std::vector<std::int64_t> checked_rows(const In1<std::int64_t>& given, std::int64_t least, std::size_t n_rows) {
    const auto view = vector<std::int64_t>(given);
    std::vector<std::int64_t> rows(view.begin(), view.end());
    for (const std::int64_t row : rows)
        require(row >= least && row < static_cast<std::int64_t>(n_rows), "replace_rows: a row is out of range");
    return rows;
}

}  // namespace

void bind_theory(nb::module_& m) {
    const auto array = nb::arg().noconvert();

    m.def(
        "sign_suprema",
        [](Rows2<double> lines, int kind, std::uint64_t seed, bool is_exact, Out1<double> suprema, int n_threads) {
            const auto view = rows<double>(lines);
            const auto chosen = supremum(kind);
            require(view.rows > 0 && view.cols > 0, "sign_suprema: there must be a line and a column");
            require(chosen != theory::Supremum::kForm || view.rows == view.cols, "sign_suprema: a form has a square matrix");
            require(!is_exact || view.rows < 64, "sign_suprema: too many lines for all signs");
            theory::sign_suprema(view, chosen, seed, is_exact, vector<double>(suprema), threads(n_threads));
        },
        array, nb::arg(), nb::arg(), nb::arg(), array, nb::arg(), ReleaseGil());

    m.def(
        "replace_rows",
        [](Rows2<double> given, Rows2<double> columns, Rows2<double> leverages, In1<double> residuals, std::size_t n_coefficients,
           In1<std::int64_t> out, In1<std::int64_t> in, Out2<double> changes, int n_threads) {
            const auto z = rows<double>(given), transposed = rows<double>(columns), shares = rows<double>(leverages);
            require(z.rows > 0 && z.cols > 0 && shares.rows == z.rows && shares.cols == z.cols && residuals.shape(0) == z.rows &&
                        transposed.rows == z.cols && transposed.cols >= (z.rows + 31) / 32 * 32 && n_coefficients <= z.cols,
                    "replace_rows: the shapes do not fit");
            require(out.shape(0) == in.shape(0) && changes.shape(0) == 4 && changes.shape(1) == out.shape(0),
                    "replace_rows: there must be four results for each replacement");
            const auto gone = checked_rows(out, 0, z.rows), come = checked_rows(in, -1, z.rows);
            const auto results = rows<double>(changes);
            const auto line = [&](std::size_t k) { return std::span<double>{results.row(k), results.cols}; };
            theory::replace_rows({z, shares, vector<double>(residuals), n_coefficients}, transposed, gone, come,
                                 {line(0), line(1), line(2), line(3)}, threads(n_threads));
        },
        array, array, array, array, nb::arg(), array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace mercer::bindings
