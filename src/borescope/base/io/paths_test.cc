#include "borescope/base/io/paths.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "borescope/base/io/temporary_folder.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

class PathsTest : public testing::Test {
 protected:
  std::string At(const std::string& name) const { return folder_.path() + "/" + name; }

  TemporaryFolder folder_ = TemporaryFolder::Make().value();
};

TEST_F(PathsTest, Kinds) {
  std::ofstream(At("file")) << "abc";
  fs::create_directory(At("folder"));
  fs::create_symlink("file", At("link"));
  fs::create_symlink("link2", At("link2"));
  EXPECT_EQ(*KindOf(At("file")), FileKind::kFile);
  EXPECT_EQ(*KindOf(At("link")), FileKind::kFile);
  EXPECT_EQ(*KindOf(At("folder")), FileKind::kFolder);
  EXPECT_EQ(*KindOf("/dev/null"), FileKind::kOther);
  EXPECT_EQ(*KindOf(At("none")), FileKind::kNothing);
  EXPECT_EQ(*KindOf(At("file/inside")), FileKind::kNothing);
  EXPECT_FALSE(KindOf(At("link2")).ok());  // nobody knows what it leads to
  EXPECT_EQ(*KindOf(At(std::string(5000, 'x'))), FileKind::kNothing);
  EXPECT_EQ(*SizeOfFile(At("link")), 3U);
  EXPECT_EQ(*SizeOfFile(At("folder")), 0U);
  EXPECT_EQ(*SizeOfFile(At("none")), 0U);
}

TEST_F(PathsTest, OneFileByManyPaths) {
  std::ofstream(At("file")) << "abc";
  std::ofstream(At("other")) << "abc";
  fs::create_directory(At("folder"));
  fs::create_symlink("../file", At("folder/link"));
  fs::create_hard_link(At("file"), At("hard"));
  EXPECT_EQ(*PathWithoutLinks(At("folder/link")), *PathWithoutLinks(At("folder/../file")));
  EXPECT_EQ(*PathWithoutLinks(At("none")), At("none"));
  EXPECT_TRUE(*IsSameFile(At("file"), At("folder/link")));
  EXPECT_TRUE(*IsSameFile(At("file"), At("hard")));
  EXPECT_FALSE(*IsSameFile(At("file"), At("other")));
  EXPECT_FALSE(*IsSameFile(At("none"), At("none")));
  EXPECT_TRUE(S_ISLNK(StatusOfLink(At("folder/link"))->st_mode));
  EXPECT_TRUE(S_ISREG(StatusOf(At("folder/link"))->st_mode));
  EXPECT_EQ(StatusOfLink(At("none"))->st_mode, 0U);
}

// A loop of links hides what may be there, as permissions do: nobody may go on without it.
TEST_F(PathsTest, WhatIsHiddenIsNotNothing) {
  fs::create_symlink("loop", At("loop"));
  ASSERT_FALSE(KindOf(At("loop")).ok());
  EXPECT_EQ(KindOf(At("loop")).error().code, ErrorCode::kIo);
  EXPECT_EQ(KindOf(At("loop")).error().file, At("loop"));
  EXPECT_FALSE(NamesIfAny(At("loop")).ok());
  // Opening these says why they cannot be read.
  EXPECT_EQ(StatusOf(At("loop"))->st_mode, 0U);
  EXPECT_EQ(*BeginOfFile(At("loop"), 1), "");
  EXPECT_EQ(*PathWithoutLinks(At("loop")), At("loop"));
  EXPECT_FALSE(MayBeRead(At("loop")));
  std::ofstream(At("file")) << "abc";
  EXPECT_TRUE(MayBeRead(At("file")));
}

TEST_F(PathsTest, BeginsOfFiles) {
  std::ofstream(At("file")) << "abcdef";
  EXPECT_EQ(*BeginOfFile(At("file"), 4), "abcd");
  EXPECT_EQ(*BeginOfFile(At("file"), 9), "abcdef");
  EXPECT_EQ(*BeginOfFile(At("none"), 4), "");
  EXPECT_EQ(*BeginOfFile(folder_.path(), 4), "");
  // An ordinary file whose first bytes the system refuses: memory at address 0.
  EXPECT_FALSE(BeginOfFile("/proc/self/mem", 4).ok());
}

TEST_F(PathsTest, NamesAreSorted) {
  fs::create_directory(At("inside"));
  for (const char* const name : {"b", "a", ".hidden", "c10", "c9"}) {
    std::ofstream(At(std::string("inside/") + name)).flush();
  }
  const std::vector<std::string> names = {".hidden", "a", "b", "c10", "c9"};
  EXPECT_EQ(*NamesIn(At("inside")), names);
  EXPECT_EQ(*NamesIfAny(At("inside")), names);
  EXPECT_TRUE(NamesIfAny(At("none"))->empty());
  const Result<std::vector<std::string>> none = NamesIn(At("none"));
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().Sentence().find("No such file"), std::string::npos)
      << none.error().Sentence();
}

TEST_F(PathsTest, PatternsAreThoseOfTheShell) {
  fs::create_directories(At("r/a"));
  fs::create_directories(At("r/b"));
  for (const char* const name : {"r/a/2.json", "r/a/10.json", "r/b/1.json", "r/file", "r/.hidden",
                                 "r/a/.json", "r/[x]", "r/sp ace"}) {
    std::ofstream(At(name)).flush();
  }
  fs::create_symlink("nowhere", At("r/dangling"));
  const auto matching = [&](const std::string& pattern) {
    std::string names;
    const std::vector<std::string> paths = PathsMatching(At(pattern)).value();
    for (const std::string& path : paths) {
      names += path.substr(folder_.path().size() + 1) + " ";
    }
    return names;
  };
  EXPECT_EQ(matching("r/*/*.json"), "r/a/10.json r/a/2.json r/b/1.json ");
  EXPECT_EQ(matching("r/[ab]/?.json"), "r/a/2.json r/b/1.json ");
  EXPECT_EQ(matching("r/[!a]/*"), "r/b/1.json ");
  EXPECT_EQ(matching("r/*/1.json"), "r/b/1.json ");
  EXPECT_EQ(matching("r/.h*"), "r/.hidden ");
  EXPECT_EQ(matching("r/*"), "r/[x] r/a r/b r/dangling r/file r/sp ace ");
  EXPECT_EQ(matching("r/*/"), "r/a/ r/b/ ");
  EXPECT_EQ(matching("r//b/*"), "r//b/1.json ");
  EXPECT_EQ(matching("r/\\[x]*"), "r/[x] ");
  EXPECT_EQ(matching("r/[x"), "");
  EXPECT_EQ(matching("none/*"), "");
  EXPECT_EQ(matching("r/file/*"), "");
  EXPECT_EQ(*PathsMatching("/pro[c]"), std::vector<std::string>{"/proc"});
  EXPECT_TRUE(PathsMatching("")->empty());
  const fs::path before = fs::current_path();
  fs::current_path(At("r/b"));
  EXPECT_EQ(*PathsMatching("*"), std::vector<std::string>{"1.json"});
  fs::current_path(before);
}

// What a folder holds that cannot be listed is not nothing.
TEST_F(PathsTest, PatternsLeaveOutNoFolder) {
  fs::create_directories(At("r/a"));
  std::ofstream(At("r/a/1.json")).flush();
  fs::create_symlink("b", At("r/b"));
  const Result<std::vector<std::string>> found = PathsMatching(At("r/*/*.json"));
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kIo);
  EXPECT_EQ(found.error().file, At("r/b/"));
  EXPECT_FALSE(PathsMatching(At("r/*/1.json")).ok());
}

}  // namespace
}  // namespace borescope::internal
