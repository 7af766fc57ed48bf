// SPDX-License-Identifier: Apache-2.0
// The ways in which the kernel moves data of an open file: each begins or goes on with a transfer by one call.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/count.hpp"
#include "base/std.hpp"
#include "storage/backend.hpp"

namespace ullage {

/// pread(2) and pwrite(2).
class PositionedCall final {
 public:
  template <Direction direction>
  [[nodiscard]] ssize_t move(int fd, const Extent& extent, std::size_t done) const noexcept {
    const auto offset = static_cast<off_t>(extent.offset_bytes + done);
    if constexpr (direction == Direction::write)
      return ::pwrite(fd, extent.data + done, extent.length_bytes - done, offset);
    else
      return ::pread(fd, extent.data + done, extent.length_bytes - done, offset);
  }
};

/// read(2) and write(2), after lseek(2) where a transfer does not begin at the place the file is at. For one file from
/// its opening on, of which nobody else moves the place.
class SeekingCall final {
 public:
  template <Direction direction>
  [[nodiscard]] ssize_t move(int fd, const Extent& extent, std::size_t done) noexcept {
    const auto offset = static_cast<off_t>(extent.offset_bytes + done);
    if (offset != at_ && ::lseek(fd, offset, SEEK_SET) != offset) return -1;
    ssize_t moved = 0;
    if constexpr (direction == Direction::write)
      moved = ::write(fd, extent.data + done, extent.length_bytes - done);
    else
      moved = ::read(fd, extent.data + done, extent.length_bytes - done);
    at_ = moved < 0 ? unknown : offset + moved;
    return moved;
  }

 private:
  static constexpr off_t unknown = -1;
  off_t at_ = 0;
};

/// preadv(2) and pwritev(2): a transfer in equal pieces, `pieces` of them at most, each a multiple of `unit_bytes`.
class VectorCall final {
 public:
  static constexpr std::size_t most_pieces = 1024;  // IOV_MAX of Linux
  VectorCall(std::size_t pieces, std::size_t unit_bytes) : pieces_(pieces), unit_bytes_(unit_bytes) {
    vectors_.reserve(pieces);
  }

  template <Direction direction>
  [[nodiscard]] ssize_t move(int fd, const Extent& extent, std::size_t done) {
    cut(extent, done);
    const auto offset = static_cast<off_t>(extent.offset_bytes + done);
    const auto count = static_cast<int>(vectors_.size());
    if constexpr (direction == Direction::write)
      return ::pwritev(fd, vectors_.data(), count, offset);
    else
      return ::preadv(fd, vectors_.data(), count, offset);
  }

 private:
  void cut(const Extent& extent, std::size_t done) {
    vectors_.clear();
    const std::size_t piece = round_up((extent.length_bytes + pieces_ - 1) / pieces_, unit_bytes_);
    for (; done < extent.length_bytes; done += piece)
      vectors_.push_back({extent.data + done, std::min(piece, extent.length_bytes - done)});
  }

  std::size_t pieces_;
  std::size_t unit_bytes_;
  std::vector<iovec> vectors_;
};

}  // namespace ullage
