//! Requests and signatures of the test suite that AWS publishes for its signing (aws-c-auth, Apache-2.0). Cases are
//! left out whose target the client's URL changes before it is sent, one that is signed in the way of S3, and folded
//! headers, which HTTP no longer has.

use super::*;

struct Vector {
    name: &'static str,
    request: (&'static str, &'static str),
    /// All but `host` and `x-amz-date`, which are the same for all.
    headers: &'static [(&'static str, &'static str)],
    body: &'static str,
    signature: &'static str,
}

const VECTORS: &[Vector] = &[
    Vector {
        name: "get-header-key-duplicate",
        request: ("GET", "/"),
        headers: &[("my-header1", "value2"), ("my-header1", "value2"), ("my-header1", "value1")],
        body: "",
        signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
    },
    Vector {
        name: "get-header-value-order",
        request: ("GET", "/"),
        headers: &[
            ("my-header1", "value4"),
            ("my-header1", "value1"),
            ("my-header1", "value3"),
            ("my-header1", "value2"),
        ],
        body: "",
        signature: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01",
    },
    Vector {
        name: "get-header-value-trim",
        request: ("GET", "/"),
        headers: &[("my-header1", " value1"), ("my-header2", " \"a   b   c\"")],
        body: "",
        signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
    },
    Vector {
        name: "get-space-unnormalized",
        request: ("GET", "/example space/"),
        headers: &[],
        body: "",
        signature: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741",
    },
    Vector {
        name: "get-unreserved",
        request: ("GET", "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
        headers: &[],
        body: "",
        signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
    },
    Vector {
        name: "get-utf8",
        request: ("GET", "/ሴ"),
        headers: &[],
        body: "",
        signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85",
    },
    Vector {
        name: "get-vanilla",
        request: ("GET", "/"),
        headers: &[],
        body: "",
        signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    },
    Vector {
        name: "get-vanilla-empty-query-key",
        request: ("GET", "/?Param1=value1"),
        headers: &[],
        body: "",
        signature: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb",
    },
    Vector {
        name: "get-vanilla-query",
        request: ("GET", "/"),
        headers: &[],
        body: "",
        signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    },
    Vector {
        name: "get-vanilla-query-order-encoded",
        request: ("GET", "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1"),
        headers: &[],
        body: "",
        signature: "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac",
    },
    Vector {
        name: "get-vanilla-query-order-key-case",
        request: ("GET", "/?Param2=value2&Param1=value1"),
        headers: &[],
        body: "",
        signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    },
    Vector {
        name: "get-vanilla-query-unreserved",
        request: (
            "GET",
            "/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        ),
        headers: &[],
        body: "",
        signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197",
    },
    Vector {
        name: "get-vanilla-with-session-token",
        request: ("GET", "/"),
        headers: &[("x-amz-security-token", "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267")],
        body: "",
        signature: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8",
    },
    Vector {
        name: "post-header-key-case",
        request: ("POST", "/"),
        headers: &[],
        body: "",
        signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    },
    Vector {
        name: "post-header-key-sort",
        request: ("POST", "/"),
        headers: &[("my-header1", "value1")],
        body: "",
        signature: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
    },
    Vector {
        name: "post-header-value-case",
        request: ("POST", "/"),
        headers: &[("my-header1", "VALUE1")],
        body: "",
        signature: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
    },
    Vector {
        name: "post-sts-header-before",
        request: ("POST", "/"),
        headers: &[(
            "x-amz-security-token",
            "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==",
        )],
        body: "",
        signature: "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
    },
    Vector {
        name: "post-vanilla",
        request: ("POST", "/"),
        headers: &[],
        body: "",
        signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    },
    Vector {
        name: "post-vanilla-empty-query-value",
        request: ("POST", "/?Param1=value1"),
        headers: &[],
        body: "",
        signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
    },
    Vector {
        name: "post-vanilla-query",
        request: ("POST", "/?Param1=value1"),
        headers: &[],
        body: "",
        signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
    },
    Vector {
        name: "post-x-www-form-urlencoded",
        request: ("POST", "/"),
        headers: &[
            ("content-type", "application/x-www-form-urlencoded"),
            ("content-length", "13"),
            ("x-amz-content-sha256", "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e"),
        ],
        body: "Param1=value1",
        signature: "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b",
    },
    Vector {
        name: "post-x-www-form-urlencoded-parameters",
        request: ("POST", "/"),
        headers: &[
            ("content-type", "application/x-www-form-urlencoded; charset=utf-8"),
            ("content-length", "13"),
            ("x-amz-content-sha256", "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e"),
        ],
        body: "Param1=value1",
        signature: "328d1b9eaadca9f5818ef05e8392801e091653bafec24fcab71e7344e7f51422",
    },
];

#[test]
fn signatures_are_those_of_the_test_suite_of_the_vendor() {
    let at = time(Timestamp::parse("2015-08-30T12:36:00Z").unwrap());
    assert_eq!(at, "20150830T123600Z");
    for vector in VECTORS {
        let mut headers: Vec<(&str, &[u8])> =
            vector.headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        headers.push(("x-amz-date", at.as_bytes()));
        headers.push(("host", b"example.amazonaws.com"));
        let signature = Signature::of(&Signed {
            method: vector.request.0,
            path_and_query: vector.request.1,
            headers,
            body: vector.body.as_bytes(),
            time: &at,
            region: "us-east-1",
            service: "service",
        });
        let header = signature.header("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
        let (before, found) = header.rsplit_once("Signature=").unwrap();
        assert_eq!(found, vector.signature, "{}", vector.name);
        assert!(
            before.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "),
            "{before}"
        );
    }
    assert!(VECTORS.len() > 15);
}

/// A path that is sent encoded is encoded once more for the signature.
#[test]
fn an_encoded_path_is_encoded_again() {
    let mut path = String::new();
    encode("/model/arn%3Aaws%2Fx/converse", &mut path);
    assert_eq!(path, "/model/arn%253Aaws%252Fx/converse");
}
