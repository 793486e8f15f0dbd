use super::OutputKind;
use crate::analyse;

/// Returns the outputs of all commands of a text, each once: arguments with one question mark, guesses with two.
fn outputs(text: &str) -> Vec<String> {
    let analysis = analyse(text);
    let all = analysis.found().iter().flat_map(crate::FoundCommand::outputs);
    let mut named: Vec<String> = Vec::new();
    for output in all {
        let mark = match output.kind {
            OutputKind::Written => "",
            OutputKind::Argument => "?",
            OutputKind::Guess => "??",
        };
        let name = format!("{}{mark}", output.path);
        if !named.contains(&name) {
            named.push(name);
        }
    }
    named
}

#[test]
fn options_name_outputs_in_every_spelling() {
    for (text, expected) in [
        ("sort -o x y", "x"),
        ("sort -ox y", "x"),
        ("sort -ro x y", "x"),
        ("sort -rox y", "x"),
        ("sort --output=x y", "x"),
        ("sort --output x y", "x"),
        ("sort --outp=x y", "x"),
        ("sort --o x y", "x"),
        ("sort -t o -k 1 y", ""),
        ("sort -to -k1 y", ""),
        ("timeout 5 sort -ox y", "x"),
        ("bash -c 'sort -ox y'", "x"),
        ("find . -exec sort -ox {} \\;", "x"),
        ("shuf -n5 -ox y", "x"),
        ("tree -Jo x", "x"),
        ("iconv -f a -ox y", "x"),
        ("tar -Cd -xf a", "d a"),
        ("tar -xfa -Cd", "a d"),
        ("tar --directory=d -x", "d"),
        ("tar --dir d -x", "d"),
        ("unzip -dd a.zip", "d"),
        ("7z x -od a", "d"),
        ("curl -ox u", "x"),
        ("curl -sSfLo x u", "x"),
        ("curl --output x u", "x"),
        ("curl -O http://h/a/.bashrc?x", ".bashrc"),
        ("curl -sO --output-dir d http://h/a", "d a d/a"),
        ("curl -H 'o: x' u", ""),
        ("curl -Dx -cy u", "x y"),
        ("wget -Ox u", "x"),
        ("wget -qO- http://h/a", ""),
        ("wget -q --output-document=x http://h/a", "x"),
        ("wget -q http://h/a", "a"),
        ("wget -P d -i - http://h/a", "d a d/a"),
        ("curl --remote-name-all http://h/a http://h/b", "a b"),
        ("wget -P d http://h/a", "d a d/a"),
        ("wget http://h/.npmrc", ".npmrc"),
        ("find . -fprint x", "x"),
        ("find . -name a -fprintf x %p", "x"),
        ("find . -fls x -print", "x"),
        ("gcc -ox y.c", "x"),
        ("gcc -c y.c -MF x", "x"),
        ("go build -o x", "x"),
        ("go test -coverprofile=x", "x"),
        ("openssl req -out x", "x"),
        ("patch -or -i p", "r"),
        ("cp -td a", "d"),
        ("less -ox y", "x"),
        ("sort -o /dev/null y", ""),
        ("ls -la", ""),
        ("aria2c http://h/.bashrc", ".bashrc"),
        ("aria2c -o x http://h/a", "x"),
        ("go test --coverprofile x", "x"),
        ("openssl req --nodes x", ""),
    ] {
        let expected: Vec<&str> = expected.split(' ').filter(|path| !path.is_empty()).collect();
        assert_eq!(outputs(text), expected, "{text}");
    }
}

#[test]
fn git_names_outputs() {
    for (text, expected) in [
        ("git log --output=x", "x"),
        ("git log --output x", "x"),
        ("git diff --outp=x", "x"),
        ("git diff --o x", "x"),
        ("git log -U --output=x", "x"),
        ("git -C d diff --output=x", "d/x"),
        ("git -C d -C e diff --output x", "d/e/x"),
        ("git -C d diff --output=/x", "/x"),
        ("git -c a.b=c --git-dir e show --output=x", "x"),
        ("git format-patch -o d HEAD~1", "d"),
        ("git format-patch -od HEAD~1", "d"),
        ("git format-patch -ko d HEAD~1", "d"),
        ("git format-patch --output-d=d HEAD~1", "d"),
        ("git archive -ox HEAD", "x"),
        ("git bundle create x HEAD", "x"),
        ("git worktree add d", "d"),
        ("git clone u d", "d"),
        ("git read-tree --index-output=x HEAD", "x"),
        ("git apply --directory=d p", "d"),
        ("git log --oneline -5", ""),
        ("git show HEAD", ""),
        ("git grep -o x", ""),
        ("git --no-pager format-patch -o d HEAD~1", "d"),
        ("git --no-pager clone u d", "d"),
        ("git clone --separate-git-dir g u d", "g d"),
        ("git clone --separate-git-dir=g u d", "g d"),
        ("git bundle verify x", ""),
        ("git worktree list d", ""),
    ] {
        let expected: Vec<&str> = expected.split(' ').filter(|path| !path.is_empty()).collect();
        assert_eq!(outputs(text), expected, "{text}");
    }
}

#[test]
fn texts_in_other_languages_name_outputs() {
    for (text, expected) in [
        ("sed -n 'w x' y", "x"),
        ("sed '/a/w x' y", "x"),
        ("sed 's/a/b/w x' y", "x"),
        ("sed 's/a/b/gw x' y", "x"),
        ("sed -e p -e 'w x' y", "x"),
        ("sed -ne'w x' y", "x"),
        ("sed --expr='1w x' y", "x"),
        ("awk '{print > \"x\"}' y", "x"),
        ("awk '{print >> \"x\"}' y", "x"),
        ("awk '{print>\"x\"; print \"z\" > f}' y", "x z?"),
        ("python3 -c 'open(\"x\",\"w\")'", "x? w?"),
        ("node -e \"fs.writeFileSync('d/x')\"", "d/x?"),
        ("perl -e 'unlink a/b'", "a/b??"),
        ("perl -ne 'print unless /\\.git/'", "/??"),
        ("gcc -Id/e x.c", "d/e? /e??"),
        ("prog -od/e", "d/e? /e??"),
        ("prog -ab.x", "b.x? .x??"),
        ("sed 's/show me/x/' y", ""),
        ("awk '{print \"a/b\"}' y", ""),
        ("sed --quiet -e 'w x' y", "x"),
        ("sed y --expression 'w x'", "x"),
        ("sed y --expr 'w x'", "x"),
        ("python3 -c 'print(\"a b\")'", ""),
        // The surer of two finds is reported as well.
        ("awk -e '{f = \"x\"}' -e '{print > \"x\"}' y", "x? x"),
    ] {
        let expected: Vec<&str> = expected.split(' ').filter(|path| !path.is_empty()).collect();
        assert_eq!(outputs(text), expected, "{text}");
    }
}

#[test]
fn each_output_is_named_once() {
    for text in ["sort -o x -o x y", "wget -O x http://h/a -O x", "python3 -c 'f(\"x\"); g(\"x\")'"] {
        let analysis = analyse(text);
        let paths: Vec<String> = analysis.found()[0].outputs().into_iter().map(|output| output.path).collect();
        assert_eq!(paths, ["x"], "{text}");
    }
}

#[test]
fn an_address_is_joined_with_so_many_directories() {
    for (directories, joined) in [(63, 63), (64, 64), (70, 64)] {
        let options: String = (0..directories).map(|at| format!(" -P d{at}")).collect();
        let named = outputs(&format!("wget{options} http://h/a"));
        assert_eq!(named.len(), directories + 1 + joined, "{directories}");
    }
}
