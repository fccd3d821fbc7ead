// How a thread leaves Python for a kernel, and how it comes back.
//
// A daemon thread may be in a kernel when the process ends. Python then lets no thread in any more: until version 3.14 it ends the
// thread that asks, by pthread_exit, which unwinds the stack as an exception would that nobody may hold up. Kernels, the pool and
// nanobind hold it up (a job lies on the stack of its caller, and some functions are noexcept), which would abort the process. So
// whoever goes back to Python does it through here, and where that is refused the thread stops for good: the process ends without
// it, with its own exit code.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>
#include <utility>

#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

namespace mercer::bindings {

namespace nb = nanobind;

// Calls go(), which goes back to Python. Exceptions pass; where Python ends the thread, this does not return.
template <class Go>
decltype(auto) back_to_python(Go&& go) {
#if defined(__GLIBCXX__)
    try {
        return std::forward<Go>(go)();
    } catch (const abi::__forced_unwind&) {
        while (true) std::this_thread::sleep_for(std::chrono::hours(1));
    }
#else
    return std::forward<Go>(go)();
#endif
}

// Of the kernel that this thread is in: what it left Python with; null where it is in none, or holds the GIL.
inline thread_local PyThreadState* left_python = nullptr;

// Releases the GIL for its lifetime.
class ReleasedGil {
   public:
    ReleasedGil() : outer_(std::exchange(left_python, PyEval_SaveThread())) {}
    ~ReleasedGil() {
        back_to_python([] { PyEval_RestoreThread(left_python); });
        left_python = outer_;
    }
    ReleasedGil(const ReleasedGil&) = delete;
    ReleasedGil& operator=(const ReleasedGil&) = delete;

   private:
    PyThreadState* outer_;
};

// Takes the GIL back in the midst of a kernel, for its lifetime.
class TakenGil {
   public:
    TakenGil() : state_(std::exchange(left_python, nullptr)) {
        if (state_ != nullptr) back_to_python([this] { PyEval_RestoreThread(state_); });
    }
    ~TakenGil() {
        if (state_ != nullptr) left_python = PyEval_SaveThread();
    }
    TakenGil(const TakenGil&) = delete;
    TakenGil& operator=(const TakenGil&) = delete;

   private:
    PyThreadState* state_;
};

using ReleaseGil = nb::call_guard<ReleasedGil>;

}  // namespace mercer::bindings
