#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "borescope/compat/chakra/hta_build.h"
#include "borescope/compat/hta/names.h"

namespace borescope::internal::chakra::compat {
namespace {

bool HasNodes(const HtaRow& row) {
  return row.event > 0 && (row.category == "cpu_op" || row.category == "cuda_runtime" ||
                           row.category == "cuda_driver");
}

// Follows one thread.
class ThreadWalk {
 public:
  ThreadWalk(std::vector<const HtaRow*> rows, HtaGraph& graph)
      : rows_(std::move(rows)), graph_(graph) {}

  void Run() {
    for (const Point& point : Points()) {
      if (point.is_begin) {
        open_.push_back(point.row);
        Enter(*point.row);
      } else {
        // Whatever is innermost ends, be it another one.
        const HtaRow* const row = open_.back();
        open_.pop_back();
        Leave(*row);
      }
    }
  }

 private:
  struct Point {
    const HtaRow* row = nullptr;
    int64_t time = 0;
    bool is_begin = false;
  };

  // At one time ends come before begins, shorter before longer; of begins the longer first.
  std::vector<Point> Points() const {
    std::vector<Point> points;
    points.reserve(rows_.size() * 2);
    for (const HtaRow* row : rows_) {
      points.push_back({row, row->begin, true});
      points.push_back({row, row->end(), false});
    }
    std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
      if (a.time != b.time || a.is_begin != b.is_begin) {
        return a.time != b.time ? a.time < b.time : !a.is_begin;
      }
      return a.is_begin ? a.row->duration > b.row->duration : a.row->duration < b.row->duration;
    });
    return points;
  }

  void Enter(const HtaRow& row) {
    if (!HasNodes(row)) {
      return;
    }
    const uint32_t begin = graph_.AddEvent(row.event, row.begin, row.end()).begin;
    if (depth_ == 0 && outermost_end_.has_value()) {
      graph_.AddFree(*outermost_end_, begin);
    }
    if (last_.has_value()) {
      graph_.AddSpan(*last_, begin);
    }
    last_ = begin;
    ++depth_;
  }

  void Leave(const HtaRow& row) {
    if (!HasNodes(row)) {
      return;
    }
    const uint32_t end = graph_.Find(row.event)->end;
    if (last_.has_value()) {
      HtaIsBlockingCall(row.name) ? graph_.AddFree(*last_, end) : graph_.AddSpan(*last_, end);
    }
    --depth_;
    last_ = end;
    if (depth_ == 0) {
      last_ = std::nullopt;
      outermost_end_ = end;
    }
  }

  const std::vector<const HtaRow*> rows_;
  HtaGraph& graph_;
  std::vector<const HtaRow*> open_;
  std::optional<uint32_t> last_;
  std::optional<uint32_t> outermost_end_;
  int depth_ = 0;
};

}  // namespace

void AddHostEvents(const HtaTable& table, HtaGraph& graph) {
  std::map<std::pair<int64_t, int64_t>, std::vector<const HtaRow*>> threads;
  for (const size_t i : table.clipped) {
    const HtaRow& row = table.rows[i];
    threads[{row.pid, row.tid}].push_back(&row);
  }
  for (auto& [id, rows] : threads) {
    // Lines with device work are none.
    if (std::all_of(rows.begin(), rows.end(), [](const HtaRow* row) { return row->stream < 0; })) {
      ThreadWalk(std::move(rows), graph).Run();
    }
  }
}

}  // namespace borescope::internal::chakra::compat
