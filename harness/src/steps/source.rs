//! The text of a schedule, to name the line at which a field stands.

use std::{
    iter::Peekable,
    path::{Path, PathBuf},
    str::Chars,
};

use super::ScheduleError;

/// Where a schedule was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    /// The file, or the schedule's name, and its text.
    #[must_use]
    pub fn new(path: &Path, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    /// Says what is wrong with a field, such as `steps[0].with`, and at which line it stands.
    #[must_use]
    pub fn wrong(&self, field: &str, problem: &str) -> ScheduleError {
        self.wrong_at(self.line_of(field), &format!("field `{field}`: {problem}"))
    }

    pub(super) fn wrong_at(&self, line: usize, problem: &str) -> ScheduleError {
        let (path, problem) = (self.path.clone(), problem.to_owned());
        ScheduleError::Malformed { path, line, problem }
    }

    /// The line of a field, or of the one around it when it is not there.
    pub(super) fn line_of(&self, field: &str) -> usize {
        let mut walk = Walk { chars: self.text.chars().peekable(), line: 1, found: Vec::new() };
        walk.value("");
        let around = walk.found.iter().filter(|(path, _)| {
            let rest = field.strip_prefix(path.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        });
        around.max_by_key(|(path, _)| path.len()).map_or(1, |(_, line)| *line)
    }
}

/// A walk through a text that is known to be JSON, noting where its fields begin.
struct Walk<'a> {
    chars: Peekable<Chars<'a>>,
    line: usize,
    found: Vec<(String, usize)>,
}

impl Walk<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.chars.next();
        self.line += usize::from(next == Some('\n'));
        next
    }

    /// The next character that is no white space, not taken yet.
    fn peek(&mut self) -> Option<char> {
        while self.chars.peek().is_some_and(|c| c.is_whitespace()) {
            self.next();
        }
        self.chars.peek().copied()
    }

    fn value(&mut self, path: &str) {
        match self.peek() {
            Some('{') => self.members(path),
            Some('[') => self.items(path),
            Some('"') => drop(self.string()),
            _ => self.scalar(),
        }
    }

    fn members(&mut self, path: &str) {
        while let Some(c) = self.peek() {
            if c != '"' {
                self.next();
                if c == '}' {
                    return;
                }
                continue;
            }
            let (line, key) = (self.line, self.string());
            let path = if path.is_empty() { key } else { format!("{path}.{key}") };
            if self.peek() == Some(':') {
                self.next();
            }
            self.found.push((path.clone(), line));
            self.value(&path);
        }
    }

    fn items(&mut self, path: &str) {
        self.next();
        let mut count = 0;
        while let Some(c) = self.peek() {
            if c == ']' || c == ',' {
                self.next();
                if c == ']' {
                    return;
                }
                continue;
            }
            let path = format!("{path}[{count}]");
            self.found.push((path.clone(), self.line));
            self.value(&path);
            count += 1;
        }
    }

    fn string(&mut self) -> String {
        self.next();
        let mut text = String::new();
        while let Some(c) = self.next() {
            match c {
                '"' => break,
                '\\' => text.extend(self.next()),
                c => text.push(c),
            }
        }
        text
    }

    fn scalar(&mut self) {
        self.next();
        while self.chars.peek().is_some_and(|c| !c.is_whitespace() && !",]}".contains(*c)) {
            self.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_at_its_line() {
        let text =
            "{\n \"a\": \"{[\\\"\", \"b\": [\n  1,\n  {\"c\": [],\n   \"d\": {\"e\": null}}]\n}";
        let source = Source::new(Path::new("x.json"), text);
        for (field, line) in [
            ("a", 2),
            ("b", 2),
            ("b[0]", 3),
            ("b[1].c", 4),
            ("b[1].d.e", 5),
            ("b[1].z", 4),
            ("z", 1),
        ] {
            assert_eq!(source.line_of(field), line, "{field}");
        }
    }
}
