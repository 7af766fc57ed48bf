// SPDX-License-Identifier: Apache-2.0
// Run folders at their end: what goes when, and what is left where that was cut short.
#include <gtest/gtest.h>
#include <sys/file.h>

#include "storage/test_support.hpp"

namespace ullage::unmarked_folder_test {

namespace fs = std::filesystem;
using namespace test;

class EndingFolder : public test::OnTarget {};

/// Makes what the end of a run left on NFS or FUSE while the marker was open when it was removed.
class UnmarkedFolder : public EndingFolder {
 protected:
  UnmarkedFolder() { fs::remove_all(made().path() + "/manifest.ndjson"); }
  void hide_marker(const std::string& text) const {
    fs::remove(own() + "/.ullage-run");
    write_file(own() + "/.nfs00000000012a0003000000ff", text);
  }
};

TEST_F(UnmarkedFolder, IsRemovedWhenItIsEmptyAndCalledAsARunOfTheFront) {
  fs::remove(own() + "/.ullage-run");
  const std::string run = target_.path() + "/ullage-20261122T232612Z-d2e508-probe";
  fs::rename(own(), run);
  EXPECT_FALSE(RunFolder::open_existing(run));
  const auto removed = RunFolder::remove_unmarked(run + "/");
  ASSERT_TRUE(removed) << line_of(removed);
  EXPECT_TRUE(*removed);
  EXPECT_TRUE(names_in(target_.path()).empty());
}

TEST_F(UnmarkedFolder, StaysWhenItIsEmptyAndMayBeSomebodysOwn) {
  fs::remove(own() + "/.ullage-run");
  for (const std::string name : {"r1", "20261122T232612Z", "20261122T232612Z-D2E508", "2026112xT232612Z-d2e508"}) {
    const std::string path = target_.path() + "/ullage-" + name;
    if (path != own()) fs::create_directory(path);
    fs::permissions(path, fs::perms::owner_all);
    EXPECT_FALSE(RunFolder::remove_unmarked(path)) << name;
    EXPECT_TRUE(fs::exists(path)) << name;
  }
}

TEST_F(UnmarkedFolder, IsRemovedWithItsMarkerUnderAClientsName) {
  hide_marker(marker_text({"r1", "nonce"}));
  EXPECT_TRUE(RunFolder::remove_unmarked(own()).value_or(false));
  EXPECT_TRUE(names_in(target_.path()).empty());
}

TEST_F(UnmarkedFolder, StaysWithWhatIsNoMarkerOfThisRun) {
  for (const auto& text : {std::string("precious"), std::string(), marker_text({"r2", "nonce"})}) {
    hide_marker(text);
    EXPECT_FALSE(RunFolder::remove_unmarked(own()));
    EXPECT_EQ(names_in(own()).size(), 1U);
  }
}

TEST_F(UnmarkedFolder, StaysWhileARunHasItsMarkerOpen) {
  hide_marker(marker_text({"r1", "nonce"}));
  const Descriptor other(::open((own() + "/.nfs00000000012a0003000000ff").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(other.get(), LOCK_EX | LOCK_NB), 0);
  const auto removed = RunFolder::remove_unmarked(own());
  ASSERT_FALSE(removed);
  EXPECT_NE(line_of(removed).find("still at work"), std::string::npos);
}

TEST_F(UnmarkedFolder, IsNotAFolderWithAnythingElseOrOfOthers) {
  EXPECT_FALSE(RunFolder::remove_unmarked(own()).value_or(true)) << "it has its marker";
  fs::remove(own() + "/.ullage-run");
  fs::permissions(own(), fs::perms::owner_all | fs::perms::group_read);
  EXPECT_FALSE(RunFolder::remove_unmarked(own())) << "its mode is not 0700";
  fs::create_directory(target_.path() + "/thesis");
  fs::permissions(target_.path() + "/thesis", fs::perms::owner_all);
  EXPECT_FALSE(RunFolder::remove_unmarked(target_.path() + "/thesis")) << "its name is none of ours";
}

/// Makes what a launch left that was killed while it made its folder.
class BegunFolder : public test::OnTarget {
 protected:
  static constexpr const char* run_id = "20261122T232612Z-d2e508";
  [[nodiscard]] std::string begun() const { return target_.path() + "/ullage-" + run_id; }
  void begin() const {
    fs::create_directory(begun());
    fs::permissions(begun(), fs::perms::owner_all);
  }
  void expect_made_anew() const {
    auto folder = RunFolder::make(target_.path(), run_id);
    ASSERT_TRUE(folder) << line_of(folder);
    EXPECT_EQ(names_in(begun()), (std::vector<std::string>{".ullage-run", "manifest.ndjson"}));
    EXPECT_TRUE(folder->remove_listed());
    EXPECT_TRUE(names_in(target_.path()).empty());
  }
};

TEST_F(BegunFolder, IsMadeAnewWithoutAMarker) {
  begin();
  expect_made_anew();
}

TEST_F(BegunFolder, IsMadeAnewWithAMarkerOfNoBytes) {
  begin();
  write_file(begun() + "/.ullage-run", "");
  expect_made_anew();
}

TEST_F(BegunFolder, IsRemovedWithAMarkerOfNoBytes) {
  begin();
  write_file(begun() + "/.ullage-run", "");
  EXPECT_TRUE(RunFolder::remove_unmarked(begun()).value_or(false));
  EXPECT_TRUE(names_in(target_.path()).empty());
}

TEST_F(BegunFolder, StaysWithAnythingElseInIt) {
  begin();
  write_file(begun() + "/.ullage-run", "");
  write_file(begun() + "/precious", "mine");
  EXPECT_FALSE(RunFolder::make(target_.path(), run_id));
  EXPECT_FALSE(RunFolder::remove_unmarked(begun()).value_or(false));
  EXPECT_EQ(names_in(begun()), (std::vector<std::string>{".ullage-run", "precious"}));
}

TEST_F(BegunFolder, GetsTheManifestThatItLacks) {
  begin();
  write_file(begun() + "/.ullage-run", marker_text({run_id, "nonce"}));
  auto folder = RunFolder::make(target_.path(), run_id);
  ASSERT_TRUE(folder) << line_of(folder);
  ASSERT_TRUE(folder->list_dataset({"ab", "ab", 2, true, false}));
  const std::string listed = test::read_file(begun() + "/manifest.ndjson");
  EXPECT_EQ(std::ranges::count(listed, '\n'), 1) << listed;
}

TEST_F(EndingFolder, IsNoLongerClaimedWhenItIsGone) {
  RunFolder folder = made();
  ASSERT_TRUE(folder.remove_listed());
  const auto again = RunFolder::make(target_.path(), "r1");
  EXPECT_TRUE(again) << line_of(again);
}

}  // namespace ullage::unmarked_folder_test
