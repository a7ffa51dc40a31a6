#include "core/files.h"

#include <fcntl.h>
#include <unistd.h>

namespace borescope::inject {

size_t ReadFile(const char* path, char* buffer, size_t capacity) {
  buffer[0] = '\0';
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (file < 0) return 0;
  size_t length = 0;
  while (length + 1 < capacity) {
    const ssize_t count = read(file, buffer + length, capacity - 1 - length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    length += static_cast<size_t>(count);
  }
  buffer[length] = '\0';
  close(file);
  return length;
}

}  // namespace borescope::inject
