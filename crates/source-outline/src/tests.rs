//! Cases of every language: a source, and what is found in it.

use super::*;

/// `kind name start-end`, with `(line)` where the name is not on the first line, and `proto`; indented by level.
fn outline(path: &str, text: &str) -> Vec<String> {
    let one = |one: &Definition| {
        let line = if one.line == one.start { String::new() } else { format!(" ({})", one.line) };
        let proto = if one.prototype { " proto" } else { "" };
        format!("{}{} {}-{}{line}{proto}", "  ".repeat(one.level), one.label(), one.start, one.end)
    };
    definitions(path, text).iter().map(one).collect()
}

#[track_caller]
fn check(path: &str, text: &str, expected: &[&str]) {
    assert_eq!(outline(path, text), expected, "{path}:\n{text}");
    // The same in pieces, and with other line ends.
    let mut pieces = OutlineBuilder::new(path);
    text.chars().for_each(|letter| pieces.push(letter.encode_utf8(&mut [0; 4])));
    assert_eq!(pieces.finish(), definitions(path, text), "in pieces: {path}");
    assert_eq!(definitions(path, &text.replace('\n', "\r\n")), definitions(path, text), "with CR LF: {path}");
}

#[test]
fn c_functions_wherever_their_type_is() {
    check(
        "a.c",
        "static inline int one(int a)\n{\n\treturn (a);\n}\n\n/* Comment. */\nstatic struct foo *\ntwo(int a,\n    int b)\n{\n\tif (a) {\n\t}\n\tout: return two(a);\n}\n\nint main(argc, argv)\nint argc;\nchar **argv;\n{\n}\nvoid plain() { other(1); }\n",
        &["fn one 1-4", "fn two 6-14 (8)", "fn main 16-20", "fn plain 21-21"],
    );
    check(
        "a.c",
        "void __printf(1, 2) log_it(const char *f, ...) {\n}\nvoid printflike(2, 3)\nlog_more(int a) {\n}\nstatic int __must_check\nread_it(void) __acquires(x)\n{\n}\nPyAPI_FUNC(int) PyList_New(void) {\n}\nvoid (*signal(int sig, void (*f)(int)))(int)\n{\n}\n",
        &["fn log_it 1-2", "fn log_more 3-5 (4)", "fn read_it 6-9 (7)", "fn PyList_New 10-11", "fn signal 12-14"],
    );
}

#[test]
fn c_types_macros_values_and_prototypes() {
    check(
        "a.h",
        "#ifndef A_H\n#define A_H\n#define MAX(a, b) \\\n\t((a) > (b))\n#define N 3\nint proto(int a);\nstruct point {\n\tint x;\n} __packed;\ntypedef struct {\n\tint y;\n} pair_t;\nenum color { RED, GREEN };\ntypedef int (*call_t)(int);\nextern int shared;\nstatic const struct ops my_ops = {\n\t.open = f,\n};\nstruct forward;\n#endif\n",
        &[
            "#define MAX 3-4",
            "#define N 5-5",
            "fn proto 6-6 proto",
            "struct point 7-9",
            "typedef pair_t 10-12 (12)",
            "enum color 13-13",
            "typedef call_t 14-14",
            "var shared 15-15 proto",
            "var my_ops 16-18",
            "struct forward 19-19 proto",
        ],
    );
    check(
        "a.c",
        "SYSCALL_DEFINE3(read, unsigned int, fd, char __user *, buf, size_t, count)\n{\n\treturn 0;\n}\nDEFINE_MUTEX(lock);\nstatic DEFINE_PER_CPU(struct x, counter);\nEXPORT_SYMBOL(one);\nmodule_init(start);\nTEST(Suite, Name) {\n}\n",
        &["SYSCALL_DEFINE3 read 1-4", "macro lock 5-5", "macro counter 6-6", "fn Suite.Name 9-10"],
    );
}

#[test]
fn c_branches_begin_with_the_same_braces() {
    check(
        "a.c",
        "#ifdef A\nint one(int a) {\n#else\nint one(void) {\n#endif\n}\nint two(void)\n{\n#ifdef B\n\tif (b) {\n#else\n\tif (c) {\n#endif\n\t}\n}\n#if 0\nint don't {\n#endif\nint three(void) { }\n",
        &["fn one 2-2", "fn one 4-6", "fn two 7-15", "fn three 19-19"],
    );
    check("a.c", "int one(void)\n{\n\tLOOP {\n\tif (x) {\n}\n\nint two(void)\n{\n}\n", &["fn one 1-5", "fn two 7-9"]);
}

#[test]
fn cpp_classes_namespaces_and_operators() {
    check(
        "a.cpp",
        "namespace a::b {\ntemplate <typename T, class U = X<Y<T>>>\nclass EXPORT Cache final : public Base<T> {\npublic:\n    Cache() : size_{0}, map_(1) {}\n    ~Cache();\n    int load(int key) const override { return 1; }\n    virtual void save() = 0;\n    bool operator==(const Cache& o) const { return true; }\nprivate:\n    int size_;\n};\n}  // namespace\nint a::Cache::load(int key) {\n}\nCache::Cache(int n)\n    : a{n}, b{2} {\n}\nextern \"C\" {\nint plain(void) { }\n}\nauto s = R\"(int fake() {)\";\nenum class Color : int { Red };\nusing Alias = int;\n",
        &[
            "namespace a::b 1-13",
            "  class Cache 2-12 (3)",
            "    fn Cache 5-5",
            "    fn ~Cache 6-6 proto",
            "    fn load 7-7",
            "    fn save 8-8 proto",
            "    fn operator== 9-9",
            "fn a::Cache::load 14-15",
            "fn Cache::Cache 16-18",
            "fn plain 20-20",
            "var s 22-22",
            "enum Color 23-23",
            "using Alias 24-24",
        ],
    );
}

#[test]
fn rust_items() {
    check(
        "a.rs",
        "//! Docs.\n\n/// One.\n#[derive(Debug)]\npub(crate) struct Cache<'a, T: 'a> {\n    a: &'a T,\n}\n\nimpl<'a, T> Display for Cache<'a, T>\nwhere\n    T: Clone,\n{\n    const N: usize = 3;\n\n    /// Loads.\n    pub async fn load(&self, c: char) -> Vec<u8> {\n        let s = r#\"fn fake() { \"#;\n        let q = '{';\n        fn inner() {}\n        if c == '\\'' { }\n        Cache { a: 1 }\n    }\n}\n\npub trait Store {\n    fn get(&self);\n    fn set(&self) {}\n}\nmod tests {\n    #[test]\n    fn works() {}\n}\nmacro_rules! my {\n    () => { fn no() {} };\n}\npub const X: Foo = Foo { a: 1 };\npub type Alias = Vec<u8>;\nmod other;\n/* /* nested */ fn no() {} */\nextern \"C\" {\n    fn ext();\n}\n",
        &[
            "struct Cache 3-7 (5)",
            "impl Display for Cache<'a, T> 9-23",
            "  const N 13-13",
            "  fn load 15-22 (16)",
            "    fn inner 19-19",
            "trait Store 25-28",
            "  fn get 26-26 proto",
            "  fn set 27-27",
            "mod tests 29-32",
            "  fn works 30-31 (31)",
            "macro my 33-35",
            "const X 36-36",
            "type Alias 37-37",
            "mod other 38-38 proto",
            "fn ext 41-41 proto",
        ],
    );
}

#[test]
fn go_functions_methods_and_groups() {
    check(
        "a.go",
        "package a\n\nimport (\n\t\"fmt\"\n)\n\n// Load loads.\nfunc Load(a interface{}, f func(int) error) (struct{ x int }, error) {\n\tx := func() {}\n}\n\nfunc (c *Cache[K]) Get(k K) interface{} {\n\tif s := \"}\"; s == `{` {\n\t}\n}\n\ntype (\n\tA struct {\n\t\tb int\n\t}\n\tB int\n)\n\ntype Store interface {\n\tGet() error\n}\n\nconst (\n\tX = iota\n\tY\n)\n\nvar z = map[string]int{\n\t\"a\": 1,\n}\n",
        &[
            "func Load 7-10 (8)",
            "func Cache.Get 12-15",
            "type A 18-20",
            "type B 21-21",
            "type Store 24-26",
            "  func Get 25-25 proto",
            "const X 29-29",
            "const Y 30-30",
            "var z 33-35",
        ],
    );
}

#[test]
fn java_and_csharp_members() {
    check(
        "A.java",
        "package a;\n\n/** Docs. */\n@Service(\"x\")\npublic class Cache<K, V> extends Base<K> implements A, B {\n    private static final int MAX = 3;\n    private int field = compute(1);\n\n    public Cache(int n) {\n        if (n > 0) { run(); }\n    }\n\n    @Override\n    public <T> Map<K, List<V>> load(T key, int... more) throws IOException {\n        return new Foo() {\n            public void inner() { }\n        };\n    }\n    abstract void save();\n    enum Kind { A, B { void x() { } } }\n    static { init(); }\n    interface Inner { int get(); }\n}\nrecord Point(int x, int y) { }\n",
        &[
            "class Cache 3-23 (5)",
            "  const MAX 6-6",
            "  fn Cache 9-11",
            "  fn load 13-18 (14)",
            "    fn inner 16-16",
            "  fn save 19-19 proto",
            "  enum Kind 20-20",
            "    fn x 20-20",
            "  interface Inner 22-22",
            "    fn get 22-22 proto",
            "record Point 24-24",
        ],
    );
    check(
        "A.cs",
        "namespace A.B\n{\n    [Serializable]\n    public sealed class Cache : Base, IStore\n    {\n        public int Count { get; set; }\n        public string Name => _name;\n        public async Task<int> LoadAsync(string key) where T : class\n        {\n            var s = @\"{\"\"\";\n            foreach (var x in y) { }\n        }\n        int Twice(int x) => x * 2;\n    }\n}\n",
        &[
            "namespace A.B 1-15",
            "  class Cache 3-14 (4)",
            "    property Count 6-6",
            "    fn LoadAsync 8-12",
            "    fn Twice 13-13",
        ],
    );
    check(
        "a.dart",
        "void main() async {\n  run();\n}\n\nclass Cache extends Base {\n  Cache(this.a);\n  int load(String key) => 1;\n  Future<void> save() async {\n  }\n}\n",
        &["fn main 1-3", "class Cache 5-10", "  fn Cache 6-6 proto", "  fn load 7-7", "  fn save 8-9"],
    );
}

#[test]
fn script_functions_classes_and_arrows() {
    check(
        "a.ts",
        "import { a } from 'a'\nconst fs = require('fs')\n\n/** Docs. */\nexport const load = async <T>({ id }: { id: T }): Promise<{ a: T }> => {\n  const inner = (x) => x + 1\n  return { a: `${id ? `{` : '}'}` }\n}\nexport default class Cache<T> extends Base implements A {\n  #size = 0\n  constructor(private a: string) {\n    super()\n    if (a) { run() }\n  }\n  @memo()\n  async get(id: string): Promise<{ a: 1 }> {\n  }\n  static set value(v) { }\n  onClick = (e) => {\n  }\n  catch(f) { }\n}\nexport function save(a = {}, { b }: { b: {} } = {}) {\n  const re = /[{]\\/{/g\n}\nexport interface Store {\n  get(): void\n}\nexport type Alias = {\n  a: 1\n}\nenum Kind { A, B }\nconst LIMIT = 3\nexport const small = (x: number) => x * 2\ndescribe('x', () => {\n  function helper() {}\n})\n",
        &[
            "const load 4-8 (5)",
            "  const inner 6-6",
            "class Cache 9-22",
            "  fn constructor 11-14",
            "  fn get 15-17 (16)",
            "  fn value 18-18",
            "  fn onClick 19-20",
            "  fn catch 21-21",
            "function save 23-25",
            "interface Store 26-28",
            "  fn get 27-27 proto",
            "type Alias 29-31",
            "enum Kind 32-32",
            "const LIMIT 33-33",
            "const small 34-34",
            "function helper 36-36",
        ],
    );
    check(
        "a.js",
        "module.exports = {\n  name: 'x',\n  load(id) {\n    return id\n  },\n  save: function () {\n  },\n  drop: async (x) => {\n  },\n}\nvar Cache = function (a) {\n};\nCache.prototype.get = function get2() {\n};\nCache.prototype.set = function () {\n};\n(function () {\n  function hidden() {}\n})()\nconst C = class { m() {} }\nlet Memo = React.memo(function Inner({ a }) {\n})\n",
        &[
            "fn load 3-5",
            "function save 6-7",
            "fn drop 8-9",
            "function Cache 11-12",
            "function get2 13-14",
            "function set 15-16",
            "function hidden 18-18",
            "class C 20-20",
            "  fn m 20-20",
            "function Inner 21-22",
            "let Memo 21-22",
        ],
    );
}

#[test]
fn python_classes_functions_and_variables() {
    check(
        "a.py",
        "\"\"\"Docs.\n\ndef fake():\n\"\"\"\nLIMIT = 3\n\n@dataclass\nclass Outer(Base):\n    x: int = 1\n\n    class Inner:\n        # Comment.\n        @property\n        def get(self,\n            a,\n        ) -> int:\n            \"\"\"Docs\ndef fake(): pass\n            \"\"\"\n            return 1\n\n    async def load(self): return 1\n\ndef last():\n    x = [\n1,\n    ]\n# end\nrun()\n",
        &[
            "var LIMIT 5-5",
            "class Outer 7-22 (8)",
            "  class Inner 11-20",
            "    def get 12-20 (14)",
            "  def load 22-22",
            "def last 24-27",
        ],
    );
}

#[test]
fn languages_that_close_with_a_word() {
    check(
        "a.rb",
        "# Docs.\nmodule A\n  class B < C\n    def self.load(x)\n      <<~EOS\n        def fake\n      EOS\n    rescue\n      1\n    end\n\n    private def ok? = true\n    list << 'a'\n    class << self\n    end\n    def ==(other) = true\n  end\nend\n",
        &["module A 1-18 (2)", "  class B 3-17", "    def load 4-10", "    def ok? 12-12", "    def == 16-16"],
    );
    check(
        "a.lua",
        "local function one(a)\n  return 1\nend\nfunction M.two:three()\n  --[[ function no()\n  ]]\nend\nM.four = function(x)\nend\n",
        &["function one 1-3", "function M.two:three 4-7", "function M.four 8-9"],
    );
    check(
        "a.ex",
        "defmodule A.B do\n  @doc \"\"\"\n  def fake\n  \"\"\"\n  @spec load(x) :: y\n  def load(x) do\n    x\n  end\n\n  defp small(x), do: x\nend\n",
        &["defmodule A.B 1-11", "  def load 2-8 (6)", "  defp small 10-10"],
    );
    check(
        "a.jl",
        "struct P\n  x\nend\nfunction load(x)\n  x\nend\narea(r) = 3r\n",
        &["struct P 1-3", "fn load 4-6", "fn area 7-7"],
    );
    check("a.cmake", "function(add_it name)\n  x()\nendfunction()\n", &["function add_it 1-3"]);
}

#[test]
fn scripts_of_shells_and_the_like() {
    check(
        "a.sh",
        "#!/bin/sh\n# Docs.\nload_it() {\n  cat <<EOF\nfake() {\nEOF\n}\nfunction other-one {\n  :\n}\nx=$(echo \"a\")\ncase x in a) ;; esac\n",
        &["function load_it 2-7 (3)", "function other-one 8-10"],
    );
    check("a", "#!/usr/bin/env bash\nf()\n{\n}\n", &["function f 2-4"]);
    check(
        "a.pl",
        "package A::B;\nsub load {\n  my $x = shift;\n}\n=pod\n\nsub fake {\n\n=cut\n",
        &["package A::B 1-1", "sub load 2-4"],
    );
    check(
        "a.php",
        "<?php\nnamespace A;\n/** Docs. */\nabstract class Cache extends B\n{\n    const X = 1;\n    #[Pure]\n    public static function &load(array $x = []): array\n    {\n        return fn() => 1;\n    }\n}\nfunction plain() { }\n",
        &["class Cache 3-12 (4)", "  const X 6-6", "  function load 7-11 (8)", "function plain 13-13"],
    );
    check("a.r", "load <- function(x) {\n  x\n}\ny <- 3\n", &["fn load 1-3"]);
    check("a.ps1", "function Get-It {\n}\n", &["function Get-It 1-2"]);
}

#[test]
fn languages_by_keyword_and_indentation() {
    check(
        "a.kt",
        "/** Docs. */\n@Service\nclass Cache<K>(\n    val a: Int,\n) : Base() {\n    companion object {\n        const val MAX = 3\n    }\n    override suspend fun <T> List<T>.load(\n        x: Int,\n    ): Int {\n    }\n    fun small() = 1\n}\nconst val TOP = 1\n",
        &["class Cache 1-14 (3)", "  fun List.load 9-12", "  fun small 13-13", "val TOP 15-15"],
    );
    check(
        "a.swift",
        "extension Cache where T: A {\n    @objc public func load(_ x: Int) -> Int {\n    }\n    init?(a: Int) {\n    }\n    class func make() {}\n}\nprotocol P {}\n",
        &["extension Cache 1-7", "  func load 2-3", "  init init 4-5", "  func make 6-6", "protocol P 8-8"],
    );
    check(
        "a.scala",
        "case class Point(x: Int) extends A {\n  private[core] def load[T](x: T): Int = {\n  }\n}\nobject Main:\n  def run =\n    1\n",
        &["class Point 1-4", "  def load 2-3", "object Main 5-7", "  def run 6-7"],
    );
    check(
        "a.zig",
        "pub const Cache = struct {\n    pub fn load(self: *Cache) void {\n    }\n};\ntest \"works\" {\n}\n",
        &["const Cache 1-4", "  fn load 2-3", "test works 5-6"],
    );
    check(
        "a.proto",
        "message A {\n  int32 x = 1;\n  enum B {\n  }\n}\nservice S {\n  rpc Get(A) returns (A);\n}\n",
        &["message A 1-5", "  enum B 3-4", "service S 6-8", "  rpc Get 7-7"],
    );
    check("a.tf", "resource \"aws\" \"web\" {\n  x = 1\n}\n", &["resource aws.web 1-3"]);
}

#[test]
fn functional_languages() {
    check(
        "a.hs",
        "module Main where\n\ndata T = A\n  | B\n\n-- | Docs.\nload :: Int -> Int\nload 0 = 1\nload n =\n  n\n",
        &["module Main 1-1", "data T 3-4", "signature load 6-7 (7) proto", "function load 8-10"],
    );
    check(
        "a.ml",
        "let rec load x =\n  let y = 1 in\n  y\nmodule M = struct\n  type t = int\nend\n",
        &["let load 1-3", "module M 4-6", "  type t 5-5"],
    );
    check(
        "a.ml",
        "(* Docs\nlet old x = 1\n (* of *) it *)\nlet quote = '\"'\nlet text = \"(*\nlet no = 1\"\nlet decrement x = x --\nlet last = 1\n",
        &["let quote 1-4 (4)", "let text 5-6", "let decrement 7-7", "let last 8-8"],
    );
    check("a.erl", "load(1) ->\n  ok;\nload(X) ->\n  X.\n", &["function load 1-4"]);
    check("a.clj", "(ns a.b)\n(defn- load\n  \"docs\"\n  [x]\n  x)\n", &["ns a.b 1-1", "defn- load 2-5"]);
    check("a.el", ";; Docs.\n(defun my-load (x)\n  x)\n", &["defun my-load 1-3 (2)"]);
}

#[test]
fn headings_and_sections() {
    check(
        "a.md",
        "---\ntitle: x\n---\n# One #\ntext\n\n```sh\n# no heading\n```\n## Two\n\nSetext\n===\n\n- item\n---\n#no\n",
        &["# One 4-10", "  ## Two 10-10", "# Setext 12-17"],
    );
    check("a.rst", "Title\n=====\n\nSub\n---\ntext\n\nNext\n====\n", &["# Title 1-6", "  ## Sub 4-6", "# Next 8-9"]);
    check("a.toml", "[package]\nname = 1\n\n[[bin]]\nx = [\n]\n", &["[] package 1-2", "[[]] bin 4-6"]);
    check(
        "a.sql",
        "CREATE TABLE IF NOT EXISTS a.b (\n  x int\n);\nselect 1;\ncreate or replace function f(x int) returns int as $$\n  select 1;\n$$ language sql;\n",
        &["table a.b 1-3", "function f 5-7"],
    );
    check("a.S", "SYM_FUNC_START(start)\n\tret\nother:\n\tnop\n", &["label start 1-2", "label other 3-4"]);
    check(
        "Makefile",
        "X := 1\nall: a b\n\techo\n\ndefine RUN\nx\nendef\n.PHONY: all\n",
        &["target all 2-3", "define RUN 5-7"],
    );
    check("a.tex", "\\section{A}\n\\subsection*{B}\nx\n", &["section A 1-3", "  subsection B 2-3"]);
}

#[test]
fn unknown_file_has_no_definitions() {
    check("a.png", "fn load() {}\n", &[]);
    check("LICENSE", "fn load() {}\n", &[]);
    check("a.rs", "", &[]);
}

#[test]
fn many_decorators_before_a_definition_are_looked_at_once() {
    check("a.ts", "@a\n@b.c(1)\n@d\nclass A {\n}\n@e\nclass B {\n}\n", &["class A 1-5 (4)", "class B 6-8 (7)"]);
    // Each was compared with all before it.
    let many = "@d\n".repeat(50_000);
    for path in ["a.js", "a.ts", "a.go"] {
        let last = if path == "a.go" { "func f() {\n}\n" } else { "\nfunction f() {\n}\n" };
        definitions(path, &format!("{many};\n{last}"));
    }
    assert_eq!(outline("a.ts", &format!("{many};\nclass A {{\n}}\n")), ["class A 50002-50003"]);
}
