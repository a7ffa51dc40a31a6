// How many threads a target works with.
#pragma once

namespace fuzz {

// Several are needed for ThreadSanitizer to see anything; one is faster.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr int kThreads = 4;
#define BORESCOPE_FUZZ_THREADS
#endif
#endif
#ifndef BORESCOPE_FUZZ_THREADS
inline constexpr int kThreads = 1;
#endif

}  // namespace fuzz
