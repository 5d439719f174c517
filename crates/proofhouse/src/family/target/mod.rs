//! The systems under test: a family whose members turn one input into one reply.
//!
//! What a target does wrong is never a Rust error: it is an [`Outcome`] that is recorded like any other. Members that need
//! a network share `endpoint` and `transport`; `tape` keeps and plays back what any of them said.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use proofhouse_ledger::Json;
use proofhouse_ledger::json::to_json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::page::Page;

mod anthropic;
pub mod command;
mod gemini;
mod http;
mod ollama;
mod openai;
mod plugin;
mod replay;
mod scripted;

mod chat;
mod endpoint;
mod keys;
mod pipe;
mod place;
mod price;
mod reply;
mod secret;
mod shape;
mod tape;
mod template;
#[cfg(test)]
mod tests;
mod transport;
mod usage;

pub use anthropic::Anthropic;
pub use chat::{Call, Chat, Message, Tool};
pub use command::Command;
pub use gemini::Gemini;
pub use http::Http;
pub use keys::Keys;
pub use ollama::Ollama;
pub use openai::{OpenAi, Refused};
pub(crate) use pipe::{Pipe, Silence};
pub use plugin::Plugin;
pub use price::{Price, Prices, Purse};
pub use replay::Replay;
pub use reply::{Attempt, Outcome, Reply};
pub use scripted::{Fault, Rule, Script, Scripted, ToolCall};
pub use secret::{Environment, Secret, looks_like_key};
pub use tape::{Mode, Tape};
pub use template::{Template, TemplateError};
pub use transport::{Endpoints, Transport};

macro_rules! family {
    ($($(#[doc = $doc:literal])+ $variant:ident($settings:ty) = $name:literal,)+) => {
        /// What a suite says of a target: the name of its kind, then that kind's settings.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum TargetConfig {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant($settings),)+
        }

        impl TargetConfig {
            /// The documentation page of every kind of target.
            pub fn pages() -> Vec<Page> {
                vec![$(Page::of::<$settings>($name)),+]
            }

            /// The name of its kind, as a suite writes it.
            pub fn kind_name(&self) -> &'static str {
                match self { $(TargetConfig::$variant(_) => $name,)+ }
            }

            /// All settings that cannot work.
            pub fn check(&self) -> Vec<Complaint> {
                let mut complaints = match self { $(TargetConfig::$variant(settings) => settings.check(),)+ };
                complaints.extend(self.key_in_system());
                complaints
            }
        }
    };
}

family! {
    /// Rules over the input, without a network.
    Scripted(Scripted) = "scripted",
    /// Any endpoint of the OpenAI shape.
    OpenAi(OpenAi) = "openai",
    /// Anthropic's own API.
    Anthropic(Anthropic) = "anthropic",
    /// Google's own API.
    Gemini(Gemini) = "gemini",
    /// Ollama's own API.
    Ollama(Ollama) = "ollama",
    /// Any JSON endpoint.
    Http(Http) = "http",
    /// A program that speaks JSON lines.
    Plugin(Plugin) = "plugin",
    /// Answers from a file.
    Replay(Replay) = "replay",
    /// A black-box program.
    Command(Box<Command>) = "command",
}

/// What the envelope calls the model of a target: the `model` that its settings name, or its kind.
pub fn model_id(kind: &str, config: &Json) -> String {
    let model = config.get(kind).and_then(|settings| settings.get("model")).and_then(Json::as_str);
    model.unwrap_or(kind).to_owned()
}

/// A setting that cannot work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The keys and list places that lead from the target's settings to it.
    pub at: Vec<At>,
    /// What is wrong: a lowercase fragment, the subject in backticks.
    pub what: String,
    /// How to fix it.
    pub hint: Option<String>,
}

impl Complaint {
    /// Whether a key may stand at that place, so that nothing of it is to be shown.
    pub fn is_about_a_key(&self) -> bool {
        self.what.contains("a suite is no place for")
    }
}

/// One step from a setting to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// A key of a map.
    Key(Cow<'static, str>),
    /// A place in a list, from 0.
    Index(usize),
}

impl TargetConfig {
    /// Instructions are recorded like everything else that shapes an answer, so no key may stand in them.
    fn key_in_system(&self) -> Option<Complaint> {
        let settings = to_json(self).ok()?;
        let system = settings.get(self.kind_name())?.get("system")?.as_str()?;
        looks_like_key(system).then(|| Complaint {
            at: vec![At::Key("system".into())],
            what: "this looks like a key, and a suite is no place for one".to_owned(),
            hint: Some("keys belong into the environment: `api_key_env` names the variable".to_owned()),
        })
    }

    /// Makes the target of a slot ready for requests; the settings have passed [`TargetConfig::check`].
    ///
    /// # Errors
    /// What this machine or its environment lacks: a key, a file, a certificate.
    pub fn open(&self, slot: &str, opening: &Opening) -> Result<Target, Complaint> {
        let replays = opening.tape.as_ref().is_some_and(|tape| tape.mode() == Mode::Replay);
        let system = match self {
            TargetConfig::Scripted(settings) => System::Scripted(Script::new(settings)?),
            TargetConfig::Replay(settings) => System::Replay(settings.open(opening)?),
            // What plays back needs neither a key nor a connection.
            _ if replays => System::Away,
            TargetConfig::OpenAi(settings) => System::Remote(Box::new(settings.open(opening)?)),
            TargetConfig::Anthropic(settings) => System::Remote(Box::new(settings.open(opening)?)),
            TargetConfig::Gemini(settings) => System::Remote(Box::new(settings.open(opening)?)),
            TargetConfig::Ollama(settings) => System::Remote(Box::new(settings.open(opening)?)),
            TargetConfig::Http(settings) => System::Remote(Box::new(settings.open(opening)?)),
            TargetConfig::Plugin(settings) => System::Plugin(settings.pipe(opening)),
            TargetConfig::Command(_) => {
                return Err(Complaint {
                    at: Vec::new(),
                    what: "a `command` answers robustness suites only".to_owned(),
                    hint: Some("write `kind: robustness`, or give the suite another target".to_owned()),
                });
            }
        };
        let settings = to_json(self).expect("settings hold finite numbers, safe integers and text keys only");
        let tape = match system {
            System::Scripted(_) | System::Replay(_) => None,
            _ => opening.tape.clone(),
        };
        let account = match (&system, &opening.purse) {
            (System::Remote(_) | System::Plugin(_), Some(purse)) => self.account(&settings, purse)?,
            _ => None,
        };
        let keys = Keys::live(&opening.environment, &settings.to_string());
        Ok(Target { slot: slot.to_owned(), settings, system, tape, account, keys, timeout: opening.timeout })
    }
}

impl TargetConfig {
    /// Variables of the environment that the target is given.
    pub fn pass_env(&self) -> &[String] {
        match self {
            TargetConfig::Command(config) => &config.pass_env,
            _ => &[],
        }
    }

    /// What its requests are charged to.
    fn account(&self, settings: &Json, purse: &Arc<Purse>) -> Result<Option<Account>, Complaint> {
        let price = purse.price(&model_id(self.kind_name(), settings)).map_err(|what| {
            let hint = "add it to the price file, for example `MODEL: {input: 0.15, output: 0.6}`";
            Complaint { at: Vec::new(), what, hint: Some(hint.to_owned()) }
        })?;
        let apart = matches!(self, TargetConfig::Anthropic(_));
        Ok(price.map(|price| Account { purse: purse.clone(), price, apart }))
    }
}

/// Where a target's usage is charged.
#[derive(Debug)]
struct Account {
    purse: Arc<Purse>,
    price: Price,
    /// Whether cached tokens are counted beside the input.
    apart: bool,
}

/// What targets need of the world around them.
#[derive(Debug, Clone)]
pub struct Opening {
    /// Where keys, addresses and proxies come from.
    pub environment: Environment,
    /// How long one trial may take.
    pub timeout: Duration,
    /// The suite's directory.
    pub base_dir: Utf8PathBuf,
    /// Where replies are kept or come from.
    pub tape: Option<Arc<Tape>>,
    /// What requests are paid from.
    pub purse: Option<Arc<Purse>>,
    /// What slots of one endpoint have in common.
    pub endpoints: Endpoints,
}

impl Default for Opening {
    /// An empty environment, a minute for each trial, this directory, no tape.
    fn default() -> Self {
        Opening {
            environment: Environment::default(),
            timeout: Duration::from_secs(60),
            base_dir: Utf8PathBuf::new(),
            tape: None,
            purse: None,
            endpoints: Endpoints::default(),
        }
    }
}

/// A target that is ready for requests.
#[derive(Debug)]
pub struct Target {
    slot: String,
    settings: Json,
    system: System,
    tape: Option<Arc<Tape>>,
    account: Option<Account>,
    /// What no reply may hold.
    keys: Keys,
    timeout: Duration,
}

#[derive(Debug)]
enum System {
    Scripted(Script),
    Remote(Box<endpoint::Remote>),
    Plugin(Pipe),
    Replay(replay::Samples),
    /// Not here: a tape answers for it.
    Away,
}

impl Target {
    /// What the target says to this request, where it can say so without waiting for anything.
    ///
    /// This is the way of the scripted target, at a few microseconds a trial; the caller waits for [`Reply::delay_ms`].
    pub fn at_once(&self, request: &Request<'_>) -> Option<Reply> {
        match &self.system {
            System::Scripted(script) => Some(script.reply(request)),
            _ => None,
        }
    }

    /// What the target says in a conversation. Whatever happens, this ends within the trial's deadline, and a key that
    /// comes back is taken out before anybody sees the reply.
    pub async fn chat(&self, chat: &Chat) -> Reply {
        let Some(tape) = &self.tape else {
            let reply = self.keys.redact_reply(self.ask(chat).await);
            self.charge(&reply);
            return reply;
        };
        let mark = tape.mark(&self.slot, &self.settings, chat);
        if tape.mode() == Mode::Replay {
            return self.keys.redact_reply(tape.play(&mark));
        }
        let reply = self.keys.redact_reply(self.ask(chat).await);
        self.charge(&reply);
        match tape.keep(&mark, &reply) {
            Ok(()) => reply,
            Err(why) => Reply { attempts: reply.attempts, ..Reply::failed("cassette_not_written", why) },
        }
    }

    fn charge(&self, reply: &Reply) {
        if let Some(Account { purse, price, apart }) = &self.account {
            purse.charge(*price, reply.usage.as_ref(), *apart);
        }
    }

    async fn ask(&self, chat: &Chat) -> Reply {
        match &self.system {
            System::Scripted(script) => {
                let request = Request { input: chat.last(), seed: chat.seed, repetition: chat.repetition };
                let reply = script.reply(&request);
                let delay = Duration::from_millis(reply.delay_ms);
                tokio::time::sleep(delay.min(self.timeout)).await;
                if delay > self.timeout {
                    Reply::new(Outcome::TimedOut, None)
                } else {
                    Reply { delay_ms: 0, ..reply }
                }
            }
            System::Remote(remote) => remote.chat(chat).await,
            System::Plugin(pipe) => plugin::chat(pipe, chat, self.timeout).await,
            System::Replay(samples) => samples.chat(chat),
            System::Away => Reply::failed("replay_miss", "no tape answers for this target"),
        }
    }

    /// The host that its requests go to, for people; none for a target without a network.
    pub fn host(&self) -> Option<String> {
        match &self.system {
            System::Remote(remote) => Some(remote.host()),
            _ => None,
        }
    }
}

/// One question to a target that answers at once.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What the target receives, byte for byte.
    pub input: &'a str,
    /// The seed of this trial.
    pub seed: u64,
    /// Which repetition of the case this is, from 0.
    pub repetition: u32,
}
