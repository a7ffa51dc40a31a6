#include "borescope/engine/partial/part_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "borescope/partial.h"
#include "borescope/run.h"
#include "borescope/testing/foreign_link.h"

namespace borescope {

namespace {

// In /tmp anybody can prepare the folder that somebody else is about to write parts into.
TEST(PartFilesTest, NoFolderIsMadeThroughALinkOfSomebodyElse) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make links of others";
  const internal::ForeignLink link;
  const Result<borescope::Run> run = borescope::Run::Open(
      {Source::Memory("a.json", std::make_shared<const std::string>("{\"traceEvents\":[]}"))});
  ASSERT_TRUE(run.ok());
  const Question question = Question::Of({"kernels"});
  EXPECT_TRUE(run->MapInto(link.path() + "/ours", question, true).ok()) << "our own link";
  link.GiveAway();
  const Result<PartFile> refused = run->MapInto(link.path() + "/new", question, true);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().Sentence().find("another user"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(link.victim() + "/new"));
}

}  // namespace

}  // namespace borescope
