//! Known names similar to a mistyped one.

/// Maximum number of characters that are compared.
const MAX_COMPARED_CHARS: usize = 64;

/// Returns the known names that are most similar to a wrong one, the nearest first, at most three. Case is ignored.
///
/// ```
/// use windlass_types::near::nearest;
///
/// assert_eq!(nearest("raed", ["Bash", "Read", "Write"]), ["Read"]);
/// assert!(nearest("xyzzy", ["Bash", "Read", "Write"]).is_empty());
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let lower: String = name.to_lowercase().chars().take(MAX_COMPARED_CHARS).collect();
    let scored = known.into_iter().map(|known| (similarity(&known.to_lowercase(), &lower), known));
    let mut similar: Vec<(f64, &str)> = scored.filter(|(score, _)| *score > 0.75).collect();
    similar.sort_by(|a, b| b.0.total_cmp(&a.0));
    similar.into_iter().take(3).map(|(_, known)| known).collect()
}

/// Returns `true` if two names differ only in case, `_` and `-`.
pub fn is_same_but_for_case(a: &str, b: &str) -> bool {
    let letters = |name: &str| -> String {
        name.chars().filter(|char| !matches!(char, '_' | '-')).flat_map(char::to_lowercase).collect()
    };
    letters(a) == letters(b)
}

/// Returns `true` if a name is one slip away from a known one, or two slips if it has eight characters or more. A slip
/// is a missing, additional or wrong character, or two swapped neighbours. Case is ignored.
///
/// ```
/// use windlass_types::near::is_misspelt;
///
/// assert!(is_misspelt("Raed", "Read") && is_misspelt("Bsh", "Bash"));
/// assert!(!is_misspelt("Reader", "Read") && !is_misspelt("deploy", "Read"));
/// ```
pub fn is_misspelt(name: &str, known: &str) -> bool {
    let lower = |text: &str| text.to_lowercase().chars().take(MAX_COMPARED_CHARS).collect::<Vec<_>>();
    let (name, known) = (lower(name), lower(known));
    slips(&name, &known) <= if known.len() < 8 { 1 } else { 2 }
}

/// Returns the number of slips between two texts (optimal string alignment).
fn slips(a: &[char], b: &[char]) -> usize {
    let mut row_before_last: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut last = None;
    for (row, ours) in a.iter().enumerate() {
        let mut line = vec![row + 1];
        let mut cell_left = row + 1;
        let mut previous = None;
        for (column, theirs) in b.iter().enumerate() {
            let cell = |line: &[usize], column: usize| line.get(column).copied().unwrap_or(usize::MAX - 1);
            let changed = cell(&above, column) + usize::from(ours != theirs);
            let swapped =
                (last == Some(theirs) && previous == Some(ours)).then(|| cell(&row_before_last, column - 1) + 1);
            cell_left = changed.min(cell(&above, column + 1) + 1).min(cell_left + 1).min(swapped.unwrap_or(usize::MAX));
            line.push(cell_left);
            previous = Some(theirs);
        }
        row_before_last = std::mem::replace(&mut above, line);
        last = Some(ours);
    }
    above.last().copied().unwrap_or_default()
}

/// From 0 (no common letter) to 1 (equal): the measure of Jaro, raised by that of Winkler for names that begin alike.
/// Takes time that grows with the product of the lengths.
fn similarity(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let alike = jaro(&a, &b);
    let prefix = a.iter().zip(&b).take(4).take_while(|(a, b)| a == b).count();
    if alike > 0.7 { alike + 0.1 * count(prefix) * (1.0 - alike) } else { alike }
}

fn jaro(a: &[char], b: &[char]) -> f64 {
    if a.is_empty() && b.is_empty() {
        return 1.0;
    }
    // Two characters match that are equal and not too far apart; each matches once.
    let reach = (a.len().max(b.len()) / 2).saturating_sub(1);
    let mut taken = vec![false; b.len()];
    let mut matched = Vec::new();
    for (at, char) in a.iter().enumerate() {
        let candidates = b.iter().zip(taken.iter_mut()).enumerate().skip(at.saturating_sub(reach));
        let mut near = candidates.take_while(|(index, _)| *index <= at + reach);
        if let Some((_, (_, taken))) = near.find(|(_, (b, taken))| !**taken && *b == char) {
            *taken = true;
            matched.push(*char);
        }
    }
    if matched.is_empty() {
        return 0.0;
    }
    let in_b = b.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(char, _)| char);
    let moved = matched.iter().zip(in_b).filter(|(a, b)| a != b).count() / 2;
    let matches = count(matched.len());
    (matches / count(a.len()) + matches / count(b.len()) + (matches - count(moved)) / matches) / 3.0
}

#[expect(clippy::cast_precision_loss, reason = "names are short")]
fn count(chars: usize) -> f64 {
    chars as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_separators_make_no_other_name() {
        for (a, b, same) in [("read", "Read", true), ("todo_write", "TodoWrite", true), ("Reads", "Read", false)] {
            assert_eq!(is_same_but_for_case(a, b), same, "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_comes_first_and_long_names_are_cut() {
        assert_eq!(nearest("sonet", ["haiku", "opus", "sonnet"]), ["sonnet"]);
        assert_eq!(nearest("Reed", ["Read", "Reader", "Reed"]).first(), Some(&"Reed"));
        assert!(nearest(&"x".repeat(1_000_000), ["Read"]).is_empty());
    }

    #[test]
    fn known_pairs_have_their_known_measure() {
        for (a, b, measure) in [
            ("martha", "marhta", 0.961),
            ("dixon", "dicksonx", 0.813),
            ("dwayne", "duane", 0.84),
            ("jellyfish", "smellyfish", 0.896),
            ("read", "read", 1.0),
            ("", "", 1.0),
            ("", "a", 0.0),
            ("abc", "xyz", 0.0),
        ] {
            assert!((similarity(a, b) - measure).abs() < 0.001, "{a} {b} {}", similarity(a, b));
            assert!((similarity(b, a) - measure).abs() < 0.001, "{b} {a} {}", similarity(b, a));
        }
    }
}
