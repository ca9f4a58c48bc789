import { Box, Button, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { workflowsQuery } from './api';
import { stateGroups, triggerTypes, type RunFilters, type Search, type StateGroup } from './filters';
import { useText } from './text';
import classes from './Workflow.module.css';

/** Lets the reader filter the runs. The filters are kept in the address. */
export function RunFilterBar({ filters, change, all }: { filters: RunFilters; change: (next: Search) => void; all?: boolean }) {
  const text = useText();
  const { data } = useQuery({ ...workflowsQuery, enabled: all === true });
  const filtered = filters.stateGroup !== undefined || filters.trigger !== undefined || (all && filters.workflow !== '');
  const names = [...new Set([...(data?.items.map(({ name }) => name) ?? []), ...(filters.workflow ? [filters.workflow] : [])])];
  return (
    <Box component="search" aria-label={text.filters} className={classes.filters}>
      {all && <Select label={text.workflow} allowDeselect={false} value={filters.workflow} data={[{ value: '', label: text.anyWorkflow }, ...names.map((name) => ({ value: name, label: name }))]} onChange={(value) => change({ workflow: value ?? '' })} />}
      <Select label={text.state} allowDeselect={false} value={filters.stateGroup ?? ''} data={[{ value: '', label: text.anyState }, ...(Object.keys(stateGroups) as StateGroup[]).map((group) => ({ value: group, label: text.stateGroups[group] }))]} onChange={(value) => change({ state: value ?? '' })} />
      <Select label={text.triggerLabel} allowDeselect={false} value={filters.trigger ?? ''} data={[{ value: '', label: text.anyTrigger }, ...triggerTypes.map((type) => ({ value: type, label: text.starts[type] }))]} onChange={(value) => change({ trigger: value ?? '' })} />
      {filtered && <Button variant="subtle" w="fit-content" onClick={() => change({ state: '', trigger: '', ...(all ? { workflow: '' } : {}) })}>{text.clear}</Button>}
    </Box>
  );
}
