#include "core/interrupt.hpp"

namespace mercer {

namespace {

void probe_if_due(std::chrono::steady_clock::time_point& last, std::size_t done, std::size_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last < kProbeInterval) return;
    last = now;
    if (const Probe probe = installed_probe.load(std::memory_order_acquire)) probe(done, total);
}

}  // namespace

void checkpoint() {
    if (has_job_failed != nullptr && has_job_failed->load(std::memory_order_relaxed)) throw Abandoned{};
    thread_local std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
    if (may_probe) probe_if_due(last, 0, 0);
}

void report_progress(std::size_t done, std::size_t total) {
    thread_local std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
    if (may_probe) probe_if_due(last, done, total);
}

}  // namespace mercer
