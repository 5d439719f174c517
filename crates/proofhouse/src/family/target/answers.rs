//! The answer cache: replies by the content of what was asked, shared by suites, prompts and runs that happen at the same
//! time.
//!
//! The key is everything that shapes an answer: the conversation, the target's settings, the address, and the seed and
//! repetition where they are sent. It knows no slot, suite or prompt, so that an edit asks only for what changed. A tape is
//! something else: hermetic, by slot and occurrence.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::files::{self, sorted_dir};
use proofhouse_ledger::json::{self, Object, Strictness};
use proofhouse_ledger::{Digest, Json};

use super::Chat;
use super::reply::{Outcome, Reply};
use super::tape::{asked, from_json, to_json};
use crate::text::complaint::Complaint;

/// The version of the format.
const SCHEMA_VERSION: &str = "1.0";

/// What the cache may grow to, in bytes; the oldest answers go first.
pub const MAX_BYTES: u64 = 1 << 30;

/// A directory of answers: `DIR/ab/KEY.json`.
#[derive(Debug)]
pub struct Answers {
    dir: Utf8PathBuf,
    /// Whether every target is answered from it, or only those of which the same answer can be expected again.
    pub(super) all: bool,
    hits: AtomicU64,
    asked: AtomicU64,
}

/// What the cache did for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// Answers that were there.
    pub hits: u64,
    /// Answers that were asked for.
    pub asked: u64,
    /// Answers that were taken out because the cache had grown too large.
    pub pruned: u64,
    /// What is in it now, in bytes.
    pub bytes: u64,
}

/// One request's place in the cache.
#[derive(Debug)]
pub(super) struct Key {
    request: Json,
    digest: Digest,
}

impl Answers {
    /// A cache in a directory, which is made if it is not there.
    ///
    /// # Errors
    /// When the directory cannot be made.
    pub fn open(dir: &Utf8Path, all: bool) -> Result<Self, Complaint> {
        fs::create_dir_all(dir).map_err(|error| {
            Complaint::new(format!("cannot make the cache `{dir}`: {error}"))
                .hint("`--cache DIR` names another place, `--no-cache` does without")
        })?;
        let zero = AtomicU64::default;
        Ok(Answers { dir: dir.to_owned(), all, hits: zero(), asked: zero() })
    }

    /// Where it is.
    pub fn dir(&self) -> &Utf8Path {
        &self.dir
    }

    /// The key of a request to the endpoint at `address`; `seeded`: whether the seed is sent.
    pub(super) fn key(&self, settings: &Json, address: &str, seeded: bool, chat: &Chat) -> Key {
        let mut whole = match chat.to_json() {
            Json::Object(whole) => whole,
            _ => Object::new(),
        };
        if !seeded {
            whole.remove("seed");
        }
        let request = Json::Object(Object::from_iter([
            ("address", Json::from(address)),
            ("chat", Json::Object(whole)),
            ("target", asked(settings)),
        ]));
        let digest = Digest::of(request.to_string().as_bytes());
        Key { request, digest }
    }

    fn path(&self, key: &Key) -> Utf8PathBuf {
        let name = key.digest.to_string();
        self.dir.join(&name[..2]).join(format!("{}.json", &name[2..34]))
    }

    /// The answer that was kept. What is damaged was never there: it is asked for again and replaced.
    pub(super) fn find(&self, key: &Key) -> Option<Reply> {
        let found = fs::read(self.path(key)).ok().and_then(|bytes| read(&bytes, key));
        let count = if found.is_some() { &self.hits } else { &self.asked };
        count.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// Keeps an answer; nothing that went wrong is one. What cannot be written is not kept, and the run goes on.
    pub(super) fn keep(&self, key: &Key, reply: &Reply) {
        let is_answer = matches!(
            reply.outcome,
            Outcome::Answered
                | Outcome::Empty
                | Outcome::Null
                | Outcome::Length
                | Outcome::Refused
                | Outcome::Filtered
        );
        if is_answer && let Err(error) = self.write(key, reply) {
            tracing::warn!(%error, dir = %self.dir, "an answer could not be kept in the cache");
        }
    }

    fn write(&self, key: &Key, reply: &Reply) -> std::io::Result<()> {
        let mut entry = Object::from_iter([
            ("key", Json::from(key.digest.to_string())),
            ("reply", to_json(reply)),
            ("request", key.request.clone()),
            ("schema_version", Json::from(SCHEMA_VERSION)),
        ]);
        entry.set("sha256", Digest::of(Json::Object(entry.clone()).to_string().as_bytes()).prefixed());
        // Whoever else writes the same answer has a draft of its own; the last one wins, with the same content.
        files::write_shared(&self.path(key), format!("{}\n", Json::Object(entry)).as_bytes())
    }

    /// What it did, once a run is over; where it has grown beyond `most` bytes, the oldest answers are taken out.
    pub fn close(&self, most: u64) -> Used {
        let (hits, asked) = (self.hits.load(Ordering::Relaxed), self.asked.load(Ordering::Relaxed));
        let mut entries = self.entries();
        let mut bytes: u64 = entries.iter().map(|(_, size, _)| size).sum();
        let mut pruned = 0;
        if bytes > most {
            entries.sort();
            for (_, size, path) in entries {
                if bytes <= most - most / 10 {
                    break;
                }
                // Another run may have been quicker.
                if fs::remove_file(&path).is_ok() {
                    bytes -= size;
                    pruned += 1;
                }
            }
        }
        Used { hits, asked, pruned, bytes }
    }

    /// Age, size and path of everything in it.
    fn entries(&self) -> Vec<(std::time::SystemTime, u64, Utf8PathBuf)> {
        let mut entries = Vec::new();
        // Nothing is touched that this cache did not write, whatever else lies in the directory.
        let is_ours = |name: &String| name.len() == 2 && name.chars().all(|c| c.is_ascii_hexdigit());
        for folder in sorted_dir(&self.dir).unwrap_or_default().into_iter().filter(is_ours) {
            let folder = self.dir.join(folder);
            for name in sorted_dir(&folder).unwrap_or_default() {
                if !name.ends_with(".json") && !name.ends_with(".draft") {
                    continue;
                }
                let path = folder.join(name);
                let Ok(about) = fs::metadata(&path) else { continue };
                let Ok(age) = about.modified() else { continue };
                entries.push((age, about.len(), path));
            }
        }
        entries
    }
}

fn read(bytes: &[u8], key: &Key) -> Option<Reply> {
    let Json::Object(mut entry) = json::parse(bytes, Strictness::Canonical).ok()? else { return None };
    let sealed = entry.remove("sha256")?;
    let digest = Digest::of(Json::Object(entry.clone()).to_string().as_bytes()).prefixed();
    let sound = sealed == Json::from(digest)
        && entry.get("schema_version") == Some(&Json::from(SCHEMA_VERSION))
        && entry.get("request") == Some(&key.request);
    if sound { from_json(entry.get("reply")?) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(extra: &str) -> Json {
        let text = format!("{{\"openai\":{{\"model\":\"m\",\"api_key_env\":\"K\"{extra}}}}}");
        json::parse(text.as_bytes(), Strictness::Strict).unwrap()
    }

    fn cache() -> (tempfile::TempDir, Answers) {
        let dir = tempfile::tempdir().unwrap();
        let answers = Answers::open(Utf8Path::from_path(dir.path()).unwrap(), true).unwrap();
        (dir, answers)
    }

    #[test]
    fn what_shapes_an_answer_is_its_key_and_nothing_else_is() {
        let (_dir, cache) = cache();
        let ask = Chat::ask("q", 7, 0);
        let key = |settings: &Json, address: &str, seeded, chat: &Chat| {
            cache.key(settings, address, seeded, chat).digest
        };
        let base = key(&settings(""), "http://a", true, &ask);
        assert_eq!(key(&settings(",\"transport\":{\"max_attempts\":1}"), "http://a", true, &ask), base);
        for other in [
            key(&settings(",\"temperature\":0"), "http://a", true, &ask),
            key(&settings(""), "http://b", true, &ask),
            key(&settings(""), "http://a", true, &Chat::ask("q ", 7, 0)),
            key(&settings(""), "http://a", true, &Chat::ask("q", 8, 0)),
            key(&settings(""), "http://a", true, &Chat::ask("q", 7, 1)),
        ] {
            assert_ne!(other, base);
        }
        // A seed that nobody sends shapes nothing.
        let unseeded = |seed| key(&settings(""), "http://a", false, &Chat::ask("q", seed, 0));
        assert_eq!(unseeded(7), unseeded(8));
    }

    #[test]
    fn answers_are_kept_and_errors_and_damage_are_not() {
        let (_dir, cache) = cache();
        let key = cache.key(&settings(""), "http://a", true, &Chat::ask("q", 7, 0));
        cache.keep(&key, &Reply::failed("http_500", "boom"));
        assert_eq!(cache.find(&key), None);
        let reply = Reply::new(Outcome::Answered, Some(Json::from("right")));
        cache.keep(&key, &reply);
        assert_eq!(cache.find(&key), Some(Reply { replayed: true, ..reply }));
        let whole = fs::read_to_string(cache.path(&key)).unwrap();
        fs::write(cache.path(&key), whole.replace("right", "wrong")).unwrap();
        assert_eq!(cache.find(&key), None, "its digest does not match");
        fs::write(cache.path(&key), &whole[..40]).unwrap();
        assert_eq!(cache.find(&key), None, "it is torn");
    }

    #[test]
    fn a_cache_that_grew_too_large_loses_what_is_oldest() {
        let (_dir, cache) = cache();
        let keys: Vec<Key> = (0..10)
            .map(|n| cache.key(&settings(""), "http://a", true, &Chat::ask(format!("q{n}"), 7, 0)))
            .collect();
        for (nth, key) in keys.iter().enumerate() {
            cache.keep(key, &Reply::new(Outcome::Answered, Some(Json::from("x"))));
            let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000 + nth as u64);
            fs::File::options().append(true).open(cache.path(key)).unwrap().set_modified(at).unwrap();
        }
        let all = cache.close(u64::MAX);
        assert_eq!(all.pruned, 0);
        let half = cache.close(all.bytes / 2);
        assert!(half.bytes <= all.bytes / 2 && half.pruned >= 5, "{half:?}");
        assert!(cache.find(&keys[0]).is_none() && cache.find(&keys[9]).is_some());
    }
}
