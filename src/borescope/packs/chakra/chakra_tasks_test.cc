#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/chakra.h"

namespace borescope {

namespace {

// In /tmp anybody can prepare the folder that somebody else is about to write into.
TEST(ChakraGenerateTest, NoFolderIsMadeThroughALinkOfSomebodyElse) {
  constexpr uid_t kSomebodyElse = 65534;
  if (geteuid() != 0) GTEST_SKIP() << "only root can make links of others";
  const internal::TemporaryFolder folder = internal::TemporaryFolder::Make().value();
  const std::string all = folder.path() + "/all";
  ASSERT_EQ(mkdir(all.c_str(), 0700), 0);
  ASSERT_EQ(chmod(all.c_str(), 01777), 0);
  ASSERT_EQ(symlink(folder.path().c_str(), (all + "/link").c_str()), 0);
  EXPECT_TRUE(ChakraGenerate({.folder = all + "/link/ours", .npus = 1}).ok()) << "our own link";
  ASSERT_EQ(lchown((all + "/link").c_str(), kSomebodyElse, kSomebodyElse), 0);
  const Result<uint64_t> refused = ChakraGenerate({.folder = all + "/link/new", .npus = 1});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().Sentence().find("another user"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/new"));
}

}  // namespace

}  // namespace borescope
