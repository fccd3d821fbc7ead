// The kernel of some sparse rows, or of others, with all rows of a sparse matrix that stays (see kernel_rows.hpp).
//
// A few rows at a time are written side by side into a table with a line for every column, a lane a row. An entry of the matrix
// then meets all of them at once. The table is cleared by the entries that were written, so that columns nobody has cost nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/rows.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"
#include "pairwise/kernel_rows.hpp"
#include "pairwise/maps.hpp"
#include "pairwise/products.hpp"
#include "pairwise/sparse.hpp"

namespace mercer::pairwise {

template <Real T>
class SparseKernelRows {
   public:
    // Rows of x stay where they are, which outlives this. O(entries).
    SparseKernelRows(const KernelForm& form, const CsrRows<T>& x) : form_(form), x_(x), norms_(norms_of(x, all(x.rows()))) {}

    std::size_t n_rows() const { return x_.rows(); }
    std::size_t n_features() const { return x_.cols(); }

    // Writes the kernel of the rows of `index` with all rows. O(m entries).
    void rows(std::span<const std::int64_t> index, RowMajor<T> out, Threads threads) const { write(x_, index, out, threads); }

    // Writes the kernel of other rows with all rows. O(m entries).
    void against(const CsrRows<T>& y, RowMajor<T> out, Threads threads) const { write(y, all(y.rows()), out, threads); }

   private:
    using S = Simd<T>;
    static constexpr std::size_t kVectors = 2;
    static constexpr std::size_t kGroup = kVectors * S::kLanes;  // rows side by side
    static constexpr std::size_t kRun = 64;                      // rows of the matrix, whose products stay in the cache

    static std::vector<std::int64_t> all(std::size_t n) {
        std::vector<std::int64_t> index(n);
        for (std::size_t i = 0; i < n; ++i) index[i] = static_cast<std::int64_t>(i);
        return index;
    }

    std::vector<T> norms_of(const CsrRows<T>& rows, std::span<const std::int64_t> index) const {
        std::vector<T> norms(form_.kind == KernelKind::kExponential ? index.size() : 0);
        for (std::size_t i = 0; i < norms.size(); ++i)
            norms[i] = static_cast<T>(rows.squared_norm(static_cast<std::size_t>(index[i])));
        return norms;
    }

    void write(const CsrRows<T>& some, std::span<const std::int64_t> index, RowMajor<T> out, Threads threads) const {
        const std::vector<T> norms = norms_of(some, index);
        const auto between = [&](std::size_t i, std::size_t j) {
            return sum_of_differences(some.x, static_cast<std::size_t>(index[i]), x_.x, j, [](double z) { return z * z; });
        };
        const T harmless = static_cast<T>(std::min(kHarmlessScale / form_.gamma, double{std::numeric_limits<T>::max()}));
        const SquaredFromProducts<T, decltype(between)> squared{norms, norms_, between, harmless};
        const auto go = [&](const auto& value, const LineMap<T>& map) { products(some, index, value, map, out, threads); };
        switch (form_.kind) {
            case KernelKind::kLinear:
                return go(PlainProducts{}, Same{});
            case KernelKind::kPolynomial:
                return go(PlainProducts{}, Polynomial{form_.gamma, form_.constant, form_.degree});
            case KernelKind::kSigmoid:
                return go(PlainProducts{}, Sigmoid{form_.gamma, form_.constant});
            case KernelKind::kExponential:
                return go(squared, Exponential{-form_.gamma});
            case KernelKind::kLaplacian:
            case KernelKind::kChiSquared:
                refuse("there is no such kernel of sparse rows");
        }
    }

    // Writes map(value(x_i . y_j)), where `value` of squared distances takes -2 x_i . y_j.
    template <class Value>
    void products(const CsrRows<T>& some, std::span<const std::int64_t> index, const Value& value, const LineMap<T>& map,
                  RowMajor<T> out, Threads threads) const {
        const T factor = form_.kind == KernelKind::kExponential ? T{-2} : T{1};
        Aligned<T> table(x_.cols() * kGroup);
        std::fill_n(table.data(), table.size(), T{0});
        const std::size_t n_runs = (x_.rows() + kRun - 1) / kRun;
        const double work = static_cast<double>(x_.n_entries() + x_.rows()) * kVectors;
        for (std::size_t begin = 0; begin < index.size(); begin += kGroup) {
            const std::size_t m = std::min(kGroup, index.size() - begin);
            const auto set = [&](bool is_clearing) {
                for (std::size_t r = 0; r < m; ++r)
                    some.for_each(static_cast<std::size_t>(index[begin + r]), [&](std::size_t column, T entry) {
                        table[column * kGroup + r] = is_clearing ? T{0} : factor * entry;
                    });
            };
            set(false);
            parallel_for(n_runs, threads.for_work(work), [&](std::size_t run) {
                const std::size_t first = run * kRun, n = std::min(kRun, x_.rows() - first);
                alignas(64) T tile[kGroup][kRun];
                for (std::size_t j = 0; j < n; ++j) {
                    typename S::Vector sums[kVectors] = {};
                    x_.for_each(first + j, [&](std::size_t column, T entry) {
#pragma GCC unroll 2
                        for (std::size_t v = 0; v < kVectors; ++v)
                            sums[v] += entry * S::load(table.data() + column * kGroup + v * S::kLanes);
                    });
                    for (std::size_t r = 0; r < m; ++r) tile[r][j] = sums[r / S::kLanes][r % S::kLanes];
                }
                for (std::size_t r = 0; r < m; ++r) {
                    value(tile[r], n, begin + r, first);
                    map(tile[r], n);
                    std::copy_n(tile[r], n, &out(begin + r, first));
                }
            });
            set(true);
        }
    }

    KernelForm form_;
    CsrRows<T> x_;
    std::vector<T> norms_;
};

}  // namespace mercer::pairwise
