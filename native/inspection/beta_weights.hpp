// The weights of coalitions by their size.
#pragma once

#include <algorithm>
#include <cstddef>

namespace mercer::inspection {

// a! b! / (a + b + 1)!, which is the integral of t^a (1 - t)^b; from a table where a and b are small.
class BetaWeights {
   public:
    BetaWeights() {
        for (std::size_t a = 0; a < kSize; ++a)
            for (std::size_t b = 0; b < kSize; ++b) table_[a * kSize + b] = of(a, b);
    }
    double operator()(std::size_t a, std::size_t b) const { return a < kSize && b < kSize ? table_[a * kSize + b] : of(a, b); }

   private:
    static constexpr std::size_t kSize = 32;

    static double of(std::size_t a, std::size_t b) {
        double binomial = 1;
        for (std::size_t i = 1; i <= std::min(a, b); ++i)
            binomial *= static_cast<double>(std::max(a, b) + i) / static_cast<double>(i);
        return 1 / (static_cast<double>(a + b + 1) * binomial);
    }

    double table_[kSize * kSize];
};

}  // namespace mercer::inspection
