//! Rule 32: two live incarnations of a broker id are impossible.

/// What the controller knows when a process asks to register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registrant {
    /// A registration of that id exists and was heard of within the session time-out.
    pub session_valid: bool,
    /// That registration is of the same run of the process: it only asks again.
    pub same_incarnation: bool,
}

/// The type of [`may_register`].
pub type MayRegister = fn(Registrant) -> bool;

/// Whether the process may register; otherwise DUPLICATE_BROKER_REGISTRATION.
pub fn may_register(registrant: Registrant) -> bool {
    !registrant.session_valid || registrant.same_incarnation
}
