// SPDX-License-Identifier: Apache-2.0
// Data that can be recognised: every 512 bytes of a transfer begin with a tag that names run, writer and offset; the rest is a
// keyed pseudo-random body of a chosen compress and dedup ratio.
//
// Bodies repeat with a period that is a prime number of transfers (so that no usual stride meets it), which lets a rank
// prepare its buffers before the timer starts and only re-tag them afterwards: 8 bytes in 512. What tells blocks apart
// is the tag, which never repeats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace ullage {

struct PayloadSpec {
  std::uint64_t run_key = 0;        // of (run id, case, repetition, generation of the data): stale data has another
  std::uint64_t transfer_bytes = 0; // tags start at every 512th byte of a transfer
  double compress_ratio = 1;        // >= 1, as zstd -1 sees it
  double dedup_ratio = 1;           // >= 1: bytes over distinct 4 KiB blocks
  std::uint64_t file_bytes = 0;     // bytes one (writer, file) stream may reach; used by dedup only
};

/// Where and how a block differs from what was written.
struct Mismatch {
  std::uint64_t offset_bytes = 0;  // first bad byte of the file
  std::string expected;            // hex of up to 8 bytes from there
  std::string found;               // hex, and when the tag decodes to another place of this run: "block of rank 3, offset 4096"; or "never written (zeros)", "buffer not filled"
};

/// Pure: contents are a function of (spec, writer, offset).
class Payload final {
 public:
  explicit Payload(const PayloadSpec& spec);

  /// Whole contents of the transfer of `writer` at `offset_bytes`, at memory speed.
  void fill(std::span<std::byte> buffer, std::uint64_t writer, std::uint64_t offset_bytes) const;
  /// True when a buffer filled for another offset of the same slot (see slot_of) needs only new tags. False with dedup_ratio > 1.
  [[nodiscard]] bool can_retag() const noexcept;
  void retag(std::span<std::byte> buffer, std::uint64_t writer, std::uint64_t offset_bytes) const;
  /// Transfers whose offsets have the same slot have the same body. slots() is prime.
  [[nodiscard]] std::uint64_t slots() const noexcept;
  [[nodiscard]] std::uint64_t slot_of(std::uint64_t offset_bytes) const noexcept;

  /// Makes a buffer recognisably not-read, by overwriting the first bytes of each 512.
  static void poison(std::span<std::byte> buffer);

  /// Bad 512-byte blocks of one transfer: their number, and the first one.
  struct Check {
    std::uint64_t bad_blocks = 0;
    std::optional<Mismatch> first;
  };
  [[nodiscard]] Check check(std::span<const std::byte> buffer, std::uint64_t writer, std::uint64_t offset_bytes) const;

 private:
  PayloadSpec spec_;
  std::uint64_t slots_;
};

}  // namespace ullage
