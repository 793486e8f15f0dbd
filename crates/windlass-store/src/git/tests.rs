use super::*;
use std::fs;

#[test]
fn branches_of_repositories_worktrees_and_detached_heads() {
    let root = tempfile::tempdir().unwrap();
    let repository = root.path().join("repository");
    let inside = repository.join("a/b");
    fs::create_dir_all(&inside).unwrap();
    fs::create_dir_all(repository.join(".git/worktrees/w")).unwrap();
    let head = repository.join(".git/HEAD");
    for (text, branch) in [
        ("ref: refs/heads/main\n", Some("main")),
        ("ref: refs/heads/feature/x y\n", Some("feature/x y")),
        ("ref:refs/heads/main", Some("main")),
        ("ref: refs/remotes/o/m\n", Some("refs/remotes/o/m")),
        ("0123456789abcdef0123456789abcdef01234567\n", Some("HEAD")),
        ("ref: \n", None),
        ("garbage", None),
        ("", None),
    ] {
        fs::write(&head, text).unwrap();
        assert_eq!(git_branch(&inside).as_deref(), branch, "{text:?}");
    }
    let worktree = root.path().join("worktree");
    fs::create_dir(&worktree).unwrap();
    fs::write(worktree.join(".git"), "gitdir: ../repository/.git/worktrees/w\n").unwrap();
    assert_eq!(git_branch(&worktree), None);
    fs::write(repository.join(".git/worktrees/w/HEAD"), "ref: refs/heads/side\n").unwrap();
    assert_eq!(git_branch(&worktree).as_deref(), Some("side"));
    fs::write(worktree.join(".git"), [0xff, 0xfe]).unwrap();
    assert_eq!(git_branch(&worktree), None);
}
