import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { filterOf, type Filter } from '@/inbox/filter';
import { Filters } from '@/inbox/Filters';
import { Triage } from '@/inbox/Triage';
import { useText as useShellText } from '@/shell/text';
import { Page } from '@/ui/Page';

/** Shows the approvals that wait. One key decides each, and similar ones can be decided together. */
export default function ApprovalPage() {
  const shell = useShellText();
  const navigate = useNavigate();
  const search = useSearch({ strict: false });
  const address = JSON.stringify({ ...filterOf(search), type: undefined });
  const addressFilter = useMemo(() => JSON.parse(address) as Filter, [address]);
  const filter = useMemo(() => ({ ...addressFilter, type: 'approval' }), [addressFilter]);
  const change = (next: Filter) => void navigate({ to: '/approvals', search: { ...next, type: undefined }, replace: true });
  return (
    <Page title={shell.approvals} wide>
      <Triage filter={filter} onFilter={change} tools={<Filters filter={addressFilter} fixedType onChange={change} />} />
    </Page>
  );
}
