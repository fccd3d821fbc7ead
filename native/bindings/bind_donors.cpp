#include <algorithm>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/neighbor_models.hpp"
#include "neighbors/donors.hpp"

namespace mercer::bindings {

namespace {

template <Real T>
void bind_kernels(nb::module_& m, const char* name) {
    const auto array = nb::arg().noconvert();
    using Blocks = neighbors::DonorBlocks<T>;
    nb::class_<Blocks>(m, name).def(
        "__init__",
        [](Blocks* self, In2<T> x, int n_threads) {
            require(x.shape(1) >= 1, "there must be a column");
            new (self) Blocks(matrix<T>(x), threads(n_threads));
        },
        array, nb::arg(), ReleaseGil());

    m.def(
        "nearest_donors",
        [](const Blocks& blocks, Rows2<T> receivers, In1<std::int64_t> starts, In1<std::int64_t> columns, Out2<T> distances,
           Out2<std::int64_t> donors, int n_threads) {
            const auto own_starts = std::vector(vector<std::int64_t>(starts).begin(), vector<std::int64_t>(starts).end());
            const auto own_columns = std::vector(vector<std::int64_t>(columns).begin(), vector<std::int64_t>(columns).end());
            const std::size_t n = receivers.shape(0), n_cells = own_columns.size(), d = blocks.features();
            require(receivers.shape(1) == d, "receivers must have the columns of the donors");
            require(own_starts.size() == n + 1 && own_starts.front() == 0 && std::is_sorted(own_starts.begin(), own_starts.end()) &&
                        static_cast<std::size_t>(own_starts.back()) == n_cells,
                    "the cells of the receivers must follow each other");
            const auto is_column = [d](std::int64_t j) { return j >= 0 && static_cast<std::uint64_t>(j) < d; };
            require(std::all_of(own_columns.begin(), own_columns.end(), is_column), "a column is out of range");
            require(distances.shape(0) == n_cells && donors.shape(0) == n_cells && distances.shape(1) >= 1 &&
                        donors.shape(1) == distances.shape(1),
                    "there must be one line of donors per cell");
            neighbors::nearest_donors<T>(blocks, rows<T>(receivers), {own_starts, own_columns}, rows<T>(distances),
                                         rows<std::int64_t>(donors), threads(n_threads));
        },
        array, array, array, array, array, array, nb::arg(), ReleaseGil());
}

}  // namespace

void bind_donors(nb::module_& m) {
    bind_kernels<double>(m, "DonorBlocks64");
    bind_kernels<float>(m, "DonorBlocks32");
}

}  // namespace mercer::bindings
