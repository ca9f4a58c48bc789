import { Button, Collapse, Group, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { useRef, useState } from 'react';
import { useCommands } from '@/keys/useCommands';
import { Icon } from '@/ui/Icon';
import { countFilters, sorts, stateGroups, type Filters, type Search } from './filters';
import { useTaskText } from './text';

interface Props {
  filters: Filters;
  /** Writes the change into the address. */
  change: (search: Search) => void;
}

/** Lets the reader filter and sort the tasks. All of this is kept in the address. */
export function FilterBar({ filters, change }: Props) {
  const text = useTaskText();
  const search = useRef<HTMLInputElement>(null);
  const count = countFilters(filters);
  const [opened, { toggle }] = useDisclosure(count > (filters.q ? 1 : 0));
  useCommands([{ id: 'task-search', title: text.focusSearch, group: text.keys, keys: ['/'], run: () => search.current?.focus() }]);
  return (
    <>
      <Group gap="xs" mb="xs" wrap="nowrap">
        <Field name="q" label={text.search} value={filters.q} change={change} input={search} />
        <Button variant="default" leftSection={<Icon name="filter" />} onClick={toggle} aria-expanded={opened} flex="none">
          {text.filters(count)}
        </Button>
      </Group>
      <Collapse expanded={opened}>
        <SimpleGrid cols={{ base: 2, md: 5 }} spacing="xs" mb="sm">
          <NativeSelect
            label={text.state}
            value={filters.stateGroup ?? ''}
            onChange={(event) => change({ is: event.currentTarget.value })}
            data={[{ value: '', label: text.anyState }, ...stateGroups.map((group) => ({ value: group, label: text.stateGroups[group] }))]}
          />
          <NativeSelect
            label={text.sort}
            value={filters.sort}
            onChange={(event) => change({ sort: event.currentTarget.value === 'newest' ? '' : event.currentTarget.value })}
            data={sorts.map((sort) => ({ value: sort, label: text.sorts[sort] }))}
          />
          <Field name="project" label={text.project} value={filters.project} change={change} labelled />
          <Field name="agent" label={text.agent} value={filters.agent} change={change} labelled />
          <Field name="label" label={text.label} value={filters.label} change={change} labelled />
        </SimpleGrid>
        {count > 0 && (
          <Button size="compact-sm" variant="default" mb="sm" onClick={() => change({ q: '', project: '', agent: '', label: '', parent: '', is: '' })}>
            {text.clearFilters}
          </Button>
        )}
      </Collapse>
    </>
  );
}

interface FieldProps extends Pick<Props, 'change'> {
  name: 'q' | 'project' | 'agent' | 'label';
  label: string;
  value: string;
  labelled?: boolean;
  input?: React.Ref<HTMLInputElement>;
}

/** A text field that filters a moment after the last key. */
function Field({ name, label, value, change, labelled, input }: FieldProps) {
  const [typed, setTyped] = useState(value);
  const changeLater = useDebouncedCallback((next: string) => change({ [name]: next.trim() }), 250);
  // The address may change in other ways: by going back, or by "show all".
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    if (typed.trim() !== value) setTyped(value);
  }
  return (
    <TextInput
      ref={input}
      type={name === 'q' ? 'search' : 'text'}
      flex={1}
      miw={0}
      label={labelled ? label : undefined}
      aria-label={labelled ? undefined : label}
      placeholder={labelled ? undefined : label}
      leftSection={name === 'q' ? <Icon name="search" size={16} /> : undefined}
      value={typed}
      maxLength={name === 'q' ? 200 : 64}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        changeLater(event.currentTarget.value);
      }}
    />
  );
}
