// Parallel loops. The threads that run them live in parallel.cpp and nowhere else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <type_traits>

#include "core/interrupt.hpp"

namespace mercer {

// Dynamic: the next free thread takes the next task. Static: each thread takes one contiguous run of tasks.
enum class Schedule { kDynamic, kStatic };

// How many threads a kernel may use, given as the last argument of every kernel.
struct Threads {
    int count = 1;

    // Fewer threads where the whole job is small: below about 50 microseconds a thread, waking it costs more than it saves.
    Threads for_work(double operations) const {
        constexpr double kOperationsPerThread = 6e4;
        const double useful = std::min(operations / kOperationsPerThread, 1024.0);
        return {std::clamp(static_cast<int>(useful), 1, std::max(count, 1))};
    }
};

// Splits n items into chunks that depend on n and the limits alone, never on the threads: sums taken per chunk and added in the
// order of the chunks have the same bits for any number of threads.
struct Chunks {
    std::size_t n = 0;
    std::size_t count = 1;

    static Chunks of(std::size_t n, std::size_t least_items, std::size_t most_chunks) {
        const std::size_t wanted = n / std::max<std::size_t>(least_items, 1);
        return {n, std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(most_chunks, 1))};
    }
    std::size_t begin(std::size_t chunk) const { return chunk * (n / count) + std::min(chunk, n % count); }
    std::size_t end(std::size_t chunk) const { return begin(chunk + 1); }
};

namespace detail {

// What parallel_for does, for a body of any type: a loop is compiled once, whether one thread runs it or many.
void run_tasks(std::size_t n_tasks, Threads threads, Schedule schedule, void (*body)(void* context, std::size_t task),
               void* context);

}  // namespace detail

// Calls body(task) for every task in [0, n_tasks), on at most `threads` threads, and returns when all are done. The first
// exception of a task is thrown here; tasks not yet begun are then dropped. Ctrl-C arrives the same way.
template <class Body>
void parallel_for(std::size_t n_tasks, Threads threads, Body&& body, Schedule schedule = Schedule::kDynamic) {
    using Loop = std::remove_reference_t<Body>;
    detail::run_tasks(
        n_tasks, threads, schedule, [](void* context, std::size_t task) { (*static_cast<Loop*>(context))(task); },
        const_cast<void*>(static_cast<const void*>(&body)));
}

// Lets one task at a time through, for what tasks of a loop do to something that they share.
class Turns {
   public:
    template <class Body>
    void take(Body&& body) {
        const std::lock_guard lock(mutex_);
        body();
    }

   private:
    std::mutex mutex_;
};

}  // namespace mercer
