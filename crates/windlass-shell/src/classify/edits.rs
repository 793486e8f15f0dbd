//! The file commands that the `acceptEdits` mode covers.

use super::effect::{Classification, Effect, Findings, PathOperand};
use super::options::{OperandKind, ParsedOptions, ProgramSpec, parse};
use super::special;
use crate::word::{Word, base_name};

const ANY: OperandKind = OperandKind::Files(usize::MAX);

const MKDIR: ProgramSpec = ProgramSpec::new("mkdir", "pv", "m", ANY).long(&["mode=", "parents", "verbose"]);
const TOUCH: ProgramSpec = ProgramSpec::new("touch", "acfhm", "dt", ANY)
    .files("r")
    .long(&["date=", "no-create", "no-dereference", "reference@", "time="])
    .dashed(&["-d", "--date"]);
const RM: ProgramSpec = ProgramSpec::new("rm", "dfiIrRv", "", ANY).long(&[
    "dir",
    "force",
    "interactive?",
    "one-file-system",
    "recursive",
    "verbose",
]);
const RMDIR: ProgramSpec =
    ProgramSpec::new("rmdir", "pv", "", ANY).long(&["ignore-fail-on-non-empty", "parents", "verbose"]);
const MV: ProgramSpec = ProgramSpec::new("mv", "finuvT", "t", ANY).long(&[
    "force",
    "interactive",
    "no-clobber",
    "no-target-directory",
    "target-directory=",
    "update",
    "verbose",
]);
const CP: ProgramSpec = ProgramSpec::new("cp", "adfinpPrRuvTx", "t", ANY).long(&[
    "archive",
    "force",
    "interactive",
    "no-clobber",
    "no-dereference",
    "no-target-directory",
    "one-file-system",
    "recursive",
    "target-directory=",
    "update",
    "verbose",
]);

/// Directories above one that is removed with its parents.
const MAX_PARENTS: usize = 32;

/// Every table of this module.
#[cfg(all(test, target_os = "linux"))]
pub(super) const ALL: [&ProgramSpec; 6] = [&MKDIR, &TOUCH, &RM, &RMDIR, &MV, &CP];

pub(super) fn classify(name: &str, args: &[Word]) -> Findings {
    match name {
        "mkdir" => plain(&MKDIR, args),
        "touch" => plain(&TOUCH, args),
        "rm" => plain(&RM, args),
        "rmdir" => plain(&RMDIR, args),
        "mv" => transfer(&MV, args),
        _ => transfer(&CP, args),
    }
}

/// Every operand is changed.
fn plain(spec: &ProgramSpec, args: &[Word]) -> Findings {
    let parsed = parse(spec, args)?;
    if !parsed.values(&["-d", "--date"]).all(special::is_date) {
        return None;
    }
    let recursive = spec.name == "rm" && is_recursive(&parsed);
    let with_parents = spec.name == "rmdir" && ["-p", "--parents"].iter().any(|option| parsed.has(option));
    let mut class = Classification::new(Effect::FileChange);
    for operand in &parsed.operands {
        if operand.text().is_empty() {
            return None;
        }
        if with_parents {
            class.writes.extend(parents(operand)?);
        }
        class.writes.push(parsed.operand(operand, recursive));
    }
    class.writes.extend(parsed.late_files());
    class.reads = parsed.files;
    (!class.writes.is_empty()).then_some(class)
}

/// Returns every directory on the way to the operand; `None` if there are more than are judged one by one.
fn parents(operand: &Word) -> Option<Vec<PathOperand>> {
    let text = operand.text();
    let paths = text.match_indices('/').filter_map(|(end, _)| text.get(..end)).filter(|path| !path.is_empty());
    let parents: Vec<PathOperand> = paths
        .take(MAX_PARENTS.saturating_add(1))
        .map(|path| PathOperand { glob: !operand.is_literal(), ..PathOperand::literal(path) })
        .collect();
    (parents.len() <= MAX_PARENTS).then_some(parents)
}

fn is_recursive(parsed: &ParsedOptions<'_>) -> bool {
    ["-r", "-R", "-a", "--recursive", "--archive"].iter().any(|option| parsed.has(option))
}

/// Classifies sources and a target, which may be a directory: then the written file lies in it, under the source's
/// name.
fn transfer(spec: &ProgramSpec, args: &[Word]) -> Findings {
    let parsed = parse(spec, args)?;
    let recursive = spec.name == "mv" || is_recursive(&parsed);
    let given = parsed.options.iter().find(|(name, _)| name == "-t" || name == "--target-directory");
    let (target, sources) = match given {
        Some((_, target)) => (target.clone()?, parsed.operands.as_slice()),
        None => {
            let (target, sources) = parsed.operands.split_last()?;
            (target.as_literal()?.to_owned(), sources)
        }
    };
    if target.is_empty() || sources.is_empty() {
        return None;
    }
    let mut class = Classification::new(Effect::FileChange);
    class.reads.clone_from(&parsed.files);
    class.writes.push(PathOperand { recursive, ..PathOperand::literal(&target) });
    for source in sources {
        // A pattern may match any name, also a protected one.
        let path = source.as_literal().filter(|p| !p.is_empty())?;
        let operand = PathOperand::operand(source, recursive);
        if spec.name == "mv" {
            class.writes.push(operand.clone());
        }
        class.reads.push(operand);
        let name = base_name(path.trim_end_matches('/'));
        if !matches!(name, "" | "." | "..") {
            let inside = [target.trim_end_matches('/'), "/", name].concat();
            class.writes.push(PathOperand { recursive, ..PathOperand::literal(inside) });
        }
    }
    Some(class)
}
