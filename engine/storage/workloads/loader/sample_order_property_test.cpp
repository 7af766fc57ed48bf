// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <vector>

#include "storage/workloads/loader/sample_files.hpp"

namespace ullage::sample_order_property_test {

RC_GTEST_PROP(SampleOrderProperty, EveryEpochReadsEverySampleOnceOverAllAccelerators, ()) {
  const auto samples = *rc::gen::inRange<std::uint64_t>(1, 1500);
  const auto read = *rc::gen::inRange<std::uint64_t>(1, samples + 1);
  const auto per_file = *rc::gen::inRange<std::uint64_t>(1, 50);
  const auto accelerators = *rc::gen::inRange<std::uint64_t>(1, 9);
  const SampleFiles files({.samples = samples, .samples_per_file = per_file});
  const SampleReaders readers{
      .accelerators = accelerators, .samples = read, .by_node = false, .seed = *rc::gen::arbitrary<std::uint64_t>()};
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int> reads(samples);
    for (std::uint64_t accelerator = 0; accelerator < accelerators; ++accelerator) {
      const SampleOrder order(files, readers, accelerator, epoch);
      RC_ASSERT(order.count() == read / accelerators || order.count() == read / accelerators + 1);
      for (std::uint64_t i = 0; i < order.count(); ++i) ++reads.at(order(i));
    }
    for (std::uint64_t sample = 0; sample < samples; ++sample) RC_ASSERT(reads[sample] == (sample < read ? 1 : 0));
  }
}

RC_GTEST_PROP(SampleOrderProperty, ByNodeNobodyReadsWhatItsNodeWroteAndAllIsReadOnce, ()) {
  const auto nodes = *rc::gen::inRange<std::uint64_t>(2, 6);
  const auto of_a_node = *rc::gen::inRange<std::uint64_t>(1, 4);
  const auto samples = *rc::gen::inRange<std::uint64_t>(1, 1500);
  const auto read = *rc::gen::inRange<std::uint64_t>(1, samples + 1);
  const auto per_file = *rc::gen::inRange<std::uint64_t>(1, 50);
  const SampleFiles files(
      {.samples = samples, .samples_per_file = per_file, .sizes = SampleSizeSpec{}, .groups = nodes});
  const SampleReaders readers{.accelerators = nodes * of_a_node,
                              .samples = read,
                              .by_node = true,
                              .seed = *rc::gen::arbitrary<std::uint64_t>()};
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    std::vector<int> reads(samples);
    for (std::uint64_t accelerator = 0; accelerator < readers.accelerators; ++accelerator) {
      const SampleOrder order(files, readers, accelerator, epoch);
      for (std::uint64_t i = 0; i < order.count(); ++i) {
        ++reads.at(order(i));
        RC_ASSERT(files.group_of(order(i)) != accelerator / of_a_node);
      }
    }
    for (std::uint64_t sample = 0; sample < samples; ++sample) RC_ASSERT(reads[sample] == (sample < read ? 1 : 0));
  }
}

}  // namespace ullage::sample_order_property_test
