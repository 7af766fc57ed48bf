// SPDX-License-Identifier: Apache-2.0
#include "base/shared_library.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <vector>

namespace ullage {
namespace {

using Names = std::vector<std::string>;

TEST(SharedLibrary, TheFirstThatIsThereIsLoaded) {
  const Names names{"libullage-not-there.so", "libm.so.6"};
  const auto handle = load_library("mathematics", names, RTLD_NOW | RTLD_LOCAL, 4096);
  ASSERT_TRUE(handle) << to_line(handle.error());
  EXPECT_NE(dlsym(*handle, "cos"), nullptr);
  dlclose(*handle);
}

TEST(SharedLibrary, ItSaysWhichWereLookedFor) {
  const auto handle = load_library("BLAS", Names{"libullage-1.so", "libullage-2.so"}, RTLD_NOW, 0);
  ASSERT_FALSE(handle);
  EXPECT_EQ(handle.error().text,
            "none found (tried libullage-1.so, libullage-2.so); install one, or name it with `library`");
}

TEST(SharedLibrary, OneThatIsThereAndCannotBeLoadedIsTheReason) {
  const std::string path = std::filesystem::temp_directory_path() / "ullage-no-library.so";
  std::ofstream(path) << "no library";
  const auto handle = load_library("BLAS", Names{"libullage-1.so", path, "libullage-2.so"}, RTLD_NOW, 0);
  std::filesystem::remove(path);
  ASSERT_FALSE(handle);
  EXPECT_NE(handle.error().text.find(path), std::string::npos) << handle.error().text;
}

TEST(SharedLibrary, WithoutAddressSpaceNothingIsLoaded) {
  const auto handle = load_library("BLAS", Names{"libm.so.6"}, RTLD_NOW, std::uint64_t{1} << 60);
  ASSERT_FALSE(handle);
  EXPECT_EQ(handle.error().errno_value, ENOMEM);
  EXPECT_EQ(to_line(handle.error()), "load BLAS: Cannot allocate memory (errno 12)");
}

TEST(SharedLibrary, ALinearAlgebraLibraryHasRoomForAThreadOfEachProcessor) {
  EXPECT_GT(linear_library_room_bytes(), std::uint64_t{256} << 20);
}

}  // namespace
}  // namespace ullage
