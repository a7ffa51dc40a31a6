#include "core/followers.h"

#include <atomic>
#include <cstddef>

namespace borescope::inject {

namespace {
constexpr size_t kMostFollowers = 4;
std::atomic<Follow> followers[kMostFollowers];
}  // namespace

void AddFollower(Follow follow) {
  for (std::atomic<Follow>& place : followers) {
    Follow none = nullptr;
    if (place.compare_exchange_strong(none, follow) || none == follow) return;
  }
}

void CallFollowers(bool is_recording) {
  for (const std::atomic<Follow>& place : followers) {
    const Follow follow = place.load();
    if (follow == nullptr) return;
    follow(is_recording);
  }
}

}  // namespace borescope::inject
