import { Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense, useMemo, useState } from 'react';
import { lazyComponent } from '@/ui/lazyComponent';
import { useText as useShellText } from '@/shell/text';
import { Page } from '@/ui/Page';
import { filterOf, isFiltered, type Filter } from './filter';
import { Filters } from './Filters';
import { useText } from './text';
import { Triage } from './Triage';
import { useCounts, viewsQuery } from './useInbox';

const Views = lazyComponent(() => import('./Views').then((module) => module.Views));

/** Shows every question that the reader may answer, the most urgent first. */
export default function InboxPage() {
  const shell = useShellText();
  const text = useText();
  const navigate = useNavigate();
  const search = useSearch({ strict: false });
  const address = JSON.stringify(filterOf(search));
  const filter = useMemo(() => JSON.parse(address) as Filter, [address]);
  const { data: counts } = useCounts();
  const [found, setFound] = useState<{ n: number; more: boolean }>();
  const count = isFiltered(filter) ? found && text.found(found.n, found.more) : counts && text.count(counts.pending);
  const { data: views } = useQuery(viewsQuery);
  const change = (next: Filter) => void navigate({ to: '/', search: next, replace: true });
  return (
    <Page title={shell.inbox} wide actions={<Group gap="sm">{count !== undefined && <Text size="sm" c="dimmed">{count}</Text>}{(isFiltered(filter) || (views?.items.length ?? 0) > 0) && <Suspense><Views filter={filter} onChange={change} /></Suspense>}</Group>}>
      <Triage filter={filter} onFilter={change} onFound={setFound} tools={<Filters key={address === '{}' ? 'none' : 'some'} filter={filter} onChange={change} />} />
    </Page>
  );
}
