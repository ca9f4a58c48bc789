import { Autocomplete, Group, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { projectsQuery } from '../queries';
import type { RulePartProps } from './Arguments';
import { places } from './rule';
import { useText } from './text';

/** Lets the reader choose where a rule applies. */
export function Place({ values, set, errors }: RulePartProps) {
  const text = useText();
  const { data: projects } = useQuery(projectsQuery);
  const words = { everywhere: text.everywhere, project: text.inProject, task_id: text.inTask, session_key: text.inSession };
  const { place } = values;
  return (
    <Group align="flex-start" grow preventGrowOverflow={false}>
      <Select
        label={text.where} allowDeselect={false} value={place} data={places.map((each) => ({ value: each, label: words[each] }))}
        onChange={(chosen) => set('place', places.find((each) => each === chosen) ?? 'everywhere')}
      />
      {place !== 'everywhere' && (
        <Autocomplete
          label={text[place]} required value={values.where} error={errors[place]} data={place === 'project' ? projects?.items.map(({ name }) => name) : undefined}
          onChange={(where) => set('where', where)}
        />
      )}
    </Group>
  );
}
