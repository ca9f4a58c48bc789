import { Anchor, Code, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Event } from '@/api/types';
import { useLanguage } from '@/text/language';
import { useTime } from '@/text/time';
import { ExpandableRow } from '@/ui/ExpandableRow';
import classes from './AuditPage.module.css';
import { useText } from './text';
import { eventWords } from './words';

/** Shows one event. A press on it opens all its data. */
export function EventRow({ event }: { event: Event }) {
  const text = useText();
  const time = useTime();
  const language = useLanguage();
  const who = event.actor.name ?? text[event.actor.kind];
  return (
    <ExpandableRow
      summary={
        <>
          <span className={classes.seq}>{event.seq.toLocaleString(language)}</span>
          <span className={classes.what}>{eventWords(event.type, language)}</span>
          <Text span size="sm">{text.by(who)}</Text>
          <Text span size="sm" c="dimmed">{time.full(event.at)}</Text>
        </>
      }
    >
      {() => <Details event={event} />}
    </ExpandableRow>
  );
}

function Details({ event }: { event: Event }) {
  const text = useText();
  const data = JSON.stringify(event.data ?? {}, null, 2);
  const facts = [
    [text.type, event.type],
    [text.actor, [text[event.actor.kind], event.actor.name, event.actor.id].filter(Boolean).join(', ')],
    [text.task, event.task_id],
    [text.question, event.question_id],
    [text.run, event.run_id],
    ['UTC', new Date(event.at).toISOString()],
    [text.hash, event.hash],
    [text.prevHash, event.prev_hash || text.first],
  ] as const;
  return (
    <>
      <Text component="dl" size="sm" className={classes.facts}>
        {facts.filter(([, fact]) => fact).map(([label, fact]) => [<dt key={`${label}-label`}>{label}</dt>, <dd key={label}><Code>{fact}</Code></dd>])}
      </Text>
      <Group gap="md" my="xs">
        {event.task_id && <Anchor size="sm" renderRoot={(props) => <Link to="/tasks/$id" params={{ id: event.task_id ?? '' }} {...props} />}>{text.openTask}</Anchor>}
        {event.question_id && <Anchor size="sm" renderRoot={(props) => <Link to="/questions/$id" params={{ id: event.question_id ?? '' }} {...props} />}>{text.openQuestion}</Anchor>}
      </Group>
      {data !== '{}' && <Code block className={classes.data} tabIndex={0} aria-label={text.facts} role="region">{data}</Code>}
    </>
  );
}
