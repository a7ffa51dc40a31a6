// The only file that knows librsvg. It is loaded, not linked: fifty shared libraries would come
// with it at every start of the program, for a picture now and then.
#include <dlfcn.h>
#include <fmt/format.h>
#include <librsvg/rsvg.h>

#include <algorithm>
#include <memory>

#include "borescope/output/charts/png/png.h"

#if defined(__SANITIZE_ADDRESS__)
#define BORESCOPE_LEAKS_ARE_FOUND
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BORESCOPE_LEAKS_ARE_FOUND
#endif
#endif
#ifdef BORESCOPE_LEAKS_ARE_FOUND
// Asked by LeakSanitizer. Fontconfig keeps what it once read for threads of Pango, until the end.
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig\n"; }
#endif

namespace borescope::internal {
namespace {

constexpr const char* kLibrary = "librsvg-2.so.2";
constexpr double kMostPixels = 32'000;  // a side; Cairo takes 32,767

// The functions used, as declared in the headers.
struct Library {
  decltype(&rsvg_handle_new_from_data) new_from_data = nullptr;
  decltype(&rsvg_handle_render_document) render_document = nullptr;
  decltype(&g_object_unref) unref = nullptr;
  decltype(&g_error_free) free_error = nullptr;
  decltype(&cairo_image_surface_create) create_surface = nullptr;
  decltype(&cairo_surface_destroy) destroy_surface = nullptr;
  decltype(&cairo_surface_write_to_png_stream) write_png = nullptr;
  decltype(&cairo_create) create_context = nullptr;
  decltype(&cairo_destroy) destroy_context = nullptr;
  decltype(&cairo_status_to_string) status_text = nullptr;
  std::string problem;  // why it cannot be used; empty if it can
};

template <class Function>
void Find(void* library, const char* name, Function& function, std::string& problem) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    problem = fmt::format("{} has no {}", kLibrary, name);
  }
}

// Never unloaded: what it has registered with others stays.
Library Load() {
  Library found;
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    found.problem = dlerror();
    return found;
  }
  Find(library, "rsvg_handle_new_from_data", found.new_from_data, found.problem);
  Find(library, "rsvg_handle_render_document", found.render_document, found.problem);
  Find(library, "g_object_unref", found.unref, found.problem);
  Find(library, "g_error_free", found.free_error, found.problem);
  Find(library, "cairo_image_surface_create", found.create_surface, found.problem);
  Find(library, "cairo_surface_destroy", found.destroy_surface, found.problem);
  Find(library, "cairo_surface_write_to_png_stream", found.write_png, found.problem);
  Find(library, "cairo_create", found.create_context, found.problem);
  Find(library, "cairo_destroy", found.destroy_context, found.problem);
  Find(library, "cairo_status_to_string", found.status_text, found.problem);
  return found;
}

const Library& TheLibrary() {
  static const Library library = Load();
  return library;
}

template <class T, class Free>
std::unique_ptr<T, Free> Own(T* object, Free free) {
  return {object, free};
}

Error Refused(const Library& library, GError* error) {
  Error refused{ErrorCode::kIo, fmt::format("`format` png: librsvg: {}",
                                            error != nullptr ? error->message : "unknown error")};
  if (error != nullptr) {
    library.free_error(error);
  }
  return refused;
}

Error Refused(const Library& library, cairo_status_t status) {
  return {ErrorCode::kIo, fmt::format("`format` png: cairo: {}", library.status_text(status))};
}

cairo_status_t Append(void* bytes, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

// Draws the picture over the whole surface.
Result<void> Draw(const Library& library, const Picture& picture, cairo_surface_t* surface,
                  const RsvgRectangle& area) {
  GError* error = nullptr;
  const auto handle = Own(library.new_from_data(reinterpret_cast<const guint8*>(picture.svg.data()),
                                                picture.svg.size(), &error),
                          library.unref);
  if (handle == nullptr) {
    return Refused(library, error);
  }
  const auto context = Own(library.create_context(surface), library.destroy_context);
  if (library.render_document(handle.get(), context.get(), &area, &error) == FALSE) {
    return Refused(library, error);
  }
  return {};
}

}  // namespace

Result<void> CheckPng() {
  const Library& library = TheLibrary();
  if (!library.problem.empty()) {
    return Error{
        .code = ErrorCode::kInvalidArgument,
        .cause = fmt::format("`format` png: {}", library.problem),
        .remedy = "install librsvg (Debian: librsvg2-2), or take `format` svg, which needs nothing",
        .parameter = "format"};
  }
  return {};
}

Result<std::string> RenderPng(const Picture& picture, double wanted_scale) {
  BS_TRY(CheckPng());
  const Library& library = TheLibrary();
  const double longest = std::max(picture.size.width, picture.size.height);
  const double scale = std::min(wanted_scale, kMostPixels / longest);
  const RsvgRectangle area{0, 0, picture.size.width * scale, picture.size.height * scale};
  const auto surface = Own(library.create_surface(CAIRO_FORMAT_RGB24, static_cast<int>(area.width),
                                                  static_cast<int>(area.height)),
                           library.destroy_surface);
  BS_TRY(Draw(library, picture, surface.get(), area));
  std::string png;
  const cairo_status_t status = library.write_png(surface.get(), Append, &png);
  if (status != CAIRO_STATUS_SUCCESS) {
    return Refused(library, status);
  }
  return png;
}

}  // namespace borescope::internal
