#include "borescope/packs/chakra/et/et_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "borescope/packs/chakra/et/et_stream.h"

namespace borescope::internal {
namespace {

struct Sample {
  uint64_t id;
  std::vector<uint64_t> deps;
  EtNodeType type = EtNodeType::kComp;
  int64_t kind = 0;
  int64_t bytes = 8;
};

std::string EtOf(const std::vector<Sample>& samples) {
  StringSink sink;
  EtWriter writer(sink);
  writer.Add(EtMetadata());
  for (const Sample& sample : samples) {
    EtNode node;
    node.id = sample.id;
    node.name = "n";
    node.type = sample.type;
    node.data_deps = sample.deps;
    if (sample.type == EtNodeType::kCommColl) {
      node.attrs = {EtAttr::Int64("comm_type", sample.kind),
                    EtAttr::Int64("comm_size", sample.bytes), EtAttr::String("pg_name", "0")};
    }
    writer.Add(node);
  }
  EXPECT_TRUE(writer.Finish().ok());
  return sink.text();
}

// The checks that are not ok.
std::map<std::string_view, CheckRow> FaultsOf(const std::vector<CheckRow>& rows) {
  std::map<std::string_view, CheckRow> faults;
  for (const CheckRow& row : rows) {
    if (row.status != EtStatus::kOk) {
      faults[row.check] = row;
    }
  }
  return faults;
}

std::map<std::string_view, CheckRow> Check(const std::vector<Sample>& samples) {
  const std::string bytes = EtOf(samples);
  const Result<EtFile> et = ReadEt(bytes);
  std::vector<CheckRow> rows;
  if (et.ok()) {
    CheckEt("f", *et, rows);
  }
  return FaultsOf(rows);
}

TEST(EtCheck, GoodFilesPass) { EXPECT_TRUE(Check({{1, {}}, {2, {1}}, {3, {1, 2}}}).empty()); }

TEST(EtCheck, CirclesAreNamed) {
  const auto faults = Check({{1, {}}, {2, {1, 4}}, {3, {2}}, {4, {3}}, {5, {4}}});
  ASSERT_TRUE(faults.contains("acyclic"));
  EXPECT_EQ(faults.at("acyclic").count, 3U);
  EXPECT_EQ(faults.at("acyclic").first, "n (2) -> n (3) -> n (4) -> n");
  EXPECT_EQ(faults.at("all-issued").count, 4U);
}

TEST(EtCheck, MissingTwiceNamedAndRepeatedNodesAreFound) {
  const auto faults = Check({{1, {9}}, {2, {}}, {2, {}}, {4, {2, 2}}});
  EXPECT_EQ(faults.at("data-deps-exist").first, "node 1 (n) names node 9");
  EXPECT_EQ(faults.at("unique-ids").count, 1U);
  EXPECT_EQ(faults.at("data-deps-once").count, 1U);
  EXPECT_EQ(faults.at("all-issued").count, 2U);
}

TEST(EtCheck, CommunicationIsComplete) {
  const auto faults = Check({{1, {}, EtNodeType::kCommColl, 99, 0}, {2, {}, EtNodeType::kInvalid}});
  EXPECT_EQ(faults.at("comm-types").count, 1U);
  EXPECT_EQ(faults.at("comm-sizes").count, 1U);
  EXPECT_EQ(faults.at("node-types").first, "node 2 (n) has type 0");
}

TEST(EtCheck, BarriersHaveNoSize) {
  const auto faults = Check({{1, {}, EtNodeType::kCommColl, 9, 0}});
  EXPECT_FALSE(faults.contains("comm-sizes"));
}

// The reference's rules of issuing: the smallest id first, and nodes once all their dependencies
// have ended.
TEST(EtCheck, IssueOrderIsThatOfTheFeeder) {
  const std::string bytes = EtOf({{5, {}}, {3, {}}, {4, {3}}, {1, {4, 5}}, {2, {3}}});
  const Result<EtFile> et = ReadEt(bytes);
  ASSERT_TRUE(et.ok());
  EXPECT_EQ(IssueOrder(*et), (std::vector<uint64_t>{3, 2, 4, 5, 1}));
}

CheckRow Compare(const std::vector<Sample>& a, const std::vector<Sample>& b) {
  const std::string first = EtOf(a);
  const std::string second = EtOf(b);
  const Result<EtFile> one = ReadEt(first);
  const Result<EtFile> two = ReadEt(second);
  std::vector<CheckRow> rows;
  CheckCollectives({{"a", &*one}, {"b", &*two}}, rows);
  return rows.empty() ? CheckRow() : rows.front();
}

TEST(EtCheck, RanksCallTheSameCollectives) {
  constexpr auto kColl = EtNodeType::kCommColl;
  const std::vector<Sample> calls = {{1, {}, kColl, 0, 8}, {2, {1}, kColl, 6, 8}};
  EXPECT_EQ(Compare(calls, calls).status, EtStatus::kOk);
  EXPECT_EQ(Compare(calls, {{1, {}, kColl, 0, 8}, {2, {1}, kColl, 6, 99}}).status,
            EtStatus::kOk);  // parts of an all-to-all may differ
  EXPECT_EQ(Compare(calls, {{1, {}, kColl, 0, 16}, {2, {1}, kColl, 6, 8}}).first,
            "group '0', call 1: ALL_REDUCE of 8 bytes in a, ALL_REDUCE of 16 bytes in b");
  EXPECT_EQ(Compare(calls, {{1, {}, kColl, 0, 8}}).first,
            "group '0', call 2: ALL_TO_ALL of 8 bytes in a, nothing in b");
}

// A cut inside a record is an error. A cut between two records cannot be seen, since a .et does not
// record their number; all nodes before it are read then, and dependencies on lost nodes are found.
TEST(EtCheck, CutFilesAreErrorsOrEndBetweenRecords) {
  const std::vector<Sample> samples = {
      {7, {8}}, {1, {}, EtNodeType::kCommColl, 0, 8}, {2, {1}}, {300, {1, 2}}, {8, {300}}};
  std::vector<size_t> ends;  // of the metadata and of every node
  for (size_t count = 0; count <= samples.size(); ++count) {
    ends.push_back(EtOf({samples.begin(), samples.begin() + static_cast<ptrdiff_t>(count)}).size());
  }
  const std::string bytes = EtOf(samples);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    const Result<EtFile> et = ReadEt(cut);
    const auto end = std::find(ends.begin(), ends.end(), size);
    ASSERT_EQ(et.ok(), end != ends.end()) << size;
    if (et.ok()) {
      EXPECT_EQ(et->nodes.size(), static_cast<size_t>(end - ends.begin()));
      std::vector<CheckRow> rows;
      CheckEt("f", *et, rows);
      EXPECT_EQ(FaultsOf(rows).contains("data-deps-exist"), !et->nodes.empty()) << size;
    }
  }
}

// Whichever byte is changed, the result is an error or a file that can be checked.
TEST(EtCheck, ChangedBytesDoNoHarm) {
  const std::string bytes = EtOf({{1, {}, EtNodeType::kCommColl, 0, 8}, {2, {1}}, {3, {1, 2}}});
  for (size_t place = 0; place < bytes.size(); ++place) {
    for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[place] = static_cast<char>(value);
      const Result<EtFile> et = ReadEt(changed);
      std::vector<CheckRow> rows;
      if (et.ok()) {
        CheckEt("f", *et, rows);
      }
    }
  }
}

}  // namespace
}  // namespace borescope::internal
