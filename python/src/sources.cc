#include "sources.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "failure.h"
#include "values.h"

namespace nb = nanobind;

namespace borescope::python {
namespace {

// An object of Python that threads without the GIL hold and let go of.
class Held {
 public:
  explicit Held(nb::object object) : object_(std::move(object)) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    const nb::gil_scoped_acquire acquire;
    object_.reset();
  }
  // REQUIRES: the GIL is held.
  const nb::object& get() const { return object_; }

 private:
  nb::object object_;
};

// The bytes of an object with the buffer protocol, which stays locked meanwhile.
class Bytes {
 public:
  // REQUIRES: the GIL is held.
  explicit Bytes(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) {
      throw nb::python_error();
    }
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() {
    const nb::gil_scoped_acquire acquire;
    PyBuffer_Release(&view_);
  }
  const char* data() const { return static_cast<const char*>(view_.buf); }
  size_t size() const { return static_cast<size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

class BytesReader : public Reader {
 public:
  explicit BytesReader(std::shared_ptr<const Bytes> bytes) : bytes_(std::move(bytes)) {}

  Result<size_t> Read(char* out, size_t capacity) override {
    const size_t size = std::min(capacity, bytes_->size() - done_);
    std::memcpy(out, bytes_->data() + done_, size);
    done_ += size;
    return size;
  }

 private:
  std::shared_ptr<const Bytes> bytes_;
  size_t done_ = 0;
};

Error ReadError(std::string message) {
  return {.code = ErrorCode::kIo, .cause = std::move(message)};
}

// What an exception of Python says, in one line.
Error ErrorOf(nb::python_error& raised) {
  const nb::object type = raised.type().attr("__name__");
  return ReadError(nb::cast<std::string>(nb::str("{}: {}").format(type, nb::str(raised.value()))));
}

class StreamReader : public Reader {
 public:
  explicit StreamReader(nb::object reader) : reader_(std::move(reader)) {}

  Result<size_t> Read(char* out, size_t capacity) override {
    const nb::gil_scoped_acquire acquire;
    try {
      const nb::object read = reader_.get().attr("read")(capacity);
      if (nb::isinstance<nb::str>(read)) {
        return ReadError(nb::cast<std::string>(read));
      }
      const nb::bytes bytes = nb::cast<nb::bytes>(read);
      const size_t size = std::min(capacity, bytes.size());
      std::memcpy(out, bytes.data(), size);
      return size;
    } catch (nb::python_error& raised) {
      return ErrorOf(raised);
    } catch (const nb::cast_error&) {
      return ReadError("read() returned something else than bytes");
    }
  }

 private:
  Held reader_;
};

// What says which content a source has, if anybody does: sources.h.
std::function<Result<std::string>()> IdentityOf(nb::object identify) {
  if (identify.is_none()) {
    return nullptr;
  }
  auto held = std::make_shared<const Held>(std::move(identify));
  return [held]() -> Result<std::string> {
    const nb::gil_scoped_acquire acquire;
    try {
      const auto [identity, reason] = nb::cast<std::pair<std::string, std::string>>(held->get()());
      return identity.empty() ? Result<std::string>(ReadError(reason)) : identity;
    } catch (nb::python_error& raised) {
      return ErrorOf(raised);
    } catch (const nb::cast_error&) {
      return ReadError("the function that identifies it returned something else than two texts");
    }
  };
}

Source StreamOf(std::string name, nb::object opener, nb::object identify) {
  auto open = std::make_shared<const Held>(std::move(opener));
  const auto read = [open]() -> Result<std::unique_ptr<Reader>> {
    const nb::gil_scoped_acquire acquire;
    try {
      nb::object opened = open->get()();
      if (nb::isinstance<nb::str>(opened)) {
        return ReadError(nb::cast<std::string>(opened));
      }
      return std::unique_ptr<Reader>(std::make_unique<StreamReader>(std::move(opened)));
    } catch (nb::python_error& raised) {
      return ErrorOf(raised);
    }
  };
  return Source::Stream(std::move(name), read, IdentityOf(std::move(identify)));
}

Source BytesOf(std::string name, nb::handle buffer) {
  auto bytes = std::make_shared<const Bytes>(buffer);
  return Source::Stream(std::move(name), [bytes]() -> Result<std::unique_ptr<Reader>> {
    return std::unique_ptr<Reader>(std::make_unique<BytesReader>(bytes));
  });
}

Source SourceOf(const nb::tuple& source) {
  const auto kind = nb::cast<std::string>(source[0]);
  std::string name = RawText(source[1]);
  if (kind == "bytes") {
    return BytesOf(std::move(name), source[2]);
  }
  if (kind == "stream") {
    return StreamOf(std::move(name), source[2], source[3]);
  }
  Source file(std::move(name));
  if (kind == "copy") {
    file.identity = IdentityOf(source[2]);
  }
  return file;
}

}  // namespace

std::vector<Source> SourcesOf(const nb::list& sources) {
  std::vector<Source> found;
  found.reserve(sources.size());
  for (const nb::handle source : sources) {
    found.push_back(SourceOf(nb::cast<nb::tuple>(source)));
  }
  return found;
}

}  // namespace borescope::python
