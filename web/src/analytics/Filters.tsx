import { Button, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { projectsQuery } from '@/settings/queries';
import { periodOf, questionTypes, ranges, type ReportFilters } from './period';
import classes from './Report.module.css';
import { useText } from './text';

const day = (at: Date) => `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}-${String(at.getDate()).padStart(2, '0')}`;

/** Lets the reader choose the period and the filters. The choice is kept in the address. */
export function Filters({ filters, onChange }: { filters: ReportFilters; onChange: (change: ReportFilters) => void }) {
  const text = useText();
  const { data: projects } = useQuery(projectsQuery);
  const isOwnRange = filters.range === 'own';
  const choose = (range: string | null) => {
    if (range !== 'own') {
      onChange({ range: range === '30d' || !range ? undefined : range, from: undefined, to: undefined });
      return;
    }
    const { from, to } = periodOf(filters, new Date());
    onChange({ range, from: day(from), to: day(new Date(to.getTime() - 1)) });
  };
  const names = projects?.items.map(({ name }) => name) ?? [];
  const filtered = Object.values(filters).some(Boolean);
  return (
    <section aria-label={text.filters} className={classes.filters}>
      <Select
        label={text.range} allowDeselect={false} value={isOwnRange ? 'own' : (ranges.find((range) => range === filters.range) ?? '30d')}
        data={[...ranges.map((range) => ({ value: range, label: text[range] })), { value: 'own', label: text.own }]} onChange={choose}
      />
      {isOwnRange && <TextInput type="date" label={text.from} value={filters.from ?? ''} max={filters.to} onChange={(event) => onChange({ from: event.currentTarget.value })} />}
      {isOwnRange && <TextInput type="date" label={text.to} value={filters.to ?? ''} min={filters.from} onChange={(event) => onChange({ to: event.currentTarget.value })} />}
      <Select
        label={text.type} allowDeselect={false} value={filters.type ?? ''}
        data={[{ value: '', label: text.everyType }, ...questionTypes.map((type) => ({ value: type, label: text[type] }))]} onChange={(type) => onChange({ type: type ?? undefined })}
      />
      <Select
        label={text.project} allowDeselect={false} searchable={names.length > 8} value={filters.project ?? ''}
        data={[{ value: '', label: text.everyProject }, ...names.filter(Boolean)]} onChange={(project) => onChange({ project: project ?? undefined })}
      />
      {filtered && <Button variant="subtle" onClick={() => onChange({ range: undefined, from: undefined, to: undefined, project: undefined, type: undefined })}>{text.clear}</Button>}
    </section>
  );
}
