//! Loading of a page from its address.

use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};

use windlass_http::{HttpBody, HttpError, HttpErrorKind, HttpRequest, HttpResponse};
use windlass_permission::network::{NetworkPolicy, Permission, Target, Verdict};
use windlass_tool::ToolError;

use super::FetchOptions;
use super::decode::Inflate;
use super::url::PageUrl;

/// Outcome of loading an address.
#[derive(Debug)]
pub(super) enum LoadedPage {
    Page(RawPage),
    /// The page has moved to another host, which has not been judged.
    Elsewhere(PageUrl),
}

/// Page as it was received.
#[derive(Debug)]
pub(super) struct RawPage {
    pub(super) url: PageUrl,
    pub(super) status: u16,
    pub(super) content_type: Option<String>,
    /// Decompressed body.
    pub(super) bytes: Vec<u8>,
    /// `true` if the body was longer.
    pub(super) is_cut: bool,
}

/// Requests a page. Redirects on the same host are followed, each judged anew.
pub(super) async fn load(options: &FetchOptions, url: PageUrl) -> Result<LoadedPage, ToolError> {
    let mut url = url;
    for _ in 0..=options.max_redirects {
        let response = request(options, &url).await?;
        let Some(location) = redirection(&response) else {
            return read(options, url, response).await.map(LoadedPage::Page);
        };
        let next = url.redirected(location, &options.policy)?;
        if next.target() != url.target() {
            return Ok(LoadedPage::Elsewhere(next));
        }
        url = next;
    }
    Err(ToolError::rejected(format!("{} redirects too often.", url.as_str())))
}

/// Returns the target of a redirect.
fn redirection(response: &HttpResponse) -> Option<&str> {
    matches!(response.status(), 301 | 302 | 303 | 307 | 308).then(|| response.header("location"))?
}

/// Judges, looks up, checks, and requests one address.
async fn request(options: &FetchOptions, url: &PageUrl) -> Result<HttpResponse, ToolError> {
    let target = url.target();
    let permission = judge(&options.policy, target)?;
    let addresses = if options.transport.is_proxied(url.as_str()) {
        Vec::new()
    } else {
        checked(options, target, &permission).await?
    };
    let request = HttpRequest::get(url.as_str())
        .with_header(
            "accept",
            "text/markdown, text/html, application/xhtml+xml, text/plain, application/json, */*;q=0.5",
        )
        .with_header("accept-encoding", "gzip");
    options.transport.send(request, &addresses).await.map_err(|error| unreachable(target, error))
}

/// Returns the decision of the policy before a name is looked up.
pub(super) fn judge(policy: &NetworkPolicy, target: &Target) -> Result<Permission, ToolError> {
    match policy.judge(target) {
        Verdict::Allowed(permission) => Ok(permission),
        Verdict::Denied(why) => Err(ToolError::rejected(format!("The page is not requested: {why}."))),
        Verdict::Undecided if target.port() == 443 => Ok(Permission::of_public()),
        Verdict::Undecided => Err(ToolError::rejected(format!(
            "The page is not requested: {target} is not on the usual port, and no entry of the network policy allows it."
        ))),
    }
}

/// Returns the addresses of a target, all of them checked.
async fn checked(
    options: &FetchOptions,
    target: &Target,
    permission: &Permission,
) -> Result<Vec<SocketAddr>, ToolError> {
    let found: Vec<IpAddr> = match target.address() {
        Some(address) => vec![address],
        None => options.network.lookup(target.host()).await.map_err(|error| {
            ToolError::rejected(format!("The name {} cannot be looked up.", target.host())).with_source(error)
        })?,
    };
    if found.is_empty() {
        return Err(ToolError::rejected(format!("The name {} has no address.", target.host())));
    }
    if !permission.may_dial_all(&found) {
        let why = format!("The page is not requested: {} has an address that is not public.", target.host());
        return Err(ToolError::rejected(why));
    }
    Ok(found.into_iter().map(|address| SocketAddr::new(address, target.port())).collect())
}

fn unreachable(target: &Target, error: HttpError) -> ToolError {
    let what = match error.kind() {
        HttpErrorKind::Timeout => "does not answer in time",
        HttpErrorKind::Configuration => return ToolError::rejected(error.to_string()),
        _ => "cannot be reached",
    };
    ToolError::rejected(format!("{target} {what}: {error}")).with_source(error)
}

/// Reads a body up to the limit, and no further.
async fn read(options: &FetchOptions, url: PageUrl, response: HttpResponse) -> Result<RawPage, ToolError> {
    let content_type = response.header("content-type").map(str::to_owned);
    let status = response.status();
    let mut inflate = Inflate::of(response.header("content-encoding"), options.max_bytes)?;
    let mut body: HttpBody = response.into_body();
    let broken = |error: HttpError| unreachable(url.target(), error);
    while let Some(chunk) = poll_fn(|cx| body.as_mut().poll_next(cx)).await.transpose().map_err(broken)? {
        if !inflate.add(&chunk)? {
            break;
        }
    }
    let (bytes, is_cut) = inflate.finish()?;
    Ok(RawPage { url, status, content_type, bytes, is_cut })
}
