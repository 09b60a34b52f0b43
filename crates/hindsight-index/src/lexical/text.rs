//! The text of a memory as keyword search sees it.

use hindsight_core::Memory;

/// Hands over every piece of a memory's text, one at a time: no term crosses from one piece into the next.
///
/// What people said, what it was filed under, who said it, and what went wrong. Parameters, results and metadata are
/// left out: they are looked up, not searched for.
pub fn each_text(memory: &Memory, take: &mut dyn FnMut(&str)) {
    take(&memory.content);
    take(&memory.summary);
    memory.keywords.iter().for_each(|keyword| take(keyword));
    memory.tags.iter().for_each(|tag| take(tag));
    memory.entities.iter().for_each(|entity| take(&entity.name));
    for claim in &memory.claims {
        take(&claim.subject);
        take(&claim.attribute);
        take(&claim.value);
    }
    [&memory.source.speaker, &memory.task_type].into_iter().flatten().for_each(|word| take(word));
    if let Some(episode) = &memory.episode {
        for action in &episode.actions {
            take(&action.tool);
            [&action.error_code, &action.error_message].into_iter().flatten().for_each(|text| take(text));
        }
        [&episode.root_cause, &episode.resolution].into_iter().flatten().for_each(|text| take(text));
    }
    if let Some(rule) = &memory.rule {
        take(&rule.advice);
        let condition = &rule.condition;
        [&condition.task_type, &condition.root_cause, &condition.error_code, &condition.tool]
            .into_iter()
            .flatten()
            .for_each(|word| take(word));
    }
}
