// Threads live here and nowhere else.
//
// One pool serves the process. A caller publishes a job (a number of tasks and a function of the task's index), works on it
// itself, and idle workers join in. So many Python threads may call at once, nothing waits for a worker that never comes, and a
// job started inside another runs serially. After fork() the child starts with an empty pool of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "core/interrupt.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

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

inline thread_local bool inside_parallel = false;

inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

// A job lives on its caller's stack. `joinable` and `workers` change under the pool's mutex only.
class Job {
   public:
    using Body = void (*)(void* context, std::size_t task);

    Job(std::size_t n_tasks, Body body, void* context, int helpers)
        : joinable(helpers), n_tasks_(n_tasks), body_(body), context_(context) {}

    // Takes tasks until none is left or one has failed.
    void work() noexcept {
        const bool outer = std::exchange(inside_parallel, true);
        has_job_failed = &failed_;
        try {
            for (std::size_t task; (task = next_.fetch_add(1, std::memory_order_relaxed)) < n_tasks_;) {
                checkpoint();
                body_(context_, task);
            }
        } catch (...) {
            fail();
        }
        has_job_failed = nullptr;
        inside_parallel = outer;
    }

    // For the caller while it waits for tasks of others: Ctrl-C must not wait for them.
    void probe() noexcept {
        try {
            checkpoint();
        } catch (...) {
            fail();
        }
    }

    bool is_drained() const { return next_.load(std::memory_order_relaxed) >= n_tasks_; }
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

    int joinable;                 // how many more workers may join
    std::atomic<int> workers{0};  // how many have joined and not left

   private:
    void fail() {  // within a handler
        next_.store(n_tasks_, std::memory_order_relaxed);
        if (!failed_.exchange(true)) error_ = std::current_exception();
    }

    std::size_t n_tasks_;
    Body body_;
    void* context_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> failed_{false};
    std::exception_ptr error_;
};

class Pool {
   public:
    static Pool& instance() {
        std::lock_guard lock(creation_mutex());
        Pool*& pool = current();
        if (pool == nullptr) {
            pool = new Pool;  // never destroyed: its workers may outlive static destructors
#if defined(__unix__) || defined(__APPLE__)
            static const int registered = pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
            (void)registered;
#endif
        }
        return *pool;
    }

    void run(Job& job) {
        const int helpers = job.joinable;
        {
            std::lock_guard lock(mutex_);
            grow(helpers);
            jobs_.push_back(&job);
            pending_.fetch_add(1, std::memory_order_release);
        }
        if (helpers == 1) {
            wake_.notify_one();
        } else {
            wake_.notify_all();
        }
        job.work();
        {
            std::lock_guard lock(mutex_);
            if (const auto it = std::find(jobs_.begin(), jobs_.end(), &job); it != jobs_.end()) remove(it);
        }
        for (int spin = 0; spin < kSpins && job.workers.load(std::memory_order_acquire) > 0; ++spin) relax();
        std::unique_lock lock(mutex_);
        while (!left_.wait_for(lock, kProbeInterval, [&] { return job.workers.load(std::memory_order_acquire) == 0; })) {
            lock.unlock();
            job.probe();
            lock.lock();
        }
    }

   private:
    static constexpr int kSpins = 4000;  // some 20 to 60 microseconds: an iterative fit finds its workers awake

    // The statics are functions' so that the header needs no source file and no order of initialisation.
    static std::mutex& creation_mutex() {
        static std::mutex& mutex = *new std::mutex;
        return mutex;
    }
    static Pool*& current() {
        static Pool* pool = nullptr;
        return pool;
    }
    static void before_fork() { creation_mutex().lock(); }
    static void after_fork_in_parent() { creation_mutex().unlock(); }
    static void after_fork_in_child() {
        current() = nullptr;  // the parent's threads do not exist here and its locks may be held: leave both behind
        inside_parallel = false;
        creation_mutex().unlock();
    }

    void grow(int helpers) {  // under mutex_
        while (n_threads_ < helpers) {
            try {
                std::thread([this] { serve(); }).detach();
            } catch (const std::system_error&) {
                return;  // no more threads to be had: the caller does the work
            }
            ++n_threads_;
        }
    }

    void remove(std::deque<Job*>::iterator it) {  // under mutex_
        jobs_.erase(it);
        pending_.fetch_sub(1, std::memory_order_release);
    }

    void serve() {
        may_probe = false;
        while (true) {
            for (int spin = 0; spin < kSpins && pending_.load(std::memory_order_acquire) == 0; ++spin) relax();
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return !jobs_.empty(); });
            Job& job = *jobs_.front();
            if (--job.joinable <= 0 || job.is_drained()) remove(jobs_.begin());
            job.workers.fetch_add(1, std::memory_order_relaxed);
            lock.unlock();
            job.work();
            lock.lock();
            // Under the lock, so that the caller cannot return (and the job vanish) between this and the notification.
            if (job.workers.fetch_sub(1, std::memory_order_release) == 1) left_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable left_;
    std::deque<Job*> jobs_;
    std::atomic<int> pending_{0};
    int n_threads_ = 0;
};

// Runs the tasks one by one on whichever of n_lanes threads is free.
template <class Body>
void run_tasks(std::size_t n_tasks, std::size_t n_lanes, Body& body) {
    Job job(
        n_tasks, [](void* context, std::size_t task) { (*static_cast<Body*>(context))(task); },
        const_cast<void*>(static_cast<const void*>(&body)), static_cast<int>(n_lanes) - 1);
    Pool::instance().run(job);
    job.rethrow();
}

}  // namespace detail

// Calls body(task) for every task in [0, n_tasks), on at most `threads` threads, and returns when all are done. The first
// exception of a task is thrown here; tasks not yet begun are then dropped. Ctrl-C arrives the same way.
template <class Body>
void parallel_for(std::size_t n_tasks, Threads threads, Body&& body, Schedule schedule = Schedule::kDynamic) {
    const auto n_lanes = std::min<std::size_t>(n_tasks, static_cast<std::size_t>(std::max(threads.count, 1)));
    const auto run = [&](std::size_t first, std::size_t last) {
        for (std::size_t task = first; task < last; ++task) {
            checkpoint();
            body(task);
        }
    };
    if (n_lanes <= 1 || detail::inside_parallel) return run(0, n_tasks);
    if (schedule == Schedule::kDynamic) return detail::run_tasks(n_tasks, n_lanes, body);
    const Chunks lanes{n_tasks, n_lanes};
    const auto run_lane = [&](std::size_t lane) { run(lanes.begin(lane), lanes.end(lane)); };
    detail::run_tasks(n_lanes, n_lanes, run_lane);
}

}  // namespace mercer
