// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storage/library_file.hpp"
#include "storage/test_support.hpp"

namespace ullage {
namespace {

using test::line_of;

/// The file of the MPI that this program was linked with.
std::string own_mpi() {
  const auto needed = libraries_needed_by("/proc/self/exe").value_or(std::vector<std::string>{});
  for (const auto& path : loaded_libraries()) {
    const std::string name = std::filesystem::path(path).filename();
    const bool is_mpi = name.starts_with("libmpi.so") || name.starts_with("libmpich.so");
    if (is_mpi && std::ranges::find(needed, name) != needed.end()) return path;
  }
  return {};
}

TEST(LibraryFile, TellsWhatIsNeeded) {
  const auto needed = libraries_needed_by("/proc/self/exe");
  ASSERT_TRUE(needed) << line_of(needed);
  EXPECT_TRUE(std::ranges::any_of(*needed, [](const auto& name) { return name.starts_with("libc.so"); }));
}

TEST(LibraryFile, RefusesWhatIsNoLibrary) {
  const test::TempFolder folder;
  test::write_file(folder.path() + "/short", "x");
  test::write_file(folder.path() + "/text", std::string(4096, 'x'));
  test::write_file(folder.path() + "/broken",
                   "\x7f"
                   "ELF\x02" +
                       std::string(4096, '\xff'));
  for (const char* name : {"none", "short", "text", "broken"}) {
    const auto needed = libraries_needed_by(folder.path() + "/" + name);
    ASSERT_FALSE(needed) << name;
    EXPECT_EQ(needed.error().text, "is no shared library of this machine");
  }
}

TEST(LibraryFile, FindsLibrariesByTheirNames) {
  EXPECT_TRUE(library_file("libc.so.6"));
  EXPECT_FALSE(library_file("libthat-nobody-has.so.9"));
  EXPECT_EQ(library_file("/a/path"), "/a/path");
}

TEST(MpiLibraryFile, ALibraryWithoutMpiIsNone) {
  const auto status = check_mpi_of_library(*library_file("libc.so.6"));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text, "was built without MPI");
}

/// The engine itself needs the MPI that is loaded.
TEST(MpiLibraryFile, TheMpiInUseIsRecognised) {
  if (own_mpi().empty()) GTEST_SKIP() << "this program is linked with no shared MPI";
  const auto status = check_mpi_of_library("/proc/self/exe");
  EXPECT_TRUE(status) << line_of(status);
}

/// The file has the same bytes, but for the name of the MPI that is asked for.
TEST(MpiLibraryFile, AnotherMpiIsRefusedByName) {
  if (own_mpi().empty()) GTEST_SKIP() << "this program is linked with no shared MPI";
  const std::string name = std::filesystem::path(own_mpi()).filename();
  std::string program = test::read_file("/proc/self/exe");
  std::string other = name;
  other.back() = other.back() == '9' ? '8' : '9';
  for (std::size_t at = program.find(name + '\0'); at != std::string::npos; at = program.find(name + '\0', at + 1))
    program.replace(at, name.size(), other);
  const test::TempFolder folder;
  test::write_file(folder.path() + "/other", program);
  const auto status = check_mpi_of_library(folder.path() + "/other");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text, "belongs to another MPI: it needs " + other + ", but this engine runs with " + name);
}

}  // namespace
}  // namespace ullage
