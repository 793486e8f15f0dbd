//! Languages of files, by name.

/// File extensions, in lower case and in order, with their languages.
const EXTENSIONS: &[(&str, &str)] = &[
    ("adb", "Ada"),
    ("ads", "Ada"),
    ("asm", "Assembly"),
    ("astro", "Astro"),
    ("bash", "Shell"),
    ("bat", "Batch"),
    ("c", "C"),
    ("cc", "C++"),
    ("cjs", "JavaScript"),
    ("clj", "Clojure"),
    ("cljs", "Clojure"),
    ("cmake", "CMake"),
    ("cpp", "C++"),
    ("cr", "Crystal"),
    ("cs", "C#"),
    ("css", "CSS"),
    ("cts", "TypeScript"),
    ("cu", "CUDA"),
    ("cxx", "C++"),
    ("d", "D"),
    ("dart", "Dart"),
    ("el", "Emacs Lisp"),
    ("elm", "Elm"),
    ("erl", "Erlang"),
    ("ex", "Elixir"),
    ("exs", "Elixir"),
    ("f90", "Fortran"),
    ("fs", "F#"),
    ("fsx", "F#"),
    ("gleam", "Gleam"),
    ("glsl", "GLSL"),
    ("go", "Go"),
    ("gradle", "Gradle"),
    ("groovy", "Groovy"),
    ("h", "C"),
    ("hh", "C++"),
    ("hpp", "C++"),
    ("hs", "Haskell"),
    ("htm", "HTML"),
    ("html", "HTML"),
    ("hx", "Haxe"),
    ("ipynb", "Jupyter"),
    ("java", "Java"),
    ("jl", "Julia"),
    ("js", "JavaScript"),
    ("jsx", "JavaScript"),
    ("kt", "Kotlin"),
    ("kts", "Kotlin"),
    ("less", "CSS"),
    ("lisp", "Common Lisp"),
    ("lua", "Lua"),
    ("m", "Objective-C"),
    ("mjs", "JavaScript"),
    ("ml", "OCaml"),
    ("mli", "OCaml"),
    ("mm", "Objective-C"),
    ("mts", "TypeScript"),
    ("nim", "Nim"),
    ("nix", "Nix"),
    ("pas", "Pascal"),
    ("php", "PHP"),
    ("pl", "Perl"),
    ("pm", "Perl"),
    ("proto", "Protocol Buffers"),
    ("ps1", "PowerShell"),
    ("py", "Python"),
    ("pyi", "Python"),
    ("pyx", "Python"),
    ("r", "R"),
    ("rb", "Ruby"),
    ("rs", "Rust"),
    ("s", "Assembly"),
    ("sass", "CSS"),
    ("scala", "Scala"),
    ("scm", "Scheme"),
    ("scss", "CSS"),
    ("sh", "Shell"),
    ("sol", "Solidity"),
    ("sql", "SQL"),
    ("svelte", "Svelte"),
    ("swift", "Swift"),
    ("tcl", "Tcl"),
    ("tf", "Terraform"),
    ("ts", "TypeScript"),
    ("tsx", "TypeScript"),
    ("v", "Verilog"),
    ("vb", "Visual Basic"),
    ("vhd", "VHDL"),
    ("vim", "Vim script"),
    ("vue", "Vue"),
    ("wgsl", "WGSL"),
    ("zig", "Zig"),
    ("zsh", "Shell"),
];

/// Language of a file of this name. `None` for data and texts.
pub(crate) fn language_of(name: &str) -> Option<&'static str> {
    let extension = name.rsplit_once('.')?.1;
    let mut lowercase = [0_u8; 8];
    let lowercase = lowercase.get_mut(..extension.len())?;
    lowercase.copy_from_slice(extension.as_bytes());
    lowercase.make_ascii_lowercase();
    let index = EXTENSIONS.binary_search_by(|(known, _)| known.as_bytes().cmp(lowercase)).ok()?;
    EXTENSIONS.get(index).map(|(_, language)| *language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_names_the_language() {
        assert!(EXTENSIONS.is_sorted(), "they are searched by halves");
        assert_eq!(language_of("main.rs"), Some("Rust"));
        assert_eq!(language_of("A.TSX"), Some("TypeScript"));
        for none in ["README", "a.md", "x.", ".rs.bak", "a.verylongending", "ö.ü", ""] {
            assert_eq!(language_of(none), None, "{none}");
        }
    }
}
