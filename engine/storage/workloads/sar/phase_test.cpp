// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/phase.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/sar/test_support.hpp"

namespace ullage::sar_test {
namespace {

/// An operation moves nothing; what it is asked for is noted.
class IdlePhase final : public SarPhase {
 public:
  IdlePhase(const SarState& state, Access access, std::uint64_t operations, std::size_t slot_bytes)
      : SarPhase(state, {"idle", access, {SarPart::open}, operations, slot_bytes, 100}) {}
  std::vector<std::uint64_t> readied;
  std::vector<std::uint64_t> checked;
  std::uint64_t again = 0;
  [[nodiscard]] std::size_t extra_bytes() const { return extra().size(); }

 protected:
  void ready(std::uint64_t operation, std::size_t slot) override {
    EXPECT_EQ(slot_at(slot).size(), 5000U);
    readied.push_back(operation);
  }
  [[nodiscard]] Result<std::uint64_t> operate(std::size_t slot) override { return slot + 1; }
  [[nodiscard]] Status read_again(std::size_t /*slot*/) override {
    ++again;
    return {};
  }
  void check(std::uint64_t operation, std::size_t /*slot*/) override { checked.push_back(operation); }
};

class MpiSarPhase : public OneRepetition {};

TEST_F(MpiSarPhase, WhatFitsIntoACacheIsReadiedAtOnceAndAllIsCheckedAfterTheTimer) {
  const SarState state(parameters_of({}), context());
  IdlePhase phase(state, Access::read, 40, 5000);
  EXPECT_EQ(phase.extra_bytes(), 100U);
  ASSERT_TRUE(phase.before().has_value());
  test::RunningMeter meter;
  meter->use_parts(1);
  meter->start(now_ns());
  EXPECT_EQ(phase.prepare(0, 40), 32U) << "256 KiB of slots of two pages";
  EXPECT_TRUE(phase.execute(*meter).has_value());
  EXPECT_EQ(phase.prepare(32, 8), 8U);
  EXPECT_TRUE(phase.execute(*meter).has_value());
  EXPECT_EQ(meter->operations(), 40U);
  EXPECT_EQ(meter->bytes(), 32U * 33 / 2 + 8U * 9 / 2);
  EXPECT_TRUE(phase.checked.empty());
  (void)phase.after(40, *meter);
  EXPECT_EQ(phase.checked.size(), 40U);
  EXPECT_EQ(phase.checked.front(), 32U) << "first what is in the slots";
  EXPECT_EQ(phase.again, 32U);
}

TEST_F(MpiSarPhase, NothingIsCheckedOfAPhaseThatWritesOrUnasked) {
  for (const bool unasked : {false, true}) {
    const SarState state(parameters_of({{"verify", words(unasked ? "none" : "full")}}), context());
    IdlePhase phase(state, unasked ? Access::read : Access::write, 3, 5000);
    test::RunningMeter meter;
    meter->use_parts(1);
    meter->start(now_ns());
    EXPECT_EQ(phase.prepare(0, 3), 3U);
    EXPECT_TRUE(phase.execute(*meter).has_value());
    (void)phase.after(3, *meter);
    EXPECT_TRUE(phase.checked.empty());
  }
}

constexpr SarData kinds[] = {SarData::raw, SarData::templates, SarData::images, SarData::records};

TEST(SarContents, APieceIsKnownByItsKindAndPlace) {
  const SarContents contents(42);
  std::vector<std::byte> piece(256);
  for (const SarData kind : kinds) {
    contents.fill(kind, piece, 3024 * 7 + 20);
    for (const SarData other : kinds)
      EXPECT_EQ(contents.check(other, piece, 3024 * 7 + 20).bad_blocks == 0, kind == other);
    EXPECT_GT(contents.check(kind, piece, 3024 * 8 + 20).bad_blocks, 0U) << "the row below";
  }
}

TEST(SarContents, APartIsThatOfTheWhole) {
  const SarContents contents(7);
  std::vector<std::byte> whole(20'000);
  contents.fill(SarData::images, whole, 4'000);
  EXPECT_EQ(contents.check(SarData::images, std::span(whole).subspan(5'001, 333), 9'001).bad_blocks, 0U);
  whole[5'100] ^= std::byte{4};
  const auto found = contents.check(SarData::images, std::span(whole).subspan(5'001, 333), 9'001);
  EXPECT_EQ(found.bad_blocks, 1U);
  EXPECT_EQ(found.first->offset_bytes, 9'100U);
}

TEST(SarContents, AnotherRunHasOtherData) {
  std::vector<std::byte> piece(64);
  SarContents(1).fill(SarData::records, piece, 128);
  EXPECT_GT(SarContents(2).check(SarData::records, piece, 128).bad_blocks, 0U);
}

class MpiSarState : public OneRepetition {};

TEST_F(MpiSarState, ARankKnowsWhoseImagesItsSourceHasRead) {
  for (const char* whose : {"own", "other-rank", "other-node"}) {
    SarState state(parameters_of({{"read_back", words(whose)}}), context());
    find_sources(state);
    const bool own = std::string(whose) == "own";
    EXPECT_EQ(state.source_rank(), own ? state.rank() : (state.rank() + 1) % ranks()) << whose;
    EXPECT_EQ(state.source_owner, own ? state.rank() : (state.rank() + 2) % ranks()) << whose;
    EXPECT_EQ(state.source.data_of, own || ranks() == 1 ? "own" : "other-rank") << "there is one node";
  }
}

TEST_F(MpiSarState, SharedFilesAreDealtOutToTheRanksOfTheFolder) {
  const SarState state(parameters_of({}), context());
  for (std::uint64_t number = 0; number < 9; ++number) EXPECT_EQ(world().all().sum(state.makes(number) ? 1U : 0U), 1U);
}

TEST(SarCalls, EachPartOfAnOperationIsTimedApart) {
  test::Bench bench;
  const auto backend = bench.make("posix");
  SarCalls calls(*backend, {SarPart::open, SarPart::transfer, SarPart::close});
  EXPECT_EQ(calls.part_names(), (std::vector<std::string>{"open", "transfer", "close"}));
  test::RunningMeter meter;
  meter->use_parts(3);
  meter->start(now_ns());
  std::vector<std::byte> data(5000);
  const std::vector<Extent> extents{{0, 3000, data.data()}, {3000, 2000, data.data() + 3000}};
  for (const char* name : {"a", "b"}) {
    OpenRequest request;
    request.name = name;
    calls.begin(*meter);
    const auto file = calls.open(request);
    ASSERT_TRUE(file.has_value()) << test::line_of(file);
    EXPECT_TRUE(calls.move(**file, Direction::write, extents, SarPart::transfer).has_value());
    EXPECT_TRUE(calls.close(**file).has_value());
    calls.done();
    EXPECT_TRUE(meter->completed(5000));
  }
  EXPECT_EQ(calls.files(), 2U);
  EXPECT_EQ(meter->operations(), 2U) << "the extents of a transfer are no operations";
  std::uint64_t all_ns = 0;
  for (const Histogram& part : meter->parts()) {
    EXPECT_EQ(part.operations(), 2U);
    EXPECT_GT(part.sum_ns(), 0U);
    all_ns += part.sum_ns();
  }
  EXPECT_LE(all_ns, meter->histogram().sum_ns());
}

TEST(SarCalls, AFileThatIsNotThereIsNotCounted) {
  test::Bench bench;
  const auto backend = bench.make("posix");
  SarCalls calls(*backend, {SarPart::open});
  test::RunningMeter meter;
  calls.begin(*meter);
  OpenRequest request;
  request.name = "absent";
  request.mode = OpenMode::read;
  EXPECT_FALSE(calls.open(request).has_value());
  EXPECT_EQ(calls.files(), 0U);
}

}  // namespace

}  // namespace ullage::sar_test
