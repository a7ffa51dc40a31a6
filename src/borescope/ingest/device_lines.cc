#include "borescope/ingest/device_lines.h"

#include <algorithm>

namespace borescope::internal {

void DeviceLines::Add(int64_t device, int64_t stream, int64_t process) {
  uint32_t at = row_lines_.empty() ? 0 : row_lines_.back();
  if (lines_.empty() || lines_[at].device != device || lines_[at].stream != stream) {
    const auto [place, is_new] =
        line_of_.try_emplace({device, stream}, static_cast<uint32_t>(lines_.size()));
    at = place->second;
    if (is_new) {
      lines_.push_back({device, stream, process, false});
    }
  }
  Line& line = lines_[at];
  line.process = line.process == kMissing ? process : line.process;
  line.is_shared |= process != kMissing && process != line.process;
  row_lines_.push_back(at);
  row_processes_.push_back(process);
}

void DeviceLines::AssignTracks(TracePart& part) const {
  ColumnData<TrackId>& tracks = part.data.device.track;
  for (size_t row = 0; row < row_lines_.size(); ++row) {
    const Line& line = lines_[row_lines_[row]];
    tracks[row] = part.Track(TrackKind::kDevice, line.device, line.stream,
                             line.is_shared ? row_processes_[row] : kMissing);
  }
}

std::vector<int64_t> DeviceLines::Devices() const {
  std::vector<int64_t> devices;
  devices.reserve(lines_.size());
  for (const Line& line : lines_) {
    devices.push_back(line.device);
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

}  // namespace borescope::internal
