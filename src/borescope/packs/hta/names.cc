#include "borescope/packs/hta/names.h"

#include <algorithm>
#include <iterator>

#include "borescope/packs/hta/rows.h"

namespace borescope::internal {
namespace {

std::string WithoutArrows(std::string_view name) {
  std::string result;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with("->")) {
      ++i;
    } else {
      result += name[i];
    }
  }
  return result;
}

// Drops what stands between matching brackets, the brackets included.
std::string WithoutBrackets(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const char opener = c == '>' ? '<' : c == ')' ? '(' : '\0';
    const size_t begin = opener == '\0' ? std::string::npos : result.rfind(opener);
    if (opener == '\0') {
      result += c;
    } else {
      result.resize(begin == std::string::npos ? 0 : begin);
    }
  }
  return result;
}

}  // namespace

std::string HtaShortName(std::string_view name) {
  if (HtaIsMemoryName(name) || name.find_first_of("<(") == std::string_view::npos) {
    return std::string(name);
  }
  std::string result = WithoutBrackets(WithoutArrows(name));
  const size_t blank = result.find_last_of(' ');
  return blank == std::string::npos ? result : result.substr(blank + 1);
}

bool HtaIsBlockingCall(std::string_view name) {
  constexpr std::string_view kNames[] = {"cudaDeviceSynchronize",
                                         "cudaStreamSynchronize",
                                         "cudaEventQuery",
                                         "cudaEventSynchronize",
                                         "cudaMemcpy",
                                         "cudaMemcpyAsync"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace borescope::internal
