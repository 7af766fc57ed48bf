// SPDX-License-Identifier: Apache-2.0
#include "storage/backend.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace ullage::backend_test {

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
  all.collective = all.views = all.scattered = all.direct = all.thread_files = true;
  all.queue_depth = 8;
  all.threads = 2;
  all.file_threads = 3;
  all.nonblocking = 1;
  const std::vector<std::string> words{"path",           "data",         "collective",    "views",
                                       "scattered",      "direct",       "queue_depth=8", "threads=2",
                                       "file_threads=3", "thread_files", "nonblocking=1"};
  EXPECT_EQ(capability_words(all), words);
  EXPECT_TRUE(capability_words({.path = false, .data = false}).empty());
}

}  // namespace ullage::backend_test
