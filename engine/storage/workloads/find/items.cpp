// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/find/items.hpp"

#include <cstdint>
#include <cstring>

namespace ullage {
namespace {

constexpr unsigned meant_bit = 1;
constexpr unsigned directory_bit = 2;

void append(std::string& text, std::string_view part) {
  const auto length = static_cast<std::uint32_t>(part.size());
  text.append(reinterpret_cast<const char*>(&length), sizeof(length));
  text.append(part);
}

std::string_view cut(std::string_view& text) {
  std::uint32_t length = 0;
  std::memcpy(&length, text.data(), sizeof(length));
  const std::string_view part = text.substr(sizeof(length), length);
  text.remove_prefix(sizeof(length) + length);
  return part;
}

}  // namespace

void WalkedDirectory::hold(Descriptor descriptor) {
  let_go();
  descriptor_ = std::move(descriptor);
  if (is_held()) ++held_;
}

void WalkedDirectory::let_go() {
  if (!is_held()) return;
  descriptor_ = Descriptor();
  --held_;
}

void LookList::add(const Look& look) {
  names_ += static_cast<char>((look.may_be_meant ? meant_bit : 0U) | (look.may_be_directory ? directory_bit : 0U));
  names_ += look.name.view();
  names_ += '\0';
  ++size_;
}

std::string LookList::take_names() {
  size_ = 0;
  return std::exchange(names_, {});
}

LookList::Look LookList::next(std::string_view& names) {
  const unsigned why = static_cast<unsigned char>(names.front());
  names.remove_prefix(1);
  const TerminatedName name(&names.front());
  names.remove_prefix(name.size() + 1);
  return {name, (why & meant_bit) != 0, (why & directory_bit) != 0};
}

void WalkQueue::push(WalkItem item) {
  bytes_ += item.bytes();
  items_.push_back(std::move(item));
}

WalkItem WalkQueue::pop() {
  WalkItem item = std::move(items_.back());
  items_.pop_back();
  bytes_ -= item.bytes();
  return item;
}

void WalkQueue::clear() {
  items_.clear();
  bytes_ = 0;
}

/// An item in writing: its kind, whether it is in the directory of the one before it, else that directory's path, and
/// its names.
std::string WalkQueue::give(std::size_t most_bytes) {
  std::string given;
  const WalkedDirectory* last = nullptr;
  std::shared_ptr<WalkedDirectory> keeps_last;
  for (std::size_t left = (items_.size() + 1) / 2; left > 0 && given.size() < most_bytes; --left) {
    WalkItem item = std::move(items_.front());
    items_.pop_front();
    bytes_ -= item.bytes();
    const bool same = item.directory.get() == last;
    given += static_cast<char>(item.kind);
    given += same ? '\1' : '\0';
    if (!same) append(given, item.directory->path());
    append(given, item.names);
    keeps_last = std::move(item.directory);
    last = keeps_last.get();
  }
  return given;
}

void WalkQueue::take(std::string_view given, std::size_t& held) {
  std::shared_ptr<WalkedDirectory> directory;
  while (!given.empty()) {
    const auto kind = static_cast<WalkItem::Kind>(given[0]);
    const bool same = given[1] != '\0';
    given.remove_prefix(2);
    if (!same) directory = std::make_shared<WalkedDirectory>(std::string(cut(given)), held);
    push({kind, directory, std::string(cut(given))});
  }
}

}  // namespace ullage
