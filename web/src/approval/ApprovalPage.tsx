import { Button, Group, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense, useMemo, useState } from 'react';
import { lazyComponent } from '@/ui/lazyComponent';
import type { Question } from '@/api/types';
import { filterOf, type Filter } from '@/inbox/filter';
import { Filters } from '@/inbox/Filters';
import { Triage } from '@/inbox/Triage';
import { useCommands } from '@/keys/useCommands';
import { useText as useShellText } from '@/shell/text';
import { Page } from '@/ui/Page';
import { batchOf } from './batch';
import { useText } from './text';

const ApprovalBatch = lazyComponent(() => import('./ApprovalBatch').then((module) => module.ApprovalBatch));

/** Shows the approvals that wait. One key decides each, and similar ones can be decided together. */
export default function ApprovalPage() {
  const shell = useShellText();
  const navigate = useNavigate();
  const search = useSearch({ strict: false });
  const address = JSON.stringify({ ...filterOf(search), type: undefined });
  const addressFilter = useMemo(() => JSON.parse(address) as Filter, [address]);
  const filter = useMemo(() => ({ ...addressFilter, type: 'approval' }), [addressFilter]);
  const [batch, setBatch] = useState<Question[]>();
  const change = (next: Filter) => void navigate({ to: '/approvals', search: { ...next, type: undefined }, replace: true });
  return (
    <Page title={shell.approvals} wide>
      <Triage
        filter={filter} onFilter={change} tools={<Filters filter={addressFilter} fixedType onChange={change} />}
        above={(question, questions) => <BatchOffer questions={batchOf(questions, question)} onOpen={setBatch} />}
      />
      {batch && <Suspense><ApprovalBatch questions={batch} onClose={() => setBatch(undefined)} /></Suspense>}
    </Page>
  );
}

function BatchOffer({ questions, onOpen }: { questions: Question[]; onOpen: (questions: Question[]) => void }) {
  const text = useText();
  const several = questions.length > 1;
  useCommands([{ id: 'together', title: text.together, group: text.group, keys: ['t'], run: () => onOpen(questions) }], several);
  if (!several) return null;
  return (
    <Group gap="xs" mb="sm">
      <Text size="sm">{text.alike(questions.length - 1)}</Text>
      <Button size="compact-sm" variant="default" onClick={() => onOpen(questions)}>{text.together}</Button>
    </Group>
  );
}
