// Sparse rows that keep the Python arrays behind them alive; column numbers are checked once, not in every call of a kernel.
#pragma once

#include "bindings/arrays.hpp"
#include "svm/dual_descent.hpp"

namespace mercer::bindings {

struct SparseExampleSource : svm::SparseExamples {
    SparseExampleSource(In1<double> values, In1<std::int32_t> columns, In1<std::int32_t> row_starts, std::size_t n_columns)
        : svm::SparseExamples{csr<double>(values, columns, row_starts, n_columns)},
          values_array(values),
          columns_array(columns),
          starts_array(row_starts) {}
    In1<double> values_array;
    In1<std::int32_t> columns_array;
    In1<std::int32_t> starts_array;
};

}  // namespace mercer::bindings
