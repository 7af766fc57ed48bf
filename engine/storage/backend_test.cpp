// SPDX-License-Identifier: Apache-2.0
#include "storage/backend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace ullage::backend_test {
namespace {

TEST(Backends, AreFoundByName) {
  for (const char* name : {"fault", "model", "mpiio", "null", "posix"}) {
    const auto* entry = Registry<BackendEntry>::instance().find(name);
    ASSERT_NE(entry, nullptr) << name;
    EXPECT_FALSE(entry->description.doc.empty());
    for (const auto& parameter : entry->description.parameters)
      EXPECT_FALSE(parameter.doc.empty()) << name << " " << parameter.name;
    EXPECT_TRUE(complete(entry->description.parameters, {}, "")) << name << ": the defaults are valid";
  }
}

TEST(Backends, AWrapperMayWrapAnyOther) {
  const auto& all = Registry<BackendEntry>::instance().all();
  const auto& parameters = Registry<BackendEntry>::instance().find("fault")->description.parameters;
  const auto& choices = std::ranges::find(parameters, "inner", &ParameterSpec::name)->choices;
  for (const auto& entry : all)
    EXPECT_EQ(std::ranges::count(choices, entry.description.name), entry.wraps ? 0 : 1) << entry.description.name;
  EXPECT_EQ(choices.size() + 1, all.size());
}

TEST(CapabilityWords, SayWhatDiffers) {
  EXPECT_EQ(capability_words({}), (std::vector<std::string>{"path", "data"}));
  Capabilities all;
  all.collective = all.views = all.direct = true;
  all.queue_depth = 8;
  all.threads = 2;
  EXPECT_EQ(capability_words(all),
            (std::vector<std::string>{"path", "data", "collective", "views", "direct", "queue_depth=8", "threads=2"}));
  EXPECT_TRUE(capability_words({.path = false, .data = false}).empty());
}

TEST(MpiAgree, AllOrNone) {
  const mpi::Comm all = mpi::Comm::world();
  EXPECT_TRUE(agree(all, {}, "open", "/f"));
  const int last = all.size() - 1;
  const Status own = all.rank() == last ? fail(errno_error(ENOSPC, "open", "/own")) : Status{};
  const Status agreed = agree(all, own, "open", "/f");
  ASSERT_FALSE(agreed);
  EXPECT_EQ(agreed.error().errno_value, ENOSPC);
  EXPECT_EQ(agreed.error().where, all.rank() == last ? "/own" : "/f");
  if (all.rank() != last) {
    EXPECT_EQ(agreed.error().text, "rank " + std::to_string(last) + " failed: No space left on device");
  }
}

}  // namespace
}  // namespace ullage::backend_test
