//! Names whose addresses change between two lookups, and names that resolve to inside addresses at once: 200 cases, no
//! connection inside.

use std::net::SocketAddr;

use windlass_permission::network::AddressKind;

use crate::common::PUBLIC;
use crate::fetch::{World, answer, ok, world};

/// Addresses that are not public, one or two of each range.
const INSIDE: [&str; 40] = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.168.0.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:7f00:1",
    "64:ff9b::a00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001:0:7f00:1::",
    "2001:db8::1",
    "2002:7f00:1::",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
];

/// Way in which a name resolves to an inside address.
#[derive(Debug, Clone, Copy)]
enum Way {
    AtOnce,
    BesidePublic,
    AfterRedirect,
    AtSecondCall,
    AtFirstCallOnly,
}

const WAYS: [Way; 5] = [Way::AtOnce, Way::BesidePublic, Way::AfterRedirect, Way::AtSecondCall, Way::AtFirstCallOnly];

impl Way {
    /// Returns the answers of the name server, lookup after lookup.
    fn answers(self, inside: &str) -> Vec<Vec<&str>> {
        match self {
            Self::AtOnce => vec![vec![inside]],
            Self::BesidePublic => vec![vec![PUBLIC, inside]],
            Self::AfterRedirect | Self::AtSecondCall => vec![vec![PUBLIC], vec![inside]],
            Self::AtFirstCallOnly => vec![vec![inside], vec![PUBLIC]],
        }
    }

    /// Returns the number of times that two calls must have reached the public server.
    fn reached(self) -> usize {
        match self {
            Self::AtOnce | Self::BesidePublic => 0,
            Self::AfterRedirect | Self::AtSecondCall | Self::AtFirstCallOnly => 1,
        }
    }

    /// Returns the number of lookups by two calls, and of refused calls.
    fn asked_and_refused(self) -> (usize, usize) {
        match self {
            Self::AtOnce | Self::BesidePublic => (2, 2),
            Self::AfterRedirect => (3, 2),
            Self::AtSecondCall | Self::AtFirstCallOnly => (2, 1),
        }
    }

    async fn world(self) -> World {
        match self {
            Self::AfterRedirect => world(|_| answer("302 Found", "location: /next\r\n", "")).await,
            _ => world(|_| ok("text/plain", "public")).await,
        }
    }
}

#[tokio::test]
async fn two_hundred_names_lead_to_no_address_that_is_not_public() {
    let mut cases = 0;
    for inside in INSIDE {
        assert_ne!(AddressKind::of(inside.parse().unwrap()), AddressKind::Public, "{inside}");
        for way in WAYS {
            let world = way.world().await;
            let answers = way.answers(inside);
            let answers: Vec<&[&str]> = answers.iter().map(Vec::as_slice).collect();
            let network = world.network.clone().name("rebound.example.com", &answers);
            let first = world.text("https://rebound.example.com/a").await;
            let second = world.text("https://rebound.example.com/b").await;
            let refused =
                [&first, &second].iter().filter(|text| text.contains("has an address that is not public")).count();
            let expected: Vec<SocketAddr> = vec![format!("{PUBLIC}:443").parse().unwrap(); way.reached()];
            assert_eq!(world.pages.dialled(), expected, "{inside} {way:?}: {first} {second}");
            assert_eq!(world.seen.lock().unwrap().len(), way.reached(), "{inside} {way:?}");
            assert_eq!(
                (network.looked_up().len(), refused),
                way.asked_and_refused(),
                "{inside} {way:?}: {first} {second}"
            );
            cases += 1;
        }
    }
    assert_eq!(cases, 200);
}
