import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api, unwrap } from '@/api/client';
import { useCommands } from '@/keys/useCommands';
import { useText as useQuestionText } from '@/question/text';
import { usePreference } from '@/shell/preferences';
import { Icon } from '@/ui/Icon';
import wrappingButton from '@/ui/WrappingButton.module.css';
import { isFiltered, type Filter } from './filter';
import classes from './Triage.module.css';
import { useText } from './text';

/** Shows the filters above the list. They are kept in the address. */
export function Filters({ filter, fixedType, onChange }: { filter: Filter; fixedType?: boolean; onChange: (filter: Filter) => void }) {
  const text = useText();
  const words = useQuestionText();
  const search = useRef<HTMLInputElement>(null);
  const [q, setQ] = useState(filter.q ?? '');
  const [order, setOrder] = usePreference('inboxOrder');
  const [open, { toggle }] = useDisclosure(Object.keys(filter).some((name) => name !== 'q' && name !== 'show'));
  const { data: projects } = useQuery({ queryKey: ['projects'], queryFn: () => unwrap(api.GET('/v1/projects')), enabled: open });
  const set = (name: string, value: string) => onChange({ ...filter, [name]: value || undefined });
  const say = useDebouncedCallback((value: string) => set('q', value), 250);
  useCommands([{ id: 'search', title: text.focusSearch, group: text.group, keys: ['/'], run: () => search.current?.focus() }]);
  const select = (name: string, label: string, any: string, options: [string, string][]) => (
    <NativeSelect label={label} value={filter[name] ?? ''} onChange={(event) => set(name, event.currentTarget.value)} data={[{ value: '', label: any }, ...options.map(([value, shown]) => ({ value, label: shown }))]} />
  );
  return (
    <div>
      <Group gap="xs" wrap="nowrap" align="flex-end">
        <TextInput
          ref={search} type="search" aria-label={text.search} placeholder={text.searchPlaceholder} leftSection={<Icon name="search" />} value={q} flex={1} miw={0}
          onChange={(event) => { setQ(event.currentTarget.value); say(event.currentTarget.value); }}
          onKeyDown={(event) => { if (event.key === 'Escape' || event.key === 'Enter') event.currentTarget.blur(); }}
        />
        <Button variant="default" px="sm" leftSection={<Icon name="filter" />} onClick={toggle} aria-expanded={open}>{text.filters}</Button>
      </Group>
      {open && (
        <div className={classes.filters}>
          {!fixedType && select('type', text.type, text.anyType, (['blocking', 'approval', 'error_recovery', 'non_blocking'] as const).map((type) => [type, words[`type_${type}`]]))}
          {select('project', text.project, text.anyProject, (projects?.items ?? []).map((project) => [project.name, project.name]))}
          {select('urgency', text.urgency, text.anyUrgency, [['high', text.urgency_high], ['low', text.urgency_low]])}
          {select('risk', text.risk, text.anyRisk, (['low', 'medium', 'high', 'critical'] as const).map((risk) => [risk, words[`risk_${risk}`]]))}
          {select('show', text.show, text.mine, [['all', text.all], ['snoozed', text.snoozed]])}
          <TextInput label={text.assignee} placeholder={text.anyAssignee} defaultValue={filter.assignee ?? ''} onBlur={(event) => set('assignee', event.currentTarget.value)} onKeyDown={(event) => { if (event.key === 'Enter') set('assignee', event.currentTarget.value); }} />
          <NativeSelect
            label={text.order} value={order} onChange={(event) => setOrder(event.currentTarget.value as typeof order)}
            data={(['inbox', 'urgency', 'project'] as const).map((value) => ({ value, label: text[`order_${value}`] }))}
          />
          {isFiltered(filter) && <Button variant="subtle" px="xs" classNames={wrappingButton} onClick={() => { setQ(''); onChange({}); }}>{text.clear}</Button>}
        </div>
      )}
    </div>
  );
}
