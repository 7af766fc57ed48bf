// SPDX-License-Identifier: Apache-2.0
// What a case takes of a target, over the whole range of its parameters.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "storage/backend.hpp"
#include "work/workload.hpp"

namespace ullage::needs_property_test {

struct Sizes {
  const char* workload;
  std::vector<std::string> names;  // of the parameters that take more room the larger they are
};

const std::vector<Sizes>& all_sizes() {
  static const std::vector<Sizes> sizes{
      {"b-eff-io", {"lmax_bytes", "most_bytes"}},
      {"flash", {"cells", "blocks"}},
      {"loader", {"samples", "sample_bytes"}},
      {"metadata", {"items", "write_bytes"}},
      {"mixed-metadata", {"sets", "objects", "object_bytes"}},
      {"overlap", {"transfer_bytes", "depth", "batches", "rounds"}},
      {"pio", {"requests", "request_bytes"}},
      {"sar", {"grid", "depth", "rows", "columns", "raw_columns", "raw_files", "templates", "template_bytes"}},
      {"stepfile", {"steps", "state_bytes"}},
      {"tile", {"frames", "tile_x", "tile_y", "element_bytes"}},
      {"transfer", {"segments", "block_bytes"}},
      {"vpic", {"particles", "steps"}}};
  return sizes;
}

/// Between the bounds, every order of magnitude as likely as any other; large ones in steps of what a transfer moves.
std::int64_t size_between(double least, double most) {
  const double exponent = *rc::gen::inRange(0, 1001) / 1000.0;
  const double low = std::max(least, 1.0);
  const auto size = static_cast<std::int64_t>(low * std::pow(most / low, exponent));
  const std::int64_t step = std::int64_t{1} << 20;
  return size > step ? size / step * step : size;
}

Values complete_values(const WorkloadEntry& entry, const Values& given) {
  auto values = complete(entry.description.parameters, given, "");
  RC_ASSERT(values.has_value());
  return *values;
}

RC_GTEST_PROP(NeedsProperty, MoreOfAnythingNeverTakesLess, ()) {
  const Sizes& sizes = *rc::gen::elementOf(all_sizes());
  const WorkloadEntry& entry = *Registry<WorkloadEntry>::instance().find(sizes.workload);
  Values fewer;
  Values more;
  for (const ParameterSpec& spec : entry.description.parameters) {
    if (std::ranges::find(sizes.names, spec.name) == sizes.names.end()) continue;
    const std::int64_t one = size_between(*spec.minimum, *spec.maximum);
    const std::int64_t other = size_between(*spec.minimum, *spec.maximum);
    fewer[spec.name] = std::min(one, other);
    more[spec.name] = std::max(one, other);
  }
  PlannedLayout few;
  PlannedLayout many;
  few.ranks = *rc::gen::inRange(1, 1 << 20);
  many.ranks = few.ranks * *rc::gen::inRange(1, 1024);
  const Values least = complete_values(entry, fewer);
  const Values most = complete_values(entry, more);
  const Capabilities able{.metadata = true, .views = true, .arrays = true, .nonblocking = 1024};
  const auto& work = std::get<StorageWork>(entry.work);
  for (const auto& [values, layout] : {std::pair(&least, &few), std::pair(&most, &many)})
    if (!work.check(*values, able, *layout, "")) return;  // nothing is asked of what is refused
  const Needs small = entry.needs(least, few);
  const Needs large = entry.needs(most, many);
  RC_ASSERT(small.bytes <= large.bytes);
  RC_ASSERT(small.inodes <= large.inodes);
  RC_ASSERT(small.directories <= large.directories);
}

/// The product of items, ranks and blocks of 512 MiB is 2^64: nothing, where it wraps.
TEST(Needs, AreNotLessWhereAProductWraps) {
  const WorkloadEntry& metadata = *Registry<WorkloadEntry>::instance().find("metadata");
  const auto values =
      complete(metadata.description.parameters, {{"items", std::int64_t{1} << 35}, {"write_bytes", 1 << 29}}, "");
  ASSERT_TRUE(values);
  EXPECT_FALSE(metadata.needs(*values, PlannedLayout{.ranks = 1, .nodes = {}, .ranks_per_node = {}}).bytes.is_known());
  const WorkloadEntry& flash = *Registry<WorkloadEntry>::instance().find("flash");
  const auto blocks = complete(flash.description.parameters, {{"cells", 512}, {"blocks", 1'000'000'000}}, "");
  ASSERT_TRUE(blocks);
  const Status refused = std::get<StorageWork>(flash.work).check(*blocks, {}, {}, "/p");
  ASSERT_FALSE(refused);
  EXPECT_EQ(to_line(refused.error()), "/p/blocks: makes a file of more than 4e18 bytes with cells and the ranks");
}

}  // namespace ullage::needs_property_test
