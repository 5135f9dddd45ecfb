#include "driver/report.h"

#include <fmt/format.h>

#include "driver/json_writer.h"

namespace jumar::driver {
namespace {

template <class Rows, class Text>
std::string array(const Rows& rows, Text text) {
  std::string out = "[";
  for (const auto& row : rows) {
    if (&row != &rows.front()) out += ", ";
    out += text(row);
  }
  return out + "]";
}

}  // namespace

void Report::add_call(const std::string& op, const std::string& reason) {
  for (Call& call : calls) {
    if (call.op == op && call.reason == reason) {
      ++call.count;
      return;
    }
  }
  calls.push_back({op, reason, 1});
}

std::string json_body(const Report& report) {
  std::string out =
      "\"kernels\": " + array(report.kernels, [](const Report::Kernel& kernel) {
        std::string row = fmt::format(
            "{{\"name\": {}, \"origin\": {}, \"nests\": {}, \"stages\": {}, \"lines\": {}",
            json_text(kernel.name), json_text(kernel.origin), kernel.nests, kernel.stages, kernel.lines);
        if (kernel.is_phased) row += ", \"phased\": true";
        if (!kernel.shared_with.empty()) row += ", \"shared_with\": " + json_text(kernel.shared_with);
        return row + "}";
      });
  out += ", \"calls\": " + array(report.calls, [](const Report::Call& call) {
           return fmt::format("{{\"op\": {}, \"reason\": {}, \"count\": {}}}", json_text(call.op),
                              json_text(call.reason), call.count);
         });
  out += ", \"python_calls\": " + array(report.python_calls, [](const Report::PythonCall& call) {
           return fmt::format("{{\"callable\": {}, \"reason\": {}}}", json_text(call.callable),
                              json_text(call.reason));
         });
  if (!report.device_kernels.empty())
    out +=
        ", \"device_kernels\": " + array(report.device_kernels, [](const std::string& row) { return row; });
  out += fmt::format(", \"fusions\": {{\"inlined\": {}, \"merged\": {}, \"siblings\": {}, \"joined\": {}}}",
                     report.inlined, report.merged, report.siblings, report.joined);
  out += ", \"refusals\": " + array(report.refusals, [](const Report::Refusal& refusal) {
           return fmt::format("{{\"producer\": {}, \"consumer\": {}, \"reason\": {}}}",
                              json_text(refusal.producer), json_text(refusal.consumer),
                              json_text(refusal.reason));
         });
  return out;
}

std::string json(const Report& report, std::string_view body) {
  std::string out = "{\"stages\": {";
  for (const Report::Stage& stage : report.stages) {
    if (&stage != &report.stages.front()) out += ", ";
    out += fmt::format("{}: {:.3f}", json_text(stage.name), stage.ms);
  }
  out += fmt::format("}}, \"cache\": {}, ", json_text(report.cache));
  if (!report.notes.empty()) {
    out +=
        "\"notes\": " + array(report.notes, [](const std::string& note) { return json_text(note); }) + ", ";
  }
  return out + std::string(body) + "}";
}

std::string remarks(const Report& report) {
  std::string out;
  for (const Report::Kernel& kernel : report.kernels) {
    out += fmt::format("kernel @{}: {} nests{}, {} stages, {} lines", kernel.name, kernel.nests,
                       kernel.is_phased ? " in phases" : "", kernel.stages, kernel.lines);
    if (!kernel.shared_with.empty()) out += fmt::format(", code of @{}", kernel.shared_with);
    out += kernel.origin.empty() ? "\n" : fmt::format(" ({})\n", kernel.origin);
  }
  for (const Report::Call& call : report.calls) {
    out += fmt::format("called {} {}x: {}\n", call.op, call.count, call.reason);
  }
  for (const Report::PythonCall& call : report.python_calls) {
    out += fmt::format("called in Python: {}: {}\n", call.callable, call.reason);
  }
  for (const Report::Refusal& refusal : report.refusals) {
    out += fmt::format("not fused: @{} into @{}: {}\n", refusal.producer, refusal.consumer, refusal.reason);
  }
  for (const std::string& note : report.notes) out += "note: " + note + "\n";
  return out;
}

}  // namespace jumar::driver
