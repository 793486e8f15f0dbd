use super::*;

const VENDOR: Vendor = Vendor::new("KEY", "URL");

fn read(body: &str) -> (String, String, String) {
    let detail = OpenAiErrorDetail::read(body).unwrap();
    (detail.code().into_owned(), detail.param().into_owned(), detail.message().into_owned())
}

#[test]
fn errors_are_read_in_every_form() {
    for (body, code, param, message) in [
        (
            r#"{"error":{"message":"no","type":"invalid_request_error","param":"tools","code":null}}"#,
            "invalid_request_error",
            "tools",
            "no",
        ),
        (r#"{"error":{"message":"no","type":"a","code":"b"}}"#, "b", "", "no"),
        (r#"{"error":{"message":"no","code":429}}"#, "429", "", "no"),
        (r#"{"error":"no"}"#, "", "", "no"),
        (r#"{"type":"error","code":"server_error","message":"no","param":null}"#, "server_error", "", "no"),
        (r#"{"type":"error","error":{"type":"a","message":"no"}}"#, "a", "", "no"),
        (r#"{"error":{"message":{"deep":1}}}"#, "", "", r#"{"deep":1}"#),
    ] {
        assert_eq!(read(body), (code.to_owned(), param.to_owned(), message.to_owned()), "{body}");
    }
    for body in ["", "<html>", "[]", "{}", r#"{"detail":"Not Found"}"#] {
        assert!(OpenAiErrorDetail::read(body).is_none(), "{body}");
    }
}

#[test]
fn a_body_of_another_kind_is_repeated() {
    let error = from_answer(&VENDOR, 404, &HeaderMap::new(), r#"{"detail":"Not Found"}"#, &Secrets::default());
    assert_eq!((error.kind, error.status), (ModelErrorKind::NotFound, Some(404)));
    assert!(error.message.contains("Not Found") && error.message.contains("URL"), "{error}");
}
