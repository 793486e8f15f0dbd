//! [`LocalWorkspace`] keeps what a workspace promises.

use windlass_testkit::workspace::{self, LocalFiles};
use windlass_tools::LocalWorkspace;

#[tokio::test]
async fn local_files_keep_every_promise() {
    let folder = tempfile::tempdir().unwrap();
    workspace::all(&LocalWorkspace::new(), &LocalFiles::new(folder.path()).unwrap()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn local_files_keep_every_promise_on_many_threads() {
    let folder = tempfile::tempdir().unwrap();
    workspace::all(&LocalWorkspace::new(), &LocalFiles::new(folder.path()).unwrap()).await.unwrap();
}
