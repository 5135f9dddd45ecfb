#include "driver/entry.h"

#include "support/bytes.h"

namespace jumar::driver {

std::string entry_bytes(const GraphEntry& entry) {
  ByteWriter out;
  out.text(entry.plan_text);
  out.text(entry.report_body);
  out.number(entry.kernels.size());
  for (const KernelObject& kernel : entry.kernels) {
    out.text(kernel.name);
    out.number(kernel.key.high);
    out.number(kernel.key.low);
    out.text(kernel.object);
  }
  return out.take();
}

std::optional<GraphEntry> entry_from_bytes(std::string_view bytes) {
  ByteReader in(bytes);
  const auto plan = in.text();
  const auto report = in.text();
  const auto count = in.number();
  if (!plan || !report || !count) return std::nullopt;
  GraphEntry entry{std::string(*plan), std::string(*report), {}};
  for (uint64_t k = 0; k < *count; ++k) {
    const auto name = in.text();
    const auto high = in.number();
    const auto low = in.number();
    const auto object = in.text();
    if (!name || !high || !low || !object) return std::nullopt;
    entry.kernels.push_back({std::string(*name), {*high, *low}, std::string(*object)});
  }
  if (!in.at_end()) return std::nullopt;
  return entry;
}

}  // namespace jumar::driver
