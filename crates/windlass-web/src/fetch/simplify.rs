//! Simplified page: the elements that Markdown knows, each closed, none deeper than a limit.
//!
//! Pages are written for display, and some by attackers of their readers: nested without end, or never closed, so that
//! each paragraph opens a thousand styles again. This simplifier looks at each token once, so its time and its output
//! are linear in the size of the page, and readers of its output may recurse.

use std::cell::RefCell;

use ::url::Url;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

/// Maximum nesting depth of elements. Deeper ones keep only their text.
const DEEPEST: usize = 40;

/// Maximum length of a kept link address, in bytes.
const LONGEST_LINK: usize = 2_000;

/// Simplified content of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    pub(super) title: String,
    pub(super) html: String,
}

/// Simplifies a page that was found at an address.
pub(super) fn simplify(html: &str, base: &Url) -> Simple {
    let sink = SimplifierSink(RefCell::new(SimplifierState::of(base)));
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    let mut state = tokenizer.sink.0.into_inner();
    state.close_to(0);
    Simple { title: state.title.split_whitespace().collect::<Vec<_>>().join(" "), html: state.out }
}

struct SimplifierSink(RefCell<SimplifierState>);

struct SimplifierState {
    base: Url,
    out: String,
    title: String,
    in_title: bool,
    open: Vec<&'static str>,
    /// Element whose content is left out, and the number of its open instances.
    hidden: Option<(String, usize)>,
}

impl SimplifierState {
    fn of(base: &Url) -> Self {
        let (out, title, open) = (String::new(), String::new(), Vec::new());
        Self { base: base.clone(), out, title, in_title: false, open, hidden: None }
    }

    fn text(&mut self, text: &str) {
        if self.in_title {
            self.title.push_str(text);
        } else if self.hidden.is_none() {
            escape(text, &mut self.out);
        }
    }

    fn start(&mut self, tag: &Tag) {
        let name = &*tag.name;
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth += usize::from(hidden == name && !tag.self_closing);
            return;
        }
        if name == "title" {
            // Only the title of the page itself, not of a picture in it.
            self.in_title = self.title.is_empty();
        } else if is_hidden(name) {
            self.hidden = (!tag.self_closing).then(|| (name.to_owned(), 1));
        } else if let Some(kept) = kept(name) {
            self.close_implied(kept);
            self.open(kept, tag);
        }
    }

    fn open(&mut self, kept: &'static str, tag: &Tag) {
        let is_empty = matches!(kept, "br" | "hr" | "img");
        if self.open.len() >= DEEPEST && !is_empty {
            return;
        }
        let Some(attributes) = self.attributes(kept, tag) else { return };
        for piece in ["<", kept, &attributes, ">"] {
            self.out.push_str(piece);
        }
        if !is_empty {
            self.open.push(kept);
        }
    }

    /// Returns the kept attributes. `None` if the element is useless without a missing one.
    fn attributes(&self, kept: &str, tag: &Tag) -> Option<String> {
        let value =
            |name: &str| tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|found| &*found.value);
        let mut text = String::new();
        let mut add = |name: &str, value: &str| {
            text.push_str(&format!(" {name}=\""));
            escape(value, &mut text);
            text.push('"');
        };
        match kept {
            "a" => add("href", &self.link(value("href")?)?),
            "img" => {
                add("alt", value("alt").filter(|alt| !alt.trim().is_empty())?);
                add("src", &self.link(value("src")?)?);
            }
            "ol" => {
                if let Some(start) = value("start").and_then(|start| start.trim().parse::<u32>().ok()) {
                    add("start", &start.to_string());
                }
            }
            "code" => {
                let mut classes = value("class").unwrap_or_default().split_whitespace();
                let language = classes.find(|class| class.starts_with("language-"));
                if let Some(language) = language.filter(|language| language.len() < 40) {
                    add("class", language);
                }
            }
            _ => {}
        }
        Some(text)
    }

    /// Returns a link as an absolute address.
    fn link(&self, text: &str) -> Option<String> {
        let link = self.base.join(text.trim()).ok()?;
        let is_kept = matches!(link.scheme(), "http" | "https" | "mailto") && link.as_str().len() <= LONGEST_LINK;
        is_kept.then(|| link.into())
    }

    fn end(&mut self, name: &str) {
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth -= usize::from(hidden == name);
            if *depth == 0 {
                self.hidden = None;
            }
            return;
        }
        if name == "title" {
            self.in_title = false;
        }
        let Some(kept) = kept(name) else { return };
        // Elements that are open outside a cell are not closed inside it.
        let from = self.open.iter().rposition(|open| is_cell(open)).filter(|_| !is_table(kept)).map_or(0, |at| at + 1);
        let inside = self.open.get(from..).unwrap_or_default();
        if let Some(at) = inside.iter().rposition(|open| *open == kept) {
            self.close_to(from + at);
        }
    }

    /// Closes elements whose end tag is optional and implied by the next element.
    fn close_implied(&mut self, next: &str) {
        let (ended, inside): (&[&str], &[&str]) = match next {
            "li" => (&["li"], &["ul", "ol"]),
            "tr" => (&["tr"], &["table"]),
            "td" | "th" => (&["td", "th"], &["tr", "table"]),
            "thead" | "tbody" => (&["thead", "tbody"], &["table"]),
            "a" => (&["a"], &["td", "th"]),
            _ if is_block(next) => (&["p"], &["td", "th", "li", "blockquote"]),
            _ => return,
        };
        let found = self.open.iter().rposition(|open| ended.contains(open) || inside.contains(open));
        if let Some(at) = found.filter(|at| self.open.get(*at).is_some_and(|open| ended.contains(open))) {
            self.close_to(at);
        }
    }

    fn close_to(&mut self, length: usize) {
        while self.open.len() > length {
            if let Some(name) = self.open.pop() {
                self.out.push_str(&format!("</{name}>"));
            }
        }
    }
}

impl TokenSink for SimplifierSink {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let mut state = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => state.text(&text),
            Token::TagToken(tag) if tag.kind == TagKind::EndTag => state.end(&tag.name),
            Token::TagToken(tag) => {
                state.start(&tag);
                return raw(&tag.name).map_or(TokenSinkResult::Continue, TokenSinkResult::RawData);
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// Returns the tokenizer state for an element whose content has no elements.
fn raw(name: &str) -> Option<RawKind> {
    match name {
        "title" | "textarea" => Some(RawKind::Rcdata),
        "style" | "iframe" | "noembed" | "noframes" | "noscript" | "xmp" => Some(RawKind::Rawtext),
        "script" => Some(RawKind::ScriptData),
        _ => None,
    }
}

/// `true` for elements whose content is no text of the page.
fn is_hidden(name: &str) -> bool {
    const HIDDEN: [&str; 18] = [
        "applet", "audio", "canvas", "datalist", "embed", "frameset", "iframe", "math", "noembed", "noframes",
        "noscript", "object", "script", "select", "style", "svg", "template", "video",
    ];
    // This element has no end tag, so nothing would end the hidden content.
    HIDDEN.contains(&name) && name != "embed"
}

/// Returns the element that replaces this one, if it is kept.
fn kept(name: &str) -> Option<&'static str> {
    const KEPT: [&str; 26] = [
        "a",
        "blockquote",
        "br",
        "caption",
        "code",
        "div",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "img",
        "li",
        "ol",
        "p",
        "pre",
        "strong",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
    ];
    match name {
        "ul" | "menu" | "dir" => Some("ul"),
        "b" => Some("strong"),
        "i" | "cite" | "var" | "dfn" => Some("em"),
        "kbd" | "samp" | "tt" => Some("code"),
        "xmp" | "listing" | "plaintext" => Some("pre"),
        "tfoot" => Some("tbody"),
        "dt" | "dd" | "figcaption" | "summary" | "legend" | "option" => Some("p"),
        "section" | "article" | "main" | "header" | "footer" | "aside" | "nav" | "figure" | "address" | "details"
        | "dl" | "form" | "fieldset" | "center" | "hgroup" | "search" | "body" | "dialog" => Some("div"),
        _ => KEPT.into_iter().find(|kept| *kept == name),
    }
}

fn is_block(name: &str) -> bool {
    matches!(name, "p" | "div" | "ul" | "ol" | "table" | "pre" | "blockquote" | "hr")
        || matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

fn is_cell(name: &str) -> bool {
    matches!(name, "td" | "th")
}

fn is_table(name: &str) -> bool {
    matches!(name, "table" | "thead" | "tbody" | "tr" | "td" | "th" | "caption")
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simple(html: &str) -> Simple {
        simplify(html, &Url::parse("https://example.com/a/b").unwrap())
    }

    #[test]
    fn what_markdown_knows_is_kept_and_closed() {
        for (html, expected) in [
            ("<p>a<p>b", "<p>a</p><p>b</p>"),
            ("<ul><li>a<li>b<ul><li>c</ul></ul>d", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>d"),
            ("<b>a<p>b</b>c", "<strong>a<p>b</p></strong>c"),
            ("<a href='c?d=\"1'>x</a>", "<a href=\"https://example.com/a/c?d=%221\">x</a>"),
            ("<a href='javascript:alert(1)'>x</a>", "x"),
            ("<a name=x>y</a>", "y"),
            (
                "<img src=i.png><img src=i.png alt='A &lt; B'>",
                "<img alt=\"A &lt; B\" src=\"https://example.com/a/i.png\">",
            ),
            ("a<script>if (a < b) '<p>'</script>b<style>p{}</style>c", "abc"),
            ("<svg><title>no</title><path d='M'/></svg>x", "x"),
            ("<svg/>x", "x"),
            ("<noscript><p>enable</p></noscript>x", "x"),
            ("<template><template>a</template>b</template>c", "c"),
            ("<span onclick=x>a</span><font>b</font>", "ab"),
            (
                "<table><tr><td>a<td>b<tr><td></b>c</table>",
                "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>",
            ),
            ("<dl><dt>a<dd>b</dl>", "<div><p>a</p><p>b</p></div>"),
            (
                "<pre><code class='hl language-rust'>a &lt; b</code></pre>",
                "<pre><code class=\"language-rust\">a &lt; b</code></pre>",
            ),
            ("</div></p>x<!-- y --><?z?>", "x"),
            ("a\0b<", "ab&lt;"),
        ] {
            assert_eq!(simple(html).html, expected, "{html}");
        }
        let page = simple("<html><head><title> A &amp;\n B </title><title>C</title></head><body>d");
        assert_eq!((page.title.as_str(), page.html.as_str()), ("A & B", "C<div>d</div>"));
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let count = 10_000;
        for (open, close) in
            [("<div>", "</div>"), ("<b x=1>", ""), ("<ul><li>", ""), ("<table><tr><td>", ""), ("<a href=x>", "")]
        {
            let html = format!("{}x{}", open.repeat(count), close.repeat(count));
            let simple = simple(&html).html;
            assert!(simple.matches("</").count() <= count + DEEPEST, "{open}");
            let deepest = simple.split('<').fold((0_i64, 0_i64), |(depth, most), piece| {
                let depth = depth + if piece.starts_with('/') { -1 } else { i64::from(!piece.is_empty()) };
                (depth, most.max(depth))
            });
            assert!(deepest.1 <= DEEPEST as i64 + 1, "{open}: {deepest:?}");
        }
        // Styles that are never closed are not opened again by each paragraph.
        let html = format!("{}{}", "<i a=1>".repeat(5_000), "<p>x".repeat(5_000));
        assert!(simple(&html).html.len() < html.len() * 3);
    }
}
