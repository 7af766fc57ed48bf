// SPDX-License-Identifier: Apache-2.0
// Whole repetitions of workload `vpic`: every value comes back in every layout, and what does not is found.
#include "storage/workloads/vpic/vpic.hpp"

#include <gtest/gtest.h>

#include "storage/hdf5_library.hpp"
#include "storage/workloads/vpic/test_support.hpp"

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
                                {"read_particles", 700},
                                {"run", 16},
                                {"stride", 100}});
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
  EXPECT_EQ(refused_at({.phases = {Direction::read}}), "/p/phases");
  EXPECT_EQ(refused_at({.phases = {Direction::read, Direction::write}}), "/p/phases");
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
  EXPECT_EQ(refused_at({.format = FileFormat::arrays}, plain), "/p/format");
  EXPECT_EQ(refused_at({.memory = ParticleOrder::interleaved, .format = FileFormat::arrays}, {.arrays = true}), "");
  EXPECT_EQ(refused_at({}, {.data = false}), "/p/verify");
  EXPECT_EQ(refused_at({.verify = Verify::none}, {.data = false}), "");
}

TEST(VpicParameters, NeedTheBytesOfTheFormula) {
  PlannedLayout layout;
  layout.ranks = 3;
  const Needs needs = needs_of_vpic({.particles = 100, .steps = 4}, layout);
  EXPECT_EQ(needs.bytes, in_blocks(4096U + 3U * 100 * 4 * 32));
  EXPECT_EQ(needs.inodes, 1U);
  EXPECT_EQ(needs.directories, 1U);
  EXPECT_GT(needs_of_vpic({.particles = 100, .steps = 4, .format = FileFormat::arrays}, layout).bytes, needs.bytes);
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

namespace ullage::vpic_layout_test {
namespace {

/// h5bench's usual size: 8 Mi particles a rank, 256 MiB a step.
TEST(ParticleLayout, SizesAreThoseOfTheOriginal) {
  ParticleLayout layout;
  layout.particles = 8U << 20U;
  layout.ranks = 2;
  layout.steps = 5;
  EXPECT_EQ(layout.step_bytes(), 2ULL * 256 << 20U);
  EXPECT_EQ(layout.data_bytes(), 2560ULL << 20U);
  layout.ranks = 100'000;
  EXPECT_EQ(layout.data_bytes(), 5ULL * 100'000 * (256ULL << 20U));
}

TEST(ParticleLayout, ArraysAreOfVariablesOrOfRecords) {
  ParticleLayout layout;
  layout.particles = 7;
  layout.ranks = 3;
  layout.steps = 2;
  auto arrays = layout.arrays();
  ASSERT_EQ(arrays.size(), 16U);
  EXPECT_EQ(arrays[8].name, "Timestep_1/x");
  EXPECT_EQ(arrays[14].name, "Timestep_1/id1");
  EXPECT_EQ(arrays[14].type, ElementType::int32);
  EXPECT_TRUE(arrays[0].fields.empty());
  layout.memory = ParticleOrder::interleaved;
  arrays = layout.arrays();
  EXPECT_EQ(arrays[3].fields, (std::vector<RecordField>{{"px", ElementType::float32}}));
  EXPECT_EQ(moved_row_bytes(arrays[3], particle_record()), 4U);
  layout.file = ParticleOrder::interleaved;
  arrays = layout.arrays();
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_EQ(arrays[1].name, "Timestep_1/particles");
  EXPECT_EQ(arrays[1].row_bytes(), 32U);
}

TEST(ParticleLayout, TheHeaderTellsTheForm) {
  ParticleLayout layout;
  layout.particles = 7;
  layout.ranks = 3;
  const std::string header = layout.header();
  EXPECT_EQ(header.size(), ParticleLayout::header_bytes);
  EXPECT_TRUE(header.starts_with("ULLAGE VPIC 1\nsteps 1\nparticles 21\norder contiguous\nx float32\n"));
  layout.file = ParticleOrder::interleaved;
  EXPECT_NE(layout.header(), header);
}

constexpr std::uint64_t key = 9;

/// A writer's memory and a reader's, of the same order.
class ParticleMemories : public testing::TestWithParam<ParticleOrder> {
 protected:
  ParticleMemories() : layout_{100, 2, 3, GetParam(), ParticleOrder::contiguous} {
    const std::uint64_t capacity = ParticleMemory::of_all_steps(layout_);
    written_.resize(ParticleMemory::bytes_for(capacity));
    read_.resize(ParticleMemory::bytes_for(layout_.particles));
  }
  [[nodiscard]] ParticleMemory writer() { return {layout_, ParticleMemory::of_all_steps(layout_), key, written_}; }
  [[nodiscard]] ParticleMemory reader() { return {layout_, layout_.particles, key, read_}; }

  /// Does what a file does.
  void move(std::uint64_t step, const ParticleChoice& choice) {
    const ParticleMemory from = writer();
    const ParticleMemory to = reader();
    to.poison();
    for (std::size_t variable = 0; variable < particle_variables.size(); ++variable)
      for (std::uint64_t i = 0; i < choice.particles(); ++i)
        std::memcpy(to.value(variable, i), from.value(variable, step * ParticleMemory::step_shift + choice.particle(i)),
                    value_bytes);
  }

  ParticleLayout layout_;
  std::vector<std::byte> written_;
  std::vector<std::byte> read_;
};

TEST_P(ParticleMemories, EveryStepAndChoiceIsKnownAgain) {
  writer().fill(1);
  for (std::uint64_t step = 0; step < layout_.steps; ++step)
    for (const ParticleChoice& choice :
         {first_particles(100), first_particles(7), strided_particles(100, 3, 10), strided_particles(100, 10, 10)}) {
      move(step, choice);
      EXPECT_EQ(reader().check(1, step, choice).wrong_values, 0U);
      const std::uint64_t most = choice.particles() * particle_variables.size();
      EXPECT_GT(reader().check(0, step, choice).wrong_values, most * 9 / 10) << "another rank's";
      EXPECT_GT(reader().check(1, (step + 1) % 3, choice).wrong_values, most * 9 / 10) << "another step's";
    }
}

TEST_P(ParticleMemories, AWrongValueIsNamed) {
  writer().fill(0);
  const ParticleChoice choice = strided_particles(100, 3, 10);
  move(2, choice);
  *reader().value(5, 7) ^= std::byte{4};
  const ParticleCheck found = reader().check(0, 2, choice);
  EXPECT_EQ(found.wrong_values, 1U);
  ASSERT_TRUE(found.first);
  EXPECT_EQ(found.first->variable, 5U);
  EXPECT_EQ(found.first->particle, 21U);
}

TEST_P(ParticleMemories, VariablesAreNoOnesTwins) {
  writer().fill(0);
  move(0, first_particles(100));
  for (std::uint64_t i = 0; i < 100; ++i) std::swap(*reader().value(0, i), *reader().value(1, i));
  EXPECT_GT(reader().check(0, 0, first_particles(100)).wrong_values, 150U);
}

INSTANTIATE_TEST_SUITE_P(Orders, ParticleMemories,
                         testing::Values(ParticleOrder::contiguous, ParticleOrder::interleaved),
                         [](const auto& order) { return word_of(order.param); });

}  // namespace

}  // namespace ullage::vpic_layout_test
