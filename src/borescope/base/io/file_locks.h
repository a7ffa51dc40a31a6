// What a lock that was refused means: that somebody else holds it, that the system failed, or that
// the file system has no locks, as Lustre has none unless it is mounted with -o flock.
#pragma once

#include <cerrno>

namespace borescope::internal {

// Of flock(2), or fcntl(2) with a lock: whether this error says that no process can lock a file
// there. Any other one, such as ENOLCK, leaves open who holds what. Any thread.
inline bool MeansNoLocks(int error) {
  return error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

}  // namespace borescope::internal
