// Statistics of the rows of each group.
#include "bindings/groups.hpp"
#include "bindings/rows.hpp"
#include "preprocessing/group_stats.hpp"

namespace mercer::bindings {

namespace {

void check_codes(std::span<const std::int64_t> codes, std::size_t n_rows, std::size_t n_groups) {
    require(codes.size() == n_rows, "there must be one code per row");
    const auto is_group = [&](std::int64_t code) { return code >= 0 && static_cast<std::uint64_t>(code) < n_groups; };
    require(std::all_of(codes.begin(), codes.end(), is_group), "a code is out of range");
}

template <class Source, class Rows>
void bind_sums(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    m.def(
        "group_sums",
        [](const Source& given, In1<std::int64_t> codes, MaybeIn1<double> weights, Out2<double> sums, int n_threads) {
            const auto source = rows_as<Rows>(given);
            const auto out = rows<double>(sums);
            require(out.cols == source.cols(), "the sums must have one column per feature");
            check_codes(vector<std::int64_t>(codes), source.rows(), out.rows);
            preprocessing::group_sums(source, vector<std::int64_t>(codes), per_row<double>(weights, source.rows()), out,
                                      threads(n_threads));
        },
        array, array, nb::arg().noconvert().none(), array, nb::arg(), ReleaseGil());
}

template <Real T>
void bind_kernels(nb::module_& m) {
    const auto array = nb::arg().noconvert();
    const auto maybe = nb::arg().noconvert().none();
    m.def(
        "group_moments",
        [](In2<T> x, In1<std::int64_t> codes, MaybeIn1<double> weights, Out2<double> weight, Out2<double> mean,
           Out2<double> deviation, int n_threads) {
            const auto source = matrix<T>(x);
            for (const auto& out : {weight, mean, deviation})
                require(out.shape(0) == weight.shape(0) && out.shape(1) == source.cols,
                        "the results must have one line per group and one column per feature");
            check_codes(vector<std::int64_t>(codes), source.rows, weight.shape(0));
            preprocessing::group_moments<T>(source, vector<std::int64_t>(codes), per_row<double>(weights, source.rows),
                                            rows<double>(weight), rows<double>(mean), rows<double>(deviation), threads(n_threads));
        },
        array, array, maybe, array, array, array, nb::arg(), ReleaseGil());

    m.def(
        "group_scatters",
        [](In2<T> x, In1<std::int64_t> codes, MaybeIn1<double> weights, Rows2<double> means, Out2<double> scatters, int n_threads) {
            const auto source = matrix<T>(x);
            const auto centres = rows<double>(means);
            const auto out = rows<double>(scatters);
            require(centres.cols == source.cols && out.cols == source.cols, "there must be one column per feature");
            require(source.cols >= 1 && (out.rows == source.cols || out.rows == centres.rows * source.cols),
                    "there must be one scatter matrix, or one per group");
            check_codes(vector<std::int64_t>(codes), source.rows, centres.rows);
            preprocessing::group_scatters<T>(source, vector<std::int64_t>(codes), per_row<double>(weights, source.rows), centres,
                                             out, threads(n_threads));
        },
        array, array, maybe, array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_groups(nb::module_& m) {
    bind_sums<DenseRowSource<double>, DenseRows<double>>(m);
    bind_sums<CsrRowSource<double>, CsrRows<double>>(m);
    bind_sums<DenseRowSource<float>, DenseRows<float>>(m);
    bind_sums<CsrRowSource<float>, CsrRows<float>>(m);
    bind_kernels<double>(m);
    bind_kernels<float>(m);
}

}  // namespace mercer::bindings
