// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/metadata/phase.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/test_support.hpp"

namespace ullage::metadata_phase_test {

class MpiMetadataPhase : public test::StorageWorkloadTest {
 protected:
  MpiMetadataPhase() : StorageWorkloadTest("m") {
    use("posix");
    context_ = context();
    parameters_.items = 7;
    parameters_.stonewall_s = 2;
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.shape = parameters_.shape(static_cast<std::uint64_t>(bench_.world().size()));
    state_.items = 7;
  }

  StorageContext context_;
  MetadataParameters parameters_;
  MetadataState state_;
};

TEST_F(MpiMetadataPhase, OnlyWorkOnItemsHasAWall) {
  for (const auto kind : {MetadataPhaseKind::create, MetadataPhaseKind::stat, MetadataPhaseKind::unlink}) {
    const MetadataPhase phase(state_, kind);
    EXPECT_EQ(phase.operations(), 7U) << word(kind);
    EXPECT_EQ(phase.info().stonewall_ns, 2'000'000'000) << word(kind);
  }
  for (const auto kind : {MetadataPhaseKind::tree_create, MetadataPhaseKind::readdir})
    EXPECT_EQ(MetadataPhase(state_, kind).info().stonewall_ns, 0) << word(kind);
}

TEST_F(MpiMetadataPhase, DataMakesAPhaseOneThatWritesOrReads) {
  EXPECT_EQ(MetadataPhase(state_, MetadataPhaseKind::create).info().access, Access::metadata);
  parameters_.write_bytes = parameters_.read_bytes = 100;
  EXPECT_EQ(MetadataPhase(state_, MetadataPhaseKind::create).info().access, Access::write);
  EXPECT_EQ(MetadataPhase(state_, MetadataPhaseKind::read).info().access, Access::read);
}

}  // namespace ullage::metadata_phase_test
