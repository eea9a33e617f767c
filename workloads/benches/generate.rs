//! How fast the generator fills a history: operations a second without any broker.

use std::{hint::black_box, path::Path};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use highwater_history::{
    Event, EventValue, Key,
    event::{Ack, EventKind, Function, MicroOp, Process},
    recorder::Recorder,
};
use highwater_workloads::{
    Acks, Catalog, Op, Settings,
    topic::TopicPlan,
    workload::{self, Seat},
};

const OPERATIONS: u64 = 100_000;

fn catalog() -> Catalog {
    let mut catalog = Catalog::default();
    for (label, acks) in [("all", Acks::All), ("one", Acks::One), ("zero", Acks::Zero)] {
        let plan = TopicPlan::new(label, 2, acks);
        catalog.add(plan, format!("run-{label}"), uuid::Uuid::nil());
    }
    catalog
}

fn event(process: u64, kind: EventKind, op: &Op, names: &[Key]) -> Event {
    let Op::Send { key, values } = op else { unreachable!("a producing seat sends") };
    let send = |value: &i64| MicroOp::Send {
        key: names[key.0 as usize].clone(),
        value: *value,
        ack: if kind == EventKind::Ok { Ack::At(*value) } else { Ack::None },
    };
    let value = EventValue::Ops(values.iter().map(send).collect());
    Event::new(process, Process::Client(process), kind, Function::Send).with_value(value)
}

fn generate(criterion: &mut Criterion) {
    let (settings, catalog) = (Settings::default(), catalog());
    let names: Vec<Key> = catalog.keys().map(|key| Key::from(catalog.name(key))).collect();
    let workload = workload::find("log").expect("the workload exists");
    let mut group = criterion.benchmark_group("generate");
    group.throughput(Throughput::Elements(OPERATIONS)).sample_size(10);
    group.bench_function("generator and recorder", |bencher| {
        bencher.iter(|| {
            let mut generator = (workload.generator)(&settings, &catalog, 1);
            let mut recorder = Recorder::new(Path::new("none"), std::io::sink());
            for nth in 0..OPERATIONS {
                let seat = Seat((nth % u64::from(settings.producers)) as u32);
                let op = generator.next(seat).op;
                for kind in [EventKind::Invoke, EventKind::Ok] {
                    let mut event = event(nth, kind, &op, &names);
                    recorder.append(&mut event).expect("a sink takes everything");
                }
            }
            black_box(recorder.len())
        });
    });
    group.finish();
}

criterion_group!(benches, generate);
criterion_main!(benches);
