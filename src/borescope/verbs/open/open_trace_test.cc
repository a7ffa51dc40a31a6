#include "borescope/verbs/open/open_trace.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>

#include "borescope/base/io/temporary_folder.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

const std::string kTrace = R"({"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":5,"dur":5,"args":{"device":0,"stream":7}}]})";

std::string Gzip(const std::string& text) {
  std::string packed(text.size() + 1000, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string Zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

class RunOpenTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& bytes) const {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  Result<ReadyTrace> Prepare(std::vector<std::string> inputs, std::string begin = {},
                             TraceForm form = TraceForm::kJson) const {
    ConvertOptions options;
    options.inputs = std::move(inputs);
    options.begin = std::move(begin);
    options.threads = 1;
    return PrepareTrace(options, folder_.path(), form);
  }

  // Served as it is, under its name.
  void ExpectHandedOver(const std::string& name, const std::string& bytes) const {
    const Result<ReadyTrace> ready = Prepare({Write(name, bytes)});
    ASSERT_TRUE(ready.ok()) << name << ": " << ready.error().Sentence();
    EXPECT_EQ(ready->why, "") << name;
    EXPECT_FALSE(ready->converted.has_value()) << name;
    EXPECT_EQ(Content(ready->file), bytes) << name;
    EXPECT_TRUE(ready->file.path.ends_with("/" + name)) << ready->file.path;
  }

  // As JSON of both events, because of `why`.
  void ExpectConverted(const std::vector<std::string>& inputs, const std::string& why,
                       const std::string& name) const {
    const Result<ReadyTrace> ready = Prepare(inputs);
    ASSERT_TRUE(ready.ok()) << ready.error().Sentence();
    EXPECT_EQ(ready->why, why);
    ASSERT_TRUE(ready->converted.has_value());
    EXPECT_EQ(ready->converted->format, "chrome");
    EXPECT_TRUE(ready->file.path.ends_with("/" + name)) << ready->file.path;
    const std::string content = Content(ready->file);
    EXPECT_TRUE(content.starts_with("{\"schemaVersion\""));
    EXPECT_NE(content.find("aten::mm"), std::string::npos);
  }

  static std::string Content(const ServedFile& file) {
    std::vector<unsigned char> buffer;
    const unsigned char* bytes = file.bytes.Read(0, file.bytes.size(), buffer);
    return bytes == nullptr ? "" : std::string(bytes, bytes + file.bytes.size());
  }

  const TemporaryFolder folder_ = TemporaryFolder::Make().value();
};

TEST_F(RunOpenTest, WhatPerfettoReadsIsHandedOver) {
  ExpectHandedOver("rank-0.json", kTrace);
  ExpectHandedOver("rank-0.json.gz", Gzip(kTrace));
  ExpectHandedOver("list.json",
                   " \n [ {\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1}]");
  ExpectHandedOver("misnamed.txt", kTrace);
}

TEST_F(RunOpenTest, ByDefaultItIsTheCompactForm) {
  for (const auto& [name, bytes] : {std::pair(std::string("a.json"), kTrace),
                                    std::pair(std::string("a.json.gz"), Gzip(kTrace))}) {
    const Result<ReadyTrace> ready = Prepare({Write(name, bytes)}, "", TraceForm::kPerfetto);
    ASSERT_TRUE(ready.ok()) << ready.error().Sentence();
    EXPECT_NE(ready->why.find("--as json"), std::string::npos) << ready->why;
    ASSERT_TRUE(ready->converted.has_value());
    EXPECT_EQ(ready->converted->format, "perfetto");
    EXPECT_TRUE(ready->file.path.ends_with("/a.pftrace")) << ready->file.path;
    EXPECT_TRUE(Content(ready->file).starts_with('\n'));
    EXPECT_NE(Content(ready->file).find("aten::mm"), std::string::npos);
  }
}

TEST_F(RunOpenTest, ItsOwnTracesToo) {
  const Result<ReadyTrace> first = Prepare({Write("a.json", kTrace)}, "0", TraceForm::kPerfetto);
  ASSERT_TRUE(first.ok()) << first.error().Sentence();
  EXPECT_EQ(first->why, "a window was asked for");
  ExpectHandedOver("a.pftrace", Content(first->file));
  ExpectHandedOver("a.pftrace.gz", Gzip(Content(first->file)));
}

// Packets as the encoding of protobuf says: 0x0a, the length, and that many bytes, fields of a
// message (0x40 is field 8, a number).
TEST_F(RunOpenTest, PacketsAreTold) {
  const std::string packet("\x0a\x04\x40\x01\x50\x02", 6);
  ExpectHandedOver("one.pftrace", packet);
  ExpectHandedOver("three.pftrace", packet + std::string("\x0a\x00", 2) + packet);
  ExpectHandedOver("cut.pftrace", packet + packet.substr(0, 3));
  ExpectHandedOver("length.pftrace", packet + "\x0a\x84");
  ExpectHandedOver("long.pftrace", "\x0a\x80\x01\x40" + std::string(127, 'x'));
  const std::string other[] = {
      "\nhello world\n",                               // a packet of 104 bytes
      "\n\x04\x40\x01\x50",                            // longer than the file by one
      "\n\x04\x47\x01\x50\x02",                        // wire type 7
      "\n\x04\x02\x01\x50\x02",                        // field 0
      packet + "\x12\x04\x40\x01\x50\x02",             // another field behind it
      packet + "\n\x04\x46\x01\x50\x02",               // wire type 6 in the second
      std::string("\n\x00\n\x04\x40\x01\x50\x02", 8),  // an empty one first
      "\n",
      "\n\x04\x40\x01\x12\x03",  // bytes in it that are longer than it
      std::string(14, '\n') + "hello",
      "\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
      "\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x40",  // a length beyond all
  };
  for (const std::string& text : other) {
    for (const std::string& bytes : {text, Gzip(text)}) {
      const Result<ReadyTrace> ready = Prepare({Write("other.pftrace", bytes)});
      ASSERT_FALSE(ready.ok()) << text;
    }
  }
}

TEST_F(RunOpenTest, WhatItCannotUnpackIsConverted) {
  ExpectConverted({Write("a.json.zst", Zstd(kTrace))}, "Perfetto does not unpack zstd", "a.json");
  const size_t half = kTrace.size() / 2;
  ExpectConverted({Write("b.json.gz", Gzip(kTrace.substr(0, half)) + Gzip(kTrace.substr(half)))},
                  "of several gzip streams in a file Perfetto reads the first", "b.json");
}

TEST_F(RunOpenTest, DamageIsRepaired) {
  ExpectConverted({Write("cut.json", kTrace.substr(0, kTrace.size() - 2))},
                  "the file is damaged (truncated-file)", "cut.json");
  std::string quoted = kTrace;
  quoted.replace(quoted.find("gemm"), 4, "ge\"mm");
  ExpectConverted({Write("quote.json", quoted)}, "the file is damaged (unescaped-quote)",
                  "quote.json");
  const std::string packed = Gzip(kTrace + std::string(1000, ' '));
  const Result<ReadyTrace> cut = Prepare({Write("c.gz", packed.substr(0, packed.size() - 4))});
  ASSERT_TRUE(cut.ok()) << cut.error().Sentence();
  EXPECT_TRUE(cut->why.starts_with("the gzip stream ends early")) << cut->why;
  EXPECT_TRUE(cut->converted.has_value());
}

// In a field that nothing here reads, and so no diagnostic reports it.
TEST_F(RunOpenTest, JsonIsStrict) {
  std::string text = kTrace;
  text.insert(text.find("\"stream\""), "\"other\":NaN,");
  ExpectConverted({Write("nan.json", text)}, "Perfetto would leave out what is no strict JSON",
                  "nan.json");
  ExpectConverted({Write("nan.json.gz", Gzip(text))},
                  "Perfetto would leave out what is no strict JSON", "nan.json");
}

// Perfetto takes these for something else, or for nothing.
TEST_F(RunOpenTest, WhatItWouldNotRecogniseIsConverted) {
  constexpr std::string_view kWhy = "Perfetto does not read this format";
  std::string firefox = kTrace;
  firefox.insert(1, "\"meta\":{},");
  ExpectConverted({Write("meta.json", firefox)}, std::string(kWhy), "meta.json");
  ExpectConverted({Write("mark.json", "\xef\xbb\xbf" + kTrace)}, std::string(kWhy), "mark.json");
}

TEST_F(RunOpenTest, SeveralBecomeOne) {
  const std::string one = Write("rank-0.json", kTrace);
  const std::string other = Write("rank-1.json", kTrace);
  ExpectConverted({one, other}, "2 files become one", "rank-0.json");
}

// Though Perfetto could have it as it is.
TEST_F(RunOpenTest, WhatIsToBeScrubbedIsNotHandedOver) {
  std::string secret = kTrace;
  secret.insert(1, R"("hostname":"canary","user":"canary",)");
  ConvertOptions options;
  options.inputs = {Write("of-canary.json", secret)};
  options.scrub.emplace();
  options.threads = 1;
  const Result<ReadyTrace> ready = PrepareTrace(options, folder_.path(), TraceForm::kPerfetto);
  ASSERT_TRUE(ready.ok()) << ready.error().Sentence();
  EXPECT_EQ(ready->why, "a scrubbed copy was asked for");
  const std::string content = Content(ready->file);
  EXPECT_NE(content.find("aten::mm"), std::string::npos);
  EXPECT_EQ(content.find("canary"), std::string::npos);
  EXPECT_TRUE(ready->file.path.ends_with("/trace.pftrace")) << ready->file.path;
}

TEST_F(RunOpenTest, TheFileOutlivesItsFolder) {
  std::optional<TemporaryFolder> below = TemporaryFolder::Make().value();
  ConvertOptions options;
  options.inputs = {Write("a.zst", Zstd(kTrace))};
  const Result<ReadyTrace> ready = PrepareTrace(options, below->path());
  ASSERT_TRUE(ready.ok());
  below.reset();
  EXPECT_NE(Content(ready->file).find("aten::mm"), std::string::npos);
}

TEST_F(RunOpenTest, WhatIsNoTraceIsAnError) {
  EXPECT_EQ(Prepare({folder_.path() + "/absent.json"}).error().code, ErrorCode::kIo);
  EXPECT_EQ(Prepare({Write("empty.json", "")}).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(Prepare({Write("a.zip", "PK\x03\x04 and more")}).error().code,
            ErrorCode::kUnsupportedFormat);
  // A Chakra trace whose first message is 10 bytes long starts with the byte of Perfetto's packets.
  EXPECT_EQ(Prepare({Write("a.et",
                           "\n\n\x08"
                           "0.0.4-ab\x04\x08\x01\x12")})
                .error()
                .code,
            ErrorCode::kUnsupportedFormat);
  const Result<ReadyTrace> graph = Prepare({Write(
      "et.json",
      R"({"schema":"1.1.1-chakra.0.0.4","pid":1,"nodes":[{"id":1,"name":"a","ctrl_deps":1}]})")});
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.error().Sentence().find("execution trace"), std::string::npos);
}

TEST(OpenAddress, IsThatOfPerfettosDocumentation) {
  ServedFile file;
  file.path = "/0123/rank-0.json.gz";
  EXPECT_EQ(PerfettoAddress(file),
            "https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001/0123/rank-0.json.gz");
  EXPECT_EQ(PageAddress(file, 1234), "http://127.0.0.1:1234/0123/rank-0.json.gz");
}

TEST(OpenPage, IsNoFileAndForNoOtherPage) {
  const Result<ServedFile> page = PreparePage("<!doctype html>", "report.html");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->content_type, "text/html; charset=utf-8");
  EXPECT_EQ(page->reader, "");
  EXPECT_EQ(page->bytes.size(), 15U);
  EXPECT_TRUE(page->path.ends_with("/report.html"));
}

}  // namespace
}  // namespace borescope::internal
