//! Single files and names under a power loss.

use std::collections::{BTreeMap, BTreeSet};

use super::{super::power::Survives, model::World};

fn nothing(world: &World) -> Vec<(String, u64)> {
    world.left(Survives::Nothing, 0).into_iter().collect()
}

fn files(files: &[(&str, u64)]) -> Vec<(String, u64)> {
    files.iter().map(|(path, size)| ((*path).to_owned(), *size)).collect()
}

#[test]
fn a_file_ends_where_its_last_sync_found_it() {
    let mut world = World::new();
    world.append("f", 10);
    world.sync("f");
    world.append("f", 7);
    assert_eq!(nothing(&world), files(&[("f", 10)]));
    let loss = world.lose(Survives::Nothing, 0);
    assert_eq!(loss.lost, BTreeMap::from([("/r/f".into(), 7)]));
}

#[test]
fn a_part_of_the_rest_may_survive_and_the_seed_decides_which() {
    let mut world = World::new();
    world.append("f", 10);
    world.sync("f");
    world.append("f", 5);
    let left = |seed| world.left(Survives::Drawn, seed)["f"];
    let seen: BTreeSet<u64> = (0..100).map(left).collect();
    assert_eq!(seen, (10..=15).collect());
    assert_eq!(left(7), left(7));
}

#[test]
fn what_was_cut_off_and_written_again_is_not_synced() {
    let mut world = World::new();
    world.append("f", 10);
    world.sync("f");
    world.truncate("f", 4);
    world.append("f", 6);
    assert_eq!(nothing(&world), files(&[("f", 4)]));
}

#[test]
fn a_file_whose_writes_are_not_seen_is_left_alone() {
    let mut world = World::new();
    world.append("f", 10);
    world.sync_root();
    world.map("f");
    assert_eq!(nothing(&world), files(&[("f", 10)]));
}

#[test]
fn a_name_that_was_not_synced_goes_with_all_below_it() {
    let mut world = World::new();
    world.folder("d");
    world.append("d/f", 10);
    world.append("g", 1);
    assert_eq!(nothing(&world), []);
    world.sync("g");
    assert_eq!(nothing(&world), files(&[("g", 1)]), "its sync makes its name durable");
    world.sync("d/f");
    assert_eq!(nothing(&world), files(&[("d/f", 10), ("g", 1)]), "and its folder's");
}

#[test]
fn the_sync_of_a_folder_keeps_names_and_no_bytes() {
    let mut world = World::new();
    world.folder("d");
    world.append("d/f", 10);
    world.sync("d");
    assert_eq!(nothing(&world), files(&[("d/f", 0)]));
}

#[test]
fn a_rename_that_was_not_synced_rolls_back_to_the_file_it_replaced() {
    let mut world = World::new();
    world.append("f", 10);
    world.sync("f");
    world.append("f.tmp", 3);
    world.sync("f.tmp");
    let old = world.find("f").unwrap();
    world.rename("f.tmp", "f");
    assert_eq!(nothing(&world), files(&[("f", 10), ("f.tmp", 3)]));
    let loss = world.lose(Survives::Nothing, 0);
    assert_eq!(world.files(Some(&loss))["f"].0, old);
    assert!(loss.lost.is_empty(), "no byte of either went");
    world.sync_root();
    assert_eq!(nothing(&world), files(&[("f", 3)]));
}

#[test]
fn renames_one_after_the_other_roll_back_to_the_first_file() {
    let mut world = World::new();
    world.append("f", 1);
    world.sync("f");
    for size in [2, 3] {
        world.append("f.tmp", size);
        world.rename("f.tmp", "f");
    }
    assert_eq!(nothing(&world), files(&[("f", 1)]));
    let seen: BTreeSet<Vec<(String, u64)>> =
        (0..200).map(|seed| world.left(Survives::Drawn, seed).into_iter().collect()).collect();
    assert!(seen.contains(&files(&[("f", 3)])) && seen.contains(&files(&[("f", 1)])));
}

#[test]
fn a_renamed_folder_has_its_old_name_back_with_what_it_holds() {
    let mut world = World::new();
    world.folder("d");
    world.append("d/f", 5);
    world.sync("d/f");
    world.rename("d", "gone");
    assert_eq!(nothing(&world), files(&[("d/f", 5)]));
}

#[test]
fn a_removal_counts_as_durable() {
    let mut world = World::new();
    world.append("f", 5);
    world.sync("f");
    world.remove("f");
    world.append("f", 2);
    assert_eq!(nothing(&world), []);
}
