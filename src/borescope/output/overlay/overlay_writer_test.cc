#include "borescope/output/overlay/overlay_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "borescope/base/io/inflate.h"

namespace borescope::internal {

namespace {

std::string Member(std::string_view object, std::string_view key) {
  const auto found = FindMember(object, key);
  return found.has_value() ? std::string(*found) : "-";
}

TEST(FindMemberTest, Values) {
  constexpr std::string_view kEvent =
      R"({ "ph" : "X", "n":-1.5e3 ,"args":{"ph":"Y","l":[{"cat":1},"}"]},"s":"a\\\",\"q","cat":null})";
  EXPECT_EQ(Member(kEvent, "ph"), R"("X")");
  EXPECT_EQ(Member(kEvent, "n"), "-1.5e3");
  EXPECT_EQ(Member(kEvent, "args"), R"({"ph":"Y","l":[{"cat":1},"}"]})");
  EXPECT_EQ(Member(kEvent, "s"), R"("a\\\",\"q")");
  EXPECT_EQ(Member(kEvent, "cat"), "null");
  EXPECT_EQ(Member(kEvent, "l"), "-");
  EXPECT_EQ(Member("{}", "ph"), "-");
  EXPECT_EQ(Member("{ \n}", "ph"), "-");
}

TEST(FindMemberTest, OfSeveralTheLast) { EXPECT_EQ(Member(R"({"a":1,"a":2})", "a"), "2"); }

TEST(FindMemberTest, DamageEndsTheSearch) {
  for (const char* text :
       {"{", "{\"", "{\"a\"", "{\"a\":", "{\"a\\", "{a:1}", "{\"a\" 1}", "{,}"}) {
    EXPECT_EQ(FindMember(text, "b"), std::nullopt) << text;
  }
}

TEST(MarkedCriticalTest, TheMarkIsTheLastArgument) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {R"({"ph":"X","args":{"a":{"b":[]}},"ts":1})",
       R"({"ph":"X","args":{"a":{"b":[]}, "critical": 1},"ts":1})"},
      {R"({"args":{}})", R"({"args":{"critical": 1}})"},
      {"{\n  \"args\": {\n    \"a\": \"}\"\n  }\n}",
       "{\n  \"args\": {\n    \"a\": \"}\", \"critical\": 1\n  }\n}"},
      {"{\"args\": { }}", "{\"args\": {\"critical\": 1 }}"},
      {R"({"ph":"X" })", R"({"ph":"X", "args": {"critical": 1} })"},
      {"{}", R"({"args": {"critical": 1}})"},
      {R"({"args":null})", R"({"args":null, "critical": 1})"},
      {R"({"args":"{}"})", R"({"args":"{}", "critical": 1})"},
      {R"({"x":{"args":{}}})", R"({"x":{"args":{}}, "args": {"critical": 1}})"},
  };
  for (const auto& [event, marked] : kCases) {
    EXPECT_EQ(MarkedCritical(event), marked);
  }
}

// In pieces of `size` bytes.
std::string Copied(std::string_view text, const OverlayMarks& marks, size_t size = 1000) {
  StringSink target;
  EventListSink list(target, marks);
  for (size_t at = 0; at < text.size(); at += size) {
    EXPECT_TRUE(list.Write(text.substr(at, size)).ok());
  }
  EXPECT_TRUE(list.is_complete());
  EXPECT_EQ(list.has_events(), target.text().find('{') != std::string::npos);
  return target.text();
}

constexpr std::string_view kEvents =
    R"({"ph":"M","name":"a\"}{"}, {"ph":"X","cat":"k","args":{"x":[{}]}},)"
    "\n"
    R"({"ph":"X","cat":"user_annotation"},{"ph":"X"} , {"ph":"s","cat":"k"})";

TEST(EventListSinkTest, MarksByPosition) {
  const std::string marked =
      R"({"ph":"M","name":"a\"}{"}, {"ph":"X","cat":"k","args":{"x":[{}], "critical": 1}},)"
      "\n"
      R"({"ph":"X","cat":"user_annotation"},{"ph":"X", "args": {"critical": 1}} , )"
      R"({"ph":"s","cat":"k"})";
  OverlayMarks marks;
  marks.critical = {1, 3};
  for (const size_t size : {1U, 2U, 7U, 1000U}) {
    EXPECT_EQ(Copied(kEvents, marks, size), marked);
  }
}

TEST(EventListSinkTest, LeavesOutWhatIsNotCritical) {
  OverlayMarks marks;
  marks.only_critical = true;
  EXPECT_EQ(Copied(kEvents, marks), R"({"ph":"M","name":"a\"}{"} , {"ph":"s","cat":"k"})");
  marks.kept_categories = {"user_annotation"};
  marks.critical = {3};
  EXPECT_EQ(Copied(kEvents, marks),
            R"({"ph":"M","name":"a\"}{"},)"
            "\n"
            R"({"ph":"X","cat":"user_annotation"},{"ph":"X", "args": {"critical": 1}} , )"
            R"({"ph":"s","cat":"k"})");
}

TEST(EventListSinkTest, WithoutItsFirstEventsTheListBeginsWithoutAComma) {
  OverlayMarks marks;
  marks.only_critical = true;
  EXPECT_EQ(Copied(R"({"ph":"X"},{"ph":"X"}, {"ph":"M"},{"ph":"X"},{"ph":"C"})", marks),
            R"( {"ph":"M"},{"ph":"C"})");
  EXPECT_EQ(Copied(R"({"ph":"X"},{"ph":"X"})", marks), "");
}

TEST(EventListSinkTest, SaysWhetherAllWasThere) {
  OverlayMarks marks;
  marks.critical = {1};
  StringSink target;
  EventListSink list(target, marks);
  ASSERT_TRUE(list.Write("{}").ok());
  EXPECT_FALSE(list.is_complete());
  ASSERT_TRUE(list.Write(",{").ok());
  EXPECT_FALSE(list.is_complete());
  ASSERT_TRUE(list.Write("}").ok());
  EXPECT_TRUE(list.is_complete());
}

namespace fs = std::filesystem;

// One point, at 1.5 us.
Overlay Counters(std::vector<OverlayCounter> counters) {
  Overlay overlay;
  overlay.counters = std::move(counters);
  return overlay;
}
Overlay OneCounter() { return Counters({{0, "Queue", "launches", {{1500, 2}}}}); }

const std::string kCounter =
    R"({"ph":"C","cat":"borescope","name":"Queue","pid":0,"tid":0,"ts":1.500,"args":{"launches":2}})";

class OverlayWriterTest : public testing::Test {
 protected:
  OverlayWriterTest() {
    std::string name = (fs::temp_directory_path() / "borescope_overlay_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~OverlayWriterTest() override { fs::remove_all(folder_); }

  std::string Path(std::string_view name) const { return (folder_ / name).string(); }

  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // A trace of which only the place for events is known.
  static Trace TraceWith(const Meta& meta) {
    TraceData data;
    data.meta = meta;
    data.meta.file = "in.json";
    return Trace(std::move(data));
  }

  Result<void> Write(std::string_view text, const Meta& meta, const Overlay& overlay,
                     std::string_view name = "out.json") {
    const std::unique_ptr<ByteSource> source = OpenMemory(text);
    return Commit(DraftOverlayFile(*source, TraceWith(meta), overlay, Path(name)));
  }

  static Result<void> Commit(const Result<std::unique_ptr<FileSink>>& draft) {
    return draft.ok() ? (*draft)->Commit() : draft.error();
  }

  // `marked` has a stroke where the events end.
  std::string Written(std::string marked, Meta meta, const Overlay& overlay) {
    meta.events_end_byte = marked.find('|');
    marked.erase(meta.events_end_byte, 1);
    const Result<void> written = Write(marked, meta, overlay);
    EXPECT_TRUE(written.ok()) << written.error().Sentence();
    return Read(Path("out.json"));
  }

  fs::path folder_;
};

Meta WithEvents() {
  Meta meta;
  meta.has_events_before_end = true;
  return meta;
}

TEST_F(OverlayWriterTest, EventsStandBehindTheLastRecordedOne) {
  EXPECT_EQ(Written(R"({"traceEvents":[{}|],"x":1})", WithEvents(), OneCounter()),
            R"({"traceEvents":[{},)"
            "\n" +
                kCounter + R"(],"x":1})");
  EXPECT_EQ(Written("{\"traceEvents\": [|]}\n", Meta(), OneCounter()),
            "{\"traceEvents\": [\n" + kCounter + "]}\n");
}

TEST_F(OverlayWriterTest, WithoutEventsTheTextStaysAsItIs) {
  for (const char* text : {"{\"traceEvents\":[{}|],\"x\":1}", "[|]"}) {
    std::string plain = text;
    plain.erase(plain.find('|'), 1);
    EXPECT_EQ(Written(text, WithEvents(), Overlay()), plain);
    EXPECT_EQ(Written(text, WithEvents(), Counters({{0, "a", "b", {}}})), plain);
  }
}

TEST_F(OverlayWriterTest, ACutTextIsClosed) {
  Meta meta = WithEvents();
  meta.text_is_cut = true;
  EXPECT_EQ(Written(R"({"traceEvents":[{}|,{"na)", meta, OneCounter()),
            "{\"traceEvents\":[{},\n" + kCounter + "\n]}\n");
  meta.text_is_object = false;
  EXPECT_EQ(Written("[{}|", meta, OneCounter()), "[{},\n" + kCounter + "\n]\n");
}

TEST_F(OverlayWriterTest, TimesAreExactMicroseconds) {
  Overlay overlay = OneCounter();
  overlay.counters[0].points = {{0, 0},
                                {1'709'210'096'789'123'456, 0.1},
                                {-5, 1e300},
                                {std::numeric_limits<int64_t>::min(), -3},
                                {1'000, 4294967296.0}};
  const std::string text = Written("[|]", Meta(), overlay);
  for (const char* part : {"\"ts\":0.000,\"args\":{\"launches\":0}}",
                           "\"ts\":1709210096789123.456,\"args\":{\"launches\":0.1}}",
                           "\"ts\":-0.005,\"args\":{\"launches\":1e+300}}",
                           "\"ts\":-9223372036854775.808,\"args\":{\"launches\":-3}}",
                           "\"ts\":1.000,\"args\":{\"launches\":4294967296}}"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
}

TEST_F(OverlayWriterTest, TracksHaveNamesAndTidsOfTheirOwn) {
  Overlay overlay;
  overlay.tracks.push_back(
      {3, "Track \"1\"\\", {"a\n\x01", "b\xFF"}, {{1000, 20, 0}, {2000, 0, 1}}});
  overlay.tracks.push_back({4, "Track 2", {}, {}});
  TraceData data;
  data.meta.events_end_byte = 1;
  data.tracks.tid = {7, 1'000'000'001, 1'000'000'000};
  const std::unique_ptr<ByteSource> source = OpenMemory("[]");
  const Trace trace(std::move(data));
  ASSERT_TRUE(Commit(DraftOverlayFile(*source, trace, overlay, Path("out.json"))).ok());
  EXPECT_EQ(Read(Path("out.json")),
            R"([
{"ph":"M","name":"thread_name","pid":3,"tid":1000000002,"args":{"name":"Track \"1\"\\"}},
{"ph":"X","cat":"borescope","name":"a\n\u0001","pid":3,"tid":1000000002,"ts":1.000,"dur":0.020},
{"ph":"X","cat":"borescope","name":"b)"
            "\uFFFD"
            R"(","pid":3,"tid":1000000002,"ts":2.000,"dur":0.000},
{"ph":"M","name":"thread_name","pid":4,"tid":1000000003,"args":{"name":"Track 2"}}])");
}

// From 1.5 us on thread 2 to 2 us on stream 7.
Overlay OneArrow() {
  Overlay overlay;
  overlay.arrows.name = "path";
  overlay.arrows.types = {"delay", "wait \"x\""};
  overlay.arrows.arrows = {{{1, 2, 1500}, {0, 7, 2000}, 1, 12, true}};
  return overlay;
}

const std::string kArrow =
    R"({"name":"path","cat":"path","id":0,"ph":"s","pid":1,"tid":2,"ts":1.500,)"
    R"("args":{"weight":12,"critical":true,"type":"wait \"x\""}},)"
    "\n"
    R"({"name":"path","cat":"path","id":0,"ph":"f","bp":"e","pid":0,"tid":7,"ts":2.000,)"
    R"("args":{"weight":12,"critical":true,"type":"wait \"x\""}})";

TEST_F(OverlayWriterTest, ArrowsArePairsOfFlowEvents) {
  EXPECT_EQ(Written("[{}|]", WithEvents(), OneArrow()), "[{},\n" + kArrow + "]");
  Overlay two = OneArrow();
  two.arrows.arrows.push_back({{1, 2, -5}, {1, 3, 0}, 0, 0.25, false});
  const std::string text = Written("[{}|]", WithEvents(), two);
  EXPECT_NE(text.find(R"("id":1,"ph":"s","pid":1,"tid":2,"ts":-0.005,)"
                      R"("args":{"weight":0.25,"critical":false,"type":"delay"}})"),
            std::string::npos)
      << text;
}

Meta WithList(std::string_view text) {
  Meta meta = WithEvents();
  meta.events_begin_byte = text.find('[') + 1;
  return meta;
}

TEST_F(OverlayWriterTest, MarksStandInTheCopy) {
  constexpr std::string_view kText = R"({"a":[1],"traceEvents":[{"ts":1}, {"ph":"M"}|], "x":{}})";
  Meta meta = WithEvents();
  meta.events_begin_byte = kText.find("[{") + 1;
  Overlay overlay = OneArrow();
  overlay.marks.critical = {1};
  EXPECT_EQ(Written(std::string(kText), meta, overlay),
            R"({"a":[1],"traceEvents":[{"ts":1}, {"ph":"M", "args": {"critical": 1}},)"
            "\n" +
                kArrow + R"(], "x":{}})");
}

TEST_F(OverlayWriterTest, WhereAllEventsAreLeftOutNoCommaStays) {
  Overlay overlay = OneArrow();
  overlay.marks.only_critical = true;
  const std::string text = R"([ {"ph":"X"},{"ph":"X"}|])";
  EXPECT_EQ(Written(text, WithList(text), overlay), "[\n" + kArrow + "]");
}

TEST_F(OverlayWriterTest, EventsToMarkThatAreNotThereAreAnError) {
  Overlay overlay;
  overlay.marks.critical = {1};
  Meta meta = WithList("[");
  meta.events_end_byte = 3;
  EXPECT_EQ(Write("[{}]", meta, overlay).error().Sentence(),
            "in.json: changed while it was read; try again");
  meta.events_begin_byte = 0;
  EXPECT_EQ(Write("[{}]", meta, overlay).error().code, ErrorCode::kMissingData);
}

// More than one piece on both sides of the overlay, and inside it.
TEST_F(OverlayWriterTest, LargeTextsAndGzip) {
  const std::string before = "[\"" + std::string(3'000'000, 'x') + "\"";
  const std::string after = " \n" + std::string(2'500'000, ' ') + "]";
  Overlay overlay = OneCounter();
  overlay.counters[0].points.assign(50'000, {1500, 2});
  std::string expected = before;
  for (int i = 0; i < 50'000; ++i) {
    expected += ",\n" + kCounter;
  }
  Meta meta = WithEvents();
  meta.events_end_byte = before.size();
  ASSERT_TRUE(Write(before + after, meta, overlay).ok());
  EXPECT_TRUE(Read(Path("out.json")) == expected + after);

  ASSERT_TRUE(Write(before + after, meta, overlay, "out.json.gz").ok());
  const std::string stored = Read(Path("out.json.gz"));
  EXPECT_LT(stored.size(), 100'000U);
  Result<OpenedSource> inflated = InflateIfCompressed(OpenMemory(stored));
  std::string text(expected.size() + after.size() + 1, '\0');
  text.resize(ReadFully(*inflated->bytes, text.data(), text.size()).value());
  EXPECT_TRUE(text == expected + after);
}

TEST_F(OverlayWriterTest, ADraftThatIsNotCommittedVanishes) {
  {
    const std::unique_ptr<ByteSource> source = OpenMemory("[]");
    Meta meta;
    meta.events_end_byte = 1;
    const auto draft = DraftOverlayFile(*source, TraceWith(meta), OneCounter(), Path("out.json"));
    ASSERT_TRUE(draft.ok());
    EXPECT_FALSE(fs::exists(Path("out.json")));
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(OverlayWriterTest, WhatCannotBeWrittenLeavesNoFile) {
  EXPECT_EQ(Write("[]", Meta(), OneCounter()).error().Sentence(),
            "in.json: no list of trace events, to which `overlay` could add");
  Meta meta;
  meta.events_end_byte = 5;
  EXPECT_EQ(Write("[]", meta, OneCounter()).error().Sentence(),
            "in.json: changed while it was read; try again");
  meta.events_end_byte = 1;
  EXPECT_EQ(Write("[]", meta, OneCounter(), "no/out.json").error().code, ErrorCode::kIo);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace

}  // namespace borescope::internal
