// What a table becomes, cell by cell.
#include "borescope/arrow/export.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <random>

#include "borescope/arrow/arrow_testing.h"

namespace borescope::internal {
namespace {

using testkit::Batch;
using testkit::Cell;
using testkit::Cells;
using testkit::ExpectEqual;
using testkit::Export;
using testkit::TableOfAllTypes;

std::shared_ptr<const Table> Share(Table table) {
  return std::make_shared<const Table>(std::move(table));
}

void ExpectRoundTrip(Table made, const ExportLimits& limits = {}) {
  const auto table = Share(std::move(made));
  Batch batch;
  Export(table, batch, limits);
  ExpectEqual(*table, batch);
}

TEST(ArrowExport, AllTypesAndLengths) {
  for (const bool has_missing : {false, true}) {
    for (const size_t rows : std::initializer_list<size_t>{0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000}) {
      SCOPED_TRACE(testing::Message() << rows << " rows, missing: " << has_missing);
      ExpectRoundTrip(TableOfAllTypes(rows, has_missing));
    }
  }
}

TEST(ArrowExport, TypesOfColumns) {
  Batch batch;
  Export(Share(TableOfAllTypes(1, false)), batch);
  ArrowSchema** const columns = batch.schema.children;
  EXPECT_STREQ(columns[0]->format, "l");
  EXPECT_STREQ(columns[1]->format, "g");
  EXPECT_STREQ(columns[2]->format, "i");
  EXPECT_STREQ(columns[2]->dictionary->format, "u");
  EXPECT_STREQ(columns[3]->format, "b");
}

TEST(ArrowExport, NoColumns) {
  ExpectRoundTrip(Table{"empty", "", {}});
  ExpectRoundTrip(Table{});
}

TEST(ArrowExport, NumbersAtTheirLimitsAndFloatsThatAreNone) {
  using Ints = std::numeric_limits<int64_t>;
  using Floats = std::numeric_limits<double>;
  Table table{"limits", "", {}};
  AddInt(table, "a", Unit::kNone, Role::kKey, "").values =
      IntValues{Ints::min(), -1, 0, 1, Ints::max()};
  Column& floats = AddFloat(table, "b", Unit::kNone, Role::kSum, "");
  floats.values = FloatValues{Floats::quiet_NaN(), -0.0, Floats::infinity(), Floats::denorm_min(),
                              Floats::signaling_NaN()};
  floats.missing = {0, 0, 0, 0, 1};
  ExpectRoundTrip(std::move(table));
}

TEST(ArrowExport, MarksWithoutAMissingCellMakeNoBitmap) {
  Table table = TableOfAllTypes(3, false);
  for (Column& column : table.columns) {
    column.missing = {0, 0, 0};
  }
  ExpectRoundTrip(std::move(table));  // the reader expects no bitmap without nulls
}

TEST(ArrowExport, AllCellsMissing) {
  Table table = TableOfAllTypes(0, false);
  for (Column& column : table.columns) {
    for (int i = 0; i < 70; ++i) {
      PushMissing(column);
    }
  }
  ExpectRoundTrip(std::move(table));
}

TEST(ArrowExport, TextsOfAllKinds) {
  Table table{"texts", "", {}};
  Column& column = AddString(table, "Größe", Role::kKey, "");
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {""sv, "a"sv, "Größe"sv, "漢字"sv, "🚀🚀"sv, "nul\0inside"sv, "a"sv, ""sv}) {
    Push(column, text);
  }
  Push(column, std::string(3'000'000, 'x'));
  Push(column, std::string(3'000'000, 'y'));
  ExpectRoundTrip(std::move(table));
}

TEST(ArrowExport, BytesThatAreNotUtf8AreReplaced) {
  Table table{"texts", "", {}};
  Column& column = AddString(table, "a", Role::kKey, "");
  Push(column, "ok");
  Push(column, "bad \xff\xfe");
  Push(column, "ok");
  Batch batch;
  Export(Share(std::move(table)), batch);
  const Cells cells = testkit::ReadColumn(*batch.schema.children[0], *batch.array.children[0]);
  EXPECT_EQ(cells, (Cells{Cell("ok"), Cell("bad \uFFFD\uFFFD"), Cell("ok")}));
}

TEST(ArrowExport, DistinctTextsAreInTheDictionaryOnce) {
  Batch batch;
  Export(Share(TableOfAllTypes(1000, false)), batch);
  EXPECT_EQ(batch.array.children[2]->dictionary->length, 5);
}

TEST(ArrowExport, ManyBytesOfTextHaveLargeOffsets) {
  Table made{"texts", "", {}};
  Column& column = AddString(made, "a", Role::kKey, "");
  for (const char* text : {"1234", "567", "1234", "\xff"}) {
    Push(column, text);  // 10 bytes of distinct texts, the last of them a replacement of 3
  }
  const auto table = Share(std::move(made));
  for (const uint64_t limit : std::initializer_list<uint64_t>{0, 7, 8, 9, 10, 11, 30, 31}) {
    Batch batch;
    Export(table, batch, {.utf8_bytes = limit});
    EXPECT_STREQ(batch.schema.children[0]->dictionary->format, limit < 10 ? "U" : "u") << limit;
    const Cells cells = testkit::ReadColumn(*batch.schema.children[0], *batch.array.children[0]);
    EXPECT_EQ(cells, (Cells{Cell("1234"), Cell("567"), Cell("1234"), Cell("\uFFFD")}));
  }
}

TEST(ArrowExport, ValuesStayWhereTheyAre) {
  const auto table = Share(TableOfAllTypes(100, true));
  Batch batch;
  Export(table, batch);
  const auto values = [&](size_t column) { return batch.array.children[column]->buffers[1]; };
  EXPECT_EQ(values(0), std::get<IntValues>(table->columns[0].values).data());
  EXPECT_EQ(values(1), std::get<FloatValues>(table->columns[1].values).data());
  EXPECT_EQ(values(2), std::get<StringValues>(table->columns[2].values).numbers().data());
}

// Any table: columns of any type, cells of any value, missing or not.
class RandomTable {
 public:
  explicit RandomTable(uint64_t seed) : random_(seed) {}

  Table Make() {
    Table table{"random", "", {}};
    const uint64_t columns = Below(6);
    const uint64_t rows = Below(200);
    for (uint64_t i = 0; i < columns; ++i) {
      Fill(AddAny(table, "column " + std::to_string(i)), rows);
    }
    return table;
  }

 private:
  uint64_t Below(uint64_t limit) { return random_() % limit; }

  Column& AddAny(Table& table, const std::string& name) {
    switch (Below(4)) {
      case 0:
        return AddInt(table, name, Unit::kCount, Role::kSum, "");
      case 1:
        return AddFloat(table, name, Unit::kNone, Role::kDerived, "");
      case 2:
        return AddString(table, name, Role::kKey, "");
      default:
        return AddBool(table, name, Role::kMax, "");
    }
  }

  void Fill(Column& column, uint64_t rows) {
    const bool has_missing = Below(2) == 0;
    for (uint64_t row = 0; row < rows; ++row) {
      has_missing&& Below(4) == 0 ? PushMissing(column) : PushAny(column);
    }
  }

  void PushAny(Column& column) {
    if (std::holds_alternative<IntValues>(column.values)) {
      Push(column, std::bit_cast<int64_t>(random_()));
    } else if (std::holds_alternative<FloatValues>(column.values)) {
      Push(column, std::bit_cast<double>(random_()));
    } else if (std::holds_alternative<StringValues>(column.values)) {
      Push(column, AnyText());
    } else {
      Push(column, Below(2) == 0);
    }
  }

  std::string AnyText() {
    constexpr std::string_view kLetters[] = {"a", "Z", "é", "漢", "🚀", " ", "\n", "\""};
    std::string text;
    for (uint64_t left = Below(Below(20) == 0 ? 500 : 5); left > 0; --left) {
      text += kLetters[Below(std::size(kLetters))];
    }
    return text;
  }

  std::mt19937_64 random_;
};

TEST(ArrowExport, RandomTables) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    ExpectRoundTrip(RandomTable(seed).Make(), {.utf8_bytes = seed % 2 == 0 ? 1000U : 10U});
    if (HasFailure()) {
      break;
    }
  }
}

}  // namespace
}  // namespace borescope::internal
