#include "borescope/engine/partial/wire/partial_bytes.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "borescope/base/version.h"
#include "borescope/catalog/catalog.h"
#include "borescope/catalog/pack.h"
#include "borescope/engine/partial/partial_samples.h"
#include "borescope/engine/partial/wire/envelope.h"
#include "borescope/engine/partial/wire/file_bytes.h"
#include "borescope/engine/partial/wire/partial_fields.h"
#include "borescope/engine/partial/wire/table_bytes.h"
#include "borescope/output/writer.h"

namespace borescope::internal {
namespace {

// The table as it comes back, and what was wrong with the bytes.
Table Carried(const Table& table, std::string* cause = nullptr) {
  std::string bytes;
  wire::WriteTable(table, protozero::pbf_writer(bytes));
  wire::WireFault fault;
  Table read = wire::ReadTable(wire::WireReader(bytes, fault));
  EXPECT_TRUE(cause != nullptr || !fault.any()) << fault.cause;
  if (cause != nullptr) *cause = fault.cause;
  return read;
}

IntValues CarriedInts(const IntValues& values) {
  Table table{"t", "", {}};
  AddInt(table, "a", Unit::kNone, Role::kKey, "").values = values;
  return std::get<IntValues>(Carried(table).columns[0].values);
}

TEST(PartialBytes, IntegersOfEverySizeAndOrder) {
  using Limits = std::numeric_limits<int64_t>;
  for (const IntValues& values :
       {IntValues{}, IntValues{0}, IntValues{Limits::min(), Limits::max(), -1, 0, Limits::min()},
        IntValues{1'700'000'000'000'000'000, 1'700'000'000'000'000'001, 1'700'000'000'000'000'003},
        IntValues{5, 5, 5, 5}, IntValues{-1, 1, -1, 1}}) {
    EXPECT_EQ(CarriedInts(values), values);
  }
}

TEST(PartialBytes, NumbersWithAFractionKeepEveryBit) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const FloatValues values = {0.0,  -0.0,   nan,
                              -nan, 1e-320, std::numeric_limits<double>::infinity()};
  Table table{"t", "", {}};
  AddFloat(table, "a", Unit::kShare, Role::kMin, "").values = values;
  const Table read = Carried(table);
  const auto& carried = std::get<FloatValues>(read.columns[0].values);
  ASSERT_EQ(carried.size(), values.size());
  EXPECT_EQ(std::memcmp(carried.data(), values.data(), values.size() * sizeof(double)), 0);
}

TEST(PartialBytes, TextsFlagsAndMissingCells) {
  Table table{"t", "a title", {}, 20};
  Column& text = AddString(table, "a\xff", Role::kKey, "a doc");
  for (const char* cell : {"x", "", "\xfe", "x", ""}) Push(text, cell);
  PushMissing(text);
  Column& flag = AddBool(table, "b", Role::kMax, "");
  for (const bool cell : {true, false, false, true, true}) Push(flag, cell);
  PushMissing(flag);
  const Table read = Carried(table);
  EXPECT_EQ(read.title, "a title");
  EXPECT_EQ(read.preview_rows, 20U);
  EXPECT_EQ(read.columns[0].name, "a\xff");
  EXPECT_EQ(read.columns[0].doc, "a doc");
  const auto& texts = std::get<StringValues>(read.columns[0].values);
  EXPECT_EQ(texts.size(), 6U);
  EXPECT_EQ(texts[2], "\xfe");
  EXPECT_EQ(texts[4], "");
  EXPECT_EQ(std::get<BoolValues>(read.columns[1].values), (BoolValues{1, 0, 0, 1, 1, 0}));
  EXPECT_FALSE(read.columns[1].IsMissing(4));
  EXPECT_TRUE(read.columns[0].IsMissing(5));
}

TEST(PartialBytes, EveryUnitAndRole) {
  for (const Unit unit : {Unit::kNone, Unit::kNanoseconds, Unit::kBytes, Unit::kCount, Unit::kShare,
                          Unit::kGigabytesPerSecond, Unit::kFlops, Unit::kMicroseconds,
                          Unit::kPercent, Unit::kOfRow}) {
    for (const Role role : {Role::kKey, Role::kSum, Role::kMin, Role::kMax, Role::kDerived}) {
      Table table{"t", "", {}};
      AddInt(table, "a", unit, role, "");
      const Column column = Carried(table).columns[0];
      EXPECT_EQ(column.unit, unit);
      EXPECT_EQ(column.role, role);
    }
  }
}

TEST(PartialBytes, HintsOfColumns) {
  Table table{"t", "", {}};
  AddInt(table, "a", Unit::kNone, Role::kKey, "").hints.tone = Tone::kTail;
  AddString(table, "b", Role::kKey, "").hints = {.palette = Palette::kCause, .names = true};
  AddString(table, "c", Role::kKey, "");
  const Table read = Carried(table);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    EXPECT_EQ(read.columns[i].hints, table.columns[i].hints) << i;
  }
}

TEST(PartialBytes, TablesThatAreNoneAreRefused) {
  const auto cause_of = [](const Table& table) {
    std::string cause;
    Carried(table, &cause);
    return cause;
  };
  Table uneven{"t", "", {}};
  Push(AddInt(uneven, "a", Unit::kNone, Role::kKey, ""), int64_t{1});
  AddInt(uneven, "b", Unit::kNone, Role::kKey, "");
  EXPECT_EQ(cause_of(uneven), "a table has columns of 1 and of 0 rows");
  Table twice{"t", "", {}};
  AddInt(twice, "a", Unit::kNone, Role::kKey, "");
  twice.columns.push_back(twice.columns[0]);
  EXPECT_EQ(cause_of(twice), "a table has two columns of one name");
  Table sum{"t", "", {}};
  AddString(sum, "a", Role::kSum, "");
  EXPECT_EQ(cause_of(sum), "a table has sums that are no numbers");
}

TEST(PartialBytes, APartialComesBackAsItWas) {
  const PartialData sample = SamplePartial();
  const Result<std::string> bytes = SerializePartial(sample);
  ASSERT_TRUE(bytes.ok());
  const Result<PartialData> read = ParsePartial(*bytes, "sample");
  ASSERT_TRUE(read.ok()) << read.error().Sentence();
  EXPECT_EQ(PartialBody(*read), PartialBody(sample));
  EXPECT_EQ(*SerializePartial(*read), *bytes);
  EXPECT_EQ(read->files[1].load_error->Sentence(), "b.json: it is empty");
  EXPECT_EQ(read->files[0].outcomes[1].error->Sentence(),
            "`gpu`: a.json:3: byte 7: no allocator events; record them");
  EXPECT_EQ(read->files[0].diagnostics.Get(Diag::kBadSyntax).first, "a comma");
  EXPECT_EQ(read->files[0].diagnostics.Get(Diag::kNotNested).first_byte, Diagnostics::kNoByte);
  EXPECT_EQ(*read->files[0].claim.recorded, 3);
  EXPECT_EQ(read->files[0].unknown->steps, (std::set<int64_t>{-4, 9}));
  EXPECT_EQ(read->question.params.selection.range.begin.kind, TimePoint::Kind::kShare);
}

TEST(PartialBytes, AnotherMajorVersionIsRefusedByName) {
  const std::string bytes = *Seal({kPartialMajor + 1, 7, "9.8.7", "whatever"});
  const Result<PartialData> read = ParsePartial(bytes, "a.part");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kUnsupportedFormat);
  EXPECT_TRUE(read.error().Sentence().starts_with(
      "a.part: a partial of format 3.7, written by Borescope 9.8.7; this is Borescope " +
      std::string(Version())))
      << read.error().Sentence();
}

TEST(PartialBytes, ANewerMinorVersionMayHoldFieldsThatAreNotKnown) {
  PartialData sample = SamplePartial();
  sample.minor = kPartialMinor + 1;
  std::string body = PartialBody(sample);
  protozero::pbf_writer(body).add_string(99, "news");
  const std::string bytes = *Seal({sample.major, sample.minor, sample.program_version, body});
  const Result<PartialData> read = ParsePartial(bytes, "newer");
  ASSERT_TRUE(read.ok()) << read.error().Sentence();
  EXPECT_EQ(read->files.size(), 2U);
}

TEST(PartialBytes, WhatIsNoPartialIsNamedSo) {
  const Result<PartialData> read = ParsePartial("{}", "a.json");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().Sentence(),
            "a.json: no partial of Borescope; give files that borescope map wrote");
}

TEST(PartialBytes, FaultsNameTheByte) {
  std::string body = PartialBody(SamplePartial());
  const size_t place = body.size();
  protozero::pbf_writer(body).add_string(5, "\x0a\x7f");
  const Result<PartialData> read = ParsePartialBody(body, "a.part");
  ASSERT_FALSE(read.ok());
  EXPECT_TRUE(read.error().Sentence().starts_with("a.part: byte " + std::to_string(place + 2)))
      << read.error().Sentence();
}

// Why a question about `kernels` with these options, as name and text, is refused; empty: it is
// not.
std::string RefusalOf(const std::vector<std::pair<std::string, std::string>>& options) {
  std::string question;
  protozero::pbf_writer(question).add_string(wire::question::kVerbs, "kernels");
  for (const auto& [name, text] : options) {
    std::string bytes;
    protozero::pbf_writer out(bytes);
    out.add_string(wire::option::kName, name);
    out.add_bytes(wire::option::kText, text);
    protozero::pbf_writer(question).add_message(wire::question::kOptions, bytes);
  }
  std::string body;
  protozero::pbf_writer(body).add_message(wire::partial::kQuestion, question);
  const Result<PartialData> read = ParsePartialBody(body, "p");
  return read.ok() ? std::string() : read.error().Sentence();
}

TEST(PartialBytes, OptionsThatAreNoneAreRefused) {
  const std::string sound = RefusalOf({{"by", "rank"}, {"step", "1..2"}});
  const auto says = [&](const std::vector<std::pair<std::string, std::string>>& options,
                        const std::string& words) {
    const std::string said = RefusalOf(options);
    EXPECT_NE(said, sound);
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  says({{"colour", "red"}}, "no verb of it has an option --colour");
  says({{"top", "3"}}, "no verb of it has an option --top");  // not part of what is mapped
  says({{"step", "x"}}, "step has no value of its type");
  says({{"step-pattern", "("}}, "step-pattern has no value of its type");
  if (!Packs().empty()) says({{"compat", "vtune"}}, "compat has no value of its type");
  says({{"by", "rank"}, {"by", "step"}}, "by is given twice");
  says({{"by", "colour"}}, "colour");
}

// Half a million keys: each is compared with few others.
TEST(PartialBytes, ManyKeysAreRefusedInTime) {
  std::string keys;
  for (int i = 0; i < 500000; ++i) keys += std::to_string(i) + ",";
  EXPECT_NE(RefusalOf({{"by", keys}}).find("p: "), std::string::npos);
}

// A few stored bytes that claim gigabytes.
TEST(PartialBytes, ClaimsOfSizeAreNotBelieved) {
  PartialData sample = SamplePartial();
  const std::string huge(size_t{64} << 20, '\0');
  std::string frame(ZSTD_compressBound(huge.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), huge.data(), huge.size(), 3));
  std::string bytes = *Seal({kPartialMajor, 0, "0", ""});
  bytes.resize(14);
  const Result<PartialData> read = ParsePartial(bytes + frame, "bomb");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().Sentence().find("its body claims 67108864 bytes"), std::string::npos)
      << read.error().Sentence();
}

// What shrinks more than readers believe is padded, so that it can be read.
TEST(PartialBytes, ABodyThatShrinksALotIsStillBelieved) {
  const std::string body(size_t{40} << 20, '\0');
  const std::string bytes = *Seal({kPartialMajor, 0, "0", body});
  EXPECT_LT(bytes.size(), size_t{200} << 10);
  const Result<Envelope> opened = Open(bytes, "shrunk");
  ASSERT_TRUE(opened.ok()) << opened.error().Sentence();
  EXPECT_EQ(opened->body, body);
}

}  // namespace
}  // namespace borescope::internal
