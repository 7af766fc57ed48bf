// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/flash/raw_arrays.hpp"

#include <utility>
#include <vector>

#include "storage/file_header.hpp"
#include "storage/workloads/flash/layout.hpp"

namespace ullage {
namespace {

class RawArrayFile final : public ArrayFile {
 public:
  RawArrayFile(std::unique_ptr<File> file, const RawArraysRequest& request)
      : file_(std::move(file)), offsets_(flash_offsets({request.arrays.begin(), request.arrays.end()})) {
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

 private:
  std::unique_ptr<File> file_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint64_t> row_bytes_;
  std::vector<Extent> extents_;
};

}  // namespace

Result<std::unique_ptr<ArrayFile>> open_raw_arrays(Backend& backend, const RawArraysRequest& request) {
  auto opened = open_with_header(backend, request.file,
                                 {.text = flash_header({request.arrays.begin(), request.arrays.end()}),
                                  .name = request.file.name,
                                  .collective = request.collective,
                                  .holds_data = request.holds_data,
                                  .writes = request.writes_header});
  if (!opened) return fail(opened.error());
  return std::make_unique<RawArrayFile>(std::move(*opened), request);
}

}  // namespace ullage
