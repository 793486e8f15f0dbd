use super::*;
use crate::keys::KeyAction;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A prompt with a loop around it that answers at once.
struct Desk {
    mode: InputMode,
    now: Duration,
    sent: Vec<(String, Priority)>,
    recorded: Vec<String>,
    actions: Vec<InputAction>,
}

impl Desk {
    fn new(options: InputModeOptions) -> Self {
        let (sent, recorded, actions) = (Vec::new(), Vec::new(), Vec::new());
        Self { mode: InputMode::new(options), now: Duration::ZERO, sent, recorded, actions }
    }

    fn running() -> Self {
        let mut desk = Self::new(InputModeOptions::default());
        desk.mode.set_run(RunActivity::Running);
        desk
    }

    fn give(&mut self, input: TerminalInput) {
        self.now += Duration::from_millis(100);
        for action in self.mode.handle(input, self.now) {
            match &action {
                InputAction::Submit { submission, priority, .. } => self.sent.push((submission.all_text(), *priority)),
                InputAction::RunCommand(command) => self.sent.push((format!("!{command}"), Priority::Now)),
                InputAction::Record(entry) => self.recorded.push(entry.prompt.expanded()),
                _ => {}
            }
            self.actions.push(action);
        }
    }

    /// Presses keys: words are typed, names in angle brackets are keys.
    fn press(&mut self, keys: &str) -> &mut Self {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
            let (key, behind) = match named {
                Some((name, behind)) => (name.parse().unwrap(), behind),
                None => (crate::keys::Key::char(c), rest.get(c.len_utf8()..).unwrap()),
            };
            self.give(TerminalInput::Key(key));
            rest = behind;
        }
        self
    }

    fn text(&self) -> &str {
        self.mode.composer().text()
    }

    fn took(&mut self, action: &InputAction) -> bool {
        let found = self.actions.contains(action);
        self.actions.clear();
        found
    }

    /// Texts of the actions, without those for the history.
    fn hints(&self) -> Vec<&str> {
        let hints = self.actions.iter().filter_map(|action| match action {
            InputAction::Hint(hint) => Some(hint.as_str()),
            _ => None,
        });
        hints.collect()
    }
}

fn desk() -> Desk {
    Desk::new(InputModeOptions::default())
}

#[test]
fn enter_sends_and_the_history_has_it() {
    let mut desk = desk();
    desk.press("hello<enter>");
    assert_eq!(desk.sent, [("hello".to_owned(), Priority::Later)]);
    assert_eq!(desk.recorded, ["hello"]);
    assert_eq!(desk.text(), "");
    assert!(desk.mode.queue().shown().next().is_none());
    desk.press("  <enter>");
    assert_eq!((desk.sent.len(), desk.text()), (1, "  "));
}

#[test]
fn new_lines_do_not_send() {
    let mut desk = desk();
    desk.press("a\\<enter>b<ctrl+j>c<shift+enter>d<alt+enter>e<enter>");
    assert_eq!(desk.sent, [("a\nb\nc\nd\ne".to_owned(), Priority::Later)]);
}

#[test]
fn while_it_runs_enter_steers_and_tab_queues_or_the_other_way_round() {
    let mut desk = Desk::running();
    desk.press("now<enter>later<tab>");
    let options = InputModeOptions { enter_queues: true, ..InputModeOptions::default() };
    let mut swapped = Desk::new(options);
    swapped.mode.set_run(RunActivity::Running);
    swapped.press("later<enter>now<tab>");
    let (now, later) = (("now".to_owned(), Priority::Next), ("later".to_owned(), Priority::Later));
    assert_eq!(desk.sent, [now.clone(), later.clone()]);
    assert_eq!(swapped.sent, [later, now]);
    let shown: Vec<&str> = desk.mode.queue().shown().map(|message| message.prompt.label()).collect();
    assert_eq!(shown, ["now", "later"]);
    // At the prompt Tab sends nothing.
    desk.mode.set_run(RunActivity::Idle);
    desk.press("x<tab>");
    assert_eq!(desk.sent.len(), 2);
}

#[test]
fn up_takes_the_last_queued_message_back() {
    let mut desk = Desk::running();
    desk.press("one<enter>two<enter><up>");
    assert!(desk.took(&InputAction::TakeBack(2)));
    desk.mode.taken_back(2, true);
    assert_eq!(desk.text(), "two");
    // One that a run has taken meanwhile stays sent.
    desk.press("<ctrl+u><up>");
    assert!(desk.took(&InputAction::TakeBack(1)));
    desk.mode.taken(1);
    desk.mode.taken_back(1, false);
    assert_eq!((desk.text(), desk.mode.queue().all().len()), ("", 0));
    // Nothing waits: the history is next.
    desk.press("<up>");
    assert_eq!(desk.text(), "two");
}

#[test]
fn an_interrupt_brings_queued_messages_back_in_front_of_the_draft() {
    let mut desk = Desk::running();
    desk.press("one<enter>two<tab>draft<esc>");
    assert!(desk.took(&InputAction::Interrupt));
    assert_eq!(desk.text(), "draft");
    desk.mode.returned(&[1, 2]);
    assert_eq!(desk.text(), "one\ntwo\ndraft");
}

#[test]
fn a_message_without_a_run_comes_back() {
    let mut desk = desk();
    desk.press("hello<enter>");
    desk.mode.returned(&[1]);
    assert_eq!(desk.text(), "hello");
    desk.mode.returned(&[1, 7]);
    assert_eq!(desk.text(), "hello");
}

#[test]
fn escape_twice_clears_or_rewinds_and_never_by_surprise() {
    let mut desk = desk();
    desk.press("draft<esc>");
    assert_eq!(desk.text(), "draft");
    assert_eq!(desk.hints(), ["Press esc again to clear the text into the history."]);
    desk.press("<esc>");
    assert_eq!(desk.text(), "");
    assert_eq!(desk.recorded, ["draft"]);
    assert!(!desk.took(&InputAction::OpenRewind));
    // The Esc that cleared does not count for the next pair.
    desk.press("<esc>");
    assert!(!desk.took(&InputAction::OpenRewind));
    desk.press("<esc>");
    assert!(desk.took(&InputAction::OpenRewind));
    // Too slow, or with a key between, is not twice.
    desk.press("<esc>");
    desk.now += Duration::from_secs(2);
    desk.press("<esc><left><esc>");
    assert!(!desk.took(&InputAction::OpenRewind));
    // An Esc that stopped a run is not the first of a pair.
    let mut running = Desk::running();
    running.press("<esc>");
    running.mode.set_run(RunActivity::Idle);
    running.press("<esc>");
    assert!(!running.took(&InputAction::OpenRewind));
}

#[test]
fn cancel_never_kills_a_draft() {
    let mut desk = desk();
    desk.press("draft<ctrl+c>");
    assert_eq!((desk.text(), desk.recorded.as_slice()), ("", &["draft".to_owned()][..]));
    assert!(!desk.took(&InputAction::Exit));
    desk.press("<ctrl+c>");
    assert!(desk.took(&InputAction::Exit));
    let mut slow = self::desk();
    slow.press("<ctrl+c>");
    slow.now += Duration::from_secs(2);
    slow.press("<ctrl+c>");
    assert!(!slow.took(&InputAction::Exit));
    let mut running = Desk::running();
    running.press("draft<ctrl+c>");
    assert!(!running.took(&InputAction::Interrupt), "the draft is cleared first");
    let mut empty = Desk::running();
    empty.press("<ctrl+c>");
    assert!(empty.took(&InputAction::Interrupt));
}

#[test]
fn the_end_puts_everything_into_the_history() {
    let mut desk = Desk::running();
    desk.press("aside<ctrl+s>queued<tab>draft<ctrl+c><ctrl+d>");
    assert!(desk.took(&InputAction::Exit));
    assert_eq!(desk.recorded, ["queued", "draft", "aside", "queued"]);
    // On a text Ctrl+D deletes.
    let mut text = self::desk();
    text.press("ab<left><ctrl+d>");
    assert_eq!(text.text(), "a");
    assert!(!text.took(&InputAction::Exit));
}

#[test]
fn shift_tab_cycles_modes_and_bypasses_only_if_started_so() {
    use PermissionMode::{AcceptEdits, BypassPermissions, Default, Plan};
    for (allows_bypass, expected) in
        [(false, vec![AcceptEdits, Plan, Default]), (true, vec![AcceptEdits, Plan, BypassPermissions, Default])]
    {
        let mut desk = Desk::new(InputModeOptions::default().with_modes(false, allows_bypass));
        for mode in expected {
            desk.press("<shift+tab>");
            assert!(desk.took(&InputAction::SetMode(mode)), "{mode}");
        }
    }
    // A mode that the session refused does not count.
    let mut desk = desk();
    desk.press("<shift+tab>");
    desk.mode.set_mode(Default);
    desk.actions.clear();
    desk.press("<shift+tab>");
    assert!(desk.took(&InputAction::SetMode(AcceptEdits)));
}

#[test]
fn keys_for_the_loop_are_actions() {
    let mut desk = Desk::running();
    for (key, action) in [
        ("<ctrl+b>", InputAction::MoveToBackground),
        ("<ctrl+g>", InputAction::OpenEditor("text".to_owned())),
        ("<ctrl+v>", InputAction::PasteImage),
        ("<ctrl+o>", InputAction::ShowTranscript),
        ("<ctrl+t>", InputAction::ToggleTasks),
        ("<ctrl+l>", InputAction::Redraw),
        ("<ctrl+z>", InputAction::Suspend),
    ] {
        if desk.text().is_empty() {
            desk.press("text");
        }
        desk.press(key);
        assert!(desk.took(&action), "{key}");
        assert_eq!(desk.text(), "text", "{key}");
    }
    desk.mode.edited(Some("changed"));
    desk.mode.edited(None);
    assert_eq!(desk.text(), "changed");
    desk.mode.set_run(RunActivity::Idle);
    desk.press("<ctrl+b>");
    assert!(!desk.took(&InputAction::MoveToBackground));
    assert_eq!(desk.mode.composer().caret(), 6);
}

#[test]
fn a_question_mark_shows_the_keys_only_on_an_empty_line() {
    let mut desk = desk();
    desk.press("?");
    assert!(desk.mode.keys_list().is_some());
    assert_eq!(desk.text(), "");
    desk.press("why?");
    assert!(desk.mode.keys_list().is_none());
    assert_eq!(desk.text(), "why?");
}

#[test]
fn the_list_of_keys_scrolls_to_its_end_and_closes_with_any_other_key() {
    let mut desk = desk();
    desk.mode.set_page(10);
    let place = |desk: &Desk| {
        let list = desk.mode.keys_list().unwrap();
        let lines = list.lines(desk.mode.keymap(), 80).len();
        (list.top(lines, 10), lines)
    };
    desk.press("?");
    let (top, lines) = place(&desk);
    assert_eq!(top, 0);
    desk.press("<down><down><up>");
    assert_eq!(place(&desk).0, 1);
    desk.press("<pagedown>");
    assert_eq!(place(&desk).0, 11);
    for _ in 0..10 {
        desk.press("<pagedown>");
    }
    assert_eq!(place(&desk).0, lines - 10);
    // Presses beyond the end do not have to be taken back.
    desk.press("<up>");
    assert_eq!(place(&desk).0, lines - 11);
    desk.press("<home>");
    assert_eq!(place(&desk).0, 0);
    for close in ["?", "<esc>", "<ctrl+c>", "<enter>"] {
        desk.mode.show_keys();
        desk.actions.clear();
        desk.press(close);
        assert!(desk.mode.keys_list().is_none() && desk.text().is_empty() && desk.actions.is_empty(), "{close}");
    }
    desk.mode.show_keys();
    desk.press("h");
    assert!(desk.mode.keys_list().is_none());
    assert_eq!(desk.text(), "h");
    desk.mode.show_keys();
    desk.give(TerminalInput::Paste("i".to_owned()));
    assert!(desk.mode.keys_list().is_none());
}

#[test]
fn two_escapes_at_once_are_a_pair() {
    for (first, second, gap) in [(&b"\x1b\x1b"[..], &b""[..], 0), (b"\x1b", b"\x1b", 20), (b"\x1b[27;3u", b"", 0)] {
        let (mut desk, mut decoder) = (desk(), crate::input::TerminalDecoder::default());
        desk.press("draft");
        let start = desk.now;
        let mut inputs = decoder.feed(first, start);
        inputs.extend(decoder.feed(second, start + Duration::from_millis(gap)));
        inputs.extend(decoder.tick(start + Duration::from_millis(200)));
        inputs.into_iter().for_each(|input| desk.give(input));
        assert_eq!((desk.text(), desk.recorded.as_slice()), ("", &["draft".to_owned()][..]), "{first:?}");
    }
}

#[test]
fn an_exclamation_mark_runs_a_command() {
    let mut desk = desk();
    desk.press("!");
    assert!(desk.mode.is_shell_command());
    desk.press("<enter>");
    assert_eq!((desk.sent.len(), desk.text()), (0, "!"));
    desk.press(" ls -l<enter>");
    assert_eq!(desk.sent, [("!ls -l".to_owned(), Priority::Now)]);
    assert_eq!(desk.recorded, ["! ls -l"]);
}

fn commands() -> Vec<SlashCommand> {
    vec![
        SlashCommand::new("compact", "Summarise").with_argument_hint("<focus>"),
        SlashCommand::new("clear", "Begin anew").with_aliases(["reset"]),
        SlashCommand::new("context", "Show the window"),
    ]
}

#[test]
fn commands_are_completed_with_their_arguments() {
    let mut desk = desk();
    desk.mode.set_commands(&commands());
    desk.press("/");
    assert_eq!(desk.mode.menu().unwrap().rows(5).len(), 3);
    desk.press("com");
    let rows = desk.mode.menu().unwrap().rows(5);
    assert_eq!((rows[0].name.as_str(), rows[0].is_selected), ("/compact <focus>", true));
    desk.press("<enter>");
    assert_eq!((desk.text(), desk.sent.len()), ("/compact ", 0));
    assert_eq!(desk.mode.argument_hint(), Some("<focus>"));
    desk.press("the tests");
    assert_eq!(desk.mode.argument_hint(), None);
    desk.press("<enter>/clear<enter>/reset<enter>");
    let sent: Vec<&str> = desk.sent.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(sent, ["/compact the tests", "/clear", "/reset"]);
}

#[test]
fn the_menu_takes_only_its_own_keys() {
    let mut desk = desk();
    desk.mode.set_commands(&commands());
    desk.press("/c<down><esc>");
    assert!(desk.mode.menu().is_none());
    assert!(desk.actions.is_empty(), "{:?}", desk.actions);
    // The closed menu stays closed for the word, and opens for another one.
    desk.press("<left><right>");
    assert!(desk.mode.menu().is_none() || desk.text() == "/c");
    desk.press("l");
    assert!(desk.mode.menu().is_some());
    desk.press("<tab>");
    assert_eq!(desk.text(), "/clear ");
}

#[test]
fn mentions_are_searched_by_the_loop_and_late_answers_are_ignored() {
    let mut desk = desk();
    desk.press("see @m");
    let tickets: Vec<u64> = desk
        .actions
        .iter()
        .filter_map(|action| match action {
            InputAction::FindMentions { ticket, .. } => Some(*ticket),
            _ => None,
        })
        .collect();
    assert_eq!(tickets, [1, 2]);
    desk.mode.found(1, vec![CompletionCandidate::file("old.rs")]);
    assert!(desk.mode.menu().is_none());
    desk.mode.found(2, vec![CompletionCandidate::directory("mod"), CompletionCandidate::file("src/main.rs")]);
    desk.press("<down>");
    let selected = desk.mode.menu().unwrap().selected().unwrap().name.clone();
    desk.press("<tab>");
    assert_eq!(desk.text().trim_end(), format!("see @{selected}"));
    // With an empty menu Enter sends.
    desk.press("<enter>");
    assert_eq!(desk.sent.len(), 1);
}

#[test]
fn a_directory_is_completed_further() {
    let mut desk = desk();
    desk.press("@s");
    desk.mode.found(2, vec![CompletionCandidate::directory("src")]);
    desk.press("<tab>");
    assert_eq!(desk.text(), "@src/");
    let last = desk.actions.last().cloned();
    assert_eq!(last, Some(InputAction::FindMentions { ticket: 3, query: "src/".to_owned() }));
}

#[test]
fn up_moves_through_rows_and_then_through_the_history_and_back() {
    let mut desk = desk();
    desk.press("first<enter>second<enter>two<ctrl+j>rows");
    desk.press("<up>");
    assert_eq!(desk.text(), "two\nrows");
    desk.press("<up>");
    assert_eq!(desk.text(), "second");
    desk.press("<up><up>");
    assert_eq!(desk.text(), "first");
    desk.press("<down><down>");
    assert_eq!(desk.text(), "two\nrows");
    // Sending another entry keeps the text that was being written.
    desk.press("<ctrl+p> again<enter>");
    assert_eq!(desk.sent.last().unwrap().0, "second again");
    assert!(desk.recorded.contains(&"two\nrows".to_owned()));
}

#[test]
fn a_search_takes_a_match_without_sending_it() {
    let mut desk = desk();
    desk.press("fix the test<enter>other<enter>draft<ctrl+r>test");
    assert_eq!(desk.mode.search().unwrap().query(), "test");
    desk.press("<enter>");
    assert_eq!((desk.text(), desk.sent.len()), ("fix the test", 2));
    assert!(desk.recorded.contains(&"draft".to_owned()));
    // Without a match, or closed, the text stays.
    desk.press("<ctrl+r>nothing like it<enter>");
    assert_eq!(desk.text(), "fix the test");
    desk.press("<ctrl+r>other<esc>");
    assert_eq!(desk.text(), "fix the test");
    assert!(desk.mode.search().is_none());
    desk.press("<ctrl+r>o<ctrl+s>");
    assert_eq!(desk.mode.search().unwrap().scope(), crate::history::HistoryScope::Everywhere);
}

#[test]
fn a_megabyte_is_one_message() {
    let text = "line of text\n".repeat(80_000);
    let mut desk = desk();
    desk.give(TerminalInput::Paste(text.clone()));
    desk.press("<enter>");
    assert_eq!(desk.sent.len(), 1);
    assert!(desk.sent[0].0 == text);
}

#[test]
fn a_megabyte_of_bytes_is_one_message_with_and_without_brackets() {
    let text = "line \u{65e5}\n".repeat(120_000);
    let plain = text.replace('\n', "\r");
    let bracketed = format!("\x1b[200~{plain}\x1b[201~");
    for bytes in [plain, bracketed] {
        let (mut desk, mut decoder) = (desk(), crate::input::TerminalDecoder::default());
        let mut now = Duration::ZERO;
        for part in bytes.as_bytes().chunks(4096) {
            now += Duration::from_millis(1);
            decoder.feed(part, now).into_iter().for_each(|input| desk.give(input));
        }
        while let Some(deadline) = decoder.deadline() {
            now = deadline;
            decoder.tick(now).into_iter().for_each(|input| desk.give(input));
        }
        assert_eq!(desk.sent.len(), 0);
        decoder.feed(b"\r", now + Duration::from_secs(1)).into_iter().for_each(|input| desk.give(input));
        assert_eq!(desk.sent.len(), 1);
        assert!(desk.sent[0].0 == text);
    }
}

#[test]
fn closing_gives_everything_for_the_history_file() {
    let mut desk = Desk::running();
    desk.press("aside<ctrl+s>queued<tab>draft");
    let entries: Vec<String> = desk.mode.close().iter().map(|entry| entry.prompt.expanded()).collect();
    assert_eq!(entries, ["aside", "queued", "draft"]);
    assert_eq!(desk.mode.close(), []);
}

/// Actions of keys that remove text on purpose, or that bring removed text back.
fn removes(action: KeyAction) -> bool {
    let name = action.name();
    name.starts_with("delete") || name.starts_with("kill") || matches!(action, KeyAction::Undo | KeyAction::Redo)
}

#[derive(Debug, Clone)]
enum Step {
    Type,
    Paste(usize),
    Key(KeyAction),
    Run(bool),
    Found,
    Returned,
    Wait,
}

fn step() -> impl Strategy<Value = Step> {
    let actions: Vec<KeyAction> = KeyAction::ALL.iter().copied().filter(|action| !removes(*action)).collect();
    prop_oneof![
        6 => Just(Step::Type),
        1 => (1_usize..30).prop_map(Step::Paste),
        8 => prop::sample::select(actions).prop_map(Step::Key),
        1 => any::<bool>().prop_map(Step::Run),
        1 => Just(Step::Found),
        1 => Just(Step::Returned),
        1 => Just(Step::Wait),
    ]
}

proptest! {
    #[test]
    fn everything_written_is_in_the_draft_a_message_or_the_history(steps in prop::collection::vec(step(), 0..100)) {
        let mut desk = desk();
        desk.mode.set_commands(&commands());
        // Each character is another one, so that it can be found again.
        let mut next = (0x4e00..).filter_map(char::from_u32);
        let mut written = BTreeSet::new();
        for step in steps {
            match step {
                Step::Type => {
                    let c = next.next().unwrap();
                    written.insert(c);
                    desk.give(TerminalInput::Key(crate::keys::Key::char(c)));
                }
                Step::Paste(lines) => {
                    let text: String = (&mut next).take(lines).flat_map(|c| [c, '\n']).collect();
                    written.extend(text.chars().filter(|c| *c != '\n'));
                    desk.give(TerminalInput::Paste(text));
                }
                Step::Key(action) => {
                    let key = desk.mode.keymap().keys(action).next();
                    if let Some(key) = key {
                        desk.give(TerminalInput::Key(key));
                    }
                }
                Step::Run(is_running) => desk.mode.set_run(if is_running { RunActivity::Running } else { RunActivity::Idle }),
                Step::Found => desk.mode.found(desk.mode.ticket, vec![CompletionCandidate::file("a.rs")]),
                Step::Returned => {
                    let numbers: Vec<u64> = desk.mode.queue().all().iter().map(|message| message.number).collect();
                    desk.mode.returned(&numbers);
                }
                Step::Wait => desk.now += Duration::from_secs(5),
            }
            // Text of a search is no text of the prompt.
            if let Some(search) = desk.mode.search() {
                for c in search.query().chars() {
                    written.remove(&c);
                }
            }
            prop_assert!(desk.mode.composer().view(20, 5).rows.len() <= 5);
        }
        if desk.mode.search().is_some() {
            desk.press("<esc>");
        }
        desk.mode.set_run(RunActivity::Idle);
        desk.actions.clear();
        while !desk.text().is_empty() || !desk.actions.contains(&InputAction::Exit) {
            desk.press("<ctrl+c>");
        }
        let kept: BTreeSet<char> = desk.recorded.iter().chain(desk.sent.iter().map(|(text, _)| text)).flat_map(|text| text.chars()).collect();
        let lost: Vec<&char> = written.difference(&kept).collect();
        prop_assert!(lost.is_empty(), "lost {lost:?}");
    }
}
