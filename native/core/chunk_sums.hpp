// What the chunks of a loop add up. Each has a part of its own, on cache lines of its own, and the parts are joined in the order of
// the chunks: the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"

namespace mercer {

// A value a chunk.
template <class Part>
class ChunkParts {
   public:
    explicit ChunkParts(const Chunks& chunks, const Part& start = {})
        : slots_(std::max<std::size_t>(chunks.count, 1), Slot{start}) {}

    Part& operator[](std::size_t chunk) { return slots_[chunk].part; }

    // Joins all parts to the first, by join(first, part), and returns it.
    template <class Join>
    Part joined(Join&& join) {
        Part& first = slots_[0].part;
        for (std::size_t chunk = 1; chunk < slots_.size(); ++chunk) join(first, std::as_const(slots_[chunk].part));
        return std::move(first);
    }

   private:
    struct alignas(64) Slot {
        Part part;
    };
    std::vector<Slot> slots_;
};

// The sum of what body(chunk) returns.
template <class Body>
double sum_over(const Chunks& chunks, Threads threads, Body&& body) {
    ChunkParts<double> parts(chunks);
    parallel_for(chunks.count, threads, [&](std::size_t chunk) { parts[chunk] = body(chunk); });
    return parts.joined([](double& sum, double part) { sum += part; });
}

// An array of sums a chunk, of zeros at first.
template <class T>
class ChunkSums {
   public:
    ChunkSums(const Chunks& chunks, std::size_t size) : ChunkSums(chunks.count, size, nullptr) {}
    // The first array is `result` itself, which then holds the total: a single chunk needs no memory of its own.
    ChunkSums(const Chunks& chunks, std::span<T> result) : ChunkSums(chunks.count, result.size(), result.data()) {}

    T* operator[](std::size_t chunk) { return chunk == 0 ? first_ : sums_.data() + (chunk - n_given_) * stride_; }

    // Adds all arrays to the first, and returns it.
    std::span<T> total() {
        for (std::size_t chunk = 1; chunk < count_; ++chunk) {
            const T* part = (*this)[chunk];
            for (std::size_t i = 0; i < size_; ++i) first_[i] += part[i];
        }
        return {first_, size_};
    }

   private:
    static constexpr std::size_t kLine = 64 / sizeof(T);

    ChunkSums(std::size_t count, std::size_t size, T* given)
        : count_(std::max<std::size_t>(count, 1)),
          size_(size),
          stride_((size + kLine - 1) / kLine * kLine),
          n_given_(given != nullptr ? 1 : 0),
          sums_((count_ - n_given_) * stride_),
          first_(given != nullptr ? given : sums_.data()) {
        std::fill_n(sums_.data(), sums_.size(), T{});
        std::fill_n(first_, size_, T{});
    }

    std::size_t count_;
    std::size_t size_;
    std::size_t stride_;
    std::size_t n_given_;  // of the arrays: none, or the first
    Aligned<T> sums_;
    T* first_;
};

}  // namespace mercer
