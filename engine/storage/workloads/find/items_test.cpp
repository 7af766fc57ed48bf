// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/find/items.hpp"

#include <gtest/gtest.h>

namespace ullage::find_items_test {

Descriptor some_descriptor() { return Descriptor(::open("/", O_PATH | O_CLOEXEC)); }

WalkItem descend(const std::shared_ptr<WalkedDirectory>& directory, const std::string& name) {
  return {WalkItem::Kind::descend, directory, name};
}

TEST(WalkedDirectory, DescriptorsAreCounted) {
  std::size_t held = 0;
  {
    WalkedDirectory directory("a", held);
    EXPECT_EQ(held, 0U);
    directory.hold(some_descriptor());
    directory.hold(some_descriptor());
    EXPECT_EQ(held, 1U);
    directory.let_go();
    directory.let_go();
    EXPECT_EQ(held, 0U);
    EXPECT_FALSE(directory.is_held());
    directory.hold(some_descriptor());
  }
  EXPECT_EQ(held, 0U);
}

TEST(WalkedDirectory, PathsAreBeneathTheRoot) {
  std::size_t held = 0;
  EXPECT_EQ(WalkedDirectory("", held).path_of("x"), "x");
  EXPECT_EQ(WalkedDirectory("a/b", held).path_of("x"), "a/b/x");
}

TEST(LookList, OddNamesComeBackWithWhyTheyAreLookedAt) {
  const std::vector<LookList::Look> looks{
      {"plain", true, false}, {"\n\xff", false, true}, {"\1", true, true}, {" ", true, false}};
  LookList list;
  for (const LookList::Look& look : looks) list.add(look);
  EXPECT_EQ(list.size(), looks.size());
  const std::string names = list.take_names();
  EXPECT_EQ(list.size(), 0U);
  EXPECT_EQ(list.take_names(), "");
  std::string_view rest = names;
  for (const LookList::Look& look : looks) {
    const LookList::Look next = LookList::next(rest);
    EXPECT_EQ(next.name.view(), look.name.view());
    EXPECT_EQ(next.may_be_meant, look.may_be_meant);
    EXPECT_EQ(next.may_be_directory, look.may_be_directory);
  }
  EXPECT_TRUE(rest.empty());
}

TEST(WalkQueue, NewestFirstAndBytesAreThoseThatWait) {
  std::size_t held = 0;
  const auto directory = std::make_shared<WalkedDirectory>("d", held);
  WalkQueue queue;
  for (const char* name : {"a", "b", "c"}) queue.push(descend(directory, name));
  EXPECT_EQ(queue.bytes(), 3 * descend(directory, "a").bytes());
  EXPECT_EQ(queue.pop().names, "c");
  EXPECT_EQ(queue.pop().names, "b");
  EXPECT_EQ(queue.bytes(), descend(directory, "a").bytes());
  queue.clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.bytes(), 0U);
}

TEST(WalkQueue, OldestHalfGoesToAnotherRankAsItWas) {
  std::size_t held = 0;
  const auto first = std::make_shared<WalkedDirectory>("", held);
  const auto second = std::make_shared<WalkedDirectory>("a\n/b", held);
  WalkQueue mine;
  mine.push(descend(first, "a"));
  mine.push(descend(second, "b"));
  mine.push({WalkItem::Kind::look, second, std::string("\1x\0", 3)});
  mine.push(descend(first, "c"));
  mine.push(descend(first, "d"));

  std::size_t held_there = 0;
  WalkQueue theirs;
  theirs.take(mine.give(1 << 20), held_there);
  EXPECT_EQ(mine.pop().names, "d");
  EXPECT_EQ(mine.pop().names, "c");
  EXPECT_TRUE(mine.empty());
  EXPECT_EQ(mine.bytes(), 0U);

  const WalkItem look = theirs.pop();
  EXPECT_EQ(look.kind, WalkItem::Kind::look);
  EXPECT_EQ(look.names, std::string("\1x\0", 3));
  EXPECT_EQ(look.directory->path(), "a\n/b");
  EXPECT_FALSE(look.directory->is_held());
  const WalkItem b = theirs.pop();
  EXPECT_EQ(b.kind, WalkItem::Kind::descend);
  EXPECT_EQ(b.names, "b");
  EXPECT_EQ(b.directory, look.directory) << "one directory is one there too";
  const WalkItem a = theirs.pop();
  EXPECT_EQ(a.names, "a");
  EXPECT_EQ(a.directory->path(), "");
  EXPECT_TRUE(theirs.empty());
}

TEST(WalkQueue, GivesTheOnlyOneButNothingOfNothingAndNotMuchMoreThanAsked) {
  std::size_t held = 0;
  const auto directory = std::make_shared<WalkedDirectory>("d", held);
  WalkQueue queue;
  EXPECT_EQ(queue.give(1 << 20), "");
  queue.push(descend(directory, "a"));
  EXPECT_NE(queue.give(1 << 20), "");
  EXPECT_TRUE(queue.empty());
  for (int i = 0; i < 1000; ++i) queue.push(descend(directory, std::string(100, 'x')));
  EXPECT_LT(queue.give(1000).size(), 1200U);
}

}  // namespace ullage::find_items_test
