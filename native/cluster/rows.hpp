// Dense or sparse rows as one role: a kernel that is a template over Rows asks for a block of rows and works on the block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "cluster/nearest.hpp"
#include "core/pack.hpp"
#include "core/simd.hpp"
#include "core/views.hpp"

namespace mercer::cluster {

// Dense rows, read through any strides and shifted by a common vector on the way.
template <Real T>
struct DenseRows {
    using Value = T;
    Matrix<const T> x;
    std::span<const T> shift;

    std::size_t rows() const { return x.rows; }
    std::size_t cols() const { return x.cols; }
    static Panels<T> pack(RowMajor<const T> centres) { return Panels<T>(centres); }

    // How many rows to take at a time, so that a block and the collector's state stay in the caches near the core.
    std::size_t block_rows() const {
        constexpr std::size_t kBlockBytes = 24 * 1024;
        const std::size_t fitting = kBlockBytes / std::max<std::size_t>(x.cols * sizeof(T), 1);
        return std::clamp<std::size_t>(fitting / 24 * 24, 48, 192);
    }

    class Block {
       public:
        explicit Block(const DenseRows& source) : source_(source), buffer_(source.block_rows() * source.cols()) {}

        void load(std::span<const std::size_t> rows) {
            n_ = rows.size();
            pack_rows<T, T>(source_.x, rows, source_.shift, buffer_.data(), source_.cols());
        }
        template <class Collector>
        void score(const Panels<T>& panels, Collector& collector) const {
            measure_rows<Measure::kScore>(buffer_.data(), n_, source_.cols(), panels, collector);
        }
        // Squared distances to all centres, to out[row * ld + centre]; ld is the number of centres in whole vectors.
        void squared_distances(const Panels<T>& panels, T* out, std::size_t ld) const {
            WriteAll<T> all{out, ld};
            measure_rows<Measure::kSquared>(buffer_.data(), n_, source_.cols(), panels, all);
        }
        double squared_distance(std::size_t i, const T* centre) const {
            const T* row = buffer_.data() + i * source_.cols();
            double sum = 0;
            for (std::size_t j = 0; j < source_.cols(); ++j) {
                const double difference = static_cast<double>(row[j]) - static_cast<double>(centre[j]);
                sum += difference * difference;
            }
            return sum;
        }
        double squared_norm(std::size_t i) const {
            const T* row = buffer_.data() + i * source_.cols();
            double sum = 0;
            for (std::size_t j = 0; j < source_.cols(); ++j) sum += static_cast<double>(row[j]) * row[j];
            return sum;
        }
        // target += factor * row
        void add_to(std::size_t i, double factor, double* target) const {
            const T* row = buffer_.data() + i * source_.cols();
            for (std::size_t j = 0; j < source_.cols(); ++j) target[j] += factor * static_cast<double>(row[j]);
        }

       private:
        const DenseRows& source_;
        Aligned<T> buffer_;
        std::size_t n_ = 0;
    };
};

// Sparse rows, unshifted (a shift would fill them). All centres form one panel, so that an entry is one pass over a line.
template <Real T>
struct CsrRows {
    using Value = T;
    Csr<T> x;

    std::size_t rows() const { return x.rows; }
    std::size_t cols() const { return x.cols; }
    static Panels<T> pack(RowMajor<const T> centres) { return Panels<T>(centres, static_cast<std::size_t>(-1)); }
    std::size_t block_rows() const { return 64; }

    class Block {
       public:
        explicit Block(const CsrRows& source) : source_(source) {}

        void load(std::span<const std::size_t> rows) { rows_ = rows; }
        template <class Collector>
        void score(const Panels<T>& panels, Collector& collector) {
            using S = Simd<T>;
            scores_.resize(panels.n_vectors() * S::kLanes);
            for (std::size_t i = 0; i < rows_.size(); ++i) {
                score_row(rows_[i], panels);
                for (std::size_t v = 0; v < panels.n_vectors(); ++v) {
                    const typename S::Vector values[1] = {S::load(scores_.data() + v * S::kLanes)};
                    collector.template take<1>(i, v, values);
                }
            }
        }
        void squared_distances(const Panels<T>& panels, T* out, std::size_t ld) {
            scores_.resize(panels.n_vectors() * Simd<T>::kLanes);
            for (std::size_t i = 0; i < rows_.size(); ++i) {
                score_row(rows_[i], panels);
                const auto norm = static_cast<T>(squared_norm(i));
                for (std::size_t c = 0; c < scores_.size(); ++c) out[i * ld + c] = std::max(T{0}, norm + 2 * scores_[c]);
            }
        }
        double squared_distance(std::size_t i, const T* centre) const {
            double sum = 0;
            for (std::size_t j = 0; j < source_.cols(); ++j) sum += static_cast<double>(centre[j]) * centre[j];
            for (std::size_t e = source_.x.begin(rows_[i]); e < source_.x.end(rows_[i]); ++e) {
                const double value = source_.x.values[e];
                const double c = centre[source_.x.columns[e]];
                sum += (value - c) * (value - c) - c * c;
            }
            return std::max(sum, 0.0);
        }
        double squared_norm(std::size_t i) const {
            double sum = 0;
            for (std::size_t e = source_.x.begin(rows_[i]); e < source_.x.end(rows_[i]); ++e)
                sum += static_cast<double>(source_.x.values[e]) * source_.x.values[e];
            return sum;
        }
        void add_to(std::size_t i, double factor, double* target) const {
            for (std::size_t e = source_.x.begin(rows_[i]); e < source_.x.end(rows_[i]); ++e)
                target[source_.x.columns[e]] += factor * static_cast<double>(source_.x.values[e]);
        }

       private:
        void score_row(std::size_t row, const Panels<T>& panels) {
            const T* lines = panels.panel(0);
            std::copy_n(lines, scores_.size(), scores_.data());
            for (std::size_t e = source_.x.begin(row); e < source_.x.end(row); ++e) {
                const T value = source_.x.values[e];
                const T* line = lines + (static_cast<std::size_t>(source_.x.columns[e]) + 1) * scores_.size();
                for (std::size_t c = 0; c < scores_.size(); ++c) scores_[c] -= value * line[c];
            }
        }

        const CsrRows& source_;
        std::span<const std::size_t> rows_;
        std::vector<T> scores_;
    };
};

}  // namespace mercer::cluster
