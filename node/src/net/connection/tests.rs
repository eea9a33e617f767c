//! When the node may get a further frame of a connection.

use bytes::Bytes;
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// Our side, and the other, which nobody reads.
async fn connection(opener: Opener) -> (Connection, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (other, accepted) =
        tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
    (Connection::new(ConnId(2), opener, accepted.unwrap().0), other.unwrap())
}

/// Sends until the socket takes no more.
fn fill(connection: &Connection) {
    while !connection.has_pending() {
        connection.send(&[Bytes::from(vec![0; 1 << 20])]);
    }
}

#[tokio::test]
async fn few_frames_of_one_connection_wait_for_the_node() {
    let (connection, _other) = connection(Opener::Peer).await;
    for _ in 0..MAX_DELIVERED {
        assert!(connection.has_room());
        connection.deliver_one();
    }
    assert!(!connection.has_room());
    connection.taken();
    assert!(connection.has_room());
}

#[tokio::test]
async fn one_who_does_not_read_the_answers_is_asked_no_further() {
    let (connection, _other) = connection(Opener::Peer).await;
    fill(&connection);
    assert!(!connection.has_room());
}

#[tokio::test]
async fn answers_to_the_node_are_read_while_it_still_asks() {
    let (connection, _other) = connection(Opener::Node).await;
    fill(&connection);
    assert!(connection.has_room());
}

#[tokio::test]
async fn a_paused_connection_has_no_room() {
    let (connection, _other) = connection(Opener::Peer).await;
    connection.set_paused(true);
    assert!(!connection.has_room());
}
