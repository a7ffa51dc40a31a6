#include "borescope/output/sink/sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "borescope/base/io/inflate.h"
#include "borescope/output/sink/deflated.h"

namespace borescope::internal {

namespace {

std::string Inflated(const std::string& bytes) {
  Result<OpenedSource> source = InflateIfCompressed(OpenMemory(bytes));
  EXPECT_TRUE(source.ok());
  std::string text(1 << 20, '\0');
  std::string all;
  while (true) {
    const Result<size_t> size = ReadFully(*source->bytes, text.data(), text.size());
    EXPECT_TRUE(size.ok());
    all.append(text, 0, *size);
    if (*size < text.size()) {
      break;
    }
  }
  EXPECT_NE(source->inflating, nullptr);
  EXPECT_EQ(source->inflating->damage(), "");
  return all;
}

std::string Compressed(std::string_view text, size_t piece) {
  StringSink target;
  GzipSink sink(target);
  for (size_t i = 0; i < text.size(); i += piece) {
    EXPECT_TRUE(sink.Write(text.substr(i, piece)).ok());
  }
  EXPECT_TRUE(sink.Finish().ok());
  return target.text();
}

// By another library.
std::string RawInflated(const std::string& packed, size_t most) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, -15), Z_OK);
  std::string bytes(most + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  inflateEnd(&stream);
  return bytes;
}

TEST(Deflated, AnotherLibraryUnpacksIt) {
  std::string text;
  uint32_t state = 1;
  for (size_t size = 0; size < 1'500'000; size = size * 3 + 1) {
    while (text.size() < size) {
      state = state * 1664525 + 1013904223;
      text += static_cast<char>(state >> (text.size() % 2000 < 1000 ? 30 : 24));
    }
    EXPECT_EQ(RawInflated(Deflated(text), text.size()), text) << size;
  }
  EXPECT_LT(Deflated(std::string(100'000, 'a')).size(), 500U);
}

TEST(GzipSink, WhatComesOutIsWhatWentIn) {
  std::string text;
  uint32_t state = 1;
  for (int i = 0; i < 300'000; ++i) {
    state = state * 1664525 + 1013904223;
    text += std::to_string(state >> 8) + (i % 7 == 0 ? "\n" : ",");
  }
  for (const size_t piece : {size_t{1000}, size_t{1} << 20, text.size()}) {
    const std::string bytes = Compressed(text, piece);
    EXPECT_LT(bytes.size(), text.size());
    EXPECT_EQ(Inflated(bytes), text);
  }
}

TEST(GzipSink, NothingIsAnEmptyMember) {
  const std::string bytes = Compressed("", 1);
  EXPECT_GE(bytes.size(), 18U);
  EXPECT_EQ(Inflated(bytes), "");
}

TEST(GzipSink, EqualBytesGiveEqualFiles) {
  EXPECT_EQ(Compressed("abc abc abc", 11), Compressed("abc abc abc", 11));
}

class FullSink : public Sink {
 public:
  Result<void> Write(std::string_view) override { return Error{ErrorCode::kIo, "full"}; }
};

TEST(GzipSink, TheTargetsFailureIsTold) {
  FullSink full;
  GzipSink sink(full);
  static_cast<void>(sink.Write("abc"));
  EXPECT_EQ(sink.Finish().error().Sentence(), "full");
}

TEST(GzipSink, OnlyWhatIsNamedSoIsCompressed) {
  const auto write = [](Sink& sink) { return sink.Write("text"); };
  StringSink plain;
  EXPECT_TRUE(WriteMaybeGzip("a.json", plain, write).ok());
  EXPECT_EQ(plain.text(), "text");
  StringSink packed;
  EXPECT_TRUE(WriteMaybeGzip("a.json.gz", packed, write).ok());
  EXPECT_TRUE(packed.text().starts_with("\x1f\x8b"));
}

namespace fs = std::filesystem;

class FileSinkTest : public testing::Test {
 protected:
  FileSinkTest() {
    std::string name = (fs::temp_directory_path() / "borescope_sink_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~FileSinkTest() override { fs::remove_all(folder_); }

  std::string Path(std::string_view name) const { return (folder_ / name).string(); }

  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static void Put(const std::string& path, std::string_view text) {
    auto sink = FileSink::Open(path);
    ASSERT_TRUE(sink.ok());
    ASSERT_TRUE((*sink)->Write(text).ok());
    ASSERT_TRUE((*sink)->Commit().ok());
  }

  size_t FileCount() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

TEST_F(FileSinkTest, TheFileAppearsWithItsCommit) {
  auto sink = FileSink::Open(Path("out"));
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE((*sink)->Write("one ").ok());
  ASSERT_TRUE((*sink)->Write("two").ok());
  EXPECT_FALSE(fs::exists(Path("out")));
  ASSERT_TRUE((*sink)->Commit().ok());
  EXPECT_EQ(Read(Path("out")), "one two");
  EXPECT_EQ(FileCount(), 1U);
}

TEST_F(FileSinkTest, WithoutCommitTheOldFileStays) {
  Put(Path("out"), "old");
  {
    auto sink = FileSink::Open(Path("out"));
    ASSERT_TRUE((*sink)->Write("new").ok());
  }
  EXPECT_EQ(Read(Path("out")), "old");
  EXPECT_EQ(FileCount(), 1U);
}

TEST_F(FileSinkTest, KeepsPermissionsAndLinks) {
  Put(Path("real"), "old");
  fs::permissions(Path("real"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real", Path("link"));
  Put(Path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Read(Path("real")), "new");
  EXPECT_EQ(fs::status(Path("real")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileSinkTest, MakesTheFileThatALinkPromises) {
  fs::create_directory(Path("folder"));
  fs::create_symlink("../real", Path("folder/inner"));
  fs::create_symlink(Path("folder/inner"), Path("link"));
  Put(Path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_TRUE(fs::is_symlink(Path("folder/inner")));
  EXPECT_FALSE(fs::is_symlink(Path("real")));
  EXPECT_EQ(Read(Path("real")), "new");
  fs::create_symlink("circle", Path("circle"));
  const auto circle = FileSink::Open(Path("circle"));
  ASSERT_FALSE(circle.ok());
  EXPECT_NE(circle.error().Sentence().find("symbolic links"), std::string::npos);
}

// In /tmp anybody can prepare the name that somebody else is about to write.
TEST_F(FileSinkTest, NothingIsWrittenThroughALinkOfSomebodyElse) {
  constexpr uid_t kSomebodyElse = 65534;
  if (geteuid() != 0) GTEST_SKIP() << "only root can make links of others";
  fs::create_directory(Path("all"));
  ASSERT_EQ(chmod(Path("all").c_str(), 01777), 0);
  fs::create_directory(Path("victim"));
  Put(Path("victim/file"), "old");
  fs::create_symlink(Path("victim/file"), Path("all/file"));
  fs::create_symlink(Path("victim"), Path("all/folder"));
  Put(Path("all/file"), "ours");  // our own link
  EXPECT_EQ(Read(Path("victim/file")), "ours");
  for (const char* const link : {"all/file", "all/folder"}) {
    ASSERT_EQ(lchown(Path(link).c_str(), kSomebodyElse, kSomebodyElse), 0);
  }
  fs::create_symlink(Path("all/file"), Path("ours"));  // which leads to one of somebody else
  for (const char* const path : {"all/file", "all/folder/file", "all/folder/new", "ours"}) {
    const auto refused = FileSink::Open(Path(path));
    ASSERT_FALSE(refused.ok()) << path;
    EXPECT_NE(refused.error().Sentence().find("another user"), std::string::npos);
  }
  ASSERT_EQ(chmod(Path("all").c_str(), 0755), 0);  // where nobody else can prepare anything
  Put(Path("all/file"), "new");
  EXPECT_EQ(Read(Path("victim/file")), "new");
}

TEST_F(FileSinkTest, ADirectoryAndAMissingFolderAreErrors) {
  const auto directory = FileSink::Open(folder_.string());
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().Sentence(),
            folder_.string() + ": cannot write: it is a directory; name a file in it");
  const auto missing = FileSink::Open(Path("absent/out"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(
      missing.error().Sentence(),
      Path("absent/out") +
          ": cannot write: No such file or directory; make the folder first, or name another");
}

TEST_F(FileSinkTest, ADeviceIsWrittenToAndNotReplaced) {
  Put("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

// Whatever the file of a terminal is called.
TEST_F(FileSinkTest, ATerminalGetsNothingThatItWouldObey) {
  const int shown = posix_openpt(O_RDWR | O_NOCTTY);
  if (shown < 0) GTEST_SKIP() << "no terminals";
  ASSERT_EQ(grantpt(shown), 0);
  ASSERT_EQ(unlockpt(shown), 0);
  const std::string name = ptsname(shown);
  const int kept = open(name.c_str(), O_RDWR | O_NOCTTY);  // so that what was shown stays
  ASSERT_GE(kept, 0);
  Put(name, "\x1b[31mred\n\u009b1mbold \u202eback\nplain \u00e9\n");
  const std::string expected = "\uFFFD[31mred\r\n\uFFFD1mbold \uFFFDback\r\nplain \u00e9\r\n";
  std::string text;
  while (text.size() < expected.size()) {  // it comes in pieces
    char piece[200];
    const ssize_t size = read(shown, piece, sizeof piece);
    ASSERT_GT(size, 0);
    text.append(piece, static_cast<size_t>(size));
  }
  EXPECT_EQ(text, expected);
  close(kept);
  close(shown);
}

// Keeps the pieces; fails from a given one on.
class PieceSink : public Sink {
 public:
  explicit PieceSink(size_t good) : good_(good) {}
  Result<void> Write(std::string_view bytes) override {
    pieces.emplace_back(bytes);
    return pieces.size() > good_ ? Result<void>(Error{ErrorCode::kIo, "full"}) : Result<void>();
  }

  std::vector<std::string> pieces;

 private:
  size_t good_;
};

TEST(BufferedSink, HandsOverPiecesBetweenRecords) {
  PieceSink sink(9);
  BufferedSink out(sink);
  const std::string large(size_t{1} << 20, 'x');
  out.Put("a");
  out.text() += "b";
  out.EndRecord();
  EXPECT_TRUE(sink.pieces.empty());
  out.Put(large);
  out.Put("c");
  ASSERT_TRUE(out.Finish().ok());
  EXPECT_EQ(sink.pieces, (std::vector<std::string>{"ab" + large, "c"}));
}

TEST(BufferedSink, KeepsTheFirstFailure) {
  PieceSink sink(0);
  BufferedSink out(sink);
  out.Put(std::string(size_t{1} << 20, 'x'));
  out.Put("more");
  const Result<void> end = out.Finish();
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().Sentence(), "full");
  EXPECT_EQ(sink.pieces.size(), 1U);
}

TEST(DescriptorSink, TellsAGoneReaderFromAFailure) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  DescriptorSink sink(ends[1], "standard output");
  EXPECT_TRUE(sink.Write("x").ok());
  close(ends[0]);
  EXPECT_FALSE(sink.reader_is_gone());
  EXPECT_FALSE(sink.Write("x").ok());
  EXPECT_TRUE(sink.reader_is_gone());
  close(ends[1]);
  const Result<void> closed = sink.Write("x");
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().Sentence(), "standard output: cannot write: Bad file descriptor");
}

TEST(DescriptorSink, StaysOpenWhereItIsFinished) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  DescriptorSink sink(ends[1], "standard output");
  EXPECT_TRUE(sink.Finish().ok());
  EXPECT_TRUE(sink.Write("x").ok());
  close(ends[0]);
  close(ends[1]);
  EXPECT_TRUE(sink.Finish().ok()) << "nothing was written to it";
}

}  // namespace

}  // namespace borescope::internal
