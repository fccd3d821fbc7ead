// Tells which x86-64 level the processor has, so that Python can choose a kernel module. Compiled for the lowest level there is.
#include <nanobind/nanobind.h>

namespace {

int x86_level() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const auto v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt");
    const auto v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
    const auto v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return v4 ? 4 : v3 ? 3 : v2 ? 2 : 1;
#else
    return 0;
#endif
}

}  // namespace

NB_MODULE(_cpu_level, m) {
    m.def("x86_level", &x86_level, "The x86-64 micro-architecture level (1 to 4), or 0 on other processors.");
}
