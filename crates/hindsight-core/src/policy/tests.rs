use super::*;
use crate::draft::{Draft, EpisodeDraft, Moment, RuleDraft};
use crate::{Action, MemoryId};

fn memory(draft: Draft) -> Memory {
    let moment = Moment {
        namespace: "test".parse().unwrap(),
        id: MemoryId::from_u128(1),
        now: "2026-11-30T12:00:00Z".parse().unwrap(),
        embedding_model: None,
    };
    draft.check().unwrap().into_memory(moment)
}

fn said(kind: Kind, content: &str) -> Memory {
    memory(Draft { kind: Some(kind), content: content.to_owned(), ..Draft::default() })
}

fn rule(polarity: Polarity, advice: &str) -> Memory {
    let rule = RuleDraft { polarity: Some(polarity), advice: advice.to_owned(), ..RuleDraft::default() };
    memory(Draft {
        kind: Some(Kind::Rule),
        content: "a rule".to_owned(),
        rule: Some(rule),
        ..Draft::default()
    })
}

fn episode(status: Status, content: &str, tools: &[&str], resolution: Option<&str>) -> Memory {
    let actions = tools.iter().map(|tool| Action { tool: (*tool).to_owned(), ..Action::default() }).collect();
    let episode =
        EpisodeDraft { actions, resolution: resolution.map(str::to_owned), ..EpisodeDraft::default() };
    memory(Draft {
        kind: Some(Kind::Episode),
        status: Some(status),
        content: content.to_owned(),
        episode: Some(episode),
        ..Draft::default()
    })
}

fn is_held(memory: &Memory, prohibition: Prohibition) -> bool {
    breach(memory, &[prohibition]).is_some()
}

use Kind::{Fact, Preference, Procedure};
use Prohibition::{NoDelete, NoExternal, NoMoney, ReadOnly};

#[test]
fn r15_advice_against_the_policy_is_held_back() {
    let mut missed = Vec::new();
    for (kind, text, policy) in [
        (Procedure, "Stop the worker, then delete the lock file and start again", NoDelete),
        (Procedure, "Free space by deleting old builds", NoDelete),
        (Procedure, "On a full disk: rm -rf /var/cache/app", NoDelete),
        (Procedure, "Drop table sessions and let it rebuild", NoDelete),
        (Procedure, "Call delete_user with the id of the account", NoDelete),
        (Procedure, "先停服务，再删除缓存目录", NoDelete),
        (Procedure, "把旧索引清空后重建", NoDelete),
        (Fact, "To free space, delete the old builds", NoDelete),
        (Fact, "Please remove stale branches after a release", NoDelete),
        (Fact, "You need to purge the cache after each deploy", NoDelete),
        (Fact, "请先清空回收站", NoDelete),
        (Fact, "将临时文件删除", NoDelete),
        (Procedure, "Refund order 17 and close the ticket", NoMoney),
        (Procedure, "Transfer the money to the savings account", NoMoney),
        (Procedure, "Pay the invoice through the portal", NoMoney),
        (Procedure, "Book the flight with the certificates first", NoMoney),
        (Procedure, "Place an order with the supplier", NoMoney),
        (Procedure, "特别大的日志分别删除", NoDelete),
        (Procedure, "核对金额后向供应商付款", NoMoney),
        (Procedure, "余额不足时充值 100 元", NoMoney),
        (Preference, "Always pay by card", NoMoney),
        (Fact, "请直接转账给房东", NoMoney),
        (Procedure, "Send the report to the customer", NoExternal),
        (Procedure, "Email the customer the tracking number", NoExternal),
        (Procedure, "Upload the dump to the vendor's server", NoExternal),
        (Procedure, "Use curl to call the partner's API", NoExternal),
        (Procedure, "整理后发邮件给全体客户", NoExternal),
        (Procedure, "将日志上传到供应商", NoExternal),
        (Fact, "Always notify the vendor of an outage", NoExternal),
        (Procedure, "Restart the worker", ReadOnly),
        (Procedure, "Update the record with the new address", ReadOnly),
        (Procedure, "Call update_status with the new state", ReadOnly),
        (Procedure, "Send the report to the customer", ReadOnly),
        (Procedure, "Pay the invoice", ReadOnly),
        (Procedure, "Delete the lock file", ReadOnly),
        (Procedure, "重启服务后再试", ReadOnly),
        (Procedure, "修改配置文件中的端口", ReadOnly),
    ] {
        if !is_held(&said(kind, text), policy) {
            missed.push(format!("{policy}: {text}"));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn r15_what_only_speaks_of_it_is_not_held_back() {
    let mut held = Vec::new();
    for (kind, text, policy) in [
        (Procedure, "Never delete the lock file while the worker runs", NoDelete),
        (Procedure, "Rebuild the index without deleting the old one", NoDelete),
        (Procedure, "Do not, under any circumstances, wait. Read the log instead of removing it", NoDelete),
        (Procedure, "Look into the deleted items folder", NoDelete),
        (Procedure, "Read the drop-down list of regions", NoDelete),
        (Procedure, "不要删除锁文件，等它自己释放", NoDelete),
        (Procedure, "只归档，别删除", NoDelete),
        (Procedure, "查看删除记录，找出是谁做的", NoDelete),
        (Fact, "The user deleted the account in May", NoDelete),
        (Fact, "Only admins can delete projects", NoDelete),
        (Fact, "Ann wants to delete her photos some day", NoDelete),
        (Fact, "用户五月删除了账户", NoDelete),
        (Fact, "The refund policy allows 30 days", NoMoney),
        (Fact, "The bank transfer failed with E1042", NoMoney),
        (Fact, "The customer paid by card", NoMoney),
        (Preference, "The user likes to pay by card", NoMoney),
        (Preference, "Ann likes to buy her books second-hand", NoMoney),
        (Procedure, "Ask for a refund request number and look it up", NoMoney),
        (Procedure, "Read the book on payments before you answer", NoMoney),
        (Procedure, "查询退款状态并告诉客户", NoMoney),
        (Fact, "退款政策是三十天", NoMoney),
        (Fact, "他喜欢用微信支付", NoMoney),
        (Fact, "The status email arrives at nine", NoExternal),
        (Fact, "Ann sent a postcard from Bern", NoExternal),
        (Procedure, "Read the last email of the customer", NoExternal),
        (Procedure, "Check the shared folder for the report", NoExternal),
        (Procedure, "Never send logs to a vendor", NoExternal),
        (Procedure, "切勿将日志发送给第三方", NoExternal),
        (Procedure, "Check for an update and read the status update", ReadOnly),
        (Procedure, "Query the order, compare the dates and report", ReadOnly),
        (Procedure, "Call query_order and read the last change date", ReadOnly),
        (Fact, "update_status needs an administrator's token", ReadOnly),
        (Fact, "I am allergic to peanuts", ReadOnly),
        (Fact, "订单状态由系统更新", ReadOnly),
        (Procedure, "Delete the lock file", NoMoney),
        (Procedure, "Pay the invoice", NoDelete),
        (Procedure, "Pay the invoice", NoExternal),
    ] {
        held.extend(breach(&said(kind, text), &[policy]).map(|breach| format!("{text}: {breach:?}")));
    }
    assert!(held.is_empty(), "{held:#?}");
}

#[test]
fn r15_a_rule_to_avoid_it_is_no_advice_to_do_it() {
    assert!(is_held(&rule(Polarity::Do, "refund the order at once"), NoMoney));
    assert!(!is_held(&rule(Polarity::Avoid, "refund the order at once"), NoMoney));
}

#[test]
fn r15_what_a_success_did_is_advice_and_what_a_failure_did_is_a_warning() {
    let tools = ["get_user", "delete_user"];
    assert!(is_held(&episode(Status::Success, "account closed", &tools, None), NoDelete));
    assert!(!is_held(&episode(Status::Failure, "account closed", &tools, None), NoDelete));
    assert!(is_held(&episode(Status::Failure, "disk full", &[], Some("delete old builds")), NoDelete));
    assert!(!is_held(&episode(Status::Failure, "I deleted the backup and it broke", &[], None), NoDelete));
    assert!(is_held(
        &episode(Status::Success, "Refunded the order and closed the ticket", &[], None),
        NoMoney
    ));
    assert!(!is_held(&episode(Status::Success, "Answered; the customer paid by card", &[], None), NoMoney));
    for (tool, policy, held) in [
        ("refundOrder", NoMoney, true),
        ("billing.refund", NoMoney, true),
        ("get_refund_status", NoMoney, false),
        ("book_reservation", NoMoney, true),
        ("http_request", NoExternal, true),
        ("send_certificate", NoExternal, true),
        ("search_direct_flight", NoExternal, false),
        ("search_direct_flight", ReadOnly, false),
        ("update_reservation_flights", ReadOnly, true),
        ("cancel_reservation", ReadOnly, true),
        ("calculate", ReadOnly, false),
    ] {
        assert_eq!(
            is_held(&episode(Status::Success, "done", &[tool], None), policy),
            held,
            "{tool} {policy}"
        );
    }
}

#[test]
fn r15_the_breach_names_what_gave_it_away() {
    let memory = said(Procedure, "Delete the file, then pay the invoice");
    let found = breach(&memory, &[NoExternal, NoMoney, NoDelete]).unwrap();
    assert_eq!(found, Breach { prohibition: NoMoney, word: "pay".to_owned() });
    assert_eq!(breach(&memory, &[]), None);
}
