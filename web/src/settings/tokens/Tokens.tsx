import { Badge, Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '@/api/client';
import { whoamiQuery } from '@/api/queries';
import { serverNow } from '@/api/time';
import type { Token } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { useTime } from '@/text/time';
import { Icon } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { Confirm } from '../parts/Confirm';
import { EmptyList } from '../parts/EmptyList';
import { mayAdminister } from '../parts/rights';
import { Row, Rows } from '../parts/Rows';
import { Section } from '../parts/Section';
import { tokensQuery } from '../queries';
import { useText } from './text';
import { TokenDialog } from './TokenDialog';
import { scopeWord, tokenState } from './token';

/** Shows the tokens with which programs call the server. */
export default function Tokens() {
  const text = useText();
  const client = useQueryClient();
  const { data: me } = useQuery(whoamiQuery);
  const { data, error, refetch } = useQuery(tokensQuery);
  const [adding, setAdding] = useState(false);
  const [showAll, setShowAll] = useState(false);
  const [withdrawing, setWithdrawing] = useState<Token>();
  useCommands([{ id: 'add-token', title: text.add, group: text.title, keys: ['n'], run: () => setAdding(true) }]);
  const withdraw = async ({ id }: Token) => {
    await unwrap(api.DELETE('/v1/tokens/{id}', { params: { path: { id } } }));
    await client.invalidateQueries({ queryKey: tokensQuery.queryKey });
  };
  const now = serverNow();
  const tokens = data?.items ?? [];
  const good = tokens.filter((token) => tokenState(token, now) === 'good');
  const shown = showAll ? tokens : good;
  return (
    <Section title={text.title} about={mayAdminister(me) ? text.about : text.aboutOwn} actions={<Button leftSection={<Icon name="plus" />} onClick={() => setAdding(true)}>{text.add}</Button>}>
      {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : !data && <Loading />}
      {data && shown.length === 0 && <EmptyList>{text.none}</EmptyList>}
      {shown.length > 0 && (
        <Rows label={text.title}>
          {shown.map((token) => <TokenRow key={token.id} token={token} now={now} onWithdraw={() => setWithdrawing(token)} />)}
        </Rows>
      )}
      {tokens.length > good.length && (
        <Button variant="subtle" size="compact-sm" onClick={() => setShowAll(!showAll)} aria-expanded={showAll}>{showAll ? text.hideOver : text.showOver(tokens.length - good.length)}</Button>
      )}
      {adding && <TokenDialog onClose={() => setAdding(false)} />}
      {withdrawing && (
        <Confirm title={text.withdrawTitle} confirmLabel={text.withdraw} run={() => withdraw(withdrawing)} onClose={() => setWithdrawing(undefined)}>
          {text.withdrawAbout(withdrawing.name)}
        </Confirm>
      )}
    </Section>
  );
}

function TokenRow({ token, now, onWithdraw }: { token: Token; now: number; onWithdraw: () => void }) {
  const text = useText();
  const time = useTime();
  const state = tokenState(token, now);
  return (
    <Row
      name={token.name}
      inactive={state !== 'good'}
      badges={
        <>
          <Badge tt="none" variant="default">{token.kind === 'agent' ? text.agentOf : text.personOf(token.member ?? '?')}</Badge>
          {token.scopes.map((scope) => <Badge tt="none" key={scope} variant="light">{scopeWord(text, scope)}</Badge>)}
          {token.projects?.map((project) => <Badge tt="none" key={project} variant="outline">{text.inProject(project)}</Badge>)}
          {state !== 'good' && <Badge tt="none" color="gray" variant="outline">{state === 'expired' ? text.expired : text.withdrawn}</Badge>}
        </>
      }
      actions={state === 'good' && <Button variant="default" size="compact-sm" onClick={onWithdraw} aria-label={`${text.withdraw}: ${token.name}`}>{text.withdraw}</Button>}
    >
      {text.created(time.full(token.created_at))} · {token.expires_at ? text.expires(time.full(token.expires_at)) : text.forever}
      {' · '}{token.last_used_at ? text.used(time.relative(token.last_used_at, now)) : text.unused}
    </Row>
  );
}
