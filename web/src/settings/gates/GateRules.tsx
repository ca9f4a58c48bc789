import { Badge, Button, Code, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '@/api/client';
import { whoamiQuery } from '@/api/queries';
import { serverNow } from '@/api/time';
import type { GateRule } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { useTime } from '@/text/time';
import { Icon, type IconName } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { Confirm } from '../parts/Confirm';
import { EmptyList } from '../parts/EmptyList';
import { mayChangeRules } from '../parts/rights';
import { Row, Rows } from '../parts/Rows';
import { Section } from '../parts/Section';
import { rulesQuery } from '../queries';
import { ruleState } from './rule';
import { RuleDialog } from './RuleDialog';
import { useText } from './text';

/** Shows the rules that decide tool calls without asking people. */
export default function GateRules() {
  const text = useText();
  const client = useQueryClient();
  const { data: me } = useQuery(whoamiQuery);
  const { data, error, refetch } = useQuery(rulesQuery);
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<GateRule>();
  const may = mayChangeRules(me);
  useCommands([{ id: 'add-rule', title: text.add, group: text.title, keys: ['n'], run: () => setAdding(true) }], may);
  const remove = async ({ id }: GateRule) => {
    await unwrap(api.DELETE('/v1/gate-rules/{id}', { params: { path: { id } } }));
    await client.invalidateQueries({ queryKey: rulesQuery.queryKey });
  };
  return (
    <Section
      title={text.title} about={text.about}
      actions={may ? <Button leftSection={<Icon name="plus" />} onClick={() => setAdding(true)}>{text.add}</Button> : <Text size="sm" c="dimmed">{text.onlyOperators}</Text>}
    >
      {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : !data && <Loading />}
      {data?.items.length === 0 && <EmptyList>{text.none}</EmptyList>}
      {data && data.items.length > 0 && (
        <Rows label={text.title}>
          {data.items.map((rule) => <RuleRow key={rule.id} rule={rule} onRemove={may ? () => setRemoving(rule) : undefined} />)}
        </Rows>
      )}
      {adding && <RuleDialog onClose={() => setAdding(false)} />}
      {removing && (
        <Confirm title={text.removeTitle} confirmLabel={text.remove} run={() => remove(removing)} onClose={() => setRemoving(undefined)}>
          <Code>{removing.tool}</Code> {removing.decision === 'deny' ? text.removeDeny : text.removeAllow}
        </Confirm>
      )}
    </Section>
  );
}

const icons = { allow: 'check', ask: 'person', deny: 'cross' } as const satisfies Record<string, IconName>;

function RuleRow({ rule, onRemove }: { rule: GateRule; onRemove?: () => void }) {
  const text = useText();
  const time = useTime();
  const state = ruleState(rule, serverNow());
  const args = Object.entries(rule.args ?? {});
  const place = rule.project ? text.ofProject(rule.project) : rule.task_id ? text.ofTask(rule.task_id) : rule.session_key ? text.ofSession(rule.session_key, rule.session_of?.name) : text.everywhere;
  const facts = [
    place,
    rule.expires_at ? text.until(time.full(rule.expires_at)) : text.forever,
    rule.uses ? text.usesLeft(rule.used, rule.uses) : undefined,
    text.by(rule.owner.name ?? '?', time.full(rule.created_at)),
  ];
  return (
    <Row
      name={<Code fz="sm">{rule.tool}</Code>}
      inactive={state !== 'good'}
      badges={
        <>
          <Badge tt="none" variant="default" leftSection={<Icon name={icons[rule.decision]} size={12} />}>{text[rule.decision]}</Badge>
          {rule.risk && <Badge tt="none" variant="default">{text[rule.risk]}</Badge>}
          {state !== 'good' && <Badge tt="none" color="gray" variant="outline">{text[state]}</Badge>}
        </>
      }
      actions={onRemove && <Button variant="default" size="compact-sm" onClick={onRemove} aria-label={`${text.remove}: ${rule.tool}`}>{text.remove}</Button>}
    >
      <div>{args.length === 0 ? text.anyArgs : args.map(([path, pattern]) => <div key={path}><Code>{path}</Code> {text.pattern.toLowerCase()} <Code>{pattern}</Code></div>)}</div>
      {rule.reason && <div>“{rule.reason}”</div>}
      <div>{facts.filter((fact) => fact !== undefined).join(' · ')}</div>
    </Row>
  );
}
