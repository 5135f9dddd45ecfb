#include "support/lexer.h"
#include "support/options.h"
#include "target/draft.h"

namespace jumar::target {
namespace {

std::vector<std::string> entry_names() {
  return {
#define JUMAR_TARGET_FIELD(type, name, required, help) #name,
#include "target/target_fields.def"
#undef JUMAR_TARGET_FIELD
      "cost"};
}

std::vector<std::string> cost_names() {
  return {
#define JUMAR_TARGET_COST(name, help) #name,
#include "target/target_costs.def"
#undef JUMAR_TARGET_COST
  };
}

// "no entry ub_byte; did you mean ub_bytes?", with all names as a note.
Diagnostic unknown_name(const Lexer& lexer, const Token& at, std::string_view what,
                        const std::vector<std::string>& names) {
  const std::vector<std::string> near = nearest_words(at.text, names);
  Diagnostic error = lexer.error_at(at, fmt::format("there is no {} '{}'", what, at.text), "target");
  if (!near.empty()) error.message += fmt::format("; did you mean {}?", fmt::join(near, " or "));
  error.notes.push_back(fmt::format("known: {}", fmt::join(names, ", ")));
  return error;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file, std::vector<Draft>& drafts)
      : lexer_(text, file), file_(file), drafts_(drafts), first_own_(drafts.size()) {}

  Status blocks() {
    while (!lexer_.at_end()) JUMAR_RETURN_IF_ERROR(block());
    return {};
  }

 private:
  // target "MyCard" from "Ascend910B1" { entries }
  Status block() {
    Draft draft;
    const Token at = lexer_.peek();
    if (lexer_.accept_word("base")) {
      draft.is_base = true;
    } else if (!lexer_.accept_word("target")) {
      return lexer_.expected("'target' or 'base'");
    }
    JUMAR_ASSIGN(const std::string name, lexer_.expect_string());
    for (size_t i = first_own_; i < drafts_.size(); ++i) {
      if (drafts_[i].target.name == name)
        return lexer_.error_at(at, fmt::format("'{}' is described twice", name), "target");
    }
    const Token from = lexer_.peek();
    if (lexer_.accept_word("from")) {
      JUMAR_ASSIGN(const std::string base, lexer_.expect_string());
      JUMAR_RETURN_IF_ERROR(start_from(from, base, draft));
    }
    draft.target.name = name;
    draft.where = {file_, at.line, at.column};
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("{"));
    std::set<std::string> here;
    while (!lexer_.accept_punct("}")) JUMAR_RETURN_IF_ERROR(entry(draft, here));
    drafts_.push_back(std::move(draft));
    return {};
  }

  Status start_from(const Token& at, const std::string& base, Draft& draft) {
    for (size_t i = drafts_.size(); i-- > 0;) {
      if (drafts_[i].target.name != base) continue;
      draft.target = drafts_[i].target;
      draft.given = drafts_[i].given;
      if (!drafts_[i].is_base) name_compiler_target(draft);
      return {};
    }
    std::vector<std::string> names;
    for (const Draft& known : drafts_) names.push_back(known.target.name);
    Diagnostic error = lexer_.error_at(at, fmt::format("there is no target or base '{}'", base), "target");
    error.notes.push_back(fmt::format("known: {}", fmt::join(names, ", ")));
    return error;
  }

  // A target that the compiler knows by its own name need not repeat it; one made from it is compiled as it
  // is.
  static void name_compiler_target(Draft& draft) {
    if (draft.given.insert("compiler_target").second) draft.target.compiler_target = draft.target.name;
  }

  Status entry(Draft& draft, std::set<std::string>& here) {
    const Token at = lexer_.peek();
    JUMAR_ASSIGN(const std::string name, lexer_.expect_any_word("an entry such as ub_bytes, or '}'"));
    if (name == "cost") return cost(draft, here);
    JUMAR_RETURN_IF_ERROR(once(at, name, here));
    draft.given.insert(name);
#define JUMAR_TARGET_FIELD(type, field, required, help) \
  if (name == #field) return value(draft.target.field);
#include "target/target_fields.def"
#undef JUMAR_TARGET_FIELD
    return unknown_name(lexer_, at, "entry", entry_names());
  }

  // cost gm_bytes_per_us 1600000.0 published "who says so"
  Status cost(Draft& draft, std::set<std::string>& here) {
    const Token at = lexer_.peek();
    JUMAR_ASSIGN(const std::string name, lexer_.expect_any_word("a constant such as gm_bytes_per_us"));
    JUMAR_RETURN_IF_ERROR(once(at, name, here));
    draft.given.insert(name);
#define JUMAR_TARGET_COST(field, help) \
  if (name == #field) return constant(draft.target.costs.field);
#include "target/target_costs.def"
#undef JUMAR_TARGET_COST
    return unknown_name(lexer_, at, "constant", cost_names());
  }

  Status once(const Token& at, const std::string& name, std::set<std::string>& here) {
    if (here.insert(name).second) return {};
    return lexer_.error_at(at, fmt::format("{} is given twice", name), "target");
  }

  Status value(std::string& out) {
    JUMAR_ASSIGN(out, lexer_.expect_string());
    return {};
  }

  Status value(int64_t& out) {
    const Token at = lexer_.peek();
    JUMAR_ASSIGN(out, lexer_.expect_int());
    if (out >= 1 && out <= kMaxCount) return {};
    return lexer_.error_at(at, fmt::format("{} is no count: it must be from 1 to {}", out, kMaxCount),
                           "target");
  }

  Status value(bool& out) {
    out = lexer_.accept_word("true");
    if (out || lexer_.accept_word("false")) return {};
    return lexer_.expected("true or false");
  }

  Status value(Dtypes& out) {
    std::vector<std::string> names;
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("["));
    while (!lexer_.accept_punct("]")) {
      if (!names.empty()) JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(","));
      JUMAR_ASSIGN(std::string name, lexer_.expect_any_word("an element type such as f32"));
      names.push_back(std::move(name));
    }
    out = Dtypes(std::move(names));
    return {};
  }

  Status value(std::vector<std::string>& out) {
    out.clear();
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("["));
    while (!lexer_.accept_punct("]")) {
      JUMAR_ASSIGN(std::string line, lexer_.expect_string());
      out.push_back(std::move(line));
    }
    return {};
  }

  Status constant(Constant& out) {
    JUMAR_ASSIGN(out.value, lexer_.expect_float());
    if (lexer_.accept_word("measured")) {
      out.basis = Basis::kMeasured;
    } else if (lexer_.accept_word("published")) {
      out.basis = Basis::kPublished;
    } else if (lexer_.accept_word("assumed")) {
      out.basis = Basis::kAssumed;
    } else {
      return lexer_.expected("measured, published or assumed");
    }
    JUMAR_ASSIGN(out.source, lexer_.expect_string());
    return {};
  }

  Lexer lexer_;
  std::string file_;
  std::vector<Draft>& drafts_;
  size_t first_own_;
};

std::vector<std::string> missing_entries(const Draft& draft) {
  std::vector<std::string> missing;
#define JUMAR_TARGET_FIELD(type, name, required, help) \
  if (required && draft.given.count(#name) == 0) missing.emplace_back(#name);
#include "target/target_fields.def"
#undef JUMAR_TARGET_FIELD
#define JUMAR_TARGET_COST(name, help) \
  if (draft.given.count(#name) == 0) missing.emplace_back("cost " #name);
#include "target/target_costs.def"
#undef JUMAR_TARGET_COST
  return missing;
}

}  // namespace

Status read_drafts(std::string_view text, const std::string& file, std::vector<Draft>& drafts) {
  return Reader(text, file, drafts).blocks();
}

Result<Target> completed(const Draft& draft) {
  Draft full = draft;
  if (full.given.insert("compiler_target").second) full.target.compiler_target = full.target.name;
  Status status;
  const std::vector<std::string> missing = missing_entries(full);
  if (!missing.empty()) {
    status = diagnostic("target", "target '{}' does not give {}", full.target.name, fmt::join(missing, ", "));
  } else {
    status = verify(full.target);
  }
  if (status.ok()) return std::move(full.target);
  status.error().where = draft.where;
  return std::move(status.error());
}

Result<Target> read_target(std::string_view text, const std::string& file) {
  JUMAR_ASSIGN(std::vector<Draft> drafts, embedded_drafts());
  const size_t first_own = drafts.size();
  JUMAR_RETURN_IF_ERROR(read_drafts(text, file, drafts));
  const Draft* found = nullptr;
  for (size_t i = first_own; i < drafts.size(); ++i) {
    if (drafts[i].is_base) continue;
    if (found != nullptr) {
      Diagnostic error =
          diagnostic("target", "a file describes one target, but this one also '{}'", drafts[i].target.name);
      error.where = drafts[i].where;
      return error;
    }
    found = &drafts[i];
  }
  if (found == nullptr) {
    Diagnostic error = diagnostic("target", "the file describes no target");
    error.where.file = file;
    return error;
  }
  return completed(*found);
}

}  // namespace jumar::target
