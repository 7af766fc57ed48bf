// SPDX-License-Identifier: Apache-2.0
// Whole repetitions of workload `vpic`: every value comes back in every layout, and what does not is found.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/hdf5_library.hpp"
#include "storage/workloads/vpic/test_support.hpp"
#include "storage/workloads/vpic/vpic.hpp"

namespace ullage::vpic_test {
namespace {

const std::vector<std::string> both{"write", "read"};
constexpr std::array orders{"contiguous", "interleaved"};

struct Way {
  std::string backend;
  bool collective = false;
};

class MpiVpic : public OneVpic, public testing::WithParamInterface<Way> {
 protected:
  void SetUp() override {
    if (GetParam().backend == "hdf5" && !hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
    use(GetParam().backend, GetParam().collective ? Values{{"collective", true}} : Values{});
  }

  /// Uses the same backend with calls of one rank that go wrong.
  void use_faulty(const std::string& kind, const std::string& operation, std::int64_t after, int rank) {
    Map inner;
    if (GetParam().collective) inner["collective"] = "true";
    use("fault", {{"inner", GetParam().backend},
                  {"inner_parameters", inner},
                  {"kind", kind},
                  {"operation", operation},
                  {"after", after},
                  {"rank", std::int64_t{rank}}});
  }

  /// Layouts that this backend converts between.
  void each_layout(const std::function<void(const std::string&, const std::string&)>& visit) const {
    for (const char* memory : orders)
      for (const char* file : orders)
        if (GetParam().backend != "posix" || memory == file) visit(memory, file);
  }
};

TEST_P(MpiVpic, EveryLayoutComesBack) {
  each_layout([this](const std::string& memory, const std::string& file) {
    for (const char* read : {"full", "partial", "strided"}) {
      const Json records = run({{"memory", memory},
                                {"file", file},
                                {"read", std::string(read)},
                                {"read_particles", std::int64_t{700}},
                                {"run", std::int64_t{16}},
                                {"stride", std::int64_t{100}}});
      ASSERT_EQ(status_, PhaseStatus::ok) << memory << ' ' << file << ' ' << read << records.dump();
      if (!world().root()) continue;
      ASSERT_EQ(records.size(), 2U);
      const Json& facts = records[0]["facts"];
      const std::uint64_t written = ranks() * 3 * 1500 * 32;
      EXPECT_EQ(records[0]["bytes"], written);
      EXPECT_EQ(facts["data_bytes"], written);
      if (format_ == "raw") {
        EXPECT_EQ(facts["file_bytes"], written + 4096);
      } else {
        EXPECT_GT(facts["file_bytes"], written);
      }
      EXPECT_EQ(facts["conversion"] == "none", memory == file);
      const std::string asked = read;
      const std::uint64_t particles = asked == "full" ? 1500 : asked == "partial" ? 700 : 15 * 16;
      EXPECT_EQ(records[1]["bytes"], ranks() * 3 * particles * 32);
      EXPECT_EQ(records[1]["verified_bytes"], records[1]["bytes"]);
      EXPECT_EQ(records[1]["bad_blocks"], 0);
      EXPECT_EQ(records[1]["data_of"], ranks() > 1 ? "other-rank" : "own");
    }
  });
}

/// A bit that is flipped in the write of the last step is found by a phase that only writes, and by one that reads.
TEST_P(MpiVpic, AWrongBitIsFound) {
  each_layout([this](const std::string& memory, const std::string& file) {
    const bool arrays = GetParam().backend == "hdf5";
    const bool one_call = file == "interleaved" && (!arrays || memory == "interleaved");
    const std::int64_t calls = 3 * (one_call ? 1 : 8);
    // The header is a write of the first rank, or of all in a collective file, but of none in a file of arrays.
    const bool after_header = !arrays && (GetParam().collective || world().size() == 1);
    for (const bool reads : {false, true}) {
      use_faulty("flip", "write", calls - 1 + (after_header ? 1 : 0), world().size() - 1);
      const Json records =
          run({{"memory", memory}, {"file", file}, {"phases", reads ? both : std::vector<std::string>{"write"}}});
      EXPECT_EQ(status_, PhaseStatus::failed) << memory << ' ' << file;
      if (!world().root()) continue;
      ASSERT_EQ(records.size(), reads ? 2U : 1U) << records.dump();
      EXPECT_EQ(records.back()["bad_blocks"], 1) << memory << ' ' << file << records.dump();
      EXPECT_NE(records.back().dump().find(" differs in step 2"), std::string::npos) << records.back().dump();
    }
  });
}

TEST_P(MpiVpic, NoSpaceInMidPhaseFailsTheCaseCleanly) {
  each_layout([this](const std::string& memory, const std::string& file) {
    use_faulty("enospc", "write", 2, 0);
    const Json records = run({{"memory", memory}, {"file", file}});
    EXPECT_EQ(status_, PhaseStatus::failed);
    if (!world().root()) return;
    EXPECT_EQ(records.size(), 1U);
    EXPECT_NE(records.dump().find("No space left"), std::string::npos) << records.dump();
  });
}

INSTANTIATE_TEST_SUITE_P(
    Ways, MpiVpic, testing::Values(Way{"posix"}, Way{"mpiio"}, Way{"mpiio", true}, Way{"hdf5"}, Way{"hdf5", true}),
    [](const auto& way) { return way.param.backend + (way.param.collective ? "Collective" : "Independent"); });

class MpiVpicFile : public OneVpic {};

TEST_F(MpiVpicFile, ATruncatedFileIsFound) {
  use("posix");
  const Json records = run({}, [this] {
    if (world().root()) std::filesystem::resize_file(file(), std::filesystem::file_size(file()) - 1);
  });
  EXPECT_EQ(status_, PhaseStatus::failed) << records.dump();
}

TEST_F(MpiVpicFile, MemoryTakesParticlesOnATargetWithoutAPath) {
  use("memory", {{"pages", std::string("shared")}});
  has_path_ = false;
  const Json records = run({});
  ASSERT_EQ(status_, PhaseStatus::ok) << records.dump();
  if (world().root()) {
    EXPECT_EQ(records[1]["verified_bytes"], records[0]["bytes"]);
  }
}

TEST_F(MpiVpicFile, TheFormatHasToBeThatOfTheBackendAndItHasToConvert) {
  use("posix");
  const auto refused_at = [this](const Values& given) -> std::string {
    const auto values = complete(entry().description.parameters, given, "");
    const auto workload = std::get<StorageWork>(entry().work).make(*values, context());
    const auto begun = begin_together(*workload, world().all());
    return begun.everywhere ? "" : begun.own.error().where;
  };
  EXPECT_EQ(refused_at({{"format", std::string("arrays")}}), "format");
  EXPECT_EQ(refused_at({{"memory", std::string("interleaved")}}), "memory");
}

std::string refused_at(const VpicParameters& parameters, const Capabilities& capabilities = {.scattered = true}) {
  PlannedLayout layout;
  layout.ranks = 2;
  const auto status = check_vpic(parameters, capabilities, layout, "/p");
  return status ? "" : status.error().where;
}

TEST(VpicParameters, WhatMeansNothingIsRefused) {
  EXPECT_EQ(refused_at({}), "");
  EXPECT_EQ(refused_at({.phases = {VpicPhaseKind::read}}), "/p/phases");
  EXPECT_EQ(refused_at({.phases = {VpicPhaseKind::read, VpicPhaseKind::write}}), "/p/phases");
  EXPECT_EQ(refused_at({.particles = 10, .read = VpicRead::partial, .read_particles = 11}), "/p/read_particles");
  EXPECT_EQ(refused_at({.particles = 10, .read = VpicRead::strided}), "/p/run");
  EXPECT_EQ(refused_at({.read = VpicRead::strided, .run = 10, .stride = 9}), "/p/stride");
  EXPECT_EQ(refused_at({.particles = 1'000'000'000'000, .steps = 1'000'000}), "/p/particles");
}

TEST(VpicParameters, TheBackendMustBeAbleToDoIt) {
  const Capabilities plain;
  EXPECT_EQ(refused_at({}, plain), "");
  EXPECT_EQ(refused_at({.memory = ParticleOrder::interleaved}, plain), "/p/memory");
  EXPECT_EQ(refused_at({.memory = ParticleOrder::interleaved, .file = ParticleOrder::interleaved}, plain), "");
  EXPECT_EQ(refused_at({.format = VpicFormat::arrays}, plain), "/p/format");
  EXPECT_EQ(refused_at({.memory = ParticleOrder::interleaved, .format = VpicFormat::arrays}, {.arrays = true}), "");
  EXPECT_EQ(refused_at({}, {.data = false}), "/p/verify");
  EXPECT_EQ(refused_at({.verify = VpicVerify::none}, {.data = false}), "");
}

TEST(VpicParameters, NeedTheBytesOfTheFormula) {
  PlannedLayout layout;
  layout.ranks = 3;
  const Needs needs = needs_of_vpic({.particles = 100, .steps = 4}, layout);
  EXPECT_EQ(needs.bytes, in_blocks(4096U + 3U * 100 * 4 * 32));
  EXPECT_EQ(needs.inodes, 1U);
  EXPECT_EQ(needs.directories, 1U);
  EXPECT_GT(needs_of_vpic({.particles = 100, .steps = 4, .format = VpicFormat::arrays}, layout).bytes, needs.bytes);
}

TEST(VpicParameters, TheChoiceIsThatOfTheRead) {
  VpicParameters parameters{.particles = 100, .read_particles = 30, .run = 10, .stride = 40};
  EXPECT_EQ(parameters.choice(), (ParticleChoice{100, 100, 1}));
  parameters.read = VpicRead::partial;
  EXPECT_EQ(parameters.choice(), (ParticleChoice{30, 30, 1}));
  parameters.read = VpicRead::strided;
  EXPECT_EQ(parameters.choice(), (ParticleChoice{10, 40, 3}));
}

/// h5bench's sample: five steps, a second each, and none after the last.
TEST(VpicParameters, TheLastStepComputesNothing) {
  const VpicParameters parameters{.steps = 5, .compute_s = 1};
  EXPECT_EQ(parameters.emulated_s(), 4);
}

}  // namespace
}  // namespace ullage::vpic_test
