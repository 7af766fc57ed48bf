// SPDX-License-Identifier: Apache-2.0
// What is handed on by reference or pointer only.
#pragma once

namespace ullage {

/// Base of what is neither copied nor moved, since something points to it or it undoes at its end what it has done.
class Pinned {
 public:
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 protected:
  Pinned() = default;
  ~Pinned() = default;
};

/// Base of classes that others derive from and that are deleted through a pointer to them.
class Interface {
 public:
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;
  virtual ~Interface() = default;

 protected:
  Interface() = default;
};

}  // namespace ullage
