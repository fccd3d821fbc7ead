// What is kept of the points that a search offers for one query: the nearest, all within a radius, or their count.
//
// A collector has
//   limit()                 points of a larger rank are of no use
//   may_take(rank, row)     whether a point of this rank may be, given the least row number that it may have
//   offer(rank, row)        takes a point, or does not
// Order is by rank and then by row number, in whatever order points are offered.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace mercer::neighbors {

using Row = std::int32_t;
inline constexpr Row kNoRow = -1;

struct Neighbor {
    double rank;
    Row row;

    friend bool operator<(const Neighbor& a, const Neighbor& b) { return a.rank < b.rank || (a.rank == b.rank && a.row < b.row); }
};

// The k nearest. Few are kept sorted; of many, twice as many are kept and cut back by selection.
class NearestFew {
   public:
    static constexpr bool kIsOrdered = true;  // near points first make the limit fall
    static constexpr std::size_t kFew = 40;

    explicit NearestFew(std::size_t k) : k_(k) { kept_.reserve(k <= kFew ? k + 1 : 2 * k); }

    // Begins again; `left_out` is a row that does not count.
    void start(Row left_out) {
        kept_.clear();
        worst_ =
            k_ == 0 ? Neighbor{-1, kNoRow} : Neighbor{std::numeric_limits<double>::infinity(), std::numeric_limits<Row>::max()};
        left_out_ = left_out;
    }

    std::size_t n_wanted() const { return k_; }
    Row left_out() const { return left_out_; }
    double limit() const { return worst_.rank; }
    bool may_take(double rank, Row first_row) const {
        return rank < worst_.rank || (rank == worst_.rank && first_row < worst_.row);
    }

    void offer(double rank, Row row) {
        const Neighbor found{rank, row};
        if (!(found < worst_) || row == left_out_) return;
        if (k_ <= kFew) {
            insert(found);
        } else {
            kept_.push_back(found);
            if (kept_.size() == 2 * k_) cut();
        }
    }

    // What was found, nearest first.
    const std::vector<Neighbor>& finish();

   private:
    void insert(const Neighbor& found) {
        kept_.push_back(found);
        std::size_t place = kept_.size() - 1;
        for (; place > 0 && found < kept_[place - 1]; --place) kept_[place] = kept_[place - 1];
        kept_[place] = found;
        if (kept_.size() > k_) kept_.pop_back();
        if (kept_.size() == k_) worst_ = kept_.back();
    }
    void cut();

    std::size_t k_;
    Neighbor worst_{};
    Row left_out_ = kNoRow;
    std::vector<Neighbor> kept_;
};

// All within a radius, appended to `found`.
struct AllWithin {
    static constexpr bool kIsOrdered = false;

    double radius;  // as a rank
    Row left_out;
    std::vector<Neighbor>* found;

    double limit() const { return radius; }
    bool may_take(double rank, Row) const { return rank <= radius; }
    void offer(double rank, Row row) const {
        if (row != left_out) found->push_back({rank, row});
    }
};

struct CountOfWithin {
    static constexpr bool kIsOrdered = false;

    double radius;
    std::int64_t count = 0;

    double limit() const { return radius; }
    bool may_take(double rank, Row) const { return rank <= radius; }
    void offer(double, Row) { ++count; }
};

}  // namespace mercer::neighbors
