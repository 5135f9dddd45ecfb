#include "graph/graph.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "graph/bind.h"

namespace jumar::graph {
namespace {

std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(JUMAR_TEST_DIR)) {
    if (entry.path().extension() == ".graph") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

// The graph of a text that must be right.
Graph graph_of(const std::string& text) {
  Result<Graph> graph = read_graph(text);
  if (!graph.ok()) ADD_FAILURE() << graph.error().text();
  return std::move(graph).value();
}

std::string verify_message(const std::string& text) {
  Result<Graph> graph = read_graph(text);
  if (!graph.ok()) return "not read: " + graph.error().text();
  Status status = verify(*graph);
  return status.ok() ? "fine" : status.error().message;
}

TEST(GraphText, GoldenFilesRoundTrip) {
  ASSERT_GE(golden_files().size(), 6u);
  for (const auto& path : golden_files()) {
    std::string text = contents(path);
    Result<Graph> graph = read_graph(text, path.filename());
    ASSERT_TRUE(graph.ok()) << graph.error().text();
    Status status = verify(*graph);
    EXPECT_TRUE(status.ok()) << path << ": " << status.error().text();
    EXPECT_EQ(write_graph(*graph), text) << path;
  }
}

TEST(GraphText, CommentsAndSpacesDoNotMatter) {
  Graph graph = graph_of("# first\ngraph @g{%x:f32[2]{1}=input 0 # an input\nreturn %x}");
  EXPECT_EQ(write_graph(graph), "graph @g {\n  %x: f32[2] = input 0\n  return %x\n}\n");
}

struct Malformed {
  const char* text;
  int line;
  int column;
  const char* message;
};

// Statements are put into a graph with one input, as line 5.
const char* const kBefore =
    "graph @main symbols(s0 in [2, inf], u0 in [0, inf]) {\n"
    "  schema aten.neg.default(Tensor self) -> (Tensor)\n"
    "  schema aten.size.default(Tensor self) -> (int)\n"
    "  %x: f32[s0, 4] = input 0\n";

const Malformed kMalformedStatements[] = {
    {"%y f32[2] = aten.neg.default(%x)", 5, 4, "expected ':', found 'f32'"},
    {"%y: q7[2] = aten.neg.default(%x)", 5, 5,
     "expected a type: f32[...], int(...), float, bool or none, found 'q7'"},
    {"%y: = aten.neg.default(%x)", 5, 5,
     "expected a type: f32[...], int(...), float, bool or none, found '='"},
    {"%y: f32 = aten.neg.default(%x)", 5, 9, "expected '[', found '='"},
    {"%y: f32[2 = aten.neg.default(%x)", 5, 11, "expected ',', found '='"},
    {"%y: f32[2]{1, 2} = aten.neg.default(%x)", 5, 11, "2 strides for 1 sizes"},
    {"%y: f32[2]{1 = aten.neg.default(%x)", 5, 14, "expected ',', found '='"},
    {"%y: int(s0 = aten.size.default(%x)", 5, 12, "expected ')', found '='"},
    {"%y: int = aten.size.default(%x)", 5, 9, "expected '(', found '='"},
    {"%y: f32[2] aten.neg.default(%x)", 5, 12, "expected '=', found 'aten.neg.default'"},
    {"%y: f32[2], = aten.neg.default(%x)", 5, 13, "expected a value such as '%x', found '='"},
    {"%y: f32[2] = 4", 5, 14, "expected an operator, 'input' or 'parameter', found '4'"},
    {"%y: f32[2] = aten.neg.default %x", 5, 31, "expected '(', found '%x'"},
    {"%y: f32[2] = aten.neg.default(%x", 6, 1, "expected ',' or ')', found the end of the text"},
    {"%y: f32[2] = aten.neg.default(%x %x)", 5, 34, "expected ',' or ')', found '%x'"},
    {"%y: f32[2] = aten.neg.default(,)", 5, 31, "expected an argument, found ','"},
    {"%y: f32[2] = aten.neg.default(%x,)", 5, 34, "expected an argument, found ')'"},
    {"%y: f32[2] = aten.neg.default(%z)", 5, 31, "value %z is not defined above"},
    {"%y: f32[2] = aten.neg.default(%y)", 5, 31, "value %y is not defined above"},
    {"%x: f32[2] = aten.neg.default(%x)", 5, 1, "value %x is defined twice"},
    {"%y: f32[2], %y: f32[2] = aten.neg.default(%x)", 5, 13, "value %y is defined twice"},
    {"%y: f32[2] = aten.neg.default([%x)", 5, 34, "expected ',' or ']', found ')'"},
    {"%y: f32[2] = aten.neg.default(dtype(f31))", 5, 37, "expected an element type such as f32, found 'f31'"},
    {"%y: f32[2] = aten.neg.default(dtype f32)", 5, 37, "expected '(', found 'f32'"},
    {"%y: f32[2] = aten.neg.default(device(cpu))", 5, 38, "expected a string, found 'cpu'"},
    {"%y: f32[2] = aten.neg.default(memory_format(nhwc))", 5, 45,
     "expected one of contiguous, preserve, channels_last, channels_last_3d, found 'nhwc'"},
    {"%y: f32[2] = aten.neg.default(\"abc)", 5, 31, "expected an argument, found '\"abc)'"},
    {"%y: f32[2] = aten.neg.default(\"a\\q\")", 5, 31,
     "a string has an escape other than \\n, \\t, \\\", \\\\ and \\xHH"},
    {"%y: f32[2] = aten.neg.default(1e999)", 5, 31, "number '1e999' is out of the range of a double"},
    {"%y: f32[2] = aten.neg.default(%x) defines u0", 5, 43, "expected '(', found 'u0'"},
    {"%y: f32[2] = aten.neg.default(%x) defines()", 5, 43, "expected a symbol of the graph, found ')'"},
    {"%y: f32[2] = aten.neg.default(%x) defines(u7)", 5, 43, "symbol u7 is not declared"},
    {"%y: f32[2] = aten.neg.default(%x) origin 4", 5, 42, "expected a string, found '4'"},
    {"%y: f32[2] = aten.neg.default(%x) extra", 6, 1, "expected '(', found the end of the text"},
    {"%y: f32[2], %z: f32[2] = input 1", 5, 26, "an input defines one value"},
    {"%y: f32[2] = input 2", 5, 20, "expected 1, the number of this input, found 2"},
    {"%y: f32[2] = parameter \"w\"", 5, 24, "expected an integer, found 'w'"},
    {"%y: f32[2] = aten.neg.default(%x)\n%z: f32[2] = input 1", 6, 14, "inputs come before nodes"},
    {"schema aten.neg.default(Tensor self) -> (Tensor)", 5, 1, "schema lines come before inputs and nodes"},
    {"return %x", 6, 1, "expected '}', found the end of the text"},
    {"return %x }}", 5, 12, "expected the end of the text, found '}'"},
    {"return %x, }", 5, 12, "expected an argument, found '}'"},
    {"return %x %x }", 5, 11, "expected '}', found '%x'"},
    {"}", 5, 1, "expected a value such as '%x', an operator or 'return', found '}'"},
    {"", 6, 1, "expected a value such as '%x', an operator or 'return', found the end of the text"},
};

const Malformed kMalformedGraphs[] = {
    {"", 1, 1, "expected 'graph', found the end of the text"},
    {"grahp @main {", 1, 1, "expected 'graph', found 'grahp'"},
    {"graph main {", 1, 7, "expected a symbol such as '@main', found 'main'"},
    {"graph @main", 1, 12, "expected '{', found the end of the text"},
    {"graph @main symbols() {", 1, 21, "expected a symbol's name such as s0, found ')'"},
    {"graph @main symbols(s0) {", 1, 23, "expected 'in', found ')'"},
    {"graph @main symbols(s0 in 2, 3) {", 1, 27, "expected '[', found '2'"},
    {"graph @main symbols(s0 in [2; 3]) {", 1, 29, "expected ',', found ';'"},
    {"graph @main symbols(s0 in [a, 3]) {", 1, 28, "expected an integer, inf or -inf, found 'a'"},
    {"graph @main symbols(s0 in [3, 2]) {", 1, 21, "the range of symbol s0 is empty"},
    {"graph @main symbols(s0 in [2, 99999999999999999999]) {", 1, 31,
     "integer '99999999999999999999' does not fit 64 bits"},
    {"graph @main symbols(s0 in [2, 3] hint x) {", 1, 39, "expected an integer, found 'x'"},
    {"graph @main symbols(s0 in [2, 3], s0 in [2, 3]) {", 1, 35, "symbol s0 is declared twice"},
    {"graph @main symbols(min in [2, 3]) {", 1, 21, "'min' cannot name a symbol"},
    {"graph @main symbols(a.b in [2, 3]) {", 1, 21, "'a.b' cannot name a symbol"},
    {"graph @main { schema (Tensor self) -> ()", 1, 22, "expected an operator's name, found '('"},
    {"graph @main { schema a.b(Tensor) -> ()", 1, 32, "expected an argument's name, found ')'"},
    {"graph @main { schema a.b(4 self) -> ()", 1, 26, "expected a type such as Tensor, found '4'"},
    {"graph @main { schema a.b(Tensor[ self) -> ()", 1, 34, "expected ']', found 'self'"},
    {"graph @main { schema a.b(Tensor a Tensor b) -> ()", 1, 35, "expected ',', found 'Tensor'"},
    {"graph @main { schema a.b(Tensor a) (Tensor)", 1, 36, "expected '->', found '('"},
    {"graph @main { schema a.b() -> Tensor", 1, 31, "expected '(', found 'Tensor'"},
    {"graph @main { schema a.b() -> ()\n schema a.b() -> ()", 2, 9, "operator a.b has two schema lines"},
};

void expect_malformed(const std::string& text, const Malformed& expected) {
  Result<Graph> graph = read_graph(text, "t");
  ASSERT_FALSE(graph.ok()) << text;
  EXPECT_EQ(graph.error().message, expected.message) << text;
  EXPECT_EQ(graph.error().where.line, expected.line) << text << "\n" << graph.error().text();
  EXPECT_EQ(graph.error().where.column, expected.column) << text << "\n" << graph.error().text();
}

TEST(GraphText, MalformedStatementsNameThePlace) {
  for (const Malformed& m : kMalformedStatements) expect_malformed(std::string(kBefore) + m.text + "\n", m);
}

TEST(GraphText, MalformedGraphsNameThePlace) {
  for (const Malformed& m : kMalformedGraphs) expect_malformed(m.text, m);
}

TEST(GraphText, AnUndeclaredSymbolIsAnError) {
  Result<Graph> graph = read_graph("graph @main {\n  %x: f32[s0] = input 0\n  return %x\n}\n", "t");
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().where.line, 2);
  EXPECT_EQ(graph.error().where.column, 11);
  EXPECT_NE(graph.error().message.find("s0"), std::string::npos) << graph.error().message;
}

TEST(GraphText, DeepListsAreRefused) {
  std::string text = std::string(kBefore) + "%y: f32[2] = aten.neg.default(" + std::string(100000, '[');
  Result<Graph> graph = read_graph(text);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().message, "lists are nested too deep");
}

// Random edits of good texts: the reader and the verifier answer with a graph or a diagnostic, and a graph
// that verifies can be written and read again.
TEST(GraphText, MutatedTextsNeverCrash) {
  std::mt19937 random(7);
  const std::string alphabet = "%@[]{}(),:=->\"\\#.*/+-09asu \nf32";
  int read = 0, refused = 0;
  for (const auto& path : golden_files()) {
    const std::string original = contents(path);
    for (int round = 0; round < 2000; ++round) {
      std::string text = original;
      for (int edits = 1 + static_cast<int>(random() % 4); edits > 0 && !text.empty(); --edits) {
        size_t at = random() % text.size();
        switch (random() % 4) {
          case 0:
            text[at] = alphabet[random() % alphabet.size()];
            break;
          case 1:
            text.erase(at, 1 + random() % 8);
            break;
          case 2:
            text.insert(at, 1, alphabet[random() % alphabet.size()]);
            break;
          default:
            text.insert(at, text.substr(random() % text.size(), 1 + random() % 12));
        }
      }
      Result<Graph> graph = read_graph(text);
      if (!graph.ok() || !verify(*graph).ok()) {
        ++refused;
        continue;
      }
      ++read;
      std::string written = write_graph(*graph);
      Result<Graph> again = read_graph(written);
      ASSERT_TRUE(again.ok()) << text << "\n" << again.error().text();
      EXPECT_EQ(write_graph(*again), written);
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 1000);
}

TEST(Verify, NamesTheBrokenInvariant) {
  const std::string before =
      "graph @main symbols(s0 in [2, inf], u0 in [0, inf]) {\n"
      "  schema a.one(Tensor self, int[] dims, ScalarType? dtype) -> (Tensor)\n"
      "  schema a.two(Tensor self) -> (Tensor, Tensor)\n"
      "  schema a.list(Tensor self, SymInt n) -> (Tensor[])\n"
      "  schema a.lists(Tensor self) -> (Tensor[], Tensor[])\n"
      "  schema a.nonzero(Tensor self) -> (Tensor)\n"
      "  schema a.generator(Tensor self, Generator? generator) -> (Tensor)\n"
      "  schema aten.copy_.default(Tensor self, Tensor src, bool non_blocking) -> ()\n"
      "  %x: f32[s0, 4] = input 0\n";
  const std::pair<const char*, const char*> cases[] = {
      {"%u: i64[u0] = a.nonzero(%x) defines(u0)", "fine"},
      {"%y: f32[s0] = a.missing(%x)", "node %y = a.missing: there is no schema line for this operator"},
      {"%y: f32[s0] = a.one(%x)", "node %y = a.one: the schema has 3 arguments, 1 are given"},
      {"%y: f32[s0] = a.one(%x, 1, none)",
       "node %y = a.one: argument 1 'dims' must be a int[], which 1 is not"},
      {"%y: f32[s0] = a.one(%x, [1.5], none)",
       "node %y = a.one: argument 1 'dims' must be a int[], which the list given is not"},
      {"%y: f32[s0] = a.one(\"x\", [], none)",
       "node %y = a.one: argument 0 'self' must be a Tensor, which \"x\" is not"},
      {"%y: f32[s0] = a.one(%x, [], layout(strided))",
       "node %y = a.one: argument 2 'dtype' must be a ScalarType?, which layout(strided) is not"},
      {"%y: f32[s0] = a.generator(%x, 1)",
       "node %y = a.generator: argument 1 'generator' must be a Generator?, which 1 is not"},
      {"%y: f32[s0] = a.two(%x)", "node %y = a.two: the schema has 2 results, 1 are given"},
      {"%y: f32[s0], %z: f32[1] = a.lists(%x)",
       "node %y = a.lists: an operator with 2 list results can only be a python call"},
      {"%y: f32[u0] = a.nonzero(%x)", "node %y = a.nonzero: symbol u0 is used before its definition"},
      {"%y: f32[2] = a.nonzero(%x) defines(u0)",
       "node %y = a.nonzero: symbol u0 cannot be found in the results of the node that defines it"},
      {"%y: f32[u0] = a.nonzero(%x) defines(s0)", "node %y = a.nonzero: symbol s0 is defined again"},
      {"%y: f32[u0], %z: f32[u0] = a.list(%x, u0) defines(u0)",
       "node %y = a.list: symbol u0 is used before its definition"},
      {"a.one(u0, [], none)", "node a.one: symbol u0 is used before its definition"},
      {"%y: f32[-3] = a.nonzero(%x)", "node %y = a.nonzero: %y has the negative size -3"},
      {"%y: float = scalar.add(1, 2.0)\n%z: float, %w: float = scalar.mul(%y, %y)",
       "node %z = scalar.mul: a scalar operator has 1 result, 2 are given"},
      {"%y: f32[2] = a.nonzero(%x)\naten.copy_.default(%x, %y, false)",
       "node aten.copy_.default: %x and what it becomes differ in type or sizes"},
      {"%y: f32[s0, 4] = a.nonzero(%x)\naten.copy_.default(%y, %x, false)",
       "node aten.copy_.default: only an input tensor can be updated"},
      {"aten.copy_.default(%x, %x, false)\naten.copy_.default(%x, %x, false)",
       "node aten.copy_.default: %x is updated twice"},
      {"%y: f32[s0] = a.nonzero(%x)", "symbol u0 is bound by no input and defined by no node"},
  };
  for (const auto& [statement, message] : cases)
    EXPECT_EQ(verify_message(before + statement + "\nreturn %x\n}\n"), message) << statement;
  EXPECT_EQ(verify_message(before + "%u: i64[u0] = a.nonzero(%x) defines(u0)\nreturn [%x]\n}\n"),
            "return: the list given cannot be returned");
}

TEST(Verify, FindsFaultsThatTextCannotHave) {
  Graph graph = graph_of(contents(std::string(JUMAR_TEST_DIR) + "/static.graph"));
  ASSERT_TRUE(verify(graph).ok());
  Graph swapped = graph;
  std::swap(swapped.order[0], swapped.order[1]);
  EXPECT_EQ(verify(swapped).error().message, "node %y = aten.mm.default: %wt is used before its definition");
  Graph twice = graph;
  twice.order.push_back(twice.order[0]);
  EXPECT_EQ(verify(twice).error().message, "node %wt = aten.permute.default: value %wt is defined twice");
  Graph strides = graph;
  strides.values[strides.nodes[strides.order[0]].results[0]].type.strides.pop_back();
  EXPECT_EQ(verify(strides).error().message,
            "node %wt = aten.permute.default: %wt has 2 sizes and 1 strides");
  Graph stranger = graph;
  stranger.outputs[0] = Arg(ValueId(99));
  EXPECT_EQ(verify(stranger).error().message, "return: an argument names a value that does not exist");
}

TEST(Bindings, PreferPlainSymbolsAndSolveTheRest) {
  Graph graph = graph_of(
      "graph @main symbols(s0 in [2, inf], s1 in [2, inf], s2 in [2, inf], s3 in [2, inf]) {\n"
      "  %a: f32[2*s1 + s0, s0*s2 + 3]{s3, 1} = input 0\n"
      "  %b: f32[s0] = input 1\n"
      "  %n: int(s2) = input 2\n"
      "  return\n}\n");
  ASSERT_TRUE(verify(graph).ok());
  std::vector<SymbolBinding> rows = symbol_bindings(graph);
  ASSERT_EQ(rows.size(), 4u);
  auto described = [](const SymbolBinding& row) {
    return fmt::format("{} {} {} {}: {}*x + {}", row.symbol.symbol_name(), row.index,
                       static_cast<int>(row.place), row.dim, sym::text(row.coefficient), sym::text(row.rest));
  };
  EXPECT_EQ(described(rows[0]), "s2 2 0 0: 1*x + 0");
  EXPECT_EQ(described(rows[1]), "s0 1 2 0: 1*x + 0");
  EXPECT_EQ(described(rows[2]), "s3 0 3 0: 1*x + 0");
  EXPECT_EQ(described(rows[3]), "s1 0 2 0: 2*x + s0");
}

TEST(Bindings, ASymbolThatCannotBeSolvedForIsReported) {
  EXPECT_EQ(
      verify_message("graph @main symbols(s0 in [2, inf]) {\n  %a: f32[s0//2] = input 0\n  return\n}\n"),
      "symbol s0 is bound by no input and defined by no node");
}

TEST(Graph, NamesAreMadeUnique) {
  Graph graph = graph_of(contents(std::string(JUMAR_TEST_DIR) + "/static.graph"));
  ValueId first = graph.add_tensor("x", {});
  ValueId second = graph.add_tensor("x", {});
  ValueId fresh = graph.add_tensor("z", {});
  EXPECT_EQ(graph.values[first].name, "x_1");
  EXPECT_EQ(graph.values[second].name, "x_2");
  EXPECT_EQ(graph.values[fresh].name, "z");
}

}  // namespace
}  // namespace jumar::graph
