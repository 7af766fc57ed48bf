// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/vpic/parameters.hpp"

#include <gtest/gtest.h>

namespace ullage::vpic_parameters_test {
namespace {

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
}  // namespace ullage::vpic_parameters_test
