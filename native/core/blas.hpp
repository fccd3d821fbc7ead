// BLAS and LAPACK without linking one: the bindings fill this table with SciPy's own routines when the module is imported.
//
// The wrappers take row-major views and speak of them as such; underneath, a row-major matrix is the transpose of a column-major
// one. BLAS brings threads of its own: call it from the thread that entered the kernel, outside parallel_for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/errors.hpp"
#include "core/views.hpp"

namespace mercer::blas {

template <Real T>
struct Table {
    void (*gemm)(char*, char*, int*, int*, int*, T*, T*, int*, T*, int*, T*, T*, int*) = nullptr;
    void (*syrk)(char*, char*, int*, int*, T*, T*, int*, T*, T*, int*) = nullptr;
    void (*gemv)(char*, int*, int*, T*, T*, int*, T*, int*, T*, T*, int*) = nullptr;
    void (*potrf)(char*, int*, T*, int*, int*) = nullptr;
    void (*potrs)(char*, int*, int*, T*, int*, T*, int*, int*) = nullptr;
    void (*pocon)(char*, int*, T*, int*, T*, T*, T*, int*, int*) = nullptr;
    void (*syev)(char*, char*, int*, T*, int*, T*, T*, int*, int*) = nullptr;
};

template <Real T>
inline Table<T> table;

namespace detail {

inline int narrow(std::size_t n) {
    require(n <= 2147483647u, "a dimension is larger than BLAS can count (2^31 - 1)");
    return static_cast<int>(n);
}

template <Real T>
T* writable(const T* p) {  // Fortran's prototypes know no const; the routines below do not write where const is given
    return const_cast<T*>(p);
}

}  // namespace detail

// c = alpha a b + beta c
template <Real T>
void gemm(T alpha, RowMajor<const T> a, RowMajor<const T> b, T beta, RowMajor<T> c) {
    require(a.cols == b.rows && c.rows == a.rows && c.cols == b.cols, "gemm: the shapes do not fit");
    char plain = 'N';
    int m = detail::narrow(b.cols), n = detail::narrow(a.rows), k = detail::narrow(a.cols);
    int lda = std::max(k, 1), ldb = std::max(m, 1);
    if (m == 0 || n == 0) return;
    table<T>.gemm(&plain, &plain, &m, &n, &k, &alpha, detail::writable(b.data), &ldb, detail::writable(a.data), &lda, &beta, c.data,
                  &ldb);
}

// The lower triangle of c = alpha a' a + beta c
template <Real T>
void syrk(T alpha, RowMajor<const T> a, T beta, RowMajor<T> c) {
    require(c.rows == a.cols && c.cols == a.cols, "syrk: the shapes do not fit");
    char upper = 'U', plain = 'N';
    int n = detail::narrow(a.cols), k = detail::narrow(a.rows);
    if (n == 0) return;
    table<T>.syrk(&upper, &plain, &n, &k, &alpha, detail::writable(a.data), &n, &beta, c.data, &n);
}

// y = alpha a x + beta y
template <Real T>
void gemv(T alpha, RowMajor<const T> a, std::span<const T> x, T beta, std::span<T> y) {
    require(x.size() == a.cols && y.size() == a.rows, "gemv: the shapes do not fit");
    char transposed = 'T';
    int m = detail::narrow(a.cols), n = detail::narrow(a.rows), one = 1;
    if (m == 0) std::transform(y.begin(), y.end(), y.begin(), [beta](T value) { return beta * value; });  // BLAS returns early
    if (m == 0 || n == 0) return;
    table<T>.gemv(&transposed, &m, &n, &alpha, detail::writable(a.data), &m, detail::writable(x.data()), &one, &beta, y.data(),
                  &one);
}

// Overwrites the lower triangle of a symmetric a with its Cholesky factor; false where a is not positive definite.
template <Real T>
bool potrf(RowMajor<T> a) {
    char upper = 'U';
    int n = detail::narrow(a.rows), info = 0;
    if (n > 0) table<T>.potrf(&upper, &n, a.data, &n, &info);
    require(info >= 0, "potrf: a value is not valid");
    return info == 0;
}

// Overwrites each row b of `rows` with the solution of (l l') x = b.
template <Real T>
void potrs(RowMajor<const T> l, RowMajor<T> rows) {
    char upper = 'U';
    int n = detail::narrow(l.rows), m = detail::narrow(rows.rows), info = 0;
    if (n > 0 && m > 0) table<T>.potrs(&upper, &n, &m, detail::writable(l.data), &n, rows.data, &n, &info);
    require(info == 0, "potrs: a value is not valid");
}

// Estimates the reciprocal condition number, in the 1-norm, of the matrix of that 1-norm whose Cholesky factor is l.
template <Real T>
T pocon(RowMajor<const T> l, T norm) {
    char upper = 'U';
    int n = detail::narrow(l.rows), info = 0;
    T rcond = 1;
    std::vector<T> work(3 * static_cast<std::size_t>(n));
    std::vector<int> integers(static_cast<std::size_t>(n));
    if (n > 0) table<T>.pocon(&upper, &n, detail::writable(l.data), &n, &norm, &rcond, work.data(), integers.data(), &info);
    require(info == 0, "pocon: a value is not valid");
    return rcond;
}

// Writes the eigenvalues of a symmetric a, ascending, to `values` and its eigenvectors to the rows of a.
template <Real T>
void syev(RowMajor<T> a, std::span<T> values) {
    char vectors = 'V', upper = 'U';
    int n = detail::narrow(a.rows), info = 0, size = -1;
    if (n == 0) return;
    T wanted = 0;
    table<T>.syev(&vectors, &upper, &n, a.data, &n, values.data(), &wanted, &size, &info);
    std::vector<T> work(static_cast<std::size_t>(wanted));
    size = static_cast<int>(work.size());
    table<T>.syev(&vectors, &upper, &n, a.data, &n, values.data(), work.data(), &size, &info);
    require(info == 0, "syev: the eigenvalues did not converge");
}

}  // namespace mercer::blas
