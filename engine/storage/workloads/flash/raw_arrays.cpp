// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/flash/raw_arrays.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "storage/workloads/flash/layout.hpp"

namespace ullage {
namespace {

class RawArrayFile final : public ArrayFile {
 public:
  RawArrayFile(std::unique_ptr<File> file, const RawArraysRequest& request)
      : file_(std::move(file)),
        name_(request.file.name),
        offsets_(flash_offsets({request.arrays.begin(), request.arrays.end()})) {
    for (const ArraySpec& spec : request.arrays) row_bytes_.push_back(spec.row_bytes());
    extents_.reserve(offsets_.size());
  }

  [[nodiscard]] Status transfer(Direction direction, std::span<const ArrayRows> operations, Meter& meter) override {
    extents_.clear();
    for (const ArrayRows& rows : operations) {
      const std::uint64_t row_bytes = row_bytes_[rows.array];
      extents_.push_back({offsets_[rows.array] + rows.first * row_bytes, rows.rows * row_bytes, rows.data});
    }
    return file_->transfer(direction, extents_, meter);
  }
  [[nodiscard]] Status sync() override { return file_->sync(); }
  [[nodiscard]] Status close() override { return file_->close(); }
  [[nodiscard]] Map hints_granted() const override { return file_->hints_granted(); }

  /// In a collective file every rank takes part, with nothing where it does not write.
  [[nodiscard]] Status write_header(std::string header, const RawArraysRequest& request) {
    if (!request.writes_header && !request.collective) return {};
    const std::size_t length = request.writes_header ? header.size() : 0;
    return move_uncounted(Direction::write, {0, length, reinterpret_cast<std::byte*>(header.data())});
  }

  [[nodiscard]] Status read_header(const std::string& expected, const RawArraysRequest& request) {
    std::string found(expected.size(), '?');
    auto status = move_uncounted(Direction::read, {0, found.size(), reinterpret_cast<std::byte*>(found.data())});
    if (!status || !request.holds_data || found == expected) return status;
    const auto at = static_cast<std::uint64_t>(std::ranges::mismatch(found, expected).in1 - found.begin());
    Error error = verification_error("verify", name_, "the header differs from what was written");
    error.offset_bytes = at;
    return fail(std::move(error));
  }

 private:
  [[nodiscard]] Status move_uncounted(Direction direction, const Extent& extent) {
    const std::atomic<bool> never = false;
    Meter unused(never);
    unused.use_histogram(false);
    unused.start(now_ns());
    return file_->transfer(direction, {&extent, 1}, unused);
  }

  std::unique_ptr<File> file_;
  std::string name_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint64_t> row_bytes_;
  std::vector<Extent> extents_;
};

}  // namespace

Result<std::unique_ptr<ArrayFile>> open_raw_arrays(Backend& backend, const RawArraysRequest& request) {
  auto opened = backend.open(request.file);
  if (!opened) return fail(opened.error());
  auto file = std::make_unique<RawArrayFile>(std::move(*opened), request);
  const std::string header = flash_header({request.arrays.begin(), request.arrays.end()});
  const Status status =
      request.file.mode == OpenMode::read ? file->read_header(header, request) : file->write_header(header, request);
  if (status) return file;
  (void)file->close();  // the other ranks close it too: the phase has failed
  return fail(status.error());
}

}  // namespace ullage
