//! Tests of the controller: scripts, random requests, and placement.

mod placement;
mod props;
mod render;
mod table;
mod world;

#[test]
fn scripts_give_what_they_say() {
    crate::script::check("controller", || {
        let mut world = world::World::new();
        move |line: &crate::script::Line<'_>| world.execute(line)
    });
}
