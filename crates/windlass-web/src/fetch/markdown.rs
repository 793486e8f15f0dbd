//! Conversion of a page to Markdown.

use ::url::Url;

use super::simplify::simplify;

/// Converts an HTML page to Markdown, with its title in front. Time and memory are linear in the size of the page.
pub(super) fn markdown(html: &str, base: &Url) -> String {
    let simple = simplify(html, base);
    // The converter reads from memory, and so has no reason to fail.
    let text = htmd::convert(&simple.html).unwrap_or_default();
    let text = tidy(&text);
    let is_said =
        simple.title.is_empty() || text.lines().take(5).any(|line| line.trim_start_matches('#').trim() == simple.title);
    if is_said { text } else { format!("# {}\n\n{text}", simple.title) }
}

/// Leaves at most one empty line between others, and no trailing blanks, except in blocks of code.
fn tidy(text: &str) -> String {
    let (mut tidy, mut empty, mut in_code) = (String::new(), 0, false);
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let line = if in_code { line } else { line.trim_end() };
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if in_code || empty < 2 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    tidy.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(html: &str) -> String {
        markdown(html, &Url::parse("https://example.com/docs/").unwrap())
    }

    #[test]
    fn pages_become_markdown() {
        let page = "<html><head><title>Doors</title><style>p{}</style></head><body><nav><a href='/'>Home</a></nav>\
                    <main><h1>Doors &amp; keys</h1><p>How to <b>open</b> one, see <a href='keys'>keys</a>.\
                    <ul><li>first<li>second</ul><pre><code class='language-rust'>fn main() {\n\n\n    open();\n}</code></pre>\
                    <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></main></body></html>";
        let text = of(page);
        for expected in [
            "# Doors\n\n",
            "[Home](https://example.com/)",
            "# Doors & keys",
            "How to **open** one, see [keys](https://example.com/docs/keys).",
            "first",
            "```rust\nfn main() {\n\n\n    open();\n}\n```",
            "| a",
        ] {
            assert!(text.contains(expected), "{expected:?} in {text}");
        }
        assert!(!text.contains("p{}"), "{text}");
    }

    #[test]
    fn hostile_pages_end_soon() {
        for html in [
            "<div>".repeat(20_000),
            "<b x=1>".repeat(5_000) + &"<p>x".repeat(5_000),
            "<table><tr><td>".repeat(5_000),
            "<ul><li>".repeat(10_000) + "x",
            "<blockquote>".repeat(10_000) + "x",
            "<a href=x>".repeat(10_000),
            "</p>".repeat(20_000),
            "<".repeat(50_000),
            "&amp".repeat(20_000),
            "<p ".repeat(20_000),
            format!("<p {}>", "a=b ".repeat(10_000)),
            "<!--".repeat(20_000),
            "`".repeat(20_000),
            "*_[](".repeat(10_000),
            "<pre>".to_owned() + &"```\n".repeat(5_000),
            "<svg>".repeat(10_000) + "x",
            "<h1><li><td>".repeat(3_000),
        ] {
            let text = of(&html);
            assert!(text.len() < html.len() * 10 + 1_000, "{} from {}", text.len(), html.len());
        }
    }
}
