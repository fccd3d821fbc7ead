// The one hook that long kernels call. It lets Ctrl-C through and feeds progress, at the cost of one clock reading a call.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

namespace mercer {

// Called at most once in kProbeInterval, without any lock of ours held. It stops the kernel by throwing.
using Probe = void (*)(std::size_t done, std::size_t total);

inline std::atomic<Probe> installed_probe{nullptr};
inline constexpr std::chrono::milliseconds kProbeInterval{50};

// False on the pool's workers: only the thread that entered the kernel may go back to Python.
inline thread_local bool may_probe = true;

// Call it anywhere in a kernel, at least every few milliseconds. `done` of `total` is the progress.
inline void checkpoint(std::size_t done = 0, std::size_t total = 0) {
    if (!may_probe) return;
    using Clock = std::chrono::steady_clock;
    thread_local Clock::time_point last = Clock::now();
    const auto now = Clock::now();
    if (now - last < kProbeInterval) return;
    last = now;
    if (const Probe probe = installed_probe.load(std::memory_order_acquire)) probe(done, total);
}

}  // namespace mercer
