//! Random questions, and what they are answered with.

use super::*;

pub(crate) fn filter() -> BoxedStrategy<Filter> {
    let words = (
        vec(word(Kind::ALL), 0..3),
        vec(word(Layer::ALL), 0..3),
        vec(word(Status::ALL), 0..3),
        vec(word(State::ALL), 0..3),
        vec(word(SourceKind::ALL), 0..3),
    );
    let lists = [texts(), texts(), texts(), texts(), texts(), texts(), texts(), texts()];
    let rest =
        (of(time()), of(time()), of(1..i64::from(i32::MAX)), of(share()), of(share()), of(any::<bool>()));
    let leaf = (words, lists, rest).prop_map(|(words, lists, rest)| {
        let [task_types, tags, entities, tools, error_codes, root_causes, sessions, agents] = lists;
        Filter {
            kinds: words.0,
            layers: words.1,
            statuses: words.2,
            states: words.3,
            source_kinds: words.4,
            task_types,
            tags,
            entities,
            tools,
            error_codes,
            root_causes,
            sessions,
            agents,
            from: rest.0,
            to: rest.1,
            last: rest.2.map(Span::from_ms),
            min_importance: rest.3,
            min_confidence: rest.4,
            transient: rest.5,
            ..Filter::default()
        }
    });
    let leaf = leaf.boxed();
    leaf.clone()
        .prop_recursive(3, 8, 2, move |inner| {
            (leaf.clone(), vec(inner.clone(), 0..2), vec(inner.clone(), 0..2), vec(inner, 0..2))
                .prop_map(|(leaf, all, any, not)| Filter { all, any, not, ..leaf })
        })
        .boxed()
}

pub(crate) fn recall() -> BoxedStrategy<Recall> {
    let decay = prop_oneof![
        number().prop_map(Decay::HalfLifeDays),
        number().prop_map(Decay::FactorPerDay),
        Just(Decay::Off)
    ];
    let how = (
        word(&[Mode::Hybrid, Mode::Vector, Mode::Keyword]),
        word(&[Fusion::Weighted, Fusion::Rrf]),
        (number(), number(), number(), number(), number()),
        of(decay),
    );
    let limits = (1..1_000_usize, of(1..1_000_000_usize), of(number()));
    let who = (of(text()), of(text()), of(time()), any::<[bool; 6]>());
    let as_of = (time(), word(Axis::ALL)).prop_map(|(at, axis)| AsOf { at, axis });
    let more = (of(as_of), of(number()), vec(word(Prohibition::ALL), 0..3));
    (text(), filter(), how, limits, who, more)
        .prop_map(|(query, filter, how, limits, who, more)| Recall {
            query,
            vector: None,
            embedding_model: None,
            mode: how.0,
            filter,
            include_archived: who.3[0],
            include_history: who.3[1],
            as_of: more.0,
            diversity: more.1,
            keep_alike: who.3[4],
            policy: more.2,
            as_text: who.3[5],
            top_k: limits.0,
            token_budget: limits.1,
            min_score: limits.2,
            weights: Weights {
                vector: how.2.0,
                keyword: how.2.1,
                window: how.2.2,
                entity: how.2.3,
                neighbour: how.2.4,
            },
            fusion: how.1,
            decay: how.3,
            agent_id: who.0,
            time_zone: who.1,
            now: who.2,
            explain: who.3[2],
            exact: who.3[3],
            observe: !who.3[2],
        })
        .boxed()
}

pub(crate) fn recalled() -> BoxedStrategy<Recalled> {
    let part = (text(), number(), number(), number())
        .prop_map(|(name, raw, normalized, weight)| Part::new(&name, raw, normalized, weight));
    let factors = [number(), number(), number(), number(), number(), number(), number()];
    let hit = (memory(), vec(part, 0..3), factors, [texts(), texts()]).prop_map(
        |(memory, parts, n, [matched_terms, path])| Hit {
            verified_count: u32::try_from(path.len()).unwrap(),
            collapsed: vec![memory.id; matched_terms.len()],
            changed_since: parts.len() == 1,
            memory,
            score: n[0],
            similarity: n[1],
            age_days: n[2],
            breakdown: Breakdown {
                parts,
                confidence: n[3],
                source_weight: n[4],
                transient: n[5],
                unused: n[6],
                score: n[0],
                matched_terms,
                path,
            },
        },
    );
    let window = (text(), time(), time()).prop_map(|(words, from, to)| NamedWindow { words, from, to });
    (vec(hit, 0..3), any::<[u64; 3]>(), of(window), of(text()))
        .prop_map(|(hits, n, window, plan)| Recalled {
            hits,
            recall_id: (n[0] % 2 == 1).then(|| RecallId::new(Timestamp::from_ms(7), u128::from(n[0]))),
            revision: Lsn(n[0]),
            allowed: n[1],
            omitted: n[2],
            held_back: Prohibition::ALL
                .iter()
                .copied()
                .zip(n)
                .take(usize::try_from(n[1] % 3).unwrap())
                .collect(),
            text: plan.clone(),
            text_tokens: plan.as_ref().map(|_| n[0]),
            window,
            plan,
        })
        .boxed()
}

pub(crate) fn explanation() -> BoxedStrategy<Explanation> {
    let numbers = (of(any::<u32>()), of(number()), any::<[u64; 2]>());
    (memory(), word(Reason::ALL), text(), any::<bool>(), numbers, recalled())
        .prop_map(|(memory, reason, detail, has_other, (rank, similarity, n), recalled)| Explanation {
            id: memory.id,
            reason,
            detail,
            other: has_other.then_some(memory.id),
            rank,
            similarity,
            breakdown: recalled.hits.into_iter().next().map(|hit| hit.breakdown),
            allowed: n[0],
            revision: Lsn(n[1]),
            plan: recalled.plan.unwrap_or_default(),
        })
        .boxed()
}
