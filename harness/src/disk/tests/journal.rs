//! The journal's lines are read as the shim writes them, also after a kill.

use super::super::{
    inode::Inode,
    journal::{Move, Name, Record, baseline, parse},
};

fn inode(number: u64) -> Inode {
    Inode { device: 1, number }
}

fn name(folder: u64, name: &str) -> Name {
    Name { folder: inode(folder), name: name.into() }
}

#[test]
fn each_kind_of_line_is_read() {
    let text = "\nP 77;\nS 1 5 100;\nD 1 2;\nT 1 5 50;\nC 1 6 2 a b.log;\nL 1 6 2 x;\n\
                R 1 6 2 3 0 a/b;\nR 1 6 2 3 9 a;b/c;\nU 1 6 2 b;\nM 1 6;\n";
    let renamed = |from: &str, to: &str, replaced: Option<u64>| {
        let replaced = replaced.map(inode);
        Record::Renamed(inode(6), Move { from: name(2, from), to: name(3, to), replaced })
    };
    let wanted = [
        Record::Synced(inode(5), 100),
        Record::Folder(inode(2)),
        Record::Truncated(inode(5), 50),
        Record::Created(inode(6), name(2, "a b.log")),
        Record::Linked(inode(6), name(2, "x")),
        renamed("a", "b", None),
        renamed("a;b", "c", Some(9)),
        Record::Unlinked(inode(6), name(2, "b")),
        Record::Mapped(inode(6)),
    ];
    assert_eq!(parse(text.as_bytes()).unwrap(), wanted);
}

#[test]
fn what_a_kill_cut_short_is_left_out_and_anything_else_is_refused() {
    let synced = |size: u64| Record::Synced(inode(5), size);
    let cases: [(&str, Result<Vec<Record>, usize>); 6] = [
        ("S 1 5 10;\nS 1 5 2", Ok(vec![synced(10)])),
        ("S 1 5 10;\nS 1 5 2\nP 8;\nS 1 5 30;\n", Ok(vec![synced(10), synced(30)])),
        ("T 1 5 1\n\nP 8;\n", Ok(vec![])),
        ("S 1 5 10;\nS 1 5 2\nS 1 5 30;\n", Err(2)),
        ("X 1 5;\nS 1 5 30;\n", Err(1)),
        ("S 1 5 10 11;\nS 1 5 30;\n", Err(1)),
    ];
    for (text, wanted) in cases {
        assert_eq!(parse(text.as_bytes()), wanted, "{text:?}");
    }
}

#[test]
fn a_baseline_is_read_as_what_it_says() {
    let files = [(inode(3), 7), (inode(4), 0)];
    let read = parse(&baseline(files)).unwrap();
    assert_eq!(read, files.map(|(inode, size)| Record::Synced(inode, size)));
}
