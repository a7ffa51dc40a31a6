#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "borescope/chakra.h"
#include "borescope/testing/foreign_link.h"

namespace borescope {

namespace {

// In /tmp anybody can prepare the folder that somebody else is about to write into.
TEST(ChakraGenerateTest, NoFolderIsMadeThroughALinkOfSomebodyElse) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make links of others";
  const internal::ForeignLink link;
  EXPECT_TRUE(ChakraGenerate({.folder = link.path() + "/ours", .npus = 1}).ok()) << "our own link";
  link.GiveAway();
  const Result<uint64_t> refused = ChakraGenerate({.folder = link.path() + "/new", .npus = 1});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().Sentence().find("another user"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(link.victim() + "/new"));
}

}  // namespace

}  // namespace borescope
