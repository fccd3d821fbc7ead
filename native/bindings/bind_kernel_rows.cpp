// Lines of kernel matrices, of dense and of sparse rows that stay, and of sequences.
#include <nanobind/stl/string.h>

#include <cmath>
#include <string>

#include "bindings/neighbor_models.hpp"
#include "bindings/rows.hpp"
#include "pairwise/fourier.hpp"
#include "pairwise/kernel_rows.hpp"
#include "pairwise/sequences.hpp"
#include "pairwise/sparse_kernel_rows.hpp"

namespace mercer::bindings {

namespace {

using pairwise::KernelForm;
using pairwise::KernelKind;

KernelForm kernel_form(const std::string& kind, double gamma, double constant, double degree) {
    require(std::isfinite(gamma) && gamma >= 0 && std::isfinite(constant) && std::isfinite(degree),
            "the parameters of a kernel must be finite, and gamma not negative");
    const auto of = [&](KernelKind which) { return KernelForm{which, gamma, constant, degree}; };
    if (kind == "linear") return of(KernelKind::kLinear);
    if (kind == "polynomial") return of(KernelKind::kPolynomial);
    if (kind == "sigmoid") return of(KernelKind::kSigmoid);
    if (kind == "rbf") return of(KernelKind::kExponential);
    if (kind == "laplacian") return of(KernelKind::kLaplacian);
    require(kind == "chi2", "there is no such kernel");
    return of(KernelKind::kChiSquared);
}

// Which rows are asked for: each is one of n. They are copied, since the caller's may change after they were checked.
std::vector<std::int64_t> row_numbers(const In1<std::int64_t>& given, std::size_t n) {
    const std::span<const std::int64_t> numbers = vector<std::int64_t>(given);
    std::vector<std::int64_t> index(numbers.begin(), numbers.end());
    for (const std::int64_t i : index) require(i >= 0 && static_cast<std::size_t>(i) < n, "a row number is out of range");
    return index;
}

void check_lines(std::size_t n_lines, std::size_t n_rows, std::size_t lines, std::size_t columns) {
    require(lines == n_lines && columns == n_rows,
            "the result must have one line per row asked for and one column per row that stays");
}

template <Real T>
struct DenseKernel : pairwise::KernelRows<T> {
    DenseKernel(const KernelForm& form, Rows2<T> x, Threads threads)
        : pairwise::KernelRows<T>(form, checked(x), threads), x_array(x) {}

    static RowMajor<const T> checked(const Rows2<T>& x) {
        require(x.shape(1) >= 1, "there must be a column");
        return bindings::rows<T>(x);
    }
    Rows2<T> x_array;
};

template <Real T>
void bind_dense(nb::module_& m, const char* name) {
    using Kernel = DenseKernel<T>;
    const auto array = nb::arg().noconvert();
    nb::class_<Kernel>(m, name)
        .def(
            "__init__",
            [](Kernel* self, const std::string& kind, double gamma, double constant, double degree, Rows2<T> x, int n_threads) {
                new (self) Kernel(kernel_form(kind, gamma, constant, degree), x, threads(n_threads));
            },
            nb::arg(), nb::arg(), nb::arg(), nb::arg(), array, nb::arg(), ReleaseGil())
        .def(
            "rows",
            [](const Kernel& self, In1<std::int64_t> index, Out2<T> out, int n_threads) {
                const std::vector<std::int64_t> numbers = row_numbers(index, self.n_rows());
                check_lines(numbers.size(), self.n_rows(), out.shape(0), out.shape(1));
                self.rows(numbers, rows<T>(out), threads(n_threads));
            },
            array, array, nb::arg(), ReleaseGil())
        .def(
            "against",
            [](const Kernel& self, Rows2<T> y, Out2<T> out, int n_threads) {
                require(y.shape(1) == self.n_features(), "both sides must have the same features");
                check_lines(y.shape(0), self.n_rows(), out.shape(0), out.shape(1));
                self.against(rows<T>(y), rows<T>(out), threads(n_threads));
            },
            array, array, nb::arg(), ReleaseGil())
        .def(
            "times",
            [](const Kernel& self, Rows2<T> y, In2<T> right, Out2<T> out, int n_threads) {
                require(y.shape(1) == self.n_features() && right.shape(0) == self.n_rows() && self.n_rows() >= 1,
                        "both sides must have the same features, and the factor a line for each row that stays");
                check_lines(y.shape(0), right.shape(1), out.shape(0), out.shape(1));
                self.times(rows<T>(y), matrix<T>(right), rows<T>(out), threads(n_threads));
            },
            array, array, array, nb::arg(), ReleaseGil());
}

template <Real T>
struct SparseKernel : pairwise::SparseKernelRows<T> {
    SparseKernel(const KernelForm& form, const CsrRowSource<T>& x) : pairwise::SparseKernelRows<T>(form, x), source(x) {}
    CsrRowSource<T> source;  // keeps the arrays alive
};

template <Real T>
void bind_sparse(nb::module_& m, const char* name) {
    using Kernel = SparseKernel<T>;
    const auto array = nb::arg().noconvert();
    nb::class_<Kernel>(m, name)
        .def(
            "__init__",
            [](Kernel* self, const std::string& kind, double gamma, double constant, double degree, const CsrRowSource<T>& x) {
                const KernelForm form = kernel_form(kind, gamma, constant, degree);
                require(form.kind != KernelKind::kLaplacian && form.kind != KernelKind::kChiSquared,
                        "there is no such kernel of sparse rows");
                new (self) Kernel(form, x);
            },
            nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg())
        .def(
            "rows",
            [](const Kernel& self, In1<std::int64_t> index, Out2<T> out, int n_threads) {
                const std::vector<std::int64_t> numbers = row_numbers(index, self.n_rows());
                check_lines(numbers.size(), self.n_rows(), out.shape(0), out.shape(1));
                self.rows(numbers, rows<T>(out), threads(n_threads));
            },
            array, array, nb::arg(), ReleaseGil())
        .def(
            "against",
            [](const Kernel& self, const CsrRowSource<T>& y, Out2<T> out, int n_threads) {
                require(y.cols() == self.n_features(), "both sides must have the same features");
                check_lines(y.rows(), self.n_rows(), out.shape(0), out.shape(1));
                self.against(y, rows<T>(out), threads(n_threads));
            },
            nb::arg(), array, nb::arg(), ReleaseGil());
}

template <Real T>
void bind_fourier(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "fourier_features",
        [](Rows2<T> x, In2<T> directions, In1<T> offsets, T scale, Out2<T> out, int n_threads) {
            require(x.shape(1) >= 1 && directions.shape(0) == x.shape(1) && offsets.shape(0) == directions.shape(1),
                    "fourier_features: there must be a line of directions per column of x, and an offset per direction");
            check_lines(x.shape(0), directions.shape(1), out.shape(0), out.shape(1));
            pairwise::fourier_features<T>(rows<T>(x), matrix<T>(directions), vector<T>(offsets), scale, rows<T>(out),
                                          threads(n_threads));
        },
        array, array, array, nb::arg(), array, nb::arg(), ReleaseGil(), "Writes scale cos(x . direction + offset).");
}

// Sequences whose starts were copied and checked.
struct GivenSequences {
    std::vector<std::int64_t> starts;
    pairwise::Sequences view;

    GivenSequences(const In1<std::int32_t>& symbols, const In1<std::int64_t>& given) {
        const std::span<const std::int64_t> offsets = vector<std::int64_t>(given);
        starts.assign(offsets.begin(), offsets.end());
        view = {vector<std::int32_t>(symbols), starts};
        require(!starts.empty() && starts.front() == 0 && std::is_sorted(starts.begin(), starts.end()) &&
                    static_cast<std::size_t>(starts.back()) <= view.symbols.size(),
                "starts of sequences must rise from 0 and stay within the symbols");
    }
    GivenSequences(const GivenSequences&) = delete;
};

void bind_sequences(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "subsequence_kernels",
        [](std::size_t length, double decay, In1<std::int32_t> x_symbols, In1<std::int64_t> x_starts, In1<std::int32_t> y_symbols,
           In1<std::int64_t> y_starts, bool is_symmetric, Out2<double> out, int n_threads) {
            const GivenSequences x(x_symbols, x_starts), y(y_symbols, y_starts);
            require(length >= 1, "the length of a subsequence must be at least 1");
            check_lines(x.view.count(), y.view.count(), out.shape(0), out.shape(1));
            require(!is_symmetric || x.view.count() == y.view.count(), "both sides must be the same sequences");
            pairwise::subsequence_kernels(x.view, is_symmetric ? x.view : y.view, is_symmetric, length, decay, rows<double>(out),
                                          threads(n_threads));
        },
        nb::arg(), nb::arg(), array, array, array, array, nb::arg(), array, nb::arg(), ReleaseGil(),
        "Writes the gap-weighted subsequence kernel of all pairs of sequences.");
    m.def(
        "subsequence_diagonal",
        [](std::size_t length, double decay, In1<std::int32_t> symbols, In1<std::int64_t> starts, Out1<double> out, int n_threads) {
            const GivenSequences x(symbols, starts);
            require(length >= 1, "the length of a subsequence must be at least 1");
            require(out.shape(0) == x.view.count(), "the result must have one value per sequence");
            pairwise::subsequence_diagonal(x.view, length, decay, vector<double>(out), threads(n_threads));
        },
        nb::arg(), nb::arg(), array, array, array, nb::arg(), ReleaseGil(),
        "Writes the gap-weighted subsequence kernel of each sequence with itself.");
}

}  // namespace

void bind_kernel_rows(nb::module_& m) {
    bind_dense<double>(m, "KernelRows64");
    bind_dense<float>(m, "KernelRows32");
    bind_sparse<double>(m, "SparseKernelRows64");
    bind_sparse<float>(m, "SparseKernelRows32");
    bind_fourier<double>(m);
    bind_fourier<float>(m);
    bind_sequences(m);
}

}  // namespace mercer::bindings
