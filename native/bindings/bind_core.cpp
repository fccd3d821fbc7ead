// Threads, LAPACK, the interrupt hook, and what the tests need to see of the core.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "core/interrupt.hpp"
#include "core/lapack.hpp"
#include "core/math.hpp"
#include "core/rng.hpp"
#include "core/simd.hpp"
#include "core/softmax.hpp"

#define MERCER_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

std::atomic<int> thread_limit{1};

}  // namespace

// Found by threadpoolctl in the loaded library.
MERCER_EXPORT int mercer_get_num_threads() { return thread_limit.load(); }
MERCER_EXPORT void mercer_set_num_threads(int n) { thread_limit.store(std::clamp(n, 1, 1024)); }

namespace mercer::bindings {

// The core's other files.
void bind_product(nb::module_& m, nb::module_& testing);
void bind_distance(nb::module_& m);

namespace {

// What kernels that this thread enters call at intervals: one hears of progress, the other may raise to stop the kernel.
thread_local PyObject* progress_callback = nullptr;
thread_local PyObject* stop_callback = nullptr;

// The hook of core/interrupt.hpp: takes the GIL, lets signal handlers run, asks whether to stop, reports progress.
void probe_python(std::size_t done, std::size_t total) {
    if (!Py_IsInitialized()) return;
    const TakenGil taken;
    back_to_python([&] {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (stop_callback != nullptr) nb::borrow<nb::callable>(stop_callback)();
        if (total > 0 && progress_callback != nullptr) nb::borrow<nb::callable>(progress_callback)(done, total);
    });
}

nb::object exchange(PyObject*& place, nb::object callback) {
    PyObject* next = callback.is_none() ? nullptr : callback.release().ptr();
    PyObject* before = std::exchange(place, next);
    return before == nullptr ? nb::none() : nb::steal(before);
}

// SciPy publishes its LAPACK as capsules, named by their C signature: a wrong integer width is refused, not called.
template <class Function>
void take(Function& target, const nb::dict& capsules, const std::string& name) {
    const nb::object capsule = capsules[name.c_str()];
    const char* signature = PyCapsule_GetName(capsule.ptr());
    if (signature == nullptr || std::string(signature).find("int *") == std::string::npos)
        throw nb::import_error(("SciPy's " + name + " does not take 32-bit integers").c_str());
    target = reinterpret_cast<Function>(PyCapsule_GetPointer(capsule.ptr(), signature));
}

void load_lapack() {
    const nb::dict capsules = nb::module_::import_("scipy.linalg.cython_lapack").attr("__pyx_capi__");
    take(lapack::pocon_routine, capsules, "dpocon");
}

// Elementary functions of a whole array, by vectors: a face of the core for its tests.
template <Real T>
void bind_math_tests(nb::module_& m) {
    using V = typename Simd<T>::Vector;
    const auto bind = [&](const char* name, V (*function)(V)) {
        m.def(
            name,
            [function](In1<T> x, Out1<T> values) {
                require(values.shape(0) == x.shape(0), "the lengths do not fit");
                const auto in = vector<T>(x);
                const auto out = vector<T>(values);
                for (std::size_t i = 0; i < in.size(); i += Simd<T>::kLanes) {
                    const std::size_t n = std::min(Simd<T>::kLanes, in.size() - i);
                    T lanes[Simd<T>::kLanes] = {};
                    std::copy_n(in.data() + i, n, lanes);
                    Simd<T>::store(lanes, function(Simd<T>::load(lanes)));
                    std::copy_n(lanes, n, out.data() + i);
                }
            },
            nb::arg().noconvert(), nb::arg().noconvert(), ReleaseGil());
    };
    bind("exp", [](V x) { return math::exp(x); });
    bind("log", [](V x) { return math::log(x); });
    bind("log1p", [](V x) { return math::log1p(x); });
    bind("tanh", [](V x) { return math::tanh(x); });
    bind("cos", [](V x) { return math::cos(x); });
}

// Softmax and log-sum-exp of the rows of x.
template <Real T>
void bind_softmax_rows(nb::module_& m) {
    m.def(
        "softmax_rows",
        [](In2<T> x, Out1<T> sums, std::optional<Out2<T>> shares, int n_threads) {
            require(x.shape(1) >= 1 && sums.shape(0) == x.shape(0), "softmax_rows: the shapes do not fit");
            require(!shares || (shares->shape(0) == x.shape(0) && shares->shape(1) == x.shape(1)),
                    "softmax_rows: the shapes do not fit");
            softmax_rows<T>(matrix<T>(x), vector<T>(sums), shares ? rows<T>(*shares) : RowMajor<T>{}, threads(n_threads));
        },
        nb::arg("x").noconvert(), nb::arg("sums").noconvert(), nb::arg("shares").noconvert().none(), nb::arg("n_threads"),
        ReleaseGil(), "Writes the log-sum-exp of every row, and softmax where there is room for it.");
}

void bind_tests(nb::module_& m) {
    m.doc() = "Faces of the native core for its own tests.";
    bind_math_tests<double>(m);
    bind_math_tests<float>(m);
    m.def("philox_block", [](std::vector<std::uint32_t> counter, std::vector<std::uint32_t> key) {
        require(counter.size() == 4 && key.size() == 2, "Philox takes a counter of 4 words and a key of 2");
        const auto block = Philox::encrypt({counter[0], counter[1], counter[2], counter[3]}, {key[0], key[1]});
        return std::vector<std::uint32_t>(block.begin(), block.end());
    });
    m.def("philox_uniforms", [](std::uint64_t seed, std::uint64_t task, std::size_t n) {
        Philox random(seed, task);
        std::vector<double> draws(n);
        for (double& draw : draws) draw = random.uniform();
        return draws;
    });
    m.def("philox_below", [](std::uint64_t seed, std::uint64_t task, std::uint32_t bound, std::size_t n) {
        require(bound >= 1, "the bound must be at least 1");
        Philox random(seed, task);
        std::vector<std::uint32_t> draws(n);
        for (auto& draw : draws) draw = random.below(bound);
        return draws;
    });
    // How often each task ran; the task numbered `failing` throws. Each task starts a nested loop of its own.
    m.def(
        "count_tasks",
        [](std::size_t n_tasks, int n_threads, bool is_static, std::ptrdiff_t failing) {
            std::vector<std::atomic<int>> runs(n_tasks);
            parallel_for(
                n_tasks, threads(n_threads),
                [&](std::size_t task) {
                    if (static_cast<std::ptrdiff_t>(task) == failing) throw std::invalid_argument("task failed");
                    parallel_for(3, threads(n_threads), [&](std::size_t) { runs[task].fetch_add(1); });
                },
                is_static ? Schedule::kStatic : Schedule::kDynamic);
            std::vector<int> counts;
            for (const auto& run : runs) counts.push_back(run.load());
            return counts;
        },
        ReleaseGil());
    // Runs until interrupted, or for about that many seconds.
    m.def(
        "spin",
        [](double seconds, int n_threads) {
            const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
            parallel_for(1u << 30, threads(n_threads), [&](std::size_t task) {
                report_progress(task, 1u << 30);
                volatile double x = 0;
                for (int i = 0; i < 100000 && std::chrono::steady_clock::now() < end; ++i) x = x + static_cast<double>(task);
                if (std::chrono::steady_clock::now() >= end) throw std::invalid_argument("not interrupted");
            });
        },
        ReleaseGil());
    m.def("allocate_too_much", [] { Aligned<double>(std::size_t{1} << 58); }, ReleaseGil());
}

}  // namespace

void bind_core(nb::module_& m) {
    load_lapack();
    installed_probe.store(&probe_python);
    m.def("get_num_threads", &mercer_get_num_threads, "The number of threads that kernels use at most.");
    m.def("set_num_threads", &mercer_set_num_threads, "Sets the number of threads that kernels use at most.");
    m.def(
        "exchange_stop", [](nb::object callback) { return exchange(stop_callback, std::move(callback)); }, nb::arg().none(),
        "Sets what this thread's kernels call at intervals, to be stopped if it raises; returns what it was.");
    m.def(
        "exchange_progress", [](nb::object callback) { return exchange(progress_callback, std::move(callback)); }, nb::arg().none(),
        "Sets what this thread's kernels call with (done, total) at intervals; returns what it was.");
    bind_softmax_rows<double>(m);
    bind_softmax_rows<float>(m);
    nb::module_ testing = m.def_submodule("testing");
    bind_product(m, testing);
    bind_tests(testing);
    bind_distance(testing);
}

}  // namespace mercer::bindings
