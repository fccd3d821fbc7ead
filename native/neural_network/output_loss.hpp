// The loss at the output of a network, with its slopes in the raw outputs (before the output's activation).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/chunk_sums.hpp"
#include "core/math.hpp"
#include "core/softmax.hpp"
#include "core/views.hpp"
#include "losses/row_loss.hpp"
#include "neural_network/activations.hpp"

namespace mercer::neural_network {

// What rows are to be fitted to: a class each (softmax), or a value an output.
template <Real T>
struct Targets {
    std::span<const std::int32_t> codes;
    RowMajor<const T> values;
    std::span<const T> weights;  // of rows; empty: all one
};

class OutputLoss {
   public:
    OutputLoss(std::string_view name, double parameter)
        : kind_(name == "softmax"    ? Kind::kSoftmax
                : name == "squared"  ? Kind::kSquared
                : name == "logistic" ? Kind::kLogistic
                                     : Kind::kOther) {
        if (kind_ == Kind::kOther) other_ = losses::make_row_loss(name, parameter);
    }

    bool wants_codes() const { return kind_ == Kind::kSoftmax; }

    // Replaces the raw outputs by weight times the slopes, and returns the sum of weight times loss. O(outputs).
    template <Real T>
    double apply(RowMajor<T> raw, const Targets<T>& targets, Threads threads) const {
        const double work = static_cast<double>(raw.size()) * 8;
        const Chunks chunks = Chunks::of(raw.rows, 1 + 2048 / std::max<std::size_t>(raw.cols, 1), 256);
        return sum_over(chunks, threads.for_work(work), [&](std::size_t chunk) {
            const std::size_t first = chunks.begin(chunk), n = chunks.end(chunk) - first;
            const RowMajor<T> part{raw.row(first), n, raw.cols};
            const auto weights = targets.weights.empty() ? targets.weights : targets.weights.subspan(first, n);
            if (kind_ == Kind::kSoftmax) return softmax<T>(part, targets.codes.subspan(first, n), weights);
            const RowMajor<const T> y{targets.values.row(first), n, raw.cols};
            if (kind_ == Kind::kOther) return other<T>(part, y, weights);
            return kind_ == Kind::kSquared ? elementwise<T>(part, y, weights, squared<T>)
                                           : elementwise<T>(part, y, weights, logistic<T>);
        });
    }

   private:
    enum class Kind { kSoftmax, kSquared, kLogistic, kOther };
    template <Real T>
    using V = typename Simd<T>::Vector;

    // -log softmax(raw)_c, whose slopes are softmax(raw) - 1_c.
    template <Real T>
    static double softmax(RowMajor<T> raw, std::span<const std::int32_t> codes, std::span<const T> weights) {
        Aligned<T> sums(raw.rows);
        Aligned<T> of_class(raw.rows);
        for (std::size_t i = 0; i < raw.rows; ++i) of_class[i] = raw(i, static_cast<std::size_t>(codes[i]));
        const Matrix<const T> x{raw.data, raw.rows, raw.cols, static_cast<std::ptrdiff_t>(raw.cols), 1};
        softmax_rows<T>(x, std::span(sums.data(), raw.rows), raw, {1});
        double total = 0;
        for (std::size_t i = 0; i < raw.rows; ++i) {
            const T weight = weights.empty() ? T{1} : weights[i];
            raw(i, static_cast<std::size_t>(codes[i])) -= 1;
            if (!weights.empty()) scale(raw.row(i), raw.cols, weight);
            if (weight != 0)
                total += static_cast<double>(weight) * (static_cast<double>(sums[i]) - static_cast<double>(of_class[i]));
        }
        return total;
    }

    template <Real T>
    struct Sloped {
        V<T> value, slope;
    };

    // (raw - y)^2 / 2.
    template <Real T>
    static Sloped<T> squared(V<T> y, V<T> raw) {
        const V<T> r = raw - y;
        return {T{0.5} * r * r, r};
    }

    // log(1 + e^raw) - y raw (of losses::Logistic, in the type of the network).
    template <Real T>
    static Sloped<T> logistic(V<T> y, V<T> raw) {
        const V<T> small = math::exp(-math::abs(raw));
        const V<T> inverse = T{1} / (T{1} + small), tail = small * inverse;
        const V<T> missed = raw >= T{0} ? T{1} - y : -y;
        return {math::log1p(small) + missed * raw, raw >= T{0} ? missed - tail : tail + missed};
    }

    template <Real T, class Formula>
    static double elementwise(RowMajor<T> raw, RowMajor<const T> y, std::span<const T> weights, Formula&& formula) {
        if (weights.empty()) return slope_line<T>(raw.data, y.data, raw.size(), formula);  // one long line
        double total = 0;
        for (std::size_t i = 0; i < raw.rows; ++i) {
            const double value = slope_line<T>(raw.row(i), y.row(i), raw.cols, formula);
            if (weights[i] != 0) total += static_cast<double>(weights[i]) * value;
            scale(raw.row(i), raw.cols, weights[i]);
        }
        return total;
    }

    template <Real T, class Formula>
    static double slope_line(T* raw, const T* y, std::size_t n, Formula&& formula) {
        using S = Simd<T>;
        V<T> sum{};
        std::size_t j = 0;
        for (; j + S::kLanes <= n; j += S::kLanes) {
            const Sloped<T> at = formula(S::load(y + j), S::load(raw + j));
            sum += at.value;
            S::store(raw + j, at.slope);
        }
        double total = 0;
        for (std::size_t lane = 0; lane < S::kLanes; ++lane) total += static_cast<double>(sum[lane]);
        if (j == n) return total;
        T rest[2][S::kLanes] = {};
        std::copy(y + j, y + n, rest[0]);
        std::copy(raw + j, raw + n, rest[1]);
        const Sloped<T> at = formula(S::load(rest[0]), S::load(rest[1]));
        for (std::size_t lane = 0; lane < n - j; ++lane) {
            total += static_cast<double>(at.value[lane]);
            raw[j + lane] = at.slope[lane];
        }
        return total;
    }

    // Any other loss, in double precision.
    template <Real T>
    double other(RowMajor<T> raw, RowMajor<const T> y, std::span<const T> weights) const {
        const std::size_t n = raw.size();
        constexpr std::size_t kRoom = Simd<double>::kLanes;
        Aligned<double> targets(n), rows(n + kRoom), slopes(n + kRoom), curvatures(n + kRoom), of_entries(weights.empty() ? 0 : n);
        std::copy_n(y.data, n, targets.data());
        std::fill(std::copy_n(raw.data, n, rows.data()), rows.data() + n + kRoom, 0.0);
        for (std::size_t i = 0; i < weights.size(); ++i) std::fill_n(of_entries.data() + i * raw.cols, raw.cols, weights[i]);
        const double total = other_->apply(targets.data(), weights.empty() ? nullptr : of_entries.data(), rows.data(), n,
                                           slopes.data(), curvatures.data());
        std::transform(slopes.data(), slopes.data() + n, raw.data, [](double slope) { return static_cast<T>(slope); });
        return total;
    }

    // A row of weight zero is absent, whatever its slopes.
    template <Real T>
    static void scale(T* line, std::size_t n, T weight) {
        for (std::size_t j = 0; j < n; ++j) line[j] = weight == 0 ? T{0} : line[j] * weight;
    }

    Kind kind_;
    std::unique_ptr<losses::RowLoss> other_;
};

}  // namespace mercer::neural_network
