//! The systems under test: a family whose members turn one input into one reply.
//!
//! What a target does wrong is never a Rust error: it is an [`Outcome`] that is recorded like any other. Members that need
//! a network share `endpoint` and `transport`; `tape` keeps and plays back what any of them said.

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, to_json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::complaint::Complaint;
use crate::text::page::Page;
use crate::text::template::is_jinja;

mod anthropic;
pub mod command;
mod gemini;
mod http;
mod ollama;
mod openai;
mod plugin;
mod replay;
mod scripted;
mod vectors;

mod answers;
mod chat;
mod echo;
mod endpoint;
mod halt;
mod keys;
mod pinned;
mod pipe;
mod place;
mod price;
mod reply;
mod schema;
mod secret;
mod shape;
mod tape;
#[cfg(test)]
mod tests;
mod transport;
mod usage;

pub use answers::{Answers, MAX_BYTES as MAX_CACHE_BYTES, Used};
pub use anthropic::Anthropic;
pub use chat::{AnswerFormat, Call, Chat, Image, Message, Part, Tool};
pub use command::Command;
pub use gemini::Gemini;
pub use halt::Halt;
pub use http::Http;
pub use keys::Keys;
pub use ollama::Ollama;
pub use openai::{OpenAi, Refused};
pub(crate) use pipe::{NoAnswer, Pipe, start_server};
pub use plugin::Plugin;
pub use price::{Budget, Price, Prices};
pub use replay::Replay;
pub use reply::{Attempt, Outcome, Reply};
pub use schema::Schema;
pub use scripted::{Fault, Rule, Script, Scripted, ToolCall};
pub use secret::{Environment, Secret, keys_of_program, looks_like_key};
pub(crate) use tape::read_cassette;
pub use tape::{Mode, Tape};
pub(crate) use transport::post;
pub(crate) use transport::unpacked;
pub use transport::{Endpoints, Transport};
pub use vectors::Vectors;

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

            /// Whether it answers from here.
            pub(crate) fn is_here(&self) -> bool {
                match self { $(TargetConfig::$variant(_) => <$settings as Member>::IS_HERE,)+ }
            }

            /// Whether its endpoint counts cached tokens beside the input.
            pub(crate) fn counts_cached_apart(&self) -> bool {
                match self { $(TargetConfig::$variant(_) => <$settings as Member>::COUNTS_CACHED_APART,)+ }
            }

            fn system(&self, opening: &Opening) -> Result<System, Complaint> {
                match self { $(TargetConfig::$variant(settings) => settings.system(opening),)+ }
            }

            /// What it can be asked beside text.
            pub fn shapes(&self) -> Shapes {
                match self { $(TargetConfig::$variant(_) => <$settings as Member>::SHAPES,)+ }
            }

            /// Variables of the environment that the target is given.
            pub fn pass_env(&self) -> &[String] {
                match self { $(TargetConfig::$variant(settings) => settings.pass_env(),)+ }
            }
        }
    };
}

/// What the settings of every target can do beside being checked; the struct that implements it is what a user writes.
trait Member {
    /// Whether it answers from here: it needs no tape, and is never paid.
    const IS_HERE: bool = false;

    /// Whether its endpoint counts cached tokens beside the input.
    const COUNTS_CACHED_APART: bool = false;

    /// What it can be asked beside text.
    const SHAPES: Shapes = Shapes { images: true, format: true, tools: true };

    /// Makes it ready for requests, or says what this machine or its environment lacks.
    fn system(&self, opening: &Opening) -> Result<System, Complaint>;

    /// Variables of the environment that it is given.
    fn pass_env(&self) -> &[String] {
        &[]
    }
}

/// What a target can be asked beside text. What answers from here, or is handed the whole conversation, takes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shapes {
    /// Pictures.
    pub images: bool,
    /// A form of the answer.
    pub format: bool,
    /// Tools.
    pub tools: bool,
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
    /// Embeddings from a file of word vectors.
    Vectors(Vectors) = "vectors",
    /// A black-box program.
    Command(Box<Command>) = "command",
}

/// What the envelope calls the model of a target: the `model` that its settings name, or its kind.
pub fn model_id(kind: &str, config: &Json) -> String {
    let model = config.get(kind).and_then(|settings| settings.get("model")).and_then(Json::as_str);
    model.unwrap_or(kind).to_owned()
}

impl TargetConfig {
    /// Instructions are recorded like everything else that shapes an answer, so no key may stand in them.
    fn key_in_system(&self) -> Option<Complaint> {
        let settings = to_json(self).ok()?;
        let system = settings.get(self.kind_name())?.get("system")?.as_str()?;
        looks_like_key(system).then(|| {
            Complaint::new("this looks like a key, and a suite is no place for one")
                .hint("keys belong in the environment: `api_key_env` names the variable")
                .key("system")
                .secret()
        })
    }

    /// Makes the target of a slot ready for requests; the settings have passed [`TargetConfig::check`].
    ///
    /// # Errors
    /// What this machine or its environment lacks: a key, a file, a certificate.
    pub fn open(&self, slot: &str, opening: &Opening) -> Result<Target, Complaint> {
        let replays = opening.tape.as_ref().is_some_and(|tape| tape.mode() == Mode::Replay);
        // What plays back needs neither a key nor a connection.
        let system = if replays && !self.is_here() { System::Replayed } else { self.system(opening)? };
        let settings = to_json(self).expect("settings hold finite numbers, safe integers and text keys only");
        let tape = opening.tape.clone().filter(|_| !self.is_here());
        let account = match (&system, &opening.budget) {
            (System::Remote(_) | System::Plugin(_), Some(budget)) => self.account(&settings, budget)?,
            _ => None,
        };
        let keys = Keys::live(&opening.environment, &settings.to_string());
        let is_filled = !filled(&settings, self.kind_name()).is_empty();
        let answers = opening.answers.clone().filter(|answers| {
            opening.tape.is_none()
                && !opening.timed
                && !self.is_here()
                && (answers.all || repeats(&settings, self.kind_name()))
        });
        Ok(Target {
            slot: slot.to_owned(),
            settings,
            kind: self.kind_name(),
            system,
            tape,
            answers,
            account,
            keys,
            halt: Arc::clone(&opening.halt),
            is_filled,
            timed: opening.timed,
            timeout: opening.timeout,
        })
    }
}

/// Texts with holes among what a target sends of its own: instructions, and the body of a request that a suite spells out.
fn filled(settings: &Json, kind: &str) -> Vec<String> {
    fn texts(value: &Json) -> Vec<String> {
        match value {
            Json::String(text) if is_jinja(text) => vec![text.clone()],
            Json::Array(list) => list.iter().flat_map(texts).collect(),
            Json::Object(object) => object.iter().flat_map(|(_, value)| texts(value)).collect(),
            _ => Vec::new(),
        }
    }
    let Some(settings) = settings.get(kind) else { return Vec::new() };
    ["system", "request"].iter().filter_map(|key| settings.get(key)).flat_map(texts).collect()
}

/// Whether a target's settings ask for the same answer every time: a temperature of 0, or a seed that is sent.
fn repeats(settings: &Json, kind: &str) -> bool {
    let Some(settings) = settings.get(kind) else { return false };
    sends_seed(settings) || settings.get("temperature") == Some(&Json::Number(0.0))
}

/// Whether the trial's seed reaches the endpoint.
fn sends_seed(settings: &Json) -> bool {
    settings.get("send_seed") == Some(&Json::Bool(true))
}

impl TargetConfig {
    /// Texts of its settings that a case fills.
    pub fn templates(&self) -> Vec<String> {
        to_json(self).map(|settings| filled(&settings, self.kind_name())).unwrap_or_default()
    }

    /// What its requests are charged to.
    fn account(&self, settings: &Json, budget: &Arc<Budget>) -> Result<Option<Account>, Complaint> {
        let price = budget.price(&model_id(self.kind_name(), settings))?;
        let apart = self.counts_cached_apart();
        Ok(price.map(|price| Account { budget: budget.clone(), price, apart }))
    }

    /// What its tokens cost, as a run's configuration keeps it; none where the price list has no such model.
    pub fn price(&self, prices: &Prices) -> Option<Json> {
        let settings = to_json(self).ok()?;
        let price = prices.of(&model_id(self.kind_name(), &settings)).filter(|_| !self.is_here())?;
        let mut row = Object::from_iter(
            [("input", price.input), ("output", price.output)].map(|(k, v)| (k, Json::Number(v))),
        );
        if let Some(cached) = price.cached {
            row.set("cached", Json::Number(cached));
        }
        if self.counts_cached_apart() {
            row.set("cached_apart", true);
        }
        Some(Json::Object(row))
    }
}

/// Where a target's usage is charged.
#[derive(Debug)]
struct Account {
    budget: Arc<Budget>,
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
    pub budget: Option<Arc<Budget>>,
    /// What slots of one endpoint have in common.
    pub endpoints: Endpoints,
    /// Where answers are kept by content.
    pub answers: Option<Arc<Answers>>,
    /// Who says that nothing more should be asked.
    pub halt: Arc<Halt>,
    /// Whether a judge weighs how long answers take: then replies and tapes keep it, and no cache answers.
    pub timed: bool,
}

impl Default for Opening {
    /// An empty environment, a minute for each trial, this directory, no tape.
    fn default() -> Self {
        Opening {
            environment: Environment::default(),
            timeout: Duration::from_secs(60),
            base_dir: Utf8PathBuf::new(),
            tape: None,
            budget: None,
            endpoints: Endpoints::default(),
            answers: None,
            halt: Arc::default(),
            timed: false,
        }
    }
}

/// A target that is ready for requests.
#[derive(Debug)]
pub struct Target {
    slot: String,
    settings: Json,
    system: System,
    kind: &'static str,
    tape: Option<Arc<Tape>>,
    answers: Option<Arc<Answers>>,
    account: Option<Account>,
    /// What no reply may hold.
    keys: Keys,
    halt: Arc<Halt>,
    /// Whether its settings have holes that a case fills.
    is_filled: bool,
    /// Whether replies say how long they took.
    timed: bool,
    timeout: Duration,
}

#[derive(Debug)]
enum System {
    Scripted(Script),
    Remote(Box<endpoint::Remote>),
    Plugin(Pipe),
    /// Answers from what it has read, without waiting for anybody.
    Local(Box<dyn Local>),
    /// Not here: a tape answers for it.
    Replayed,
}

/// A target that is nothing but a function of the question. Whatever else a new target is, it needs no variant of [`System`].
trait Local: std::fmt::Debug + Send + Sync {
    /// What it answers.
    fn chat(&self, chat: &Chat) -> Reply;

    /// Whether its replies say themselves how long they took.
    fn keeps_time(&self) -> bool {
        false
    }
}

impl System {
    /// Whether its replies say themselves how long they took, as far as anybody knows.
    fn keeps_time(&self) -> bool {
        match self {
            System::Scripted(_) | System::Replayed => true,
            System::Local(local) => local.keeps_time(),
            System::Remote(_) | System::Plugin(_) => false,
        }
    }
}

impl Target {
    /// Reads a body as if an endpoint had sent it with each of these statuses; nothing where the target is no endpoint.
    pub(crate) fn read_body(&self, statuses: &[u16], body: &[u8]) {
        if let System::Remote(remote) = &self.system {
            statuses.iter().for_each(|status| remote.read_body(*status, body));
        }
    }

    /// What the target says to this request, where it can say so without waiting for anything.
    ///
    /// This is the way of the scripted target, at a few microseconds a trial; the caller waits for [`Reply::delay_ms`].
    pub fn at_once(&self, request: &Request<'_>) -> Option<Reply> {
        match &self.system {
            System::Scripted(script) => Some(self.scripted(script, request)),
            _ => None,
        }
    }

    /// What the target says in a conversation. Whatever happens, this ends within the trial's deadline, and a key that
    /// comes back is taken out before anybody sees the reply.
    pub async fn chat(&self, chat: &Chat) -> Reply {
        let reply = self.taped(chat).await;
        Reply { latency_ms: reply.latency_ms.filter(|_| self.timed), ..reply }
    }

    async fn taped(&self, chat: &Chat) -> Reply {
        let Some(tape) = &self.tape else { return self.answer(chat).await };
        let mark = tape.mark(&self.slot, &self.settings, chat);
        if tape.mode() == Mode::Replay {
            return self.keys.redact_reply(tape.play(&mark));
        }
        let reply = self.paid(chat).await;
        match tape.keep(&mark, &reply) {
            Ok(()) => reply,
            Err(why) => Reply { attempts: reply.attempts, ..Reply::failed("cassette_not_written", why) },
        }
    }

    /// Whether its settings have holes that are filled from the case: then a conversation carries its fields.
    pub fn fills_fields(&self) -> bool {
        self.is_filled
    }

    /// The answer that was kept, or a new one.
    async fn answer(&self, chat: &Chat) -> Reply {
        let Some(answers) = &self.answers else { return self.paid(chat).await };
        let seeded = self.settings.get(self.kind).is_none_or(sends_seed);
        let address = self.host().unwrap_or_default();
        let key = answers.key(&self.settings, &address, seeded, chat);
        if let Some(reply) = answers.find(&key) {
            return self.keys.redact_reply(reply);
        }
        let reply = self.paid(chat).await;
        answers.keep(&key, &reply);
        reply
    }

    /// Asks, and pays for it.
    async fn paid(&self, chat: &Chat) -> Reply {
        let held = self.account.as_ref().map(|account| account.budget.hold());
        let asked = tokio::time::Instant::now();
        let mut reply = self.keys.redact_reply(self.ask(chat).await);
        if self.timed && !self.system.keeps_time() {
            // Of an endpoint the request that was answered counts, not what went before it.
            let whole = asked.elapsed().as_micros() as f64 / 1e3;
            reply.latency_ms = Some(reply.attempts.last().map_or(whole, |last| last.elapsed_ms));
        }
        self.halt.note(&self.slot, &reply);
        drop(held);
        if let Some(Account { budget, price, apart }) = &self.account {
            let is_answer = reply.outcome.status() == "success";
            if is_answer && reply.usage.is_none() && budget.is_limited() {
                self.halt.without_usage(&self.slot);
            }
            budget.charge(*price, reply.usage.as_ref(), *apart);
        }
        reply
    }

    /// What a script says: it takes as long as it says it does.
    fn scripted(&self, script: &Script, request: &Request<'_>) -> Reply {
        let reply = script.reply(request);
        Reply { latency_ms: self.timed.then_some(reply.delay_ms as f64), ..reply }
    }

    async fn ask(&self, chat: &Chat) -> Reply {
        match &self.system {
            System::Scripted(script) => {
                let request = Request { input: chat.last(), seed: chat.seed, repetition: chat.repetition };
                let reply = self.scripted(script, &request);
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
            System::Local(local) => local.chat(chat),
            System::Replayed => Reply::failed("replay_miss", "no tape answers for this target"),
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
