//! Classification of addresses: public ones of other people's machines, and all others.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Kind of an IP address. An address that the internet registries do not list as public is
/// [`Forbidden`](Self::Forbidden).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressKind {
    /// A machine on the internet.
    Public,
    /// This machine or one of its own network: loopback, private, shared and unique local addresses.
    Private,
    /// Never a server that a page or a package is read from: link-local addresses with the metadata services of clouds,
    /// multicast, documentation, benchmarks, tunnels, reserved ranges.
    Forbidden,
}

impl AddressKind {
    /// Returns the kind of an address. An IPv6 address that carries an IPv4 address to which it is translated (mapped,
    /// NAT64) is of the kind of that one, but never private through a translator.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => v4(address),
            IpAddr::V6(address) => v6(address),
        }
    }
}

/// Networks of IPv4 that are not public, as address and length of the prefix.
const V4: &[(u32, u32, AddressKind)] = &[
    (0x0000_0000, 8, AddressKind::Forbidden), // this network
    (0x0a00_0000, 8, AddressKind::Private),
    (0x6440_0000, 10, AddressKind::Private), // shared by customers of a provider
    (0x7f00_0000, 8, AddressKind::Private),  // loopback
    (0xa83f_8110, 32, AddressKind::Forbidden), // the platform service of a cloud
    (0xa9fe_0000, 16, AddressKind::Forbidden), // link-local, metadata of clouds
    (0xac10_0000, 12, AddressKind::Private),
    (0xc000_0000, 24, AddressKind::Forbidden), // protocol assignments
    (0xc000_0200, 24, AddressKind::Forbidden), // documentation
    (0xc034_c100, 24, AddressKind::Forbidden), // multicast tunnels
    (0xc058_6300, 24, AddressKind::Forbidden), // relays of 6to4
    (0xc0a8_0000, 16, AddressKind::Private),
    (0xc612_0000, 15, AddressKind::Forbidden), // benchmarks
    (0xc633_6400, 24, AddressKind::Forbidden), // documentation
    (0xcb00_7100, 24, AddressKind::Forbidden), // documentation
    (0xe000_0000, 3, AddressKind::Forbidden),  // multicast, reserved, broadcast
];

/// Networks inside 2000::/3, the only public part of IPv6, that are not public.
const V6: &[(u128, u32)] = &[
    (0x2001_0000 << 96, 23), // protocol assignments: Teredo, benchmarks, ORCHID
    (0x2001_0db8 << 96, 32), // documentation
    (0x2002_0000 << 96, 16), // 6to4
    (0x3fff_0000 << 96, 20), // documentation
];

/// The networks of which an address has the last 32 bits of an IPv4 address: mapped, and translated by NAT64.
const MAPPED: u128 = 0xffff << 32;
const NAT64: u128 = 0x0064_ff9b << 96;

fn v4(address: Ipv4Addr) -> AddressKind {
    let bits = address.to_bits();
    let inside = |(network, length, _): &&(u32, u32, AddressKind)| (bits ^ network) >> (32 - length) == 0;
    V4.iter().find(inside).map_or(AddressKind::Public, |(.., kind)| *kind)
}

fn v6(address: Ipv6Addr) -> AddressKind {
    let bits = address.to_bits();
    let has = |network: u128, length: u32| (bits ^ network) >> (128 - length) == 0;
    if has(MAPPED, 96) {
        return v4(embedded(bits));
    }
    if has(NAT64, 96) {
        // A private address behind a translator is one of its network, not of ours.
        return match v4(embedded(bits)) {
            AddressKind::Public => AddressKind::Public,
            _ => AddressKind::Forbidden,
        };
    }
    if bits == 1 || has(0xfc << 120, 7) {
        return AddressKind::Private;
    }
    // The identifier of an interface that tunnels over IPv4 inside a site.
    let is_isatap = (bits >> 32) as u32 & 0xfdff_ffff == 0x5efe;
    let is_public = has(0x2 << 124, 3) && !is_isatap && !V6.iter().any(|(network, length)| has(*network, *length));
    if is_public { AddressKind::Public } else { AddressKind::Forbidden }
}

/// Returns the last 32 bits.
fn embedded(bits: u128) -> Ipv4Addr {
    Ipv4Addr::from_bits((bits & u128::from(u32::MAX)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_has_its_kind() {
        use AddressKind::{Forbidden, Private, Public};
        for (text, expected) in [
            ("1.1.1.1", Public),
            ("9.255.255.255", Public),
            ("11.0.0.0", Public),
            ("100.63.255.255", Public),
            ("100.128.0.0", Public),
            ("172.15.255.255", Public),
            ("172.32.0.0", Public),
            ("198.17.255.255", Public),
            ("198.20.0.0", Public),
            ("223.255.255.255", Public),
            ("10.0.0.1", Private),
            ("100.64.0.1", Private),
            ("100.100.100.200", Private),
            ("127.0.0.1", Private),
            ("127.255.255.254", Private),
            ("172.16.0.1", Private),
            ("172.31.255.255", Private),
            ("192.168.1.1", Private),
            ("0.0.0.0", Forbidden),
            ("0.1.2.3", Forbidden),
            ("168.63.129.16", Forbidden),
            ("169.254.169.254", Forbidden),
            ("192.0.0.192", Forbidden),
            ("192.0.2.1", Forbidden),
            ("192.88.99.1", Forbidden),
            ("198.18.0.1", Forbidden),
            ("198.19.255.255", Forbidden),
            ("198.51.100.7", Forbidden),
            ("203.0.113.7", Forbidden),
            ("224.0.0.1", Forbidden),
            ("240.0.0.1", Forbidden),
            ("255.255.255.255", Forbidden),
            ("2606:4700::1111", Public),
            ("2a00:1450:4001::1", Public),
            ("::ffff:1.1.1.1", Public),
            ("64:ff9b::1.1.1.1", Public),
            ("::1", Private),
            ("fc00::1", Private),
            ("fd00:ec2::254", Private),
            ("::ffff:127.0.0.1", Private),
            ("::ffff:10.0.0.1", Private),
            ("::ffff:169.254.169.254", Forbidden),
            ("::", Forbidden),
            ("::127.0.0.1", Forbidden),
            ("::ffff:0:127.0.0.1", Forbidden),
            ("64:ff9b::127.0.0.1", Forbidden),
            ("64:ff9b::10.0.0.1", Forbidden),
            ("64:ff9b:1::1.1.1.1", Forbidden),
            ("100::1", Forbidden),
            ("2001::1", Forbidden),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", Forbidden),
            ("2001:2::1", Forbidden),
            ("2001:db8::1", Forbidden),
            ("2002:7f00:1::", Forbidden),
            ("2606:4700::5efe:127.0.0.1", Forbidden),
            ("2606:4700::200:5efe:127.0.0.1", Forbidden),
            ("3fff::1", Forbidden),
            ("5f00::1", Forbidden),
            ("fe80::1", Forbidden),
            ("fec0::1", Forbidden),
            ("ff02::1", Forbidden),
        ] {
            assert_eq!(AddressKind::of(text.parse().unwrap()), expected, "{text}");
        }
    }
}
