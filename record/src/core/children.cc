#include "core/children.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cstring>

#include "core/files.h"
#include "core/text.h"

namespace borescope::inject {

namespace {

const char* LastPart(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

}  // namespace

bool HasName(const char* pattern) {
  char path[1024] = "";
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length > 0 && MatchesPattern(pattern, LastPart(path))) return true;
  // The first argument, up to its zero byte.
  if (ReadFile("/proc/self/cmdline", path, sizeof(path)) != 0 &&
      MatchesPattern(pattern, LastPart(path))) {
    return true;
  }
  // Of a script with "#!", the system has its name here.
  char name[17] = "";
  prctl(PR_GET_NAME, name, 0, 0, 0);
  return MatchesPattern(pattern, name);
}

bool IsFirstProgram(uint32_t launcher_pid) {
  return launcher_pid != 0 && static_cast<uint32_t>(getppid()) == launcher_pid;
}

}  // namespace borescope::inject
