//! An OAuth 2 server as scenarios need one: tokens by client credentials, password, authorization code
//! and single-use refresh tokens; introspection, revocation, discovery, keys, user info.
//!
//! Tokens are opaque and come from the seed, so equal runs give equal tokens in the order of their
//! requests. No token is signed, so there is no `id_token`; the key that is published is the public
//! example of RFC 7517 and signs nothing. At most [`TOKENS_MAX`] are remembered: the oldest is
//! forgotten first, and then unknown.

use std::collections::{HashMap, VecDeque};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use stats::random::Random;

use super::{Ask, Said, ask::decoded};
use crate::ledger::Outcome;
use crate::script::{OAuth, OAuthPart};

/// Most tokens and codes that are remembered.
const TOKENS_MAX: usize = 100_000;
/// Makes the tokens' random numbers a sequence of their own.
const TOKEN_SEED: u64 = 0x746f_6b65_6e73_0001;

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Access,
    Refresh,
    Code,
}

#[derive(Debug, Clone)]
struct Token {
    what: Use,
    client: String,
    user: Option<String>,
    /// Where a code was sent.
    redirect: Option<String>,
    expires_ns: u64,
    /// A single-use one was used, or it was revoked.
    spent: bool,
    revoked: bool,
}

/// The server and its tokens.
#[derive(Debug)]
pub(super) struct Server {
    family: OAuth,
    tokens: HashMap<String, Token>,
    order: VecDeque<String>,
    random: Random,
}

impl Server {
    pub(super) fn new(mut family: OAuth, address: &str, seed: u64) -> Self {
        if family.issuer.is_empty() {
            family.issuer = format!("http://{address}{}", family.path);
        }
        let random = Random::seeded(seed ^ TOKEN_SEED);
        Self { family, tokens: HashMap::new(), order: VecDeque::new(), random }
    }

    pub(super) fn answer(&mut self, part: OAuthPart, ask: &Ask<'_>, now_ns: u64) -> Said {
        match part {
            OAuthPart::Token => self.token(ask, now_ns),
            OAuthPart::Introspect => self.introspect(ask, now_ns),
            OAuthPart::Revoke => self.revoke(ask),
            OAuthPart::Authorize => self.authorize(ask, now_ns),
            OAuthPart::UserInfo => self.user_info(ask, now_ns),
            OAuthPart::Keys => Said::json(200, &keys(), Outcome::Served),
            OAuthPart::Discovery => Said::json(200, &self.discovery(), Outcome::Served),
        }
    }

    fn token(&mut self, ask: &Ask<'_>, now_ns: u64) -> Said {
        let Some(client) = self.client(ask) else { return refused_client() };
        match ask.field("grant_type").as_deref() {
            Some("client_credentials") => self.grant(&client, None, false, now_ns),
            Some("password") => {
                let (name, password) = (ask.field("username"), ask.field("password"));
                let known = self.family.users.iter().find(|(known, secret)| {
                    Some(known.as_str()) == name.as_deref()
                        && Some(secret.as_str()) == password.as_deref()
                });
                match known.map(|(name, _)| name.clone()) {
                    Some(user) => self.grant(&client, Some(user), true, now_ns),
                    None => refused("invalid_grant", Outcome::Denied),
                }
            }
            Some("authorization_code") => {
                let redirect = ask.field("redirect_uri").map(std::borrow::Cow::into_owned);
                match ask.field("code") {
                    Some(code) => self.exchange(&code, Use::Code, &client, redirect, now_ns),
                    None => refused("invalid_request", Outcome::Denied),
                }
            }
            Some("refresh_token") => match ask.field("refresh_token") {
                Some(token) => self.exchange(&token, Use::Refresh, &client, None, now_ns),
                None => refused("invalid_request", Outcome::Denied),
            },
            Some(_) => refused("unsupported_grant_type", Outcome::Denied),
            None => refused("invalid_request", Outcome::Denied),
        }
    }

    /// Takes a single-use token or code for new ones.
    fn exchange(
        &mut self,
        text: &str,
        what: Use,
        client: &str,
        redirect: Option<String>,
        now_ns: u64,
    ) -> Said {
        let token = self.tokens.get_mut(text);
        let fits = |token: &&mut Token| {
            token.what == what && token.client == client && token.redirect == redirect
        };
        let Some(token) = token.filter(fits) else {
            return refused("invalid_grant", Outcome::Denied);
        };
        if token.spent {
            return refused("invalid_grant", Outcome::Reused);
        }
        if token.revoked || token.expires_ns <= now_ns {
            return refused("invalid_grant", Outcome::Denied);
        }
        token.spent = true;
        let user = token.user.clone();
        self.grant(client, user, true, now_ns)
    }

    fn grant(&mut self, client: &str, user: Option<String>, refresh: bool, now_ns: u64) -> Said {
        let mut token = Token {
            what: Use::Access,
            client: client.to_owned(),
            user,
            redirect: None,
            expires_ns: now_ns.saturating_add(self.family.lifetime_ns),
            spent: false,
            revoked: false,
        };
        let mut body = json!({
            "access_token": self.issue(token.clone()),
            "token_type": "Bearer",
            "expires_in": self.family.lifetime_ns / 1_000_000_000,
        });
        if refresh {
            token.what = Use::Refresh;
            // It outlives what it renews.
            token.expires_ns = u64::MAX;
            body["refresh_token"] = Value::String(self.issue(token));
        }
        let mut said = Said::json(200, &body, Outcome::Served);
        said.headers.push(("Cache-Control", "no-store".to_owned()));
        said
    }

    fn issue(&mut self, token: Token) -> String {
        if self.order.len() == TOKENS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.tokens.remove(&oldest);
        }
        let text = format!("{:016x}{:016x}", self.random.bits(), self.random.bits());
        self.order.push_back(text.clone());
        self.tokens.insert(text.clone(), token);
        text
    }

    fn introspect(&self, ask: &Ask<'_>, now_ns: u64) -> Said {
        if self.client(ask).is_none() {
            return refused_client();
        }
        let token = ask.field("token").and_then(|text| self.tokens.get(text.as_ref()));
        let live = |token: &&Token| !token.spent && !token.revoked && token.expires_ns > now_ns;
        let body = match token.filter(live).filter(|token| token.what != Use::Code) {
            None => json!({ "active": false }),
            Some(token) => {
                let subject = token.user.as_ref().unwrap_or(&token.client);
                json!({ "active": true, "client_id": token.client, "sub": subject,
                        "token_type": "Bearer" })
            }
        };
        Said::json(200, &body, Outcome::Served)
    }

    fn revoke(&mut self, ask: &Ask<'_>) -> Said {
        let Some(client) = self.client(ask) else { return refused_client() };
        let text = ask.field("token").unwrap_or_default();
        // A token that is not there is revoked already (RFC 7009, section 2.2).
        if let Some(token) = self.tokens.get_mut(text.as_ref()).filter(|t| t.client == client) {
            token.revoked = true;
        }
        Said { status: 200, headers: Vec::new(), body: Vec::new(), outcome: Outcome::Served }
    }

    /// Sends the client back with a code at once, for the user of `login_hint` or the first.
    fn authorize(&mut self, ask: &Ask<'_>, now_ns: u64) -> Said {
        let client = ask.parameter("client_id").unwrap_or_default();
        let known = self.family.clients.iter().any(|(id, _)| *id == client);
        let hint = ask.parameter("login_hint");
        let mut users = self.family.users.iter().map(|(name, _)| name);
        let user = match hint.as_deref() {
            Some(hint) => users.find(|name| *name == hint),
            None => users.next(),
        };
        let redirect = ask.parameter("redirect_uri").filter(|uri| {
            uri.len() <= 2_048 && uri.contains("://") && !uri.chars().any(char::is_control)
        });
        let code_is_asked = ask.parameter("response_type").as_deref() == Some("code");
        let (true, true, Some(user), Some(redirect)) = (known, code_is_asked, user, redirect)
        else {
            return refused("invalid_request", Outcome::Denied);
        };
        let code = self.issue(Token {
            what: Use::Code,
            client: client.into_owned(),
            user: Some(user.clone()),
            redirect: Some(redirect.clone().into_owned()),
            expires_ns: now_ns.saturating_add(600_000_000_000),
            spent: false,
            revoked: false,
        });
        let joint = if redirect.contains('?') { '&' } else { '?' };
        // As it was sent: it is encoded already.
        let state = ask
            .query
            .split('&')
            .find(|pair| pair.starts_with("state="))
            .map_or(String::new(), |pair| format!("&{pair}"));
        let location = format!("{redirect}{joint}code={code}{state}");
        Said {
            status: 302,
            headers: vec![("Location", location)],
            body: Vec::new(),
            outcome: Outcome::Served,
        }
    }

    fn user_info(&self, ask: &Ask<'_>, now_ns: u64) -> Said {
        let text = ask.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let token = text.and_then(|text| self.tokens.get(text.trim())).filter(|token| {
            token.what == Use::Access && !token.revoked && token.expires_ns > now_ns
        });
        match token {
            Some(token) => {
                let subject = token.user.as_ref().unwrap_or(&token.client);
                Said::json(200, &json!({ "sub": subject }), Outcome::Served)
            }
            None => {
                let mut said =
                    Said::json(401, &json!({ "error": "invalid_token" }), Outcome::Denied);
                let challenge = "Bearer error=\"invalid_token\"".to_owned();
                said.headers.push(("WWW-Authenticate", challenge));
                said
            }
        }
    }

    /// The client that a request proves to be, by the `Basic` scheme or in its form.
    fn client(&self, ask: &Ask<'_>) -> Option<String> {
        let basic = ask.header("authorization").and_then(|value| value.strip_prefix("Basic "));
        let (id, secret) = match basic {
            Some(text) => {
                let text = String::from_utf8(STANDARD.decode(text.trim()).ok()?).ok()?;
                let (id, secret) = text.split_once(':')?;
                (decoded(id).into_owned(), decoded(secret).into_owned())
            }
            None => (
                ask.field("client_id")?.into_owned(),
                ask.field("client_secret").unwrap_or_default().into_owned(),
            ),
        };
        self.family.clients.iter().any(|known| *known == (id.clone(), secret.clone())).then_some(id)
    }

    fn discovery(&self) -> Value {
        let issuer = &self.family.issuer;
        let at = |tail: &str| format!("{issuer}{tail}");
        json!({
            "issuer": issuer,
            "authorization_endpoint": at("/authorize"),
            "token_endpoint": at("/token"),
            "introspection_endpoint": at("/introspect"),
            "revocation_endpoint": at("/revoke"),
            "userinfo_endpoint": at("/userinfo"),
            "jwks_uri": at("/jwks"),
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
            "grant_types_supported":
                ["authorization_code", "client_credentials", "password", "refresh_token"],
        })
    }
}

fn refused(error: &str, outcome: Outcome) -> Said {
    Said::json(400, &json!({ "error": error }), outcome)
}

fn refused_client() -> Said {
    let mut said = Said::json(401, &json!({ "error": "invalid_client" }), Outcome::Denied);
    said.headers.push(("WWW-Authenticate", "Basic".to_owned()));
    said
}

/// The public key of RFC 7517, appendix A.1.
fn keys() -> Value {
    json!({ "keys": [{
        "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": "example",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    }] })
}
