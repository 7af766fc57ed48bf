// SPDX-License-Identifier: Apache-2.0
#include "storage/file_mapping.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <thread>

#include "storage/test_support.hpp"

namespace ullage::file_mapping_test {

class FileMappingTest : public testing::Test {
 protected:
  FileMappingTest() : file_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    EXPECT_EQ(ftruncate(file_.get(), 10'000), 0);
  }

  test::TempFolder folder_;
  std::string path_ = folder_.path() + "/f";
  Descriptor file_;
};

TEST_F(FileMappingTest, ShowsTheFileAndChangesIt) {
  auto mapping = FileMapping::map(file_.get(), 10'000, true, {}, path_);
  ASSERT_TRUE(mapping) << test::line_of(mapping);
  EXPECT_EQ(mapping->size_bytes(), 10'000U);
  mapping->data()[9'999] = std::byte{'y'};
  FileMapping moved = std::move(*mapping);
  *mapping = {};
  EXPECT_EQ(moved.data()[9'999], std::byte{'y'});
  moved = {};
  EXPECT_EQ(test::read_file(path_).back(), 'y');
}

/// Reads of a page that is there already come from no fault; mincore says which are.
TEST_F(FileMappingTest, HasAllItsPagesWhereThatIsAsked) {
  for (const bool populate : {false, true}) {
    MappingParameters parameters;
    parameters.populate = populate;
    const auto mapping = FileMapping::map(file_.get(), 10'000, false, parameters, path_);
    ASSERT_TRUE(mapping) << test::line_of(mapping);
    std::array<unsigned char, 3> resident{};
    ASSERT_EQ(mincore(mapping->data(), 10'000, resident.data()), 0);
    EXPECT_EQ(resident, (std::array<unsigned char, 3>{populate, populate, populate}));
  }
}

TEST_F(FileMappingTest, OfNothingOrOfNoFileIsAnError) {
  const auto nothing = FileMapping::map(file_.get(), 0, false, {}, path_);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().errno_value, EINVAL);
  const auto no_file = FileMapping::map(-1, 4096, false, {}, path_);
  ASSERT_FALSE(no_file);
  EXPECT_NE(test::line_of(no_file).find(path_), std::string::npos);
}

/// A mapping of two pages whose file has none any more.
class BusErrors : public testing::Test {
 protected:
  BusErrors() {
    const std::string path = folder_.path() + "/f";
    test::write_file(path, std::string(8192, 'x'));
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    auto mapping = FileMapping::map(file.get(), 8192, false, {}, path);
    EXPECT_TRUE(mapping) << test::line_of(mapping);
    if (mapping) mapping_ = std::move(*mapping);
    std::filesystem::resize_file(path, 0);
  }
  [[nodiscard]] std::byte touch() const { return *static_cast<const volatile std::byte*>(mapping_.data()); }

  test::TempFolder folder_;
  FileMapping mapping_;
};

TEST_F(BusErrors, EndWhatWasDoneAndNotTheProcess) {
  const BusErrorHandler handler;
  bool is_behind = false;
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_FALSE(survives_bus_error([&] {
      (void)touch();
      is_behind = true;
    }));
  }
  EXPECT_FALSE(is_behind);
  EXPECT_TRUE(survives_bus_error([&] { is_behind = true; }));
  EXPECT_TRUE(is_behind);
}

TEST_F(BusErrors, AreOfTheThreadThatMeetsThem) {
  const BusErrorHandler handler;
  bool survived = true;
  EXPECT_TRUE(survives_bus_error([&] {
    std::thread other([&] { survived = survives_bus_error([&] { (void)touch(); }); });
    other.join();
  }));
  EXPECT_FALSE(survived);
}

/// In a child, which does nothing of MPI.
TEST_F(BusErrors, EndTheProcessWhereNobodyWaits) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A sanitizer's own handler would report, and exit with a code; a core file is of use to nobody.
    const rlimit none{};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)std::signal(SIGBUS, SIG_DFL);
    const BusErrorHandler handler;
    (void)touch();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGBUS);
}

TEST_F(BusErrors, HaveTheirFormerHandlerBackAfterwards) {
  struct sigaction before{};
  struct sigaction after{};
  ASSERT_EQ(sigaction(SIGBUS, nullptr, &before), 0);
  {
    const BusErrorHandler outer;
    const BusErrorHandler inner;
  }
  ASSERT_EQ(sigaction(SIGBUS, nullptr, &after), 0);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

}  // namespace ullage::file_mapping_test
