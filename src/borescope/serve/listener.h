// A port of this machine that only this machine can reach.
#pragma once

#include <cstdint>
#include <utility>

#include "borescope/base/result.h"

namespace borescope::internal {

class Listener {
 public:
  // Listens on 127.0.0.1; port 0 is any free one. kIo names the address and the cause: another
  // program has the port, or ports below 1024 are for root.
  static Result<Listener> Open(uint16_t port);

  Listener(Listener&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), port_(other.port_) {}
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  // Does not block.
  int descriptor() const { return descriptor_; }
  uint16_t port() const { return port_; }

 private:
  explicit Listener(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
  uint16_t port_ = 0;
};

}  // namespace borescope::internal
