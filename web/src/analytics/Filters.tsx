import { Button, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { projectsQuery } from '@/settings/queries';
import { periodOf, questionTypes, ranges, type Looked } from './period';
import classes from './Report.module.css';
import { useText } from './text';

const day = (at: Date) => `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}-${String(at.getDate()).padStart(2, '0')}`;

/** Lets the reader choose the period and the filters. The choice is kept in the address. */
export function Filters({ looked, look }: { looked: Looked; look: (change: Looked) => void }) {
  const text = useText();
  const { data: projects } = useQuery(projectsQuery);
  const own = looked.range === 'own';
  const choose = (range: string | null) => {
    if (range !== 'own') {
      look({ range: range === '30d' || !range ? undefined : range, from: undefined, to: undefined });
      return;
    }
    const { from, to } = periodOf(looked, new Date());
    look({ range, from: day(from), to: day(new Date(to.getTime() - 1)) });
  };
  const names = projects?.items.map(({ name }) => name) ?? [];
  const filtered = Object.values(looked).some(Boolean);
  return (
    <section aria-label={text.filters} className={classes.filters}>
      <Select
        label={text.range} allowDeselect={false} value={own ? 'own' : (ranges.find((range) => range === looked.range) ?? '30d')}
        data={[...ranges.map((range) => ({ value: range, label: text[range] })), { value: 'own', label: text.own }]} onChange={choose}
      />
      {own && <TextInput type="date" label={text.from} value={looked.from ?? ''} max={looked.to} onChange={(event) => look({ from: event.currentTarget.value })} />}
      {own && <TextInput type="date" label={text.to} value={looked.to ?? ''} min={looked.from} onChange={(event) => look({ to: event.currentTarget.value })} />}
      <Select
        label={text.type} allowDeselect={false} value={looked.type ?? ''}
        data={[{ value: '', label: text.everyType }, ...questionTypes.map((type) => ({ value: type, label: text[type] }))]} onChange={(type) => look({ type: type ?? undefined })}
      />
      <Select
        label={text.project} allowDeselect={false} searchable={names.length > 8} value={looked.project ?? ''}
        data={[{ value: '', label: text.everyProject }, ...names.filter(Boolean)]} onChange={(project) => look({ project: project ?? undefined })}
      />
      {filtered && <Button variant="subtle" onClick={() => look({ range: undefined, from: undefined, to: undefined, project: undefined, type: undefined })}>{text.clear}</Button>}
    </section>
  );
}
