// The one hook that long kernels call. It lets Ctrl-C through and feeds progress, at the cost of one clock reading a call.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

namespace mercer {

// Called a few times a second, without any lock of ours held. It stops the kernel by throwing. `total` is 0 where there is no
// progress to tell.
using Probe = void (*)(std::size_t done, std::size_t total);

inline std::atomic<Probe> installed_probe{nullptr};
inline constexpr std::chrono::milliseconds kProbeInterval{50};

// False on the pool's workers: only the thread that entered the kernel may go back to Python.
inline thread_local bool may_probe = true;

// Of the job that this thread works on: whether one of its tasks has failed. The others then end at their next checkpoint.
inline thread_local const std::atomic<bool>* has_job_failed = nullptr;

struct Abandoned {};  // thrown in the tasks of a job that has failed already; nobody sees it outside

// Call it anywhere in a kernel, at least every few milliseconds; parallel_for does so between tasks.
void checkpoint();

// The same with progress: call it in the outermost loop of a long kernel.
void report_progress(std::size_t done, std::size_t total);

}  // namespace mercer
