//! Reads conditions.

use super::{Clause, Function, Op, Term};
use crate::steps::Span;

/// Reads a whole condition.
pub(super) fn condition(text: &str) -> Result<Vec<Clause>, String> {
    let mut words = Words::of(text)?;
    let mut clauses = vec![words.clause()?];
    while words.take("and") {
        clauses.push(words.clause()?);
    }
    words.end().map(|()| clauses)
}

/// Reads a whole expression.
pub(super) fn expr(text: &str) -> Result<Term, String> {
    let mut words = Words::of(text)?;
    let term = words.expr()?;
    words.end().map(|()| term)
}

/// The words of a text and how far they were read.
struct Words<'a> {
    text: &'a str,
    words: Vec<&'a str>,
    at: usize,
}

const SIGNS: [&str; 13] = ["==", "!=", "<=", ">=", "<", ">", "(", ")", "[", "]", ",", "+", "-"];

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Result<Words<'a>, String> {
        let mut words = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let length = match sign {
                Some(sign) => sign.len(),
                None => word_length(rest),
            };
            if length == 0 {
                return Err(format!("`{text}`: unexpected `{rest}`"));
            }
            let (word, after) = rest.split_at(length);
            words.push(word);
            rest = after.trim_start();
        }
        Ok(Words { text, words, at: 0 })
    }

    fn peek(&self) -> &'a str {
        self.words.get(self.at).copied().unwrap_or("")
    }

    fn next(&mut self) -> &'a str {
        let word = self.peek();
        self.at += 1;
        word
    }

    fn take(&mut self, word: &str) -> bool {
        let is = self.peek() == word;
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        if self.take(word) { Ok(()) } else { Err(self.wrong(&format!("`{word}`"))) }
    }

    fn wrong(&self, wanted: &str) -> String {
        let found = self.peek();
        let found = if found.is_empty() { "the end" } else { found };
        format!("`{}`: expected {wanted}, found `{found}`", self.text)
    }

    fn end(&self) -> Result<(), String> {
        if self.at >= self.words.len() { Ok(()) } else { Err(self.wrong("`and` or the end")) }
    }

    fn clause(&mut self) -> Result<Clause, String> {
        if self.take("healed") {
            return Ok(Clause::Healed);
        }
        if self.take("full") {
            return Ok(Clause::Full);
        }
        if self.take("after") {
            return self.after();
        }
        let left = self.expr()?;
        let op = self.op()?;
        Ok(Clause::Compare(left, op, self.expr()?))
    }

    fn after(&mut self) -> Result<Clause, String> {
        let word = self.next();
        if let Ok(count) = word.parse() {
            self.expect("sends")?;
            return Ok(Clause::AfterSends(count));
        }
        word.parse::<Span>().map(Clause::After).map_err(|why| format!("`{}`: {why}", self.text))
    }

    fn op(&mut self) -> Result<Op, String> {
        let op = match self.peek() {
            "==" => Op::Equal,
            "!=" => Op::NotEqual,
            "<" => Op::Less,
            "<=" => Op::AtMost,
            ">" => Op::Greater,
            ">=" => Op::AtLeast,
            "in" => Op::In,
            "not" => {
                self.at += 1;
                if self.peek() != "in" {
                    return Err(self.wrong("`in`"));
                }
                Op::NotIn
            }
            _ => return Err(self.wrong("one of == != < <= > >= in, not in")),
        };
        self.at += 1;
        Ok(op)
    }

    fn expr(&mut self) -> Result<Term, String> {
        let term = self.term()?;
        let sign = match self.peek() {
            "+" => 1,
            "-" => -1,
            _ => return Ok(term),
        };
        self.at += 1;
        let number: i64 = self.peek().parse().map_err(|_| self.wrong("a number"))?;
        self.at += 1;
        Ok(Term::Plus(Box::new(term), sign * number))
    }

    fn term(&mut self) -> Result<Term, String> {
        if self.take("[") {
            return self.list();
        }
        let word = self.peek();
        if let Some(name) = word.strip_prefix('$') {
            self.at += 1;
            return Ok(Term::Name(name.to_owned()));
        }
        if let Ok(number) = word.parse() {
            self.at += 1;
            return Ok(Term::Number(number));
        }
        let function = match word {
            "none" | "before" => {
                self.at += 1;
                return Ok(if word == "none" { Term::None } else { Term::Before });
            }
            "leader" => Function::Leader,
            "leader_epoch" => Function::LeaderEpoch,
            "isr" => Function::Isr,
            "isr_size" => Function::IsrSize,
            "hw" => Function::Hw,
            "leo" => Function::Leo,
            "behind" => Function::Behind,
            "follower" => Function::Follower,
            _ => {
                return Err(self.wrong(
                    "a number, none, before, $NAME, a list, or one of leader leader_epoch isr \
                     isr_size hw leo behind follower",
                ));
            }
        };
        self.at += 1;
        self.call(function)
    }

    fn call(&mut self, function: Function) -> Result<Term, String> {
        self.expect("(")?;
        let mut key = self.next().to_owned();
        if self.take("-") {
            key = format!("{key}-{}", self.next());
        }
        if key.parse::<crate::nemesis::Partition>().is_err() {
            return Err(format!("`{}`: `{key}` is no key; write LABEL-PARTITION", self.text));
        }
        let node = if self.take(",") { Some(Box::new(self.expr()?)) } else { None };
        self.expect(")")?;
        if function == Function::Behind && node.is_none() {
            return Err(format!("`{}`: behind(KEY, NODE) needs a node", self.text));
        }
        Ok(Term::Call(function, key, node))
    }

    fn list(&mut self) -> Result<Term, String> {
        let mut items = Vec::new();
        while !self.take("]") {
            items.push(self.expr()?);
            if !self.take(",") {
                self.expect("]")?;
                break;
            }
        }
        Ok(Term::List(items))
    }
}

/// A word is letters, digits, `_`, `.`, `$`.
fn word_length(text: &str) -> usize {
    let part = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    text.find(|c| !part(c)).unwrap_or(text.len())
}
