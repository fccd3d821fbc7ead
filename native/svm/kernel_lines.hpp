// Lines of a kernel matrix that are kept: what changes of the duals add to the values, and lines made shorter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/parallel.hpp"
#include "core/views.hpp"

namespace mercer::svm {

// values += sum_k changes[k] line slots[k] of the store, columns in chunks side by side and the lines of each in order. O(n lines).
template <Real T>
void add_lines(RowMajor<const T> store, std::span<const std::int32_t> slots, std::span<const double> changes,
               std::span<double> values, Threads threads) {
    constexpr std::size_t kColumns = 1024;  // of which sums stay in the first-level cache
    const std::size_t n = store.cols, n_chunks = (n + kColumns - 1) / kColumns;
    const double work = static_cast<double>(n) * static_cast<double>(slots.size()) / 2;
    parallel_for(n_chunks, threads.for_work(work), [&](std::size_t chunk) {
        const std::size_t begin = chunk * kColumns, count = std::min(kColumns, n - begin);
        double* const sums = values.data() + begin;
        const auto line = [&](std::size_t k) { return store.row(static_cast<std::size_t>(slots[k])) + begin; };
        std::size_t k = 0;
        for (; k + 4 <= slots.size(); k += 4) {
            const T *const a = line(k), *const b = line(k + 1), *const c = line(k + 2), *const d = line(k + 3);
            const double w = changes[k], x = changes[k + 1], y = changes[k + 2], z = changes[k + 3];
            for (std::size_t j = 0; j < count; ++j)
                sums[j] += (w * static_cast<double>(a[j]) + x * static_cast<double>(b[j])) +
                           (y * static_cast<double>(c[j]) + z * static_cast<double>(d[j]));
        }
        for (; k < slots.size(); ++k) {
            const T* const a = line(k);
            for (std::size_t j = 0; j < count; ++j) sums[j] += changes[k] * static_cast<double>(a[j]);
        }
    });
}

// Leaves of the store some lines, and some columns of them, both in rising order: they come to lie one after another at its
// beginning, each as long as there are columns. O(lines columns).
template <Real T>
void compact_lines(RowMajor<T> store, std::span<const std::int32_t> slots, std::span<const std::int32_t> columns) {
    T* out = store.data;  // never ahead of what is read
    for (const std::int32_t slot : slots) {
        const T* const line = store.row(static_cast<std::size_t>(slot));
        for (const std::int32_t column : columns) *out++ = line[column];
    }
}

}  // namespace mercer::svm
