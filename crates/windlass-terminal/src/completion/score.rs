//! Points of a name for the letters that were typed.

/// Longest name that is looked at, in characters.
const LONGEST: usize = 1000;
/// Points of a matching character.
const MATCH: i64 = 16;
/// Points of a character that follows the one matched before.
const CONSECUTIVE: i64 = 12;
/// Points of the first character of a word.
const WORD: i64 = 10;
/// Points of a character of the last part of a path.
const LAST_PART: i64 = 4;
/// Points of a character whose case is as it was typed.
const CASE: i64 = 1;
/// Points of a name that is the query.
const WHOLE: i64 = 1000;

/// Points of a name that has all characters of the query in their order, without regard to case; `None` for others. More
/// points are a better match: characters side by side, at the beginning of words, and in the last part of a path. An empty
/// query gives each name no points.
///
/// ```
/// use windlass_terminal::completion::score;
///
/// assert!(score("cmp", "src/compose.rs") > score("cmp", "scripts/old_map.py"));
/// assert_eq!(score("xyz", "src/compose.rs"), None);
/// ```
#[must_use]
pub fn score(query: &str, name: &str) -> Option<i64> {
    let wanted: Vec<char> = query.chars().filter(|c| !c.is_whitespace()).collect();
    if wanted.is_empty() {
        return Some(0);
    }
    let letters: Vec<char> = name.chars().take(LONGEST).collect();
    let last_part = last_part(&letters);
    // A match within the last part of a path is looked for first.
    let inside = positions(&wanted, &letters, last_part).map(|at| points(&wanted, &letters, &at, last_part));
    let anywhere = positions(&wanted, &letters, 0).map(|at| points(&wanted, &letters, &at, last_part));
    let best = inside.max(anywhere)?;
    let whole = if wanted.len() == letters.len() { WHOLE } else { 0 };
    // Of equal matches the shorter name is better.
    let length = i64::try_from(letters.len()).unwrap_or(i64::MAX);
    Some(best.saturating_add(whole).saturating_mul(8).saturating_sub(length))
}

/// Index of the first character of the last part of a path.
fn last_part(letters: &[char]) -> usize {
    let body = letters.split_last().map(|(_, body)| body).unwrap_or_default();
    body.iter().rposition(|c| *c == '/').map_or(0, |at| at.saturating_add(1))
}

fn same(a: char, b: char) -> bool {
    a == b || a.to_lowercase().eq(b.to_lowercase())
}

/// Places of the query in the letters from an index on: the match that ends first, drawn together from its end.
fn positions(wanted: &[char], letters: &[char], from: usize) -> Option<Vec<usize>> {
    let mut at = from;
    for c in wanted {
        at = letters.get(at..)?.iter().position(|letter| same(*letter, *c))?.saturating_add(at).saturating_add(1);
    }
    let mut end = at;
    let mut places = Vec::with_capacity(wanted.len());
    for c in wanted.iter().rev() {
        end = letters.get(from..end)?.iter().rposition(|letter| same(*letter, *c))?.saturating_add(from);
        places.push(end);
    }
    places.reverse();
    Some(places)
}

fn points(wanted: &[char], letters: &[char], places: &[usize], last_part: usize) -> i64 {
    let mut points = 0_i64;
    let mut previous: Option<usize> = None;
    for (at, c) in places.iter().zip(wanted) {
        let before = at.checked_sub(1).and_then(|before| letters.get(before));
        let letter = letters.get(*at).copied().unwrap_or_default();
        let begins_word =
            before.is_none_or(|before| !before.is_alphanumeric() || (before.is_lowercase() && letter.is_uppercase()));
        let follows = previous.is_some_and(|previous| previous.saturating_add(1) == *at);
        let gap = previous.map_or(0, |previous| at.saturating_sub(previous).saturating_sub(1));
        points = points.saturating_add(MATCH).saturating_sub(i64::try_from(gap.min(8)).unwrap_or(8));
        for (is_so, more) in
            [(follows, CONSECUTIVE), (begins_word, WORD), (*at >= last_part, LAST_PART), (letter == *c, CASE)]
        {
            if is_so {
                points = points.saturating_add(more);
            }
        }
        previous = Some(*at);
    }
    points
}
