// Values of an object that it made itself, or that lie with somebody who outlives it: in a mapped file, say.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace mercer {

template <class T>
class HeldValues {
   public:
    explicit HeldValues(std::size_t count) : own_(count), values_(own_) {}
    explicit HeldValues(std::span<const T> of_another) : values_(of_another) {}
    HeldValues(const HeldValues&) = delete;  // the values of the copy would be those of the original
    HeldValues& operator=(const HeldValues&) = delete;
    ~HeldValues() = default;

    std::size_t size() const { return values_.size(); }
    const T* data() const { return values_.data(); }
    const T& operator[](std::size_t i) const { return values_[i]; }
    std::span<const T> all() const { return values_; }
    T* own() { return own_.data(); }  // where the object that made them writes

   private:
    std::vector<T> own_;
    std::span<const T> values_;
};

}  // namespace mercer
