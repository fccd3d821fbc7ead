// Rows that keep the Python arrays behind them alive: what `mercer._matrix.native_rows` makes of X for every family. Column numbers
// are checked once, not in every call of a kernel.
#pragma once

#include "bindings/arrays.hpp"
#include "core/rows.hpp"

namespace mercer::bindings {

template <Real T>
struct DenseRowSource : DenseRows<T> {
    DenseRowSource(In2<T> x, MaybeIn1<T> shift) : DenseRows<T>{matrix<T>(x), vector<T>(shift)}, x_array(x), shift_array(shift) {
        require(!shift || this->shift.size() == this->x.cols, "the shift must have one value per column");
        require(this->x.cols >= 1, "there must be a column");
    }
    In2<T> x_array;
    MaybeIn1<T> shift_array;
};

template <Real T>
struct CsrRowSource : CsrRows<T> {
    CsrRowSource(In1<T> values, In1<std::int32_t> columns, In1<std::int32_t> row_starts, std::size_t n_columns)
        : CsrRows<T>{csr<T>(values, columns, row_starts, n_columns)},
          values_array(values),
          columns_array(columns),
          starts_array(row_starts) {
        require(n_columns >= 1, "there must be a column");
    }
    In1<T> values_array;
    In1<std::int32_t> columns_array;
    In1<std::int32_t> starts_array;
};

// The rows of a family, which derive from the common ones and have no state of their own.
template <class Own, class Source>
Own rows_as(const Source& source) {
    return Own{source};
}

}  // namespace mercer::bindings
