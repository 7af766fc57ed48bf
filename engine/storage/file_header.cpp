// SPDX-License-Identifier: Apache-2.0
#include "storage/file_header.hpp"

#include <algorithm>
#include <utility>

namespace ullage {
namespace {

Status move_uncounted(File& file, Direction direction, const Extent& extent) {
  Meter unused;
  unused.use_histogram(false);
  unused.start(now_ns());
  return file.transfer(direction, {&extent, 1}, unused);
}

}  // namespace

Status write_header(File& file, FileHeader header) {
  if (!header.writes && !header.collective) return {};
  const std::size_t length = header.writes ? header.text.size() : 0;
  return move_uncounted(file, Direction::write, {0, length, reinterpret_cast<std::byte*>(header.text.data())});
}

Status read_header(File& file, const FileHeader& header) {
  std::string found(header.text.size(), '?');
  auto status = move_uncounted(file, Direction::read, {0, found.size(), reinterpret_cast<std::byte*>(found.data())});
  if (!status || !header.holds_data || found == header.text) return status;
  const auto at = static_cast<std::uint64_t>(std::ranges::mismatch(found, header.text).in1 - found.begin());
  Error error = verification_error("verify", header.name, "the header differs from what was written");
  error.offset_bytes = at;
  return fail(std::move(error));
}

Result<std::unique_ptr<File>> open_with_header(Backend& backend, const OpenRequest& request, const FileHeader& header) {
  auto file = backend.open(request);
  if (!file) return file;
  const Status status = request.mode == OpenMode::read ? read_header(**file, header) : write_header(**file, header);
  if (status) return file;
  (void)(*file)->close();  // the other ranks close it too: the phase has failed
  return fail(status.error());
}

}  // namespace ullage
