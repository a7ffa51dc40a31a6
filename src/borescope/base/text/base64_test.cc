#include "borescope/base/text/base64.h"

#include <gtest/gtest.h>

#include <utility>

namespace borescope::internal {
namespace {

// The vectors of RFC 4648, section 10.
TEST(Base64, IsThatOfTheStandard) {
  for (const auto& [bytes, text] : {std::pair{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foob", "Zm9vYg=="},
                                    {"fooba", "Zm9vYmE="},
                                    {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(Base64(bytes), text);
  }
}

TEST(Base64, TakesAnyByte) {
  EXPECT_EQ(Base64(std::string_view("\0\0\0\xFF", 4)), "AAAA/w==");
  EXPECT_EQ(Base64("\xFB\xFF\xBE"), "+/++");
}

}  // namespace
}  // namespace borescope::internal
