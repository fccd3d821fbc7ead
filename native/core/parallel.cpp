// One pool serves the process. A caller publishes a job (a number of tasks and a function of the task's index), works on it
// itself, and idle workers join in. So many Python threads may call at once, nothing waits for a worker that never comes, and a
// job started inside another runs serially. After fork() the child starts with an empty pool of its own.
#include "core/parallel.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace mercer::detail {

namespace {

// Whether this thread is inside a parallel loop, so that a loop within it runs serially.
constinit thread_local bool inside_parallel = false;

using std::chrono::steady_clock;

constexpr std::size_t kCacheLine = 64;
constexpr std::chrono::microseconds kSpinTime{40};  // an iterative fit finds its workers awake

// Tells the processor that this is a loop that waits. No system call: those of 64 idle threads would keep the kernel busy.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");  // `yield` ends at once on most processors
#elif defined(__arm__)
    asm volatile("yield" ::: "memory");
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

// Waits for a short while; whether the condition came true.
template <class Condition>
bool spin_until(Condition&& condition) {
    const auto end = steady_clock::now() + kSpinTime;
    do {
        for (int i = 0; i < 64; ++i) {
            if (condition()) return true;
            relax();
        }
    } while (steady_clock::now() < end);
    return false;
}

// A job lives on its caller's stack. `places` changes under the pool's mutex only.
class Job {  // NOLINT(clang-analyzer-optin.performance.Padding): what threads write to lies apart
   public:
    using Body = void (*)(void* context, std::size_t task);

    Job(std::size_t n_tasks, std::size_t n_lanes, Body body, void* context)
        : places(static_cast<int>(n_lanes) - 1), n_tasks_(n_tasks), n_lanes_(n_lanes), body_(body), context_(context) {}

    // Takes tasks until none is left or one has failed.
    void work() noexcept {
        const bool outer = std::exchange(inside_parallel, true);
        has_job_failed = &failed_;
        try {
            for (auto [task, end] = take(); task < end; std::tie(task, end) = take())
                for (; task < end; ++task) {
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
    void join() { workers_.fetch_add(1, std::memory_order_relaxed); }  // under the pool's mutex
    // Whether the last worker has left. The caller may return at that moment, and the job is gone.
    bool leave() { return workers_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
    bool is_deserted() const { return workers_.load(std::memory_order_acquire) == 0; }
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

    int places;  // how many more workers may join

   private:
    // Many tasks are taken several at a time, so that the counter does not become what 64 threads wait for; towards the end one
    // by one, so that all end together.
    std::pair<std::size_t, std::size_t> take() {
        const std::size_t seen = next_.load(std::memory_order_relaxed);
        const std::size_t left = seen < n_tasks_ ? n_tasks_ - seen : 0;
        const std::size_t count = std::clamp<std::size_t>(left / (8 * n_lanes_), 1, 64);
        const std::size_t first = next_.fetch_add(count, std::memory_order_relaxed);
        return {std::min(first, n_tasks_), std::min(first + count, n_tasks_)};
    }

    void fail() {  // within a handler
        next_.store(n_tasks_, std::memory_order_relaxed);
        if (!failed_.exchange(true)) error_ = std::current_exception();
    }

    std::size_t n_tasks_;
    std::size_t n_lanes_;
    Body body_;
    void* context_;
    std::exception_ptr error_;
    std::atomic<bool> failed_{false};
    // What all threads write to, apart from what they only read.
    alignas(kCacheLine) std::atomic<std::size_t> next_{0};
    alignas(kCacheLine) std::atomic<int> workers_{0};  // how many have joined and not left
};

// How many places the jobs have that no worker has claimed, and how many idle workers look for one without sleep: one number, so
// that a claim changes both. Claims come before the jobs are looked at, so that of 60 idle workers only those go for the mutex
// for whom there is a place. A job that ends takes its places back; where one of them was claimed, the count is below zero until
// its claimant has found nothing.
class Places {
   public:
    void add(int count) { state_.fetch_add(static_cast<std::uint64_t>(std::int64_t{count}) << 32, std::memory_order_release); }
    void begin_search() { state_.fetch_add(1, std::memory_order_relaxed); }
    void end_search() { state_.fetch_sub(1, std::memory_order_relaxed); }
    // By one who searches, who then does so no more.
    bool claim() {
        std::uint64_t state = state_.load(std::memory_order_relaxed);
        while (open(state) > 0)
            if (state_.compare_exchange_weak(state, state - (std::uint64_t{1} << 32) - 1, std::memory_order_acquire)) return true;
        return false;
    }
    // How many sleepers there is work for.
    int lacking() const {
        const std::uint64_t state = state_.load(std::memory_order_relaxed);
        return open(state) - static_cast<int>(state & 0xFFFFFFFFu);
    }

   private:
    static int open(std::uint64_t state) { return static_cast<int>(static_cast<std::int64_t>(state) >> 32); }
    alignas(kCacheLine) std::atomic<std::uint64_t> state_{0};
};

class Pool {  // NOLINT(clang-analyzer-optin.performance.Padding)
   public:
    static Pool& instance() {
        const std::lock_guard lock(creation_mutex());
        if (current == nullptr) {
            current = new Pool;  // never destroyed: its workers may outlive static destructors
#if defined(__unix__) || defined(__APPLE__)
            static const int registered = pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
            (void)registered;
#endif
        }
        return *current;
    }

    void run(Job& job) {
        int n_woken;
        {
            const std::lock_guard lock(mutex_);
            grow(job.places);
            jobs_.push_back(&job);
            places_.add(job.places);
            n_woken = choose_sleepers();
        }
        wake(n_woken);
        job.work();
        {
            const std::lock_guard lock(mutex_);
            if (const auto it = std::find(jobs_.begin(), jobs_.end(), &job); it != jobs_.end()) remove(it);
        }
        if (spin_until([&] { return job.is_deserted(); })) return;
        std::unique_lock lock(mutex_);
        while (!left_.wait_for(lock, kProbeInterval, [&] { return job.is_deserted(); })) {
            lock.unlock();
            job.probe();
            lock.lock();
        }
    }

   private:
    static std::mutex& creation_mutex() {
        static std::mutex& mutex = *new std::mutex;  // never destroyed, for the same reason
        return mutex;
    }
    static void before_fork() { creation_mutex().lock(); }
    static void after_fork_in_parent() { creation_mutex().unlock(); }
    static void after_fork_in_child() {
        current = nullptr;  // the parent's threads do not exist here and its locks may be held: leave both behind
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
        places_.add(-(*it)->places);
        jobs_.erase(it);
    }

    // How many to wake, under mutex_: no more than there are places for, less those who look for one already or are on their way.
    // Two at a time: they wake the next, so that the caller of 64 threads begins to work at once.
    int choose_sleepers() {
        const int n = std::clamp(std::min(n_asleep_, places_.lacking()) - n_waking_, 0, 2);
        n_waking_ += n;
        return n;
    }
    void wake(int count) {
        for (; count > 0; --count) wake_.notify_one();
    }

    // Waits until there is a place, and claims it.
    void claim_place() {
        places_.begin_search();
        if (spin_until([&] { return places_.claim(); })) return;
        std::unique_lock lock(mutex_);
        while (!places_.claim()) {
            places_.end_search();
            ++n_asleep_;
            wake_.wait(lock);
            --n_asleep_;
            n_waking_ = std::max(n_waking_ - 1, 0);
            places_.begin_search();
        }
    }

    void serve() {
        may_probe = false;
        while (true) {
            claim_place();
            std::unique_lock lock(mutex_);
            if (jobs_.empty()) {  // the job ended before this worker came
                places_.add(1);
                continue;
            }
            Job& job = *jobs_.front();
            job.join();
            if (--job.places == 0 || job.is_drained()) remove(jobs_.begin());
            const int n_woken = choose_sleepers();
            lock.unlock();
            wake(n_woken);
            job.work();
            if (!job.leave()) continue;
            lock.lock();  // a caller that has looked is asleep by now, and hears this
            lock.unlock();
            left_.notify_all();
        }
    }

    inline static Pool* current = nullptr;

    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable left_;
    std::deque<Job*> jobs_;
    Places places_;
    int n_threads_ = 0;
    int n_asleep_ = 0;
    int n_waking_ = 0;  // of those: woken, and not yet up
};

void run_on_pool(std::size_t n_tasks, std::size_t n_lanes, Job::Body body, void* context) {
    Job job(n_tasks, n_lanes, body, context);
    Pool::instance().run(job);
    job.rethrow();
}

}  // namespace

void run_tasks(std::size_t n_tasks, Threads threads, Schedule schedule, void (*body)(void* context, std::size_t task),
               void* context) {
    const auto run = [&](std::size_t first, std::size_t last) {
        for (std::size_t task = first; task < last; ++task) {
            checkpoint();
            body(context, task);
        }
    };
    const auto n_lanes = std::min<std::size_t>(n_tasks, static_cast<std::size_t>(std::max(threads.count, 1)));
    if (n_lanes <= 1 || inside_parallel) return run(0, n_tasks);
    if (schedule == Schedule::kDynamic) return run_on_pool(n_tasks, n_lanes, body, context);
    const Chunks lanes{n_tasks, n_lanes};
    auto run_lane = [&](std::size_t lane) { run(lanes.begin(lane), lanes.end(lane)); };
    run_on_pool(
        n_lanes, n_lanes, [](void* lane_of, std::size_t lane) { (*static_cast<decltype(run_lane)*>(lane_of))(lane); }, &run_lane);
}

}  // namespace mercer::detail
