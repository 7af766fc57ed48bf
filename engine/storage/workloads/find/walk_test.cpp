// SPDX-License-Identifier: Apache-2.0
// The walk beside GNU find, alone and with all ranks together, and where things go wrong meanwhile.
#include "storage/workloads/find/walk.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/find/test_support.hpp"

namespace ullage::find_walk_test {

/// Everything as small as can be: many reads, nothing held, always into the depth.
constexpr WalkLimits tiny{.room_bytes = 300, .waiting_bytes = 0, .given_bytes = 1, .held = 0};

Descriptor open_folder(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/// The tests of one search, in our words.
struct Search {
  std::string name;
  bool newer = false;
  std::string size;

  [[nodiscard]] std::vector<std::string> words(const std::string& stamp) const {
    std::vector<std::string> all;
    if (!name.empty()) all.insert(all.end(), {"-name", name});
    if (newer) all.insert(all.end(), {"-newer", stamp});
    if (!size.empty()) all.insert(all.end(), {"-size", size});
    return all;
  }
  [[nodiscard]] FindCriteria criteria(const std::string& stamp) const {
    FindCriteria all;
    if (!name.empty()) all.name.emplace(name);
    if (!size.empty()) all.size = *SizeTest::parse(size, "");
    if (!newer) return all;
    struct stat status{};
    EXPECT_EQ(stat(stamp.c_str(), &status), 0);
    all.newer_than = FileTime{status.st_mtim.tv_sec, static_cast<std::uint32_t>(status.st_mtim.tv_nsec)};
    return all;
  }
};

const std::vector<Search>& searches() {
  static const std::vector<Search> all{
      {"", false, ""},      {"*", false, ""},       {"*01*", false, ""},      {".*", false, ""},
      {"-*", false, ""},    {"root01", false, ""},  {"[a-f]*01", false, ""},  {"\\**", false, ""},
      {"?", false, ""},     {"*\xff*", false, ""},  {"*\n*", false, ""},      {"", true, ""},
      {"", false, "3901c"}, {"", false, "-1k"},     {"", false, "1k"},        {"", false, "+1M"},
      {"", false, "1M"},    {"", false, "2w"},      {"", false, "+20000000"}, {"*01*", true, "3901c"},
      {"*01*", true, "-2"}, {"nothing", true, "1c"}};
  return all;
}

std::string text_of(const Search& search) { return search.name + (search.newer ? " newer " : " ") + search.size; }

void walk_to_the_end(FindWalk& walk) {
  while (walk.has_work()) (void)walk.step();
}

std::vector<std::string> found_alone(const test::OddTree& tree, const Search& search, WalkLimits limits) {
  std::string found;
  FindWalk walk(
      open_folder(tree.path()), tree.path(), search.criteria(tree.stamp()),
      [&](const std::string& path) { found += path + '\0'; }, limits);
  walk.begin();
  walk_to_the_end(walk);
  EXPECT_EQ(walk.counts().errors, 0U) << (walk.first_error() ? to_line(*walk.first_error()) : "");
  auto paths = test::split_sorted(found);
  EXPECT_EQ(walk.counts().found, paths.size());
  return paths;
}

TEST(FindWalk, FindsWhatGnuFindFinds) {
  if (!test::has_gnu_find()) GTEST_SKIP() << "findutils are not installed";
  const test::OddTree tree;
  const std::size_t everything = test::gnu_find(tree.path(), {}).size();
  for (const Search& search : searches()) {
    const auto expected = test::gnu_find(tree.path(), search.words(tree.stamp()));
    EXPECT_EQ(expected.empty(), search.name == "nothing") << text_of(search) << ": the tree asks nothing of it";
    EXPECT_TRUE(expected.size() < everything || search.name.empty() || search.name == "*") << text_of(search);
    EXPECT_EQ(found_alone(tree, search, {}), expected) << text_of(search);
    EXPECT_EQ(found_alone(tree, search, tiny), expected) << text_of(search);
  }
}

TEST(MpiFindWalk, AllRanksTogetherFindEverythingOnce) {
  const mpi::Comm world = mpi::Comm::world();
  constexpr int tag_found = 91;
  std::unique_ptr<test::OddTree> tree;
  if (world.rank() == 0) tree = std::make_unique<test::OddTree>();
  const std::string path = world.broadcast(tree ? tree->path() : std::string(), 0);
  const std::string stamp = world.broadcast(tree ? tree->stamp() : std::string(), 0);
  for (const WalkLimits limits : {WalkLimits{}, WalkLimits{.room_bytes = 4096, .held = 2}, tiny}) {
    for (const Search& search : {Search{"", false, ""}, Search{"*01*", true, "3901c"}, Search{"", false, "-2k"}}) {
      std::string found;
      FindWalk walk(
          open_folder(path), path, search.criteria(stamp), [&](const std::string& name) { found += name + '\0'; },
          limits);
      mpi::WorkStealing stealing(world, walk);
      if (world.rank() == 0) walk.begin();
      do {
        while (walk.has_work()) {
          (void)walk.step();
          stealing.answer();
        }
      } while (stealing.more());
      EXPECT_EQ(walk.counts().errors, 0U) << (walk.first_error() ? to_line(*walk.first_error()) : "");
      const std::uint64_t scanned = world.sum(walk.counts().scanned);
      if (world.rank() != 0) {
        world.send(found, 0, tag_found);
        continue;
      }
      for (int i = 1; i < world.size(); ++i) found += world.receive_text(i, tag_found);
      if (!test::has_gnu_find()) continue;
      EXPECT_EQ(test::split_sorted(found), test::gnu_find(path, search.words(stamp))) << text_of(search);
      EXPECT_EQ(scanned, test::gnu_find(path, {}).size());
    }
  }
  world.barrier();  // before the tree goes
}

TEST(FindWalk, WhatWaitsIsBounded) {
  const test::TempFolder folder;
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 40; ++j)
      std::filesystem::create_directories(folder.path() + "/" + std::to_string(i) + "/" + std::to_string(j));
  WalkLimits limits;
  limits.room_bytes = 300;  // a dozen names
  limits.waiting_bytes = 2000;
  FindWalk walk(open_folder(folder.path()), folder.path(), {}, {}, limits);
  walk.begin();
  std::size_t most = 0;
  while (walk.has_work()) {
    (void)walk.step();
    most = std::max(most, walk.waiting_bytes());
  }
  EXPECT_EQ(walk.counts().scanned, 1U + 40 + 40 * 40);
  EXPECT_LT(most, 2000U + 3 * 12 * (sizeof(WalkItem) + 2)) << "more than one read of each level waits";
}

TEST(FindWalk, WhatVanishesMeanwhileIsAnErrorAndTheRestIsWalked) {
  const test::TempFolder folder;
  for (const char* name : {"gone", "stays"}) {
    std::filesystem::create_directories(folder.path() + "/" + name);
    test::write_file(folder.path() + "/" + name + "/f", "x");
    test::write_file(folder.path() + "/" + name + ".txt", "x");
  }
  FindCriteria criteria;
  criteria.size = *SizeTest::parse("1c", "");
  FindWalk walk(open_folder(folder.path()), folder.path(), criteria);
  walk.begin();
  (void)walk.step();  // the names of the root are read
  std::filesystem::remove_all(folder.path() + "/gone");
  std::filesystem::remove(folder.path() + "/gone.txt");
  walk_to_the_end(walk);
  EXPECT_EQ(walk.counts().scanned, 1U + 4 + 1);
  EXPECT_EQ(walk.counts().found, 2U);
  EXPECT_EQ(walk.counts().errors, 3U) << "gone opened, gone and gone.txt looked at";
  ASSERT_TRUE(walk.first_error().has_value());
  EXPECT_EQ(walk.first_error()->errno_value, ENOENT);
  EXPECT_TRUE(walk.first_error()->where.starts_with(folder.path() + "/gone")) << walk.first_error()->where;
}

TEST(FindWalk, DirectoryThatBecomesALinkIsNotFollowed) {
  const test::TempFolder folder;
  const test::TempFolder elsewhere;
  test::write_file(elsewhere.path() + "/precious", "x");
  std::filesystem::create_directories(folder.path() + "/d");
  FindWalk walk(open_folder(folder.path()), folder.path(), {});
  walk.begin();
  (void)walk.step();
  std::filesystem::remove(folder.path() + "/d");
  std::filesystem::create_directory_symlink(elsewhere.path(), folder.path() + "/d");
  walk_to_the_end(walk);
  EXPECT_EQ(walk.counts().scanned, 2U);
  EXPECT_EQ(walk.counts().errors, 1U);
  EXPECT_EQ(walk.first_error()->errno_value, ELOOP);
}

/// What another rank gives when the file system does not say of which kind an entry is.
TEST(FindWalk, EntriesOfUnknownKindAreDescendedIntoWhenTheyAreDirectories) {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder.path() + "/d");
  test::write_file(folder.path() + "/d/inside", "");
  test::write_file(folder.path() + "/f", "x");
  std::size_t held = 0;
  LookList looks;
  looks.add({"d", false, true});
  looks.add({"f", true, true});
  WalkQueue queue;
  queue.push({WalkItem::Kind::look, std::make_shared<WalkedDirectory>("", held), looks.take_names()});

  std::vector<std::string> found;
  FindWalk walk(open_folder(folder.path()), folder.path(), {}, [&](const std::string& path) { found.push_back(path); });
  walk.take(queue.give(1 << 20));
  walk_to_the_end(walk);
  EXPECT_EQ(found, (std::vector<std::string>{"f", "d/inside"}));
  EXPECT_EQ(walk.counts().scanned, 1U) << "d and f were counted where they were met";
  EXPECT_EQ(walk.counts().errors, 0U);
}

TEST(FindWalk, EveryNameOfADirectoryThatIsGoneIsAnError) {
  const test::TempFolder folder;
  std::size_t held = 0;
  LookList looks;
  looks.add({"a", true, false});
  looks.add({"b", true, false});
  WalkQueue queue;
  queue.push({WalkItem::Kind::look, std::make_shared<WalkedDirectory>("gone", held), looks.take_names()});
  FindWalk walk(open_folder(folder.path()), folder.path(), {});
  walk.take(queue.give(1 << 20));
  walk_to_the_end(walk);
  EXPECT_EQ(walk.counts().errors, 2U);
  EXPECT_EQ(walk.first_error()->where, folder.path() + "/gone/a");
}

TEST(FindWalk, AbandonedWalkTakesNothingMore) {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder.path() + "/d");
  FindWalk other(open_folder(folder.path()), folder.path(), {});
  other.begin();
  (void)other.step();
  const std::string given = other.give();
  ASSERT_NE(given, "");

  FindWalk walk(open_folder(folder.path()), folder.path(), {});
  walk.begin();
  walk.abandon();
  EXPECT_FALSE(walk.has_work());
  walk.take(given);
  EXPECT_FALSE(walk.has_work());
}

TEST(FindWalk, WorkThatWasLostIsAnErrorAndEndsTheWalk) {
  const test::TempFolder folder;
  FindWalk walk(open_folder(folder.path()), folder.path(), {});
  walk.begin();
  walk.lose();
  EXPECT_FALSE(walk.has_work());
  EXPECT_EQ(walk.counts().errors, 1U);
  ASSERT_TRUE(walk.first_error());
  EXPECT_EQ(walk.first_error()->errno_value, ENOMEM);
  EXPECT_EQ(walk.give(), "");
}

}  // namespace ullage::find_walk_test
