// SPDX-License-Identifier: Apache-2.0
// Data that can be recognised: every 512 bytes of a transfer begin with a tag that names run, writer and offset; the
// rest is a keyed pseudo-random body of a chosen compress and dedup ratio.
//
// Nothing is there twice, unless a dedup ratio asks for it: every 512 bytes differ from all others of the run in each
// of their words. So what is called incompressible stays so however far back a compressor or deduplicator looks. Any
// buffer may be filled for any place, at the speed at which memory is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/payload_body.hpp"
#include "base/payload_tag.hpp"

namespace ullage {

struct PayloadSpec {
  std::uint64_t run_key = 0;         // of (run id, case, repetition, generation of the data): stale data has another
  std::uint64_t transfer_bytes = 0;  // a multiple of 8; tags stand at every 512th byte of a transfer, from its start
  double compress_ratio = 1;         // >= 1, as zstd -1 sees it
  double dedup_ratio = 1;  // >= 1: bytes over distinct 4 KiB blocks, counted from the file's start; above 1 transfers
                           // are multiples of 4 KiB
  std::uint64_t file_bytes = 0;  // of the whole file once written; dedup needs it; 0: not known
  bool shared_file = false;      // all writers in one file: duplicates are the same whoever writes them
};

/// Says where and how a block differs from what was written.
struct Mismatch {
  std::uint64_t offset_bytes = 0;  // first bad byte of the file
  std::string expected;            // hex of up to 8 bytes from there
  std::string
      found;  // the same, and in parentheses what it is: "block of rank 3, offset 4096", "never written: zeros",
              // "buffer not filled", "right block, 1 of 512 bytes differ", "neither of this run nor of this write"
};

/// Pure: contents are a function of (spec, writer, offset), the same on every CPU. Buffers are any part of what a
/// writer writes: a transfer, a piece of one, or several. With dedup_ratio d, block b of the file's B blocks of 4 KiB
/// is a copy of block b mod ceil(B / d), tags included: exchanging copies cannot be noticed, being no change.
class Payload final {
 public:
  /// Names the contents: what another version wrote is not recognised.
  static constexpr int version = 2;

  explicit Payload(const PayloadSpec& spec);

  /// What `writer` writes at `offset_bytes`, at memory speed.
  void fill(std::span<std::byte> buffer, std::uint64_t writer, std::uint64_t offset_bytes) const;

  /// Makes a buffer recognisably not-read, by overwriting the first bytes of each 512.
  static void poison(std::span<std::byte> buffer);

  /// Bad 512-byte blocks: their number, and the first one.
  struct Check {
    std::uint64_t bad_blocks = 0;
    std::optional<Mismatch> first;
  };
  [[nodiscard]] Check check(std::span<const std::byte> buffer, std::uint64_t writer, std::uint64_t offset_bytes) const;

 private:
  /// The first block of the `index`-th 4 KiB of a transfer that begins with block `number`.
  [[nodiscard]] TagCoder::Place unit_at(const TagCoder::Place& transfer, std::uint64_t offset_bytes,
                                        std::uint64_t index) const noexcept;
  void fill_piece(std::span<std::byte> bytes, std::uint64_t writer, std::uint64_t transfer, std::uint64_t inside) const;
  void check_piece(std::span<const std::byte> bytes, std::uint64_t writer, std::uint64_t transfer, std::uint64_t inside,
                   Check& result) const;
  void check_blocks(std::span<const std::byte> unit, std::span<const std::byte> found, std::uint64_t skipped,
                    const TagCoder::Place& first, std::uint64_t offset_bytes, Check& result) const;
  void fill_unit(std::span<std::byte> bytes, const TagCoder::Place& first) const noexcept;
  [[nodiscard]] std::uint64_t distinct_blocks() const noexcept;
  [[nodiscard]] bool body_is_of(std::span<const std::byte> block, const TagCoder::Place& place) const;
  [[nodiscard]] std::string name_of(const TagCoder::Place& place) const;
  [[nodiscard]] std::string explain(std::span<const std::byte> expected, std::span<const std::byte> found,
                                    std::span<const std::byte> bad, const TagCoder::Place& place) const;

  PayloadSpec spec_;
  TagCoder tags_;
  PayloadBody body_;
};

}  // namespace ullage
