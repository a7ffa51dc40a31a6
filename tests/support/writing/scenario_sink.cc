#include "tests/support/writing/scenario_sink.h"

namespace borescope::scenario {

std::unique_ptr<FileSink> FileSink::Open(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return nullptr;
  // The writer hands over large blocks; a second buffer would only copy them.
  std::setvbuf(file, nullptr, _IONBF, 0);
  return std::make_unique<FileSink>(file);
}

bool FileSink::Close() {
  if (file_ == nullptr) return true;
  std::FILE* file = file_;
  file_ = nullptr;
  if (file == stdout) return std::fflush(file) == 0;
  return std::fclose(file) == 0;
}

}  // namespace borescope::scenario
