use super::*;
use proptest::prelude::*;

#[track_caller]
fn check(name: &str, text: &str, expected: &[(u32, &str)]) {
    let found = scan(Style::of(name).unwrap(), text);
    let found: Vec<(u32, &str)> = found.iter().map(|symbol| (symbol.line, symbol.name.as_str())).collect();
    assert_eq!(found, expected, "{name}");
}

#[test]
fn names_are_found_by_the_words_before_them() {
    check(
        "a.rs",
        "use x;\npub(crate) async fn open(a: u8) {\n    let b = 1;\n}\npub const fn width() {}\nconst MOST: usize = 1;\nstruct Door<T>;\n\
         impl Door {\n    unsafe fn shut(&self) {}\n}\nmacro_rules! knock {\n// fn comment\nstatic mut COUNT: u8 = 0;\n",
        &[(2, "open"), (5, "width"), (6, "MOST"), (7, "Door"), (9, "shut"), (11, "knock"), (13, "COUNT")],
    );
    check(
        "a.ts",
        "export default async function load() {\n  const inner = 1\n}\nexport const limit = 3\nabstract class Shop {\ninterface Item {\n}",
        &[(1, "load"), (4, "limit"), (5, "Shop"), (6, "Item")],
    );
    check("a.py", "class Oven(Base):\n    async def bake(self):\n        pass\n", &[(1, "Oven"), (2, "bake")]);
    check(
        "a.go",
        "func (s *Server) Listen() {\n}\ntype Server struct {\nfunc main() {\n",
        &[(1, "Listen"), (3, "Server"), (4, "main")],
    );
    check("a.rb", "module Zoo\n  class Cat\n    def self.purr!\n", &[(1, "Zoo"), (2, "Cat"), (3, "purr")]);
    check(
        "A.java",
        "public final class Mill {\n    private static int grind(int a) {\n        if (a > 0) {\n        return run(a) {\n",
        &[(1, "Mill"), (2, "grind")],
    );
    check(
        "a.c",
        "#define LIMIT 3\nstatic int count_all(struct list *l)\n{\n    call(x);\nstruct list {\nstruct list *make;\nint later(void);\n",
        &[(1, "LIMIT"), (2, "count_all"), (5, "list")],
    );
}

#[test]
fn sources_are_read_within_bounds() {
    let many: String = (0..2_000).map(|number| format!("fn f{number}() {{}}\n")).collect();
    assert_eq!(scan(Style::Rust, &many).len(), MAX_SYMBOLS);
    let long = format!("fn {}() {{}}\nfn {}() {{}}\n", "a".repeat(MAX_NAME_BYTES + 1), "b".repeat(MAX_LINE_BYTES));
    assert!(scan(Style::Rust, &long).is_empty());
}

proptest! {
    #[test]
    fn any_text_is_scanned(text in "(fn|def|class|func|struct|static|const|pub|\\(|\\)|\\{|[a-z_ \t\n.=;$]|é|\\PC){0,200}") {
        for name in ["a.rs", "a.ts", "a.py", "a.go", "a.rb", "a.java", "a.c"] {
            for symbol in scan(Style::of(name).unwrap(), &text) {
                prop_assert!(symbol.name.len() > 1 && !symbol.name.contains(char::is_whitespace), "{:?}", symbol);
                prop_assert!(text.lines().nth(symbol.line as usize - 1).unwrap().contains(&symbol.name));
            }
        }
    }
}
