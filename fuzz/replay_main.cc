// Replays inputs through a fuzz target without libFuzzer, as an ordinary test with any compiler.
//
//   borescope_replay_X [--cut=N] [--mutate=N] PATH...
//
// Each PATH is an input file or a folder of them. With --cut, every input is also replayed damaged:
// cut off at each N-th byte, and with one bit flipped at each N-th byte. With --mutate, it is also
// changed N times by the mutator of the target, if that has one. A target that returns has
// passed; one that crashes, or trips a sanitizer, has not.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "mutators/mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

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

// The bytes lie in a block of exactly their size: AddressSanitizer then sees a read past the end.
void RunOne(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> exact(data, data + size);
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
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

size_t RunMutated(const std::vector<uint8_t>& bytes, size_t times) {
#ifdef BORESCOPE_HAS_MUTATOR
  const std::string_view input(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (unsigned seed = 0; seed < times; ++seed) {
    const std::string changed = fuzz::Mutate(input, seed);
    RunOne(reinterpret_cast<const uint8_t*>(changed.data()), changed.size());
  }
  return times;
#else
  static_cast<void>(bytes);
  return 0 * times;
#endif
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
  size_t inputs = 0;
  size_t damaged = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (TakeOption(argument, "--cut=", step) || TakeOption(argument, "--mutate=", times)) {
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
      damaged += RunMutated(bytes, times);
    }
  }
  std::printf("%zu inputs and %zu changed copies replayed\n", inputs, damaged);
  return inputs > 0 ? 0 : 2;  // an empty corpus tests nothing
}
