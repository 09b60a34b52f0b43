//! L1: what an agent was told and says again confirms nothing, and is not stored again.

use hindsight_core::draft::SourceDraft;
use hindsight_core::{Draft, Filter, OnDuplicate, Outcome, Recall, SourceKind};
use hindsight_engine::{BatchRequest, WriteItem, WriteOptions};

use crate::support::{Db, fact, ns};

fn of(kind: SourceKind, text: &str) -> Draft {
    Draft { source: Some(SourceDraft { kind: Some(kind), ..SourceDraft::default() }), ..fact(text) }
}

fn asked(db: &Db, query: &str) {
    let recall = Recall { query: query.to_owned(), ..Recall::default() };
    assert_eq!(db.recall(&recall).hits.len(), 1);
}

#[test]
fn l1_what_a_recall_told_comes_back_as_an_echo() {
    let db = Db::new();
    let known = db.write(fact("Deploys go through Argo CD"));
    // Before anybody was told, an agent that says it confirms it.
    let said = |draft: Draft| db.try_write(draft, None).unwrap();
    assert_eq!(said(fact("Deploys go through Argo CD.")).outcome, Outcome::Reinforced);
    asked(&db, "how do deploys go");
    let echoed = said(fact("deploys go through Argo CD"));
    assert_eq!(
        (echoed.outcome, echoed.memory.id, echoed.memory.usage.verified_count),
        (Outcome::Echoed, known.id, 1)
    );
    let block = format!("<memory id=\"{}\" trust=\"0.9\">Deploys go through Argo CD</memory>", known.id);
    assert_eq!(said(fact(&block)).outcome, Outcome::Echoed);
    // It holds after a restart, too, and in a batch.
    let (db, _) = db.reopen();
    let items =
        vec![WriteItem::new(fact(&block), None), WriteItem::new(fact("Rollbacks need a ticket"), None)];
    let batch = BatchRequest { items, ..BatchRequest::default() };
    let written = db.engine.write_batch(&ns("ops"), batch).unwrap().wait().unwrap();
    let outcomes: Vec<Outcome> = written.results.iter().map(|one| one.as_ref().unwrap().outcome).collect();
    assert_eq!(outcomes, [Outcome::Echoed, Outcome::Created]);
    assert_eq!(db.list(Filter::default()).len(), 2);
}

#[test]
fn l1_a_person_who_says_it_again_confirms_it_and_a_comment_is_a_memory() {
    let db = Db::new();
    let known = db.write(fact("Deploys go through Argo CD"));
    asked(&db, "how do deploys go");
    let said = |draft: Draft| db.try_write(draft, None).unwrap().outcome;
    assert_eq!(said(of(SourceKind::UserInput, "Deploys go through Argo CD")), Outcome::Reinforced);
    assert_eq!(said(of(SourceKind::Tool, "Deploys go through Argo CD")), Outcome::Echoed);
    let comment = format!("I followed <memory id=\"{}\">Deploys go through Argo CD</memory>", known.id);
    assert_eq!(said(fact(&comment)), Outcome::Created);
    let options = WriteOptions { on_duplicate: Some(OnDuplicate::Reinforce), ..WriteOptions::default() };
    let item = WriteItem::new(fact("Deploys go through Argo CD"), None);
    let written = db.engine.write(&ns("ops"), item, options).unwrap().wait().unwrap();
    assert_eq!(written.outcome, Outcome::Reinforced);
    // Looking without counting tells nobody anything.
    db.write(fact("The mascot is a heron"));
    assert_eq!(db.contents("mascot"), ["The mascot is a heron"]);
    assert_eq!(said(fact("The mascot is a heron")), Outcome::Reinforced);
}
