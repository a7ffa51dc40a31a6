#include "borescope/engine/partial/part_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/partial.h"
#include "borescope/run.h"

namespace borescope {

namespace {

// In /tmp anybody can prepare the folder that somebody else is about to write parts into.
TEST(PartFilesTest, NoFolderIsMadeThroughALinkOfSomebodyElse) {
  constexpr uid_t kSomebodyElse = 65534;
  if (geteuid() != 0) GTEST_SKIP() << "only root can make links of others";
  const internal::TemporaryFolder folder = internal::TemporaryFolder::Make().value();
  const std::string all = folder.path() + "/all";
  ASSERT_EQ(mkdir(all.c_str(), 0700), 0);
  ASSERT_EQ(chmod(all.c_str(), 01777), 0);
  ASSERT_EQ(symlink(folder.path().c_str(), (all + "/link").c_str()), 0);
  const Result<borescope::Run> run = borescope::Run::Open(
      {Source::Memory("a.json", std::make_shared<const std::string>("{\"traceEvents\":[]}"))});
  ASSERT_TRUE(run.ok());
  const Question question = Question::Of({"kernels"});
  EXPECT_TRUE(run->MapInto(all + "/link/ours", question, true).ok()) << "our own link";
  ASSERT_EQ(lchown((all + "/link").c_str(), kSomebodyElse, kSomebodyElse), 0);
  const Result<PartFile> refused = run->MapInto(all + "/link/new", question, true);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().Sentence().find("another user"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/new"));
}

}  // namespace

}  // namespace borescope
