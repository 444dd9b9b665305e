//! What the control port asks: the truth so far, the configuration, another script.

use std::path::Path;

use super::scripted::Scripted;
use super::{Server, sha256_hex};
use crate::MockError;
use crate::answer::Answers;
use crate::control::{Question, Reply};
use crate::control_port::error;
use crate::script::{Script, folder};
use crate::site::Site;
use crate::treatment::Decider;

/// The name of a script that came over the control port.
const NAME: &str = "control";

impl Server {
    pub(super) fn reply(&mut self, question: Question) -> Reply {
        match question {
            Question::Truth => json(&self.record()),
            Question::Config => json(&serde_json::json!({
                "config": self.config,
                "line": self.config.line(),
                "office": self.config.office(),
                "script_sha256": self.site.as_ref().map(|site| &site.sha256),
            })),
            Question::Script(text) => match self.change_script(&text) {
                Ok(()) => json(&serde_json::json!({ "line": self.config.line() })),
                Err(reason) => (400, error(&reason.to_string())),
            },
        }
    }

    /// Answers by another script from now on. What is in flight keeps its treatment; workers and
    /// limits of addresses start afresh, and so do tokens.
    ///
    /// # Errors
    /// The script is wrong; then nothing changes.
    fn change_script(&mut self, text: &str) -> Result<(), MockError> {
        let beside = self.flags.script.as_deref().and_then(|file| Path::new(file).parent());
        let load = folder(beside.unwrap_or(Path::new(".")));
        let mut script = Script::read(NAME, text, &self.flags, &load)?;
        script.config.script = Some(NAME.to_owned());
        let config = script.config.clone();
        let treatment = Decider::new(&config)?;
        let site = Site::new(script, &config.listen)?;
        self.answers = Answers::new(&config);
        self.treatment = treatment;
        self.site = Some(Scripted::new(site, sha256_hex(text), &mut self.ledger));
        self.config = config;
        self.script_changes += 1;
        for connection in self.slots.iter_mut().filter_map(|slot| slot.connection.as_mut()) {
            connection.reader.keep(true);
        }
        Ok(())
    }
}

fn json(value: &impl serde::Serialize) -> Reply {
    match serde_json::to_string(value) {
        Ok(text) => (200, text),
        Err(why) => (500, error(&why.to_string())),
    }
}
