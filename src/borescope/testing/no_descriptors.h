// For tests of what is said where the system gives no more descriptors.
#pragma once

#include <sys/resource.h>

namespace borescope::internal {

// As long as it exists, this process can open nothing. Where virtual functions are called, do
// without: UndefinedBehaviorSanitizer looks at objects through a pipe, which needs descriptors.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace borescope::internal
