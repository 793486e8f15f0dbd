//! [`LocalWorkspace`] keeps what a workspace promises.

use windlass_local::LocalWorkspace;
use windlass_testkit::workspace::{self, LocalFiles};

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
