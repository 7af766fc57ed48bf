// SPDX-License-Identifier: Apache-2.0
#include "run/record_writer.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.hpp"

namespace ullage::record_writer_test {
namespace {

class RecordWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ullage-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(RecordWriterTest, AppendsALineARecord) {
  const std::string path = folder_ / "r.ndjson";
  for (int launch = 0; launch < 2; ++launch) {
    auto writer = RecordWriter::open(path);
    ASSERT_TRUE(writer.has_value());
    writer->write({{"kind", "event"}, {"text", "a\nb \"quoted\" <script>"}});
    EXPECT_TRUE(writer->status().has_value());
  }
  std::ifstream file(path);
  std::string line;
  int lines = 0;
  while (std::getline(file, line)) {
    ++lines;
    EXPECT_EQ(Json::parse(line)["text"], "a\nb \"quoted\" <script>");
  }
  EXPECT_EQ(lines, 2);
}

TEST_F(RecordWriterTest, BytesThatAreNoUtf8DoNotLoseTheRecord) {
  const std::string path = folder_ / "r.ndjson";
  auto writer = RecordWriter::open(path);
  ASSERT_TRUE(writer.has_value());
  writer->write({{"path", "/tmp/\xff\xfe"}});
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(Json::parse(text.str())["path"].get<std::string>().starts_with("/tmp/"));
}

TEST_F(RecordWriterTest, MissingFolderIsAnEnvironmentError) {
  const auto writer = RecordWriter::open(folder_ / "missing" / "r.ndjson");
  ASSERT_FALSE(writer.has_value());
  EXPECT_EQ(writer.error().kind, ErrorKind::environment);
}

TEST_F(RecordWriterTest, FullDeviceIsRememberedNotIgnored) {
  auto writer = RecordWriter::open("/dev/full");
  if (!writer) GTEST_SKIP() << "no /dev/full here";
  writer->write({{"kind", "end"}});
  ASSERT_FALSE(writer->status().has_value());
  EXPECT_EQ(writer->status().error().errno_value, ENOSPC);
}

}  // namespace
}  // namespace ullage::record_writer_test
