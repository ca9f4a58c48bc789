import { Box, Button, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { useLanguage } from '@/text/language';
import { Icon } from '@/ui/Icon';
import wrappingButton from '@/ui/WrappingButton.module.css';
import classes from './AuditPage.module.css';
import type { AuditFilter } from './filter';
import { useText } from './text';
import { eventNouns, nounWord } from './words';

const kinds = ['human', 'agent', 'system', 'policy', 'timeout'] as const;

/** Lets the reader filter the event log. The filter is kept in the address. */
export function AuditFilters({ filter, onChange }: { filter: AuditFilter; onChange: (change: AuditFilter) => void }) {
  const text = useText();
  const language = useLanguage();
  const type = filter.type ?? '';
  const actor = filter.actor ?? '';
  const filtered = Object.values(filter).some(Boolean);
  const types = eventNouns.map((noun) => ({ value: noun, label: nounWord(noun, language) }));
  const actors = kinds.map((kind) => ({ value: kind, label: text[kind] }));
  // A link may name a value that the lists do not offer.
  const known = (list: { value: string; label: string }[], value: string) => (value === '' || list.some((each) => each.value === value) ? list : [...list, { value, label: value }]);
  return (
    <Box component="search" aria-label={text.filters} className={classes.filters}>
      <TypedField id="audit-search" label={text.q} placeholder={text.qAbout} value={filter.q ?? ''} set={(q) => onChange({ q })} wide />
      <Select label={text.type} allowDeselect={false} value={type} data={[{ value: '', label: text.everyType }, ...known(types, type)]} onChange={(value) => onChange({ type: value ?? '' })} />
      <Select label={text.actor} allowDeselect={false} value={actor} data={[{ value: '', label: text.everyActor }, ...known(actors, actor)]} onChange={(value) => onChange({ actor: value ?? '' })} />
      <TypedField label={text.task} placeholder="task_…" value={filter.task ?? ''} set={(task) => onChange({ task })} />
      <TextInput type="date" label={text.from} value={filter.from ?? ''} max={filter.to} onChange={(event) => onChange({ from: event.currentTarget.value })} />
      <TextInput type="date" label={text.to} value={filter.to ?? ''} min={filter.from} onChange={(event) => onChange({ to: event.currentTarget.value })} />
      {filtered && <Button variant="subtle" px="xs" classNames={wrappingButton} onClick={() => onChange({ q: '', type: '', actor: '', task: '', from: '', to: '' })}>{text.clear}</Button>}
    </Box>
  );
}

interface TypedFieldProps {
  id?: string;
  label: string;
  placeholder: string;
  value: string;
  set: (value: string) => void;
  wide?: boolean;
}

/** A text field that starts the search when the reader pauses typing. */
function TypedField({ id, label, placeholder, value, set, wide }: TypedFieldProps) {
  const [typed, setTyped] = useState(value);
  const [sent, setSent] = useState(value);
  const setLater = useDebouncedCallback((text: string) => {
    setSent(text);
    set(text);
  }, 400);
  if (value !== sent) {
    // The value was changed elsewhere, for example when the filters were cleared.
    setSent(value);
    setTyped(value);
  }
  return (
    <TextInput
      id={id} label={label} placeholder={placeholder} value={typed} className={wide ? classes.wide : undefined} leftSection={wide ? <Icon name="search" size={16} /> : undefined}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        setLater(event.currentTarget.value.trim());
      }}
    />
  );
}
