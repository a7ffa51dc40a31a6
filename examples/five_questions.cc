// Five questions about one load: five_questions TRACE...
#include <borescope/borescope.h>

#include <iostream>
#include <string_view>
#include <vector>

namespace {

// A line for each column of the first row of the first table.
void PrintFirstRow(const borescope::Answer& answer) {
  const borescope::Table table = answer.tables().front();
  std::cout << table.name() << ": " << table.num_rows() << " rows\n";
  for (size_t i = 0; i < table.num_columns() && table.num_rows() > 0; ++i) {
    const borescope::Column column = table.column(i);
    std::cout << "  " << column.name() << " = ";
    if (column.IsMissing(0)) {
      std::cout << "-\n";
    } else if (column.type() == borescope::ColumnType::kInt) {
      std::cout << column.Int(0) << '\n';
    } else if (column.type() == borescope::ColumnType::kFloat) {
      std::cout << column.Float(0) << '\n';
    } else if (column.type() == borescope::ColumnType::kText) {
      std::cout << column.Text(0) << '\n';
    } else {
      std::cout << (column.Bool(0) ? "true\n" : "false\n");
    }
  }
}

bool Print(const borescope::Result<borescope::Answer>& answer) {
  if (answer.ok()) {
    PrintFirstRow(*answer);
  } else {
    std::cerr << answer.error().Sentence() << '\n';
  }
  return answer.ok();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<borescope::Source> sources(argv + 1, argv + argc);
  const borescope::Result<borescope::Run> run = borescope::Run::Open(sources);
  if (!run.ok()) {
    std::cerr << run.error().Sentence() << '\n';
    return 1;
  }
  bool all = Print(run->Ask({"breakdown", {{"by", "step"}}}));
  all &= Print(run->Ask({"kernels", {{"top", "1"}}}));
  all &= Print(run->Ask({"idle", {{"kernel_wait", "50us"}}}));
  all &= Print(run->Ask({"ops", {{"sort", "calls"}, {"top", "1"}}}));
  all &= Print(run->Query("SELECT count(*) AS kernels FROM events WHERE kind = 'kernel'"));
  std::cout << "kept: " << run->kept_bytes() << " bytes\n";
  return all ? 0 : 1;
}
