// The program: everything is in commands.cc. Here is the only place that catches exceptions; they
// are third parties' (the standard library out of memory), as ours travel in Results.
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#endif

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "borescope/cli/commands.h"

namespace {

// An exception that passes through glibc (RE2 out of memory inside pthread_once) makes it look for
// libgcc, and end the process where that takes memory that is not there. So it looks now.
void LetGlibcFindLibgcc() {
#if __has_include(<execinfo.h>)
  void* frame = nullptr;
  backtrace(&frame, 1);
#endif
}

// The stack of the first thread, and of others, which get as much as the limit says (ulimit -s).
constexpr size_t kStackBytes = size_t{256} * 1024;

bool MayHaveStack() {
  struct rlimit limit{};
  return getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= 2 * kStackBytes;
}

// The stack of the first thread grows as it is used, and where no memory is left for that the
// process ends without a message. So what loading takes of it (64 KiB for inflating) is taken now.
[[gnu::noinline]] void LetStackGrow() {
  constexpr size_t kPage = 4096;
  [[maybe_unused]] volatile char pages[kStackBytes];
  for (size_t at = 0; at < kStackBytes; at += kPage) {
    pages[at] = 0;
  }
}

// Takes no memory: there may be none for a message that has to be put together.
int FailAtOnce(std::string_view line) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  return borescope::cli::kFailed;
}

// Before all objects that are made before main(), of CLI11 for example, and could not say what they
// lack: whether there is memory for these, for the stack, and for a message.
[[gnu::constructor(101)]] void HaveMemoryToStart() {
  constexpr size_t kBytes = kStackBytes + size_t{512} * 1024;
  void* const room =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) {
    _exit(FailAtOnce(
        "borescope: out of memory before it began; raise what the system allows (ulimit -a)\n"));
  }
  munmap(room, kBytes);
}

// The exit status of a command line, and what escapes from libraries as a message.
int RunWords(const std::vector<std::string>& words) {
  namespace cli = borescope::cli;
  try {
    return cli::RunCommandLine(words);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::system_error& error) {
    return cli::Fail(std::string("the system refuses: ") + error.what() +
                     "; end other programs or raise its limits (ulimit -a)");
  } catch (const std::exception& error) {
    return cli::Fail(std::string("internal error: ") + error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!MayHaveStack()) {
    return FailAtOnce(
        "borescope: stacks may not grow to 512 KiB; raise the limit (ulimit -s 8192)\n");
  }
  LetGlibcFindLibgcc();
  LetStackGrow();
  // A reader that goes away becomes an error of write(), which is distinguished from others.
  std::signal(SIGPIPE, SIG_IGN);
  // And so does a limit on the size of files.
  std::signal(SIGXFSZ, SIG_IGN);
  // Where it is ignored, as some launchers of jobs leave it, the system forgets how children end.
  std::signal(SIGCHLD, SIG_DFL);
  try {
    return RunWords(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const std::bad_alloc&) {
    return FailAtOnce(
        "borescope: out of memory; lower --threads, select less, or raise --memory-limit or what "
        "the system allows (ulimit -a)\n");
  }
}
