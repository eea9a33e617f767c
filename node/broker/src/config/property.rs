//! One property of a node or a topic: its name, the values that it takes, and what it sets.

/// What a property's value must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// A whole number between these bounds, both included.
    Number(i64, i64),
    /// A number between these bounds, both included.
    Fraction(f64, f64),
    /// Any text.
    Text,
    /// One of these.
    Choice(&'static [&'static str]),
    /// Any of these, comma separated; at least one.
    Choices(&'static [&'static str]),
    /// Any texts, comma separated.
    List,
}

/// A property of a `C`: the node's settings, or a topic's.
#[derive(Debug)]
pub struct Property<C: 'static> {
    /// Kafka's name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Kafka's default; none where Kafka has none (null).
    pub default: Option<&'static str>,
    /// What it means, for docs and for those who describe configurations.
    pub doc: &'static str,
    /// Puts a checked value into the settings; none for a property that is read together with
    /// others, or that is accepted and has no effect yet.
    pub apply: Option<fn(&mut C, &str)>,
}

impl Kind {
    /// Checks a value; the error is what follows "NAME is VALUE, " in a sentence.
    pub fn check(self, value: &str) -> Result<(), String> {
        let value = value.trim();
        match self {
            Kind::Boolean => match value.to_ascii_lowercase().as_str() {
                "true" | "false" => Ok(()),
                _ => Err("which is neither true nor false".to_owned()),
            },
            Kind::Number(min, max) => {
                let number = value.parse::<i64>();
                in_range(number.map_err(|_| "which is no whole number".to_owned())?, min, max)
            }
            Kind::Fraction(min, max) => {
                let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
                in_range(number.ok_or("which is no number")?, min, max)
            }
            Kind::Choice(choices) => one_of(choices, value),
            Kind::Choices(choices) => {
                value.split(',').try_for_each(|entry| one_of(choices, entry.trim()))
            }
            Kind::Text | Kind::List => Ok(()),
        }
    }
}

fn in_range<T: PartialOrd + std::fmt::Display>(number: T, min: T, max: T) -> Result<(), String> {
    if number < min {
        return Err(format!("but must be at least {min}"));
    }
    if number > max {
        return Err(format!("but must be at most {max}"));
    }
    Ok(())
}

fn one_of(choices: &[&str], value: &str) -> Result<(), String> {
    if choices.contains(&value) {
        return Ok(());
    }
    Err(format!("which is none of {}", choices.join(", ")))
}

/// The value of a checked [`Kind::Number`].
pub(super) fn number<T: TryFrom<i64>>(value: &str) -> T {
    let number: Option<i64> = value.trim().parse().ok();
    number.and_then(|number| T::try_from(number).ok()).expect("the kind was checked")
}

/// The value of a checked [`Kind::Boolean`].
pub(super) fn boolean(value: &str) -> bool {
    value.trim().eq_ignore_ascii_case("true")
}
