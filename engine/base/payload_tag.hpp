// SPDX-License-Identifier: Apache-2.0
// The 8 bytes that name a block: an invertible mix of key, writer and position, so that what is found can be read back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ullage {

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

}  // namespace ullage
