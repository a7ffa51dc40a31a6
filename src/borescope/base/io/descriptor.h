// Descriptor: a file descriptor that is closed with the scope; one below 0, which open() gives for
// an error, is not. One owner, any thread.
#pragma once

#include <unistd.h>

namespace borescope::internal {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) {
      close(number_);
    }
  }
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace borescope::internal
