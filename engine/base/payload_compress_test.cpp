// SPDX-License-Identifier: Apache-2.0
// What a real compressor says of the payload.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include "base/payload.hpp"
#include "storage/test_support.hpp"

extern char** environ;

namespace ullage::payload_compress_test {

/// Exit status; -1 when the program cannot be started.
int run(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawnp(&child, pointers.front(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

class PayloadCompress : public testing::Test {
 protected:
  void SetUp() override {
    if (run({"zstd", "--version"}) != 0)
      GTEST_SKIP() << "zstd is not installed: the compress ratio of the payload is not tested";
  }

  /// Bytes of a file of `writers` ranks over what zstd makes of it.
  double measured(double compress_ratio, std::uint64_t transfer_bytes, std::uint64_t file_bytes,
                  std::vector<std::string> with = {"-1"}) const {
    const std::string plain = folder_.path() + "/plain";
    const Payload payload(
        {.run_key = 99, .transfer_bytes = transfer_bytes, .compress_ratio = compress_ratio, .file_bytes = file_bytes});
    std::vector<std::byte> bytes(transfer_bytes);
    std::ofstream out(plain, std::ios::binary | std::ios::trunc);
    for (std::uint64_t offset = 0; offset < file_bytes; offset += transfer_bytes) {
      payload.fill(bytes, offset / transfer_bytes % writers, offset);
      out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    out.close();
    std::vector<std::string> command{"zstd", "-q", "-f", plain, "-o", plain + ".zst"};
    command.insert(command.end(), with.begin(), with.end());
    EXPECT_EQ(run(command), 0);
    return static_cast<double>(std::filesystem::file_size(plain)) /
           static_cast<double>(std::filesystem::file_size(plain + ".zst"));
  }

  static constexpr std::uint64_t writers = 2;

 private:
  test::TempFolder folder_;
};

TEST_F(PayloadCompress, RatioOneIsIncompressible) {
  EXPECT_LT(measured(1, 1 << 20, 64 << 20), 1.01);
  EXPECT_LT(measured(1, 47008, 47008 * 300), 1.01);
  EXPECT_LT(measured(1, 512, 8 << 20), 1.01);
}

/// A window of 128 MiB, in which whatever comes again within the file is found.
TEST_F(PayloadCompress, RatioOneIsIncompressibleInLongWindowsToo) {
  EXPECT_LT(measured(1, 1 << 20, 64 << 20, {"--long=27"}), 1.01);
  EXPECT_LT(measured(1, 4096, 64 << 20, {"--long=27"}), 1.01);
  EXPECT_LT(measured(1, 47008, 47008 * 1000, {"--long=27", "--ultra", "-9"}), 1.01);
}

TEST_F(PayloadCompress, ChosenRatiosAreMetInLongWindowsToo) {
  for (const double ratio : {1.5, 3.0})
    EXPECT_NEAR(measured(ratio, 1 << 20, 64 << 20, {"--long=27"}) / ratio, 1, 0.15) << ratio;
}

TEST_F(PayloadCompress, ChosenRatiosAreMet) {
  for (const double ratio : {1.5, 2.0, 3.0, 4.0, 8.0})
    EXPECT_NEAR(measured(ratio, 1 << 20, 64 << 20) / ratio, 1, 0.1) << ratio;
}

TEST_F(PayloadCompress, ChosenRatiosAreMetBySmallAndOddTransfers) {
  for (const double ratio : {1.5, 2.0, 4.0}) {
    EXPECT_NEAR(measured(ratio, 512, 8 << 20) / ratio, 1, 0.1) << ratio;
    EXPECT_NEAR(measured(ratio, 4096, 8 << 20) / ratio, 1, 0.1) << ratio;
    EXPECT_NEAR(measured(ratio, 47008, 47008 * 200) / ratio, 1, 0.1) << ratio;
  }
}

}  // namespace ullage::payload_compress_test
