// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/mixed_contents.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ullage::mixed_transfer_contents_test {
namespace {

PayloadSpec spec_of(std::uint64_t transfer_bytes, double compress_ratio = 1, double dedup_ratio = 1) {
  PayloadSpec spec;
  spec.run_key = 99;
  spec.transfer_bytes = transfer_bytes;
  spec.compress_ratio = compress_ratio;
  spec.dedup_ratio = dedup_ratio;
  spec.file_bytes = 64 * transfer_bytes;
  return spec;
}

/// Returns what the writing case has in its file from `offset_bytes` on.
std::vector<std::byte> written(const PayloadSpec& spec, std::uint64_t writer, std::uint64_t offset_bytes,
                               std::size_t length) {
  std::vector<std::byte> transfer(spec.transfer_bytes);
  const std::uint64_t inside = offset_bytes % spec.transfer_bytes;
  Payload(spec).fill(transfer, writer, offset_bytes - inside);
  return {transfer.begin() + static_cast<std::ptrdiff_t>(inside),
          transfer.begin() + static_cast<std::ptrdiff_t>(inside + length)};
}

TEST(MixedTransferContents, PiecesAreWhatTheWholeTransfersHold) {
  for (const PayloadSpec& spec : {spec_of(1 << 20), spec_of(47008), spec_of(8192, 3), spec_of(16384, 1, 4)}) {
    MixedTransferContents contents(spec, 5);
    for (const std::uint64_t transfer : {0U, 3U, 61U})
      for (const std::uint64_t inside : {0U, 512U, 4096U}) {
        const std::uint64_t offset = transfer * spec.transfer_bytes + inside;
        std::vector<std::byte> piece(2048);
        contents.fill(piece, offset);
        EXPECT_EQ(piece, written(spec, 5, offset, piece.size())) << spec.transfer_bytes << " at " << offset;
        EXPECT_EQ(contents.check(piece, offset).bad_blocks, 0U);
      }
  }
}

TEST(MixedTransferContents, WholeTransferIsAPieceToo) {
  const PayloadSpec spec = spec_of(47008);
  MixedTransferContents contents(spec, 1);
  std::vector<std::byte> piece(47008);
  contents.fill(piece, 2 * 47008);
  EXPECT_EQ(piece, written(spec, 1, 2 * 47008, piece.size()));
}

TEST(MixedTransferContents, WrongBlocksAreCountedAndNamed) {
  const PayloadSpec spec = spec_of(1 << 20);
  MixedTransferContents contents(spec, 1);
  const std::uint64_t offset = (1 << 20) + 8192;
  std::vector<std::byte> piece = written(spec, 1, offset, 4096);
  std::fill(piece.begin() + 1024, piece.begin() + 2048, std::byte{0});
  const Payload::Check check = contents.check(piece, offset);
  EXPECT_EQ(check.bad_blocks, 2U);
  ASSERT_TRUE(check.first);
  EXPECT_EQ(check.first->offset_bytes, offset + 1024);
  EXPECT_NE(check.first->found.find("never written"), std::string::npos) << check.first->found;
}

TEST(MixedTransferContents, PieceOfAnotherPlaceIsFound) {
  const PayloadSpec spec = spec_of(1 << 20);
  MixedTransferContents contents(spec, 1);
  EXPECT_EQ(contents.check(written(spec, 1, 13 * spec.transfer_bytes, 4096), 0).bad_blocks, 8U);
}

}  // namespace
}  // namespace ullage::mixed_transfer_contents_test
