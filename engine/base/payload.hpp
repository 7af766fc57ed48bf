// SPDX-License-Identifier: Apache-2.0
// Data that can be recognised: every 512 bytes of a transfer begin with a tag that names run, writer and offset; the
// rest is a keyed pseudo-random body of a chosen compress and dedup ratio.
//
// Nothing is there twice, unless a dedup ratio asks for it: every 512 bytes differ from all others of the run in each
// of their words. So what is called incompressible stays so however far back a compressor or deduplicator looks. Any
// buffer may be filled for any place, at the speed at which memory is written.
#pragma once

#include "base/payload_fill.hpp"
#include "base/std.hpp"

namespace ullage {

// The 8 bytes that name a block: an invertible mix of key, writer and position, so that what is found can be read back.

/// Tags stand at every 512th byte from the start of a transfer, so a transfer of any multiple of 8 bytes has
/// ceil(transfer_bytes / 512) of them. They are numbered through the file; that number and the writer share 64 bits.
/// Writers up to 2^22 and numbers up to 2^42 (2 PiB of 512-byte blocks) are read back without help; what is above goes
/// into the key.
class TagCoder final {
 public:
  struct Place {
    std::uint64_t writer = 0;
    std::uint64_t number = 0;  // of the block in the file
    bool operator==(const Place&) const = default;
  };

  static constexpr std::uint64_t block_bytes = 512;
  static constexpr std::uint64_t tag_bytes = 8;

  TagCoder(std::uint64_t run_key, std::uint64_t transfer_bytes) noexcept;

  [[nodiscard]] std::uint64_t encode(const Place& place) const noexcept;
  /// The place that has this tag, if it is of this run and not absurdly far from `near` (same bits above 2^22 and
  /// 2^42). Any 64 bits decode to something: the caller confirms by the block's body.
  [[nodiscard]] Place decode(std::uint64_t tag, const Place& near) const noexcept;

  /// Number of the first block of the transfer at `offset_bytes`, a multiple of transfer_bytes.
  [[nodiscard]] std::uint64_t number_at(std::uint64_t offset_bytes) const noexcept;
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t number) const noexcept;
  [[nodiscard]] std::uint64_t tags_a_transfer() const noexcept { return tags_a_transfer_; }

  /// Tags of consecutive blocks from `first` on.
  void encode_run(std::span<std::uint64_t> tags, const Place& first) const noexcept;

 private:
  [[nodiscard]] std::uint64_t key_near(const Place& place) const noexcept;
  std::uint64_t key_;
  std::uint64_t transfer_bytes_;
  std::uint64_t tags_a_transfer_;
};

// What stands behind the tags: keyed pseudo-random words, and filler where the data is to be compressible.

/// Bodies come in units of 8 blocks of 512 bytes. There is a pool of one unit of pseudo-random words; a block is the
/// pool's with its tag added to each word by exclusive or. The pool's blocks begin with zeros, so what comes to stand
/// there is the tag itself. The same bytes on every CPU.
///
/// Tags never repeat, so no piece of a block is found again in another, however far back a compressor looks: two blocks
/// of the same place in their units differ in every word by the same 64 bits, which are as good as random. And it costs
/// one load, one operation and one store a vector, so that no period is needed to make payload as fast as it can be
/// written to memory.
class PayloadBody final {
 public:
  static constexpr std::size_t unit_bytes = 4096;
  static constexpr std::size_t blocks_a_unit = unit_bytes / PayloadFill::block_bytes;
  using Tags = std::array<std::uint64_t, blocks_a_unit>;

  /// `compress_ratio` as `zstd -1` sees it, tags included; 1: incompressible. Ratios above about 40 cannot be reached,
  /// because the tags themselves do not compress; blocks well below 512 bytes only come near the ratio (steps of 8
  /// bytes). `fill` is for tests: what a CPU has makes no difference to the contents.
  PayloadBody(double compress_ratio, std::uint64_t key, const PayloadFill& fill = widest_payload_fill()) noexcept;

  /// Up to 4 KiB, a multiple of 8, tags included: one for each block that has begun.
  void fill(std::span<std::byte> unit, const Tags& tags) const noexcept;

 private:
  /// Random 8-byte words, after its tag, of the `index`-th block of a unit.
  [[nodiscard]] std::size_t random_words(std::size_t index, std::size_t block_bytes) const noexcept;
  /// Part of the `index`-th block, from its start.
  void fill_words(std::span<std::byte> bytes, std::size_t index, std::uint64_t tag) const noexcept;

  static constexpr std::size_t words_a_block = PayloadFill::block_bytes / sizeof(std::uint64_t);
  alignas(64) std::array<std::uint64_t, words_a_block * blocks_a_unit> pool_{};
  double compress_ratio_;
  std::uint64_t filler_;  // word; keyed, so that it is neither zeros nor another run's
  PayloadFill::Blocks blocks_;
};

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
