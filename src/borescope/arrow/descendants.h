// Descendants: the children and the dictionary of an ArrowSchema or ArrowArray, which live in the
// private data of their parent. Those that nobody has moved out by then are released with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "borescope/arrow.h"

namespace borescope::internal {

template <class Struct>
class Descendants {
 public:
  Descendants() = default;
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;
  ~Descendants() {
    for (Struct& child : children_) {
      Release(child);
    }
    Release(dictionary_);
  }

  // Makes room for `count` children, all of them empty. REQUIRES: called at most once.
  void Resize(size_t count) {
    children_.resize(count);
    pointers_.reserve(count);
    for (Struct& child : children_) {
      pointers_.push_back(&child);
    }
  }
  Struct& child(size_t index) { return children_[index]; }
  Struct& dictionary() { return dictionary_; }

  // Points `parent` to all of them, which stay here.
  void Attach(Struct& parent) {
    parent.n_children = static_cast<int64_t>(pointers_.size());
    parent.children = pointers_.empty() ? nullptr : pointers_.data();
    parent.dictionary = dictionary_.release == nullptr ? nullptr : &dictionary_;
  }

 private:
  static void Release(Struct& descendant) {
    if (descendant.release != nullptr) {
      descendant.release(&descendant);
    }
  }

  std::vector<Struct> children_;
  std::vector<Struct*> pointers_;  // what the interface wants: one to each of children_
  Struct dictionary_{};
};

// The release callback of a struct whose private data is a `Data`, allocated by `new`.
template <class Struct, class Data>
void ReleaseWithData(Struct* self) {
  delete static_cast<Data*>(self->private_data);
  self->private_data = nullptr;
  self->release = nullptr;
}

}  // namespace borescope::internal
