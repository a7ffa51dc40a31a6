// Small files of /proc, and the order of system calls that a record path may make.
#pragma once

#include <pthread.h>

#include <cerrno>
#include <cstddef>

namespace borescope::inject {

// Reads the beginning of a file into a buffer, which ends in a zero byte; returns the bytes read, 0
// where the file cannot be had.
size_t ReadFile(const char* path, char* buffer, size_t capacity);

// While it lives, the calling thread is not cancelled; afterwards errno is what it was: a program
// must not notice that a range of it was recorded.
class QuietSection {
 public:
  QuietSection() : errno_(errno) { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_); }
  ~QuietSection() {
    pthread_setcancelstate(cancel_state_, nullptr);
    errno = errno_;
  }
  QuietSection(const QuietSection&) = delete;
  QuietSection& operator=(const QuietSection&) = delete;

 private:
  int errno_;
  int cancel_state_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace borescope::inject
