#include "bindings/rows.hpp"
#include "svm/dual_descent.hpp"
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

}  // namespace

void bind_svm(nb::module_& m) {
    bind_epochs<DenseRowSource<double>, DenseRows<double>>(m);
    bind_epochs<CsrRowSource<double>, CsrRows<double>>(m);
}

}  // namespace mercer::bindings
