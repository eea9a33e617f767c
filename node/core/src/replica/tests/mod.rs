//! Tests of the replica: scripts, random inputs, and the formulas of single rules.

mod disk;
mod epochs;
mod props;
mod render;
mod world;

#[test]
fn scripts_give_what_they_say() {
    crate::script::check("replica", || {
        let mut world = world::World::new();
        move |line| world.execute(line)
    });
}
