#include "borescope/ingest/pickle/plain_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace borescope::internal {
namespace {

using namespace std::string_literals;

// A text as pickles of protocol 4 write it.
std::string Text(std::string_view text) {
  return "\x8c"s + static_cast<char>(text.size()) + std::string(text);
}

// One byte, a small number.
std::string Small(int number) { return "K"s + static_cast<char>(number); }

std::string Memoised(const std::string& value, int slot) {
  return value + "q" + static_cast<char>(slot);
}
std::string FromMemo(int slot) { return "h"s + static_cast<char>(slot); }

std::string Pickle(const std::string& body) { return "\x80\x04"s + body + "."; }

// What was kept, as Python would print it.
std::string Shown(const PlainStore& store, PlainValue value) {
  std::string out;
  switch (value.kind) {
    case PlainKind::kNone:
      return "None";
    case PlainKind::kBool:
      return value.bits != 0 ? "True" : "False";
    case PlainKind::kText:
      return "'" + std::string(store.Text(value)) + "'";
    case PlainKind::kInt:
      return std::to_string(*store.Int(value));
    case PlainKind::kWide:
      return std::to_string(*store.Address(value));
    case PlainKind::kFloat:
      return std::to_string(*store.Number(value));
    case PlainKind::kFolded:
      return "<" + std::to_string(value.shape) + ":" + std::to_string(value.bits) + ">";
    default:
      break;
  }
  const std::string_view brackets = value.kind == PlainKind::kList    ? "[]"
                                    : value.kind == PlainKind::kTuple ? "()"
                                                                      : "{}";
  bool is_key = value.kind == PlainKind::kDict;
  for (const PlainValue& item : store.Items(value)) {
    out += Shown(store, item);
    out += is_key ? ":" : ",";
    is_key = value.kind == PlainKind::kDict && !is_key;
  }
  return brackets.substr(0, 1).data()[0] + out + brackets[1];
}

struct Outcome {
  std::string shown;
  std::string error;
  bool is_cut = false;
};

Outcome Read(const std::string& bytes, PlainFolder* folder = nullptr, PlainStore* in = nullptr) {
  PlainStore own;
  KeepAll keep;
  PlainStore& store = in == nullptr ? own : *in;
  const std::unique_ptr<ByteSource> source = OpenMemory(bytes);
  const Result<PlainRead> read =
      ReadPlain(*source, store, folder == nullptr ? static_cast<PlainFolder&>(keep) : *folder);
  return read.ok() ? Outcome{Shown(store, read->root), "", read->is_cut}
                   : Outcome{"", read.error().Sentence(), false};
}

std::string Kept(const std::string& body) { return Read(Pickle(body)).shown; }
std::string Error(const std::string& body) { return Read(Pickle(body)).error; }

TEST(PlainReaderTest, Values) {
  EXPECT_EQ(Kept("N"), "None");
  EXPECT_EQ(Kept("\x88"), "True");
  EXPECT_EQ(Kept("\x89"), "False");
  EXPECT_EQ(Kept(Small(200)), "200");
  EXPECT_EQ(Kept("M\x01\x02"s), "513");
  EXPECT_EQ(Kept("J\xff\xff\xff\xff"s), "-1");
  EXPECT_EQ(Kept("\x8a\x00"s), "0");
  EXPECT_EQ(Kept("\x8a\x02\x00\xff"s), "-256");
  EXPECT_EQ(Kept("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"s), "9223372036854775807");
  EXPECT_EQ(Kept("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"s), "-9223372036854775808");
  EXPECT_EQ(Kept("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00"s), "9223372036854775808");
  EXPECT_EQ(Kept("\x8b\x01\x00\x00\x00\x07"s), "7");
  EXPECT_EQ(Kept("G\x3f\xf8\x00\x00\x00\x00\x00\x00"s), "1.500000");
  EXPECT_EQ(Kept("X\x02\x00\x00\x00hi"s), "'hi'");
  EXPECT_EQ(Kept("\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi"s), "'hi'");
  EXPECT_EQ(Kept("C\x02hi"s), "'hi'");
  EXPECT_EQ(Kept("\x95\x03\x00\x00\x00\x00\x00\x00\x00"s + Small(1)), "1");
}

TEST(PlainReaderTest, Containers) {
  EXPECT_EQ(Kept("}"), "{}");
  EXPECT_EQ(Kept("]"), "[]");
  EXPECT_EQ(Kept(")"), "()");
  EXPECT_EQ(Kept("](" + Small(1) + Small(2) + "e"), "[1,2,]");
  EXPECT_EQ(Kept("](" + Small(1) + "e(" + Small(2) + "e" + Small(3) + "a"), "[1,2,3,]");
  EXPECT_EQ(Kept("}(" + Text("a") + Small(1) + Text("b") + "Nu"), "{'a':1,'b':None,}");
  EXPECT_EQ(Kept("}" + Text("a") + "]s" + Text("b") + Small(2) + "s"), "{'a':[],'b':2,}");
  EXPECT_EQ(Kept(Small(1) + "\x85"), "(1,)");
  EXPECT_EQ(Kept(Small(1) + Small(2) + "\x86"), "(1,2,)");
  EXPECT_EQ(Kept(Small(1) + Small(2) + Small(3) + "\x87"), "(1,2,3,)");
  EXPECT_EQ(Kept("(" + Small(1) + "]" + Small(3) + Small(4) + "t"), "(1,[],3,4,)");
  EXPECT_EQ(Kept("](]]]e"), "[[],[],[],]");
  EXPECT_EQ(Kept(Small(1) + Small(2) + "0"), "1");
}

TEST(PlainReaderTest, TheMemoGivesWhatWasFilled) {
  // A dictionary gets its entry before it is filled (Python) or after it (PyTorch).
  const std::string before = Memoised("}", 0) + "(" + Text("a") + Small(1) + "u";
  const std::string after = Memoised("}(" + Text("a") + Small(1) + "u", 0);
  for (const std::string& dictionary : {before, after}) {
    EXPECT_EQ(Kept("](" + dictionary + FromMemo(0) + "e"), "[{'a':1,},{'a':1,},]");
    EXPECT_EQ(Kept("](" + dictionary + "e" + FromMemo(0) + "a"), "[{'a':1,},{'a':1,},]");
  }
  EXPECT_EQ(Kept("](" + Memoised("]", 0) + FromMemo(0) + FromMemo(0) + "e"), "[[],[],[],]");
  EXPECT_EQ(Kept("](" + Text("x") + "\x94h\x00" + "e"s), "");  // MEMOIZE, cut by a terminator
  EXPECT_EQ(Kept("](" + Text("x") + "\x94" + FromMemo(0) + "e"), "['x','x',]");
  // A wide number keeps its bits.
  EXPECT_EQ(
      Kept("](" + Memoised("\x8a\x09\x01\x00\x00\x00\x00\x00\x00\xff\x00"s, 0) + FromMemo(0) + "e"),
      "[18374686479671623681,18374686479671623681,]");
  EXPECT_EQ(Kept("](" + Memoised("J\xfe\xff\xff\xff"s, 0) + FromMemo(0) + "e"), "[-2,-2,]");
}

TEST(PlainReaderTest, EqualContainersAreOne) {
  PlainStore store;
  EXPECT_EQ(Read(Pickle("](](" + Small(1) + "e](" + Small(1) + "e" + Small(1) + "\x85" + "e"),
                 nullptr, &store)
                .shown,
            "[[1,],[1,],(1,),]");
  EXPECT_EQ(store.containers(), 3U);
}

// The hostile files of the tests of security: each is refused at once.
TEST(PlainReaderTest, WhatRunsCodeIsRefused) {
  const Outcome global = Read("\x80\x04"s + "cos\nsystem\n(" + Text("true") + "tR.");
  EXPECT_EQ(global.error,
            "opcode GLOBAL at byte 2: this file asks to run code; a flight recorder dump "
            "or memory snapshot does not");
  EXPECT_NE(Error(Text("a") + ")R").find("opcode REDUCE"), std::string::npos);
  constexpr std::pair<unsigned char, std::string_view> kOthers[] = {
      {0x93, "STACK_GLOBAL"}, {'b', "BUILD"},      {'i', "INST"},     {'o', "OBJ"},
      {0x81, "NEWOBJ"},       {0x92, "NEWOBJ_EX"}, {0x82, "EXT1"},    {0x83, "EXT2"},
      {0x84, "EXT4"},         {'P', "PERSID"},     {'Q', "BINPERSID"}};
  for (const auto& [opcode, name] : kOthers) {
    EXPECT_NE(Error("N"s + static_cast<char>(opcode)).find("opcode " + std::string(name) + " at"),
              std::string::npos);
  }
  // Text opcodes, sets and byte arrays are none of a dump.
  for (const char opcode : "ISVgpdl2\x8f\x90\x91\x96"s) {
    EXPECT_NE(Error("N"s + opcode).find("has none of that kind"), std::string::npos);
  }
}

TEST(PlainReaderTest, BombsAreRefused) {
  EXPECT_NE(Error("\x8b\xff\xff\xff\x7f"s + Small(1)).find("a number of"), std::string::npos);
  EXPECT_NE(Error(Small(1) + "r\xff\xff\xff\xff"s).find("the memo has an entry"),
            std::string::npos);
  // Lists in lists, and a text that doubles with each line by the memo: a graph, not a tree.
  std::string nested;
  std::string marked;
  for (int i = 0; i < 70; ++i) {
    nested += "]";
    marked += "](";
  }
  EXPECT_NE(Error(nested + std::string(69, 'a')).find("nest deeper than 64"), std::string::npos);
  EXPECT_NE(Error(marked).find("nest deeper than 64"), std::string::npos);
  std::string laughs = Memoised("](" + Text("ha") + Text("ha") + "e", 0) + "0";
  for (int i = 0; i < 60; ++i) {
    laughs += Memoised("](" + FromMemo(i) + FromMemo(i) + "e", i + 1) + "0";
  }
  PlainStore store;
  KeepAll keep;
  const std::string bytes = Pickle(laughs + FromMemo(60));
  EXPECT_TRUE(ReadPickle(*OpenMemory(bytes), store, keep).ok());
  EXPECT_EQ(store.containers(), 61U);
  EXPECT_NE(Error(std::string((size_t{1} << 20U) + 1, ']')).find("containers are open"),
            std::string::npos);
}

TEST(PlainReaderTest, NothingHoldsItself) {
  constexpr std::string_view kRefused = "what is no container, or was used already";
  EXPECT_NE(Error(Memoised("]", 0) + FromMemo(0) + "a").find(kRefused), std::string::npos);
  EXPECT_NE(Error(Memoised("]", 0) + FromMemo(0) + "\x85" + "a").find(kRefused), std::string::npos);
  EXPECT_NE(Error(Memoised("}", 0) + Text("me") + FromMemo(0) + "s").find(kRefused),
            std::string::npos);
  EXPECT_NE(Error("N" + Small(1) + "a").find(kRefused), std::string::npos);
  EXPECT_NE(Error("]" + Text("a") + Small(1) + "s").find(kRefused), std::string::npos);
}

TEST(PlainReaderTest, StacksAreChecked) {
  for (const char* const body :
       {"a", "e", "u", "s", "0", "\x85", "\x86", "\x87", "t", "]a", "}s", "](a", "q\x01", "h\x01",
        "}(Nu", "", "((e", "\x94", "]q\x01h\x02"}) {
    EXPECT_FALSE(Error(body).empty()) << body;
  }
  EXPECT_EQ(Read("\x80\x09N."s).error, "a pickle of protocol 9; 2 to 5 are read");
}

// Rows of a table of two columns, and lists of them: as the readers of dumps fold.
class RowFolder : public PlainFolder {
 public:
  explicit RowFolder(PlainStore& store) : store_(store), a_(store.Intern("a")) {}

  std::optional<PlainValue> FoldDict(std::span<const PlainValue> members) override {
    for (size_t i = 0; i < members.size(); i += 2) {
      if (members[i].IsText() && members[i].bits == a_) {
        rows.push_back(store_.Int(members[i + 1]).value_or(-1));
        return PlainFolded(1, rows.size() - 1);
      }
    }
    return std::nullopt;
  }
  std::optional<PlainValue> FoldList(std::optional<PlainValue> before,
                                     std::span<const PlainValue> elements) override {
    if (!before.has_value() && !elements.front().IsFolded(1)) {
      return std::nullopt;
    }
    const auto count = static_cast<uint64_t>(
        std::count_if(elements.begin(), elements.end(),
                      [](const PlainValue& value) { return value.IsFolded(1); }));
    return PlainFolded(2, (before.has_value() ? before->bits : 0) + count);
  }

  std::vector<int64_t> rows;

 private:
  PlainStore& store_;
  uint32_t a_;
};

std::string Row(int number) { return "}(" + Text("a") + Small(number) + Text("b") + "Nu"; }

TEST(PlainReaderTest, FoldedContainersAreNotKept) {
  PlainStore store;
  RowFolder folder(store);
  const std::string bytes =
      Pickle("}(" + Text("rows") + Memoised("](" + Row(3) + Row(4) + "e(" + Row(5) + "e", 7) +
             Text("again") + FromMemo(7) + Text("one") + "]" + Memoised(Row(9), 8) + "a" +
             Text("same") + FromMemo(8) + "u");
  EXPECT_EQ(Read(bytes, &folder, &store).shown,
            "{'rows':<2:3>,'again':<2:3>,'one':<2:1>,'same':<1:3>,}");
  EXPECT_EQ(folder.rows, (std::vector<int64_t>{3, 4, 5, 9}));
  EXPECT_EQ(store.containers(), 1U);
}

TEST(PlainReaderTest, WhatWasCompleteIsKeptOfACutFile) {
  const std::string whole = Pickle("}(" + Text("v") + Text("1") + Text("rows") + "](" + Row(3) +
                                   Row(4) + "e" + Text("end") + "Nu");
  size_t rows_before = 0;
  for (size_t size = 2; size < whole.size(); ++size) {
    PlainStore store;
    RowFolder folder(store);
    const Outcome outcome = Read(whole.substr(0, size), &folder, &store);
    ASSERT_EQ(outcome.error, "") << size;
    EXPECT_TRUE(outcome.is_cut);
    EXPECT_GE(folder.rows.size(), rows_before);
    rows_before = folder.rows.size();
    if (!folder.rows.empty()) {
      EXPECT_EQ(outcome.shown.substr(0, 22),
                "{'v':'1','rows':<2:" + std::to_string(folder.rows.size()) + ">,")
          << size;
    }
  }
  EXPECT_EQ(rows_before, 2U);
}

TEST(PlainReaderTest, ACutListOfOneListIsKept) {
  // As a snapshot of one device: the outer list has no mark.
  PlainStore store;
  RowFolder folder(store);
  const std::string cut =
      "\x80\x04}("s + Text("x") + "N" + Text("traces") + "]](" + Row(3) + Row(4) + "}(" + Text("a");
  EXPECT_EQ(Read(cut, &folder, &store).shown, "{'x':None,'traces':[<2:2>,],}");
}

TEST(PlainReaderTest, JsonIsReadAlike) {
  EXPECT_EQ(
      Read(
          R"( {"a": [1, -2.5, "x\ny", null, true, {}], "b": {"c": []}, "d": 18446744073709551615} )")
          .shown,
      "{'a':[1,-2.500000,'x\ny',None,True,{},],'b':{'c':[],},'d':18446744073709551615,}");
  EXPECT_EQ(Read("[]").shown, "[]");
  EXPECT_EQ(Read("7").shown, "7");
  for (const char* const bad : {"[1 2]", "{\"a\" 1}", "{1: 2}", "[x]", "[1]]", "[1,]"}) {
    EXPECT_NE(Read(bad).error, "") << bad;
  }
  EXPECT_NE(Read(std::string(70, '[')).error.find("nest deeper"), std::string::npos);

  PlainStore store;
  RowFolder folder(store);
  std::string many = "{\"rows\": [";
  for (int i = 0; i < 2500; ++i) {
    many += (i == 0 ? "" : ",") + ("{\"a\": " + std::to_string(i) + "}");
  }
  EXPECT_EQ(Read(many + "]}", &folder, &store).shown, "{'rows':<2:2500>,}");
  EXPECT_EQ(folder.rows.size(), 2500U);
  EXPECT_EQ(store.containers(), 1U);
  // Cut within a row, which is lost; the list and the object are kept.
  PlainStore other;
  RowFolder again(other);
  const Outcome cut = Read(many + ",{\"a\": 3", &again, &other);
  EXPECT_EQ(cut.shown, "{'rows':<2:2500>,}");
  EXPECT_TRUE(cut.is_cut);
}

TEST(PlainReaderTest, LongTextsAreCut) {
  PlainStore store;
  KeepAll keep;
  const std::string bytes = "\x80\x04X\x05\x00\x10\x00"s + std::string((1 << 20) + 5, 'x') + ".";
  const Result<PlainRead> read = ReadPickle(*OpenMemory(bytes), store, keep);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->cut_texts, 1U);
  EXPECT_EQ(store.Text(read->root).size(), PlainStore::kTextBytes);
  EXPECT_EQ(Kept("X\x01\x00\x00\x00\xff"s), "'\xef\xbf\xbd'");
}

TEST(PlainReaderTest, ContentIsGuessedByItsFirstBytes) {
  using enum PlainContent;
  EXPECT_EQ(GuessPlain("\x80\x02}(X\x07\x00\x00\x00versionq\x00"s).content, kFlightRecorder);
  EXPECT_EQ(
      GuessPlain("\x80\x04\x95\x01\x01\x00\x00\x00\x00\x00\x00}\x94(\x8c\x08segments\x94"s).content,
      kMemorySnapshot);
  EXPECT_EQ(GuessPlain("\x80\x04}\x94(\x8c\x08whatever"s).content, kPickle);
  // The keys of a dictionary have no order; what is not in the head is not looked for.
  const std::string settings = "\x80\x04}\x94(\x8c\x12" + "allocator_settings\x94}\x94"s;
  EXPECT_EQ(GuessPlain(settings + "\x8c\x08segments\x94]"s).content, kMemorySnapshot);
  EXPECT_EQ(GuessPlain(settings + "X\x0d\x00\x00\x00"s + "device_traces]").content,
            kMemorySnapshot);
  EXPECT_EQ(GuessPlain(settings + "\x8c\x09pg_config\x94}"s).content, kFlightRecorder);
  EXPECT_EQ(GuessPlain(settings + "\x8c\x09segments.\x94}"s).content, kPickle);
  EXPECT_EQ(GuessPlain(settings + std::string(kPlainHeadBytes, '0') + "\x8c\x08segments"s).content,
            kPickle);
  EXPECT_EQ(GuessPlain("\x80\x04"s + "cos\nsystem\n").content, kPickle);
  EXPECT_EQ(GuessPlain("{\"comm_lib_version\":\"\",\"entries\":[").content, kFlightRecorder);
  EXPECT_EQ(GuessPlain("{\"version\": \"2.10\", \"pg_config\": {}").content, kFlightRecorder);
  EXPECT_EQ(GuessPlain("{\"segments\": [").content, kMemorySnapshot);
  // Both begin with the version of NCCL: a dump, and a report of its RAS service.
  EXPECT_EQ(GuessPlain("{\"nccl_version\": \"2.20.5\", \"version\": \"2.6\"}").content,
            kFlightRecorder);
  EXPECT_EQ(
      GuessPlain("{\"nccl_version\": \"2.28.3\", \"communicators_count\": 1, \"communicators\": [{")
          .content,
      kNone);
  EXPECT_EQ(GuessPlain("{\"traceEvents\": [").content, kNone);
  EXPECT_EQ(GuessPlain("{\"version\": \"1\", \"entries\": []}").content, kNone);
  EXPECT_EQ(GuessPlain("").content, kNone);
}

}  // namespace
}  // namespace borescope::internal
