#include "borescope/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "borescope/api/access.h"

namespace borescope {
namespace {

// The sentence with parameters as options of a command line.
std::string WithOptions(std::string sentence) {
  std::smatch found;
  static const std::regex kName("`([a-z0-9_]+)`");
  while (std::regex_search(sentence, found, kName)) {
    std::string name = found[1];
    std::replace(name.begin(), name.end(), '_', '-');
    sentence = found.prefix().str() + "--" + name + found.suffix().str();
  }
  return sentence;
}

TEST(ErrorTest, HasParts) {
  const std::string paths[] = {"a.json", "a.json: b"};
  const Error error = PublicError(
      {internal::ErrorCode::kCorrupt, "a.json: b: byte 12: no object; write --kernel-wait"}, paths);
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_EQ(error.file, "a.json: b");
  EXPECT_EQ(error.offset, 12U);
  EXPECT_EQ(error.message, "no object");
  EXPECT_EQ(error.hint, "write `kernel_wait`");
  EXPECT_EQ(error.parameter, "kernel_wait");
}

TEST(ErrorTest, NothingIsLostOnTheWayOut) {
  const std::string paths[] = {"x; y.json", "--odd"};
  for (const std::string text :
       {"--top: 'a' is no number", "--top: 'a'; give --top once", "x; y.json: byte 3: bad; a; b",
        "--instance counts occurrences; name it with --annotation", "byte x: y", "--odd: byte 1: z",
        "--a: --a: twice", "plain", "-- and --- and ----x", "--compat hta is not defined for it"}) {
    const Error error = PublicError({internal::ErrorCode::kIo, text}, paths);
    EXPECT_EQ(WithOptions(error.Sentence()), text);
  }
}

}  // namespace
}  // namespace borescope
