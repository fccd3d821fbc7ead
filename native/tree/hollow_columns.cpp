#include "tree/hollow_columns.hpp"

namespace mercer::tree {

ColumnCounts count_entries(const SparseRows& x, Threads) {
    ColumnCounts out(x.n_columns());
    for (std::size_t e = 0; e < x.n_entries(); ++e) {
        ++out.n_entries[x.column(e)];
        out.has_missing[x.column(e)] |= std::isnan(x.value(e));
    }
    return out;
}

void HollowColumns::fill(const SparseRows& x, Threads) {
    for (std::size_t i = 0; i < x.n_rows(); ++i)
        for (std::size_t e = x.begin(i); e < x.end(i); ++e)
            if (has(x.column(e))) add(index_[x.column(e)], i, x.value(e));
}

void HollowColumns::sort(Threads threads) {
    n_negative_.resize(count());
    n_known_.resize(count());
    const auto chunks = Chunks::of(count(), 64, 256);
    parallel_for(chunks.count, threads, [&](std::size_t chunk) {
        std::vector<Row> order;
        std::vector<Row> rows;
        std::vector<double> values;
        std::vector<std::uint64_t> entries;
        std::vector<std::uint64_t> scratch;
        for (std::size_t c = chunks.begin(chunk); c < chunks.end(chunk); ++c) {
            const std::size_t n = n_entries(c);
            Row* to_rows = rows_.data() + starts_[c];
            double* to_values = values_.data() + starts_[c];
            rows.assign(to_rows, to_rows + n);
            values.assign(to_values, to_values + n);
            order.resize(n);
            sort_places<double>(values, order, entries, scratch);
            for (std::size_t i = 0; i < n; ++i) {
                to_rows[i] = rows[order[i]];
                to_values[i] = values[order[i]];
                n_negative_[c] += to_values[i] < 0;
                n_known_[c] += !std::isnan(to_values[i]);
            }
        }
    });
}

void HollowColumns::list_by_row(std::size_t n_rows) {
    row_starts_.assign(n_rows + 1, 0);
    for (std::size_t c = 0; c < count(); ++c)
        for (const Row row : (*this)[c].rows) ++row_starts_[row + 1];
    for (std::size_t i = 0; i < n_rows; ++i) row_starts_[i + 1] += row_starts_[i];
    by_row_.resize(row_starts_.back());
    std::vector<std::size_t> ends(row_starts_.begin(), row_starts_.end() - 1);
    for (std::size_t c = 0; c < count(); ++c) {
        const auto rows = (*this)[c].rows;
        for (std::size_t i = 0; i < rows.size(); ++i)
            by_row_[ends[rows[i]]++] = {static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(i)};
    }
}

}  // namespace mercer::tree
