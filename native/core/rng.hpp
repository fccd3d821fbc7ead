// Counter-based random numbers: Philox4x32-10 (Salmon et al., SC 2011). A stream is named by (seed, task), so what a task
// draws does not depend on which thread runs it, nor on what other tasks draw.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace mercer {

class Philox {
   public:
    using Block = std::array<std::uint32_t, 4>;

    Philox(std::uint64_t seed, std::uint64_t task) : key_{low(seed), high(seed)}, counter_{0, 0, low(task), high(task)} {}

    // The bijection itself: ten rounds over one counter.
    static Block encrypt(Block counter, std::array<std::uint32_t, 2> key) {
        for (int round = 0; round < 10; ++round) {
            const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
            const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
            counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
            key[0] += 0x9E3779B9;
            key[1] += 0xBB67AE85;
        }
        return counter;
    }

    std::uint32_t next_u32() {
        if (used_ == 4) {
            block_ = encrypt(counter_, key_);
            if (++counter_[0] == 0) ++counter_[1];
            used_ = 0;
        }
        return block_[used_++];
    }

    std::uint64_t next_u64() {
        const std::uint64_t upper = next_u32();
        return (upper << 32) | next_u32();
    }

    // Uniform on [0, 1) with 53 random bits.
    double uniform() { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }

    // Uniform on {0, …, n - 1} without bias (Lemire's rejection); n >= 1.
    std::uint32_t below(std::uint32_t n) {
        std::uint64_t product = std::uint64_t{next_u32()} * n;
        if (low(product) < n) {
            const std::uint32_t threshold = (0u - n) % n;
            while (low(product) < threshold) product = std::uint64_t{next_u32()} * n;
        }
        return high(product);
    }

   private:
    static std::uint32_t low(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
    static std::uint32_t high(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }

    std::array<std::uint32_t, 2> key_;
    Block counter_;
    Block block_{};
    int used_ = 4;
};

// A standard normal number: Box and Muller's cosine, so that what is drawn depends on nothing that was drawn before.
inline double draw_normal(Philox& random) {
    const double radius = std::sqrt(-2.0 * std::log1p(-random.uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * random.uniform());
}

}  // namespace mercer
