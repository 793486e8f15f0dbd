//! Test network, and servers on this machine behind it.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use windlass_web::Network;

/// Public address, behind which the server of a test listens.
pub(crate) const PUBLIC: &str = "93.184.216.34";

/// Network of names with the answers of their lookups, one after another; the last stays.
#[derive(Debug, Clone, Default)]
pub(crate) struct FakeNetwork(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    names: Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>,
    /// Server that gets the connections to public addresses.
    server: Mutex<Option<SocketAddr>>,
    looked_up: Mutex<Vec<String>>,
    dialled: Mutex<Vec<SocketAddr>>,
}

impl FakeNetwork {
    pub(crate) fn to(server: SocketAddr) -> Self {
        let network = Self::default();
        *network.0.server.lock().unwrap() = Some(server);
        network
    }

    pub(crate) fn name(self, name: &str, answers: &[&[&str]]) -> Self {
        let parse = |texts: &&[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        self.0.names.lock().unwrap().insert(name.to_owned(), answers.iter().map(parse).collect());
        self
    }

    pub(crate) fn dialled(&self) -> Vec<SocketAddr> {
        self.0.dialled.lock().unwrap().clone()
    }

    pub(crate) fn looked_up(&self) -> Vec<String> {
        self.0.looked_up.lock().unwrap().clone()
    }
}

#[async_trait]
impl Network for FakeNetwork {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.0.looked_up.lock().unwrap().push(name.to_owned());
        let mut names = self.0.names.lock().unwrap();
        let answers = names.get_mut(name).ok_or_else(|| io::Error::other("no such name"))?;
        let next = answers.pop_front().unwrap();
        if answers.is_empty() {
            answers.push_back(next.clone());
        }
        Ok(next)
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        self.0.dialled.lock().unwrap().push(address);
        let server = self.0.server.lock().unwrap().ok_or_else(|| io::Error::other("nothing listens"))?;
        TcpStream::connect(server).await
    }
}

/// Starts a server that reads each connection until a blank line, answers with the result of a function, and closes.
/// Returns its address, and all bytes that it has read.
pub(crate) async fn server(
    answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let read = Arc::new(Mutex::new(Vec::new()));
    let (answer, seen) = (Arc::new(answer), Arc::clone(&read));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
            tokio::spawn(async move {
                let text = read_head(&mut stream).await;
                seen.lock().unwrap().push(text.clone());
                let _ = stream.write_all(&answer(&text)).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    (address, read)
}

/// Reads until a blank line or the end.
pub(crate) async fn read_head(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => read.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&read).into_owned()
}
