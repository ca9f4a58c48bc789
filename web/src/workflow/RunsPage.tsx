import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Page } from '@/ui/Page';
import { useLiveLists } from './api';
import { filtersOf, type Search } from './filters';
import { ListTabs } from './ListTabs';
import { RunFilterBar } from './RunFilterBar';
import { RunList } from './RunList';
import { useText } from './text';

/** Shows the runs of all workflows. */
export default function RunsPage() {
  const text = useText();
  const navigate = useNavigate();
  const search: Search = useSearch({ strict: false });
  const filters = useMemo(() => filtersOf(search), [search]);
  useLiveLists();
  return (
    <Page title={text.runs}>
      <ListTabs current="runs" />
      <RunFilterBar filters={filters} all change={(next) => void navigate({ to: '/workflow-runs', search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false })} />
      <RunList filters={filters} size={50} />
    </Page>
  );
}
