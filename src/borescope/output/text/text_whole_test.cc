// Whatever the shape of a table and the width of the terminal, all of it is there.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "borescope/output/text/text_layout.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

// Each cell begins with a tag of its own, so short that no cut takes it away.
std::string TagOf(size_t row, size_t column) {
  return "r" + std::to_string(row) + "c" + std::to_string(column);
}

int64_t NumberOf(size_t row, size_t column) {
  return static_cast<int64_t>(10'000'000 + column * 1000 + row);
}

// A name, or prose.
std::string RandomText(std::mt19937& random, size_t row, size_t column) {
  constexpr size_t kLengths[] = {1, 8, 18, 23, 30, 50, 110, 400};
  std::string text = TagOf(row, column) + std::string(kLengths[random() % 8], 'x');
  if (random() % 3 == 0) {
    for (size_t at = 7; at < text.size(); at += 7) {
      text[at] = ' ';
    }
  }
  return text;
}

void AddRandomColumn(std::mt19937& random, size_t rows, size_t at, Table& table) {
  const std::string name = "h" + std::to_string(at) + std::string(random() % 10, 'n');
  const Role role = random() % 2 == 0 ? Role::kKey : Role::kDerived;
  const bool is_text = random() % 4 != 0;
  const bool is_missing = random() % 8 == 0;
  Column& column =
      is_text ? AddString(table, name, role, "") : AddInt(table, name, Unit::kNone, role, "");
  for (size_t row = 0; row < rows; ++row) {
    if (is_missing || random() % 10 == 0) {
      PushMissing(column);
    } else if (is_text) {
      Push(column, RandomText(random, row, at));
    } else {
      Push(column, NumberOf(row, at));
    }
  }
}

Table RandomTable(std::mt19937& random) {
  Table table{"t", "Title", {}};
  const size_t rows = 1 + random() % 6;
  const size_t columns = 1 + random() % 9;
  for (size_t at = 0; at < columns; ++at) {
    AddRandomColumn(random, rows, at, table);
  }
  return table;
}

// Names of columns and tags and numbers of cells that `text` has not.
std::string LostIn(std::string_view text, const Table& table) {
  std::string lost;
  for (size_t at = 0; at < table.columns.size(); ++at) {
    const Column& column = table.columns[at];
    lost += text.find(column.name) == std::string_view::npos ? " " + column.name : "";
    for (size_t row = 0; row < table.rows(); ++row) {
      const std::string cell =
          column.IsNumber() ? std::to_string(NumberOf(row, at)) : TagOf(row, at);
      const bool is_there = column.IsMissing(row) || text.find(cell) != std::string_view::npos;
      lost += is_there ? "" : " " + cell;
    }
  }
  return lost;
}

// Without escape sequences.
std::string PlainText(std::string text) {
  for (size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b')) {
    text.erase(at, text.find('m', at) - at + 1);
  }
  return text;
}

size_t WidestLine(std::string_view text) {
  size_t widest = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    widest = std::max(widest, DisplayWidth(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return widest;
}

TEST(LayOutTable, LosesNoRowNoColumnAndNoNote) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    const Table table = RandomTable(random);
    const size_t width = 40 + random() % 100;
    RowBars bars{"bars", std::vector<double>(table.rows(), 0.5),
                 std::vector<Tone>(table.rows(), Tone::kCompute)};
    const bool has_bars = random() % 2 == 0;
    const std::string text =
        PlainText(LayOutTable(table, {width, has_bars}, has_bars ? &bars : nullptr));
    ASSERT_EQ(LostIn(text, table), "") << "round " << round << ", width " << width << '\n' << text;
    ASSERT_LE(WidestLine(text), width) << "round " << round << '\n' << text;
  }
}

// A table of long names that only their middle distinguishes, with numbers and prose.
Table TableOfNames(std::mt19937& random) {
  Table table{"t", "Title", {}};
  const size_t rows = 4 + random() % 4;  // of fewer, names may be beside each other
  const std::string around(25 + random() % 300, 'x');
  Column& name = AddString(table, "h0", Role::kKey, "");
  for (size_t row = 0; row < rows; ++row) {
    Push(name, around + "_" + TagOf(row, 0) + "_" + around);
  }
  const size_t numbers = random() % 30;
  for (size_t at = 1; at <= numbers; ++at) {
    Column& column = AddInt(table, "h" + std::to_string(at), Unit::kNone, Role::kSum, "");
    for (size_t row = 0; row < rows; ++row) {
      Push(column, NumberOf(row, at));
    }
  }
  if (random() % 2 == 0) {
    Column& help = AddString(table, "help", Role::kDerived, "");
    for (size_t row = 0; row < rows; ++row) {
      Push(help, TagOf(row, numbers + 1) + " and a remark on it");
    }
  }
  return table;
}

TEST(LayOutTable, KeepsLongNamesApart) {
  std::mt19937 random(13);
  for (int round = 0; round < 300; ++round) {
    const Table table = TableOfNames(random);
    const size_t width = 40 + random() % 100;
    std::string text = LayOutTable(table, {width, false});
    ASSERT_LE(WidestLine(text), width) << "round " << round << '\n' << text;
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });  // tags may be wrapped
    ASSERT_EQ(LostIn(text, table), "") << "round " << round << ", width " << width << '\n'
                                       << LayOutTable(table, {width, false});
  }
}

}  // namespace
}  // namespace borescope::internal
