// ColumnData: the values of one column of a table of a trace, one after the other. As std::vector,
// but it can also show values that lie in memory of somebody else, such as a mapped file, without a
// copy of them: a view. A view is read like any other column; what makes it longer or shorter
// copies it first. Values of a view must not be assigned before Own(). Large columns grow and
// shrink without a copy.
//
// Thread-safety is that of std::vector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "borescope/base/check.h"

namespace borescope::internal {

// The memory of columns (column_data.h). Large blocks are mapped by the system for themselves: they
// grow and shrink without a copy, pages that were never written take nothing, and what is freed
// goes back at once. Small ones come from the heap.
//
// All are functions of a block and the size it was made with; any thread may call them, of one
// block one at a time. Memory that runs out is std::bad_alloc, and changes nothing.

// From this size on a block is large.
inline constexpr size_t kLargeBlockBytes = size_t{256} << 10;

// The size to ask for when a block has to grow: large ones by a quarter, as growing costs them
// little, small ones to the double.
size_t GrownBlockBytes(size_t bytes, size_t needed);

// A block with `new_bytes`, which begins with the first `used` bytes of `block`, if it has as many;
// `block` is gone. A block of 0 bytes is nullptr, in both directions. What is beyond is not
// defined.
void* ResizeBlock(void* block, size_t bytes, size_t used, size_t new_bytes);
void FreeBlock(void* block, size_t bytes) noexcept;

// Whether all of so many bytes are 0.
bool AreZeros(const void* begin, size_t bytes);
// Makes all of them 0, without writing what is so already: pages of large blocks that were never
// written stay such, and take no memory.
void MakeZeros(void* begin, size_t bytes);

template <class T>
class ColumnData {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using pointer = T*;
  using const_pointer = const T*;
  using iterator = T*;
  using const_iterator = const T*;

  ColumnData() = default;
  explicit ColumnData(size_t size, const T& value = T()) { resize(size, value); }
  ColumnData(std::initializer_list<T> values) : ColumnData(values.begin(), values.end()) {}
  template <std::input_iterator It>
  ColumnData(It first, It last) {
    assign(first, last);
  }
  ColumnData(const ColumnData& other) : ColumnData(other.begin(), other.end()) {}
  ColumnData(ColumnData&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  ColumnData& operator=(const ColumnData& other) {
    if (this != &other) {
      assign(other.begin(), other.end());
    }
    return *this;
  }
  ColumnData& operator=(ColumnData&& other) noexcept {
    ColumnData(std::move(other)).swap(*this);
    return *this;
  }
  ~ColumnData() { Free(); }

  // Shows `values`, which must outlive the column and all that it is moved to. A copy has values of
  // its own.
  static ColumnData View(std::span<const T> values) {
    ColumnData view;
    view.data_ = const_cast<T*>(values.data());  // NOLINT: only read, see above
    view.size_ = values.size();
    return view;
  }
  // No values, with the memory of another column, which is then empty: what is written there again
  // costs less than new memory. Has none if values of this type do not fill that memory exactly.
  template <class U>
  static ColumnData InMemoryOf(ColumnData<U>&& other) {
    ColumnData column;
    if (const size_t bytes = other.capacity_ * sizeof(U); bytes % sizeof(T) == 0 && bytes != 0) {
      column.data_ = reinterpret_cast<T*>(std::exchange(other.data_, nullptr));
      column.capacity_ = bytes / sizeof(T);
      other.capacity_ = 0;
    }
    other = ColumnData<U>();
    return column;
  }
  bool is_view() const { return capacity_ == 0 && size_ != 0; }
  // Copies the values of a view, so that they can be changed.
  void Own() {
    if (is_view()) {
      Move(size_);
    }
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Of memory of its own: 0 for a view.
  size_t capacity() const { return capacity_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T* cbegin() const { return data_; }
  const T* cend() const { return data_ + size_; }
  auto rbegin() const { return std::make_reverse_iterator(end()); }
  auto rend() const { return std::make_reverse_iterator(begin()); }

  T& operator[](size_t i) {
    BS_DCHECK(i < size_);
    return data_[i];
  }
  const T& operator[](size_t i) const {
    BS_DCHECK(i < size_);
    return data_[i];
  }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }

  void push_back(T value) {
    if (size_ >= capacity_) {
      GrowByOne();
    }
    data_[size_++] = value;
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    push_back(T{std::forward<Args>(args)...});
    return back();
  }
  void pop_back() {
    Own();
    BS_DCHECK(size_ > 0);
    --size_;
  }
  void reserve(size_t values) {
    if (values > capacity_) {
      Move(values);
    }
  }
  void resize(size_t size, const T& value = T()) {
    const T filler = value;
    const size_t before = size_;
    ResizeForOverwrite(size);
    if (size > before) {
      std::fill(data_ + before, data_ + size, filler);
    }
  }
  // The same, but values that are new must be assigned before they are read.
  void ResizeForOverwrite(size_t size) {
    Own();
    if (size > capacity_) {
      Grow(size);
    }
    size_ = size;
  }
  // More values whose bytes are all 0. Of large columns they take no memory before others are
  // written beside them.
  void AppendZeros(size_t more) {
    if (more == 0) {
      return;  // there may be no memory yet
    }
    const size_t before = size_;
    ResizeForOverwrite(size_ + more);
    if (size_ * sizeof(T) < kLargeBlockBytes) {
      std::memset(static_cast<void*>(data_ + before), 0, more * sizeof(T));
    } else {
      MakeZeros(data_ + before, more * sizeof(T));
    }
  }
  void clear() {
    if (is_view()) {
      data_ = nullptr;
    }
    size_ = 0;
  }
  void assign(size_t size, const T& value) {
    const T filler = value;
    clear();
    resize(size, filler);
  }
  template <std::input_iterator It>
  void assign(It first, It last) {
    clear();
    insert(end(), first, last);
  }
  // Values of another range, which is no part of this column.
  template <std::input_iterator It>
  void insert(const T* place, It first, It last) {
    const auto at = static_cast<size_t>(place - data_);
    const auto more = static_cast<size_t>(std::distance(first, last));
    Open(at, more);
    std::copy(first, last, data_ + at);
  }
  void insert(const T* place, size_t more, T value) {
    const auto at = static_cast<size_t>(place - data_);
    Open(at, more);
    std::fill_n(data_ + at, more, value);
  }
  void erase(const T* first, const T* last) {
    const auto at = static_cast<size_t>(first - data_);
    const auto count = static_cast<size_t>(last - first);
    Own();
    std::copy(data_ + at + count, data_ + size_, data_ + at);
    size_ -= count;
  }
  void shrink_to_fit() {
    if (capacity_ > size_) {
      Move(size_);
    }
  }
  void swap(ColumnData& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  friend bool operator==(const ColumnData& a, const ColumnData& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  template <class U>
  friend bool operator==(const ColumnData& a, const std::vector<U>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  template <class U>
  friend class ColumnData;

  static constexpr size_t kFirstValues = 64 / sizeof(T) + 1;

  void Free() {
    if (capacity_ != 0) {
      FreeBlock(data_, capacity_ * sizeof(T));
    }
  }

  // To memory of its own with room for so many values, no fewer than there are.
  void Move(size_t capacity) {
    if (capacity > std::numeric_limits<size_t>::max() / 4 / sizeof(T)) {
      throw std::bad_alloc();
    }
    const bool is_own = capacity_ != 0;
    auto* const moved =
        static_cast<T*>(ResizeBlock(is_own ? data_ : nullptr, capacity_ * sizeof(T),
                                    is_own ? size_ * sizeof(T) : 0, capacity * sizeof(T)));
    if (is_view()) {
      std::memcpy(moved, data_, size_ * sizeof(T));
    }
    data_ = moved;
    capacity_ = capacity;
  }

  // Room for so many values, and for some more.
  void Grow(size_t values) {
    Move(std::max(values, GrownBlockBytes(size_ * sizeof(T), values * sizeof(T)) / sizeof(T)));
  }

  // Not in the code of its callers: adding a value is to be small enough for that.
  [[gnu::noinline]] void GrowByOne() { Grow(std::max(kFirstValues, size_ + 1)); }

  // Room for `more` values at a place; those after it move.
  void Open(size_t at, size_t more) {
    const size_t rest = size_ - at;
    Own();
    if (size_ + more > capacity_) {
      Grow(size_ + more);
    }
    if (rest != 0) {
      std::memmove(data_ + at + more, data_ + at, rest * sizeof(T));
    }
    size_ += more;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;  // of its own; 0 with values: a view
};

}  // namespace borescope::internal
