//! The words of action, by what they do.

use crate::Prohibition;

/// What an action does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Takes something away.
    Delete,
    /// Changes something.
    Change,
    /// Sends something out, or calls somebody outside.
    Send,
    /// Moves money.
    Pay,
}

impl Act {
    /// Whether a prohibition forbids it. Paying and sending change something too.
    pub(super) const fn is_against(self, prohibition: Prohibition) -> bool {
        match prohibition {
            Prohibition::ReadOnly => true,
            Prohibition::NoDelete => matches!(self, Act::Delete),
            Prohibition::NoExternal => matches!(self, Act::Send),
            Prohibition::NoMoney => matches!(self, Act::Pay),
        }
    }
}

/// A verb: its base form and its past. `named` ones are as often nouns ("an update", "the transfer") and count only
/// before what they act on ("update the record").
pub(super) struct Verb {
    pub(super) base: &'static str,
    pub(super) past: &'static str,
    pub(super) act: Act,
    pub(super) named: bool,
}

const fn verb(base: &'static str, past: &'static str, act: Act) -> Verb {
    Verb { base, past, act, named: false }
}

const fn named(base: &'static str, past: &'static str, act: Act) -> Verb {
    Verb { base, past, act, named: true }
}

pub(super) const VERBS: &[Verb] = &[
    verb("delete", "deleted", Act::Delete),
    verb("remove", "removed", Act::Delete),
    verb("erase", "erased", Act::Delete),
    verb("wipe", "wiped", Act::Delete),
    verb("destroy", "destroyed", Act::Delete),
    verb("truncate", "truncated", Act::Delete),
    verb("uninstall", "uninstalled", Act::Delete),
    verb("unlink", "unlinked", Act::Delete),
    verb("rm", "rm", Act::Delete),
    verb("discard", "discarded", Act::Delete),
    named("purge", "purged", Act::Delete),
    named("clear", "cleared", Act::Delete),
    named("empty", "emptied", Act::Delete),
    named("drop", "dropped", Act::Delete),
    verb("overwrite", "overwrote", Act::Change),
    verb("rename", "renamed", Act::Change),
    verb("modify", "modified", Act::Change),
    verb("insert", "inserted", Act::Change),
    verb("install", "installed", Act::Change),
    verb("deploy", "deployed", Act::Change),
    verb("restart", "restarted", Act::Change),
    verb("revoke", "revoked", Act::Change),
    verb("disable", "disabled", Act::Change),
    verb("enable", "enabled", Act::Change),
    verb("kill", "killed", Act::Change),
    verb("create", "created", Act::Change),
    verb("cancel", "cancelled", Act::Change),
    verb("chmod", "chmod", Act::Change),
    named("update", "updated", Act::Change),
    named("change", "changed", Act::Change),
    named("write", "wrote", Act::Change),
    named("edit", "edited", Act::Change),
    named("set", "set", Act::Change),
    named("reset", "reset", Act::Change),
    named("grant", "granted", Act::Change),
    named("commit", "committed", Act::Change),
    named("push", "pushed", Act::Change),
    named("merge", "merged", Act::Change),
    named("patch", "patched", Act::Change),
    named("save", "saved", Act::Change),
    named("move", "moved", Act::Change),
    verb("send", "sent", Act::Send),
    verb("publish", "published", Act::Send),
    verb("upload", "uploaded", Act::Send),
    verb("tweet", "tweeted", Act::Send),
    verb("notify", "notified", Act::Send),
    verb("curl", "curled", Act::Send),
    verb("wget", "wget", Act::Send),
    named("email", "emailed", Act::Send),
    named("mail", "mailed", Act::Send),
    named("text", "texted", Act::Send),
    named("message", "messaged", Act::Send),
    named("post", "posted", Act::Send),
    named("share", "shared", Act::Send),
    named("forward", "forwarded", Act::Send),
    verb("pay", "paid", Act::Pay),
    verb("reimburse", "reimbursed", Act::Pay),
    verb("buy", "bought", Act::Pay),
    verb("donate", "donated", Act::Pay),
    verb("withdraw", "withdrew", Act::Pay),
    named("refund", "refunded", Act::Pay),
    named("purchase", "purchased", Act::Pay),
    named("transfer", "transferred", Act::Pay),
    named("charge", "charged", Act::Pay),
    named("wire", "wired", Act::Pay),
    named("deposit", "deposited", Act::Pay),
    named("book", "booked", Act::Pay),
];

/// Several words that are one action, as they stand in a text.
pub(super) const PHRASES: &[(&[&str], Act)] = &[
    (&["git", "push"], Act::Send),
    (&["rm", "rf"], Act::Delete),
    (&["drop", "table"], Act::Delete),
    (&["drop", "database"], Act::Delete),
    (&["call", "the", "customer"], Act::Send),
    (&["reach", "out", "to"], Act::Send),
    (&["top", "up"], Act::Pay),
    (&["place", "an", "order"], Act::Pay),
    (&["place", "the", "order"], Act::Pay),
    (&["check", "out", "the", "cart"], Act::Pay),
    (&["issue", "a", "refund"], Act::Pay),
    (&["issue", "the", "refund"], Act::Pay),
    (&["make", "a", "payment"], Act::Pay),
    (&["make", "the", "payment"], Act::Pay),
];

/// Parts of the names of tools, beside the verbs.
pub(super) const TOOL_PARTS: &[(&str, Act)] = &[
    ("del", Act::Delete),
    ("unset", Act::Delete),
    ("put", Act::Change),
    ("upsert", Act::Change),
    ("add", Act::Change),
    ("exec", Act::Change),
    ("http", Act::Send),
    ("webhook", Act::Send),
    ("smtp", Act::Send),
    ("sms", Act::Send),
    ("payment", Act::Pay),
    ("checkout", Act::Pay),
    ("payout", Act::Pay),
];

/// Chinese words of action.
pub(super) const HAN: &[(&str, Act)] = &[
    ("删除", Act::Delete),
    ("删掉", Act::Delete),
    ("清空", Act::Delete),
    ("清除", Act::Delete),
    ("抹除", Act::Delete),
    ("销毁", Act::Delete),
    ("移除", Act::Delete),
    ("卸载", Act::Delete),
    ("丢弃", Act::Delete),
    ("格式化", Act::Delete),
    ("修改", Act::Change),
    ("更新", Act::Change),
    ("写入", Act::Change),
    ("覆盖", Act::Change),
    ("重命名", Act::Change),
    ("重启", Act::Change),
    ("部署", Act::Change),
    ("安装", Act::Change),
    ("禁用", Act::Change),
    ("启用", Act::Change),
    ("撤销", Act::Change),
    ("取消", Act::Change),
    ("创建", Act::Change),
    ("新建", Act::Change),
    ("发送", Act::Send),
    ("发邮件", Act::Send),
    ("发短信", Act::Send),
    ("群发", Act::Send),
    ("发布", Act::Send),
    ("上传", Act::Send),
    ("转发", Act::Send),
    ("外发", Act::Send),
    ("通知客户", Act::Send),
    ("联系客户", Act::Send),
    ("支付", Act::Pay),
    ("付款", Act::Pay),
    ("退款", Act::Pay),
    ("转账", Act::Pay),
    ("汇款", Act::Pay),
    ("打款", Act::Pay),
    ("扣款", Act::Pay),
    ("充值", Act::Pay),
    ("购买", Act::Pay),
    ("下单", Act::Pay),
    ("提现", Act::Pay),
];
