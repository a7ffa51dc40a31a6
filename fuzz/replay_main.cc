// Replays inputs through a fuzz target without libFuzzer, as an ordinary test with any compiler.
//
//   borescope_replay_X [--cut=N] [--mutate=N] [--turn=K|commits] PATH...
//
// Each PATH is an input file or a folder of them. With --cut, every input is also replayed damaged:
// cut off at each N-th byte, and with one bit flipped at each N-th byte. With --mutate, it is also
// changed N times by mutators/, from the K-th N on: turn after turn tries other changes, and so
// does "commits", the number of commits so far. A target that returns has passed; one that crashes,
// or trips a sanitizer, has not, and what it was given is in the file that is named then.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mutators/mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// Of sanitizers; nullptr without any.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace {

namespace fs = std::filesystem;

// Sorted, so that a crash always comes at the same input.
std::vector<fs::path> FilesUnder(const fs::path& root) {
  if (!fs::is_directory(root)) return {root};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Made before anything can fail.
const std::string& FailedInputPath() {
  static const std::string path =
      (fs::temp_directory_path() / ("failed_input-" + std::to_string(getpid()))).string();
  return path;
}

const std::vector<uint8_t>* running = nullptr;

// Called within a process that ends: it may rely on little.
void KeepInput() {
  if (const std::vector<uint8_t>* const input = std::exchange(running, nullptr)) {
    const int file =
        open(FailedInputPath().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    [[maybe_unused]] const ssize_t written = write(file, input->data(), input->size());
    close(file);
    for (const std::string_view word :
         {std::string_view("the input that failed is in "), std::string_view(FailedInputPath()),
          std::string_view("\n")}) {
      [[maybe_unused]] const ssize_t said = write(STDERR_FILENO, word.data(), word.size());
    }
  }
}

extern "C" void KeepInputAtSignal(int number) {
  KeepInput();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// Sanitizers end the process without a signal, and have handlers of their own.
void KeepInputOfFailure() {
  static_cast<void>(FailedInputPath());
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(KeepInput);
    return;
  }
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    std::signal(number, KeepInputAtSignal);
  }
}

// The bytes lie in a block of exactly their size: AddressSanitizer then sees a read past the end.
void RunOne(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> exact(data, data + size);
  running = &exact;
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  running = nullptr;
}

size_t RunDamaged(std::vector<uint8_t> bytes, size_t step) {
  size_t runs = 0;
  for (size_t at = 0; at < bytes.size(); at += step) {
    RunOne(bytes.data(), at);
    const uint8_t original = bytes[at];
    bytes[at] = static_cast<uint8_t>(original ^ (1u << (runs % 8)));
    RunOne(bytes.data(), bytes.size());
    bytes[at] = original;
    ++runs;
  }
  return runs * 2;
}

size_t RunMutated(const std::vector<uint8_t>& bytes, size_t times, size_t turn) {
  const std::string_view input(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (size_t seed = turn * times; seed < (turn + 1) * times; ++seed) {
    const std::string changed = fuzz::Mutate(input, static_cast<unsigned>(seed));
    RunOne(reinterpret_cast<const uint8_t*>(changed.data()), changed.size());
  }
  return times;
}

// 0 where nobody counts them.
size_t NumberOfCommits() {
  size_t commits = 0;
  FILE* const counted = popen("git rev-list --count HEAD 2>/dev/null", "r");
  if (counted != nullptr) {
    static_cast<void>(!std::fscanf(counted, "%zu", &commits));
    pclose(counted);
  }
  return commits;
}

// Whether `argument` is this option; then its value is set.
bool TakeOption(std::string_view argument, std::string_view option, size_t& value) {
  if (!argument.starts_with(option)) {
    return false;
  }
  value = std::strtoul(argument.substr(option.size()).data(), nullptr, 10);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  size_t step = 0;
  size_t times = 0;
  size_t turn = 0;
  size_t inputs = 0;
  KeepInputOfFailure();
  size_t damaged = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--turn=commits") {
      turn = NumberOfCommits();
      continue;
    }
    if (TakeOption(argument, "--cut=", step) || TakeOption(argument, "--mutate=", times) ||
        TakeOption(argument, "--turn=", turn)) {
      continue;
    }
    for (const fs::path& path : FilesUnder(argument)) {
      std::ifstream file(path, std::ios::binary);
      if (!file) {
        std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
        return 2;
      }
      const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
      const std::vector<uint8_t> bytes(text.begin(), text.end());
      // Named beforehand: after a crash nobody could ask which input it was.
      std::fprintf(stderr, "%s (%zu bytes)\n", path.c_str(), bytes.size());
      RunOne(bytes.data(), bytes.size());
      ++inputs;
      if (step > 0) damaged += RunDamaged(bytes, step);
      damaged += RunMutated(bytes, times, turn);
    }
  }
  std::printf("%zu inputs and %zu changed copies replayed, turn %zu\n", inputs, damaged, turn);
  return inputs > 0 ? 0 : 2;  // an empty corpus tests nothing
}
