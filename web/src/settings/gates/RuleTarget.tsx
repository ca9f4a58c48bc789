import { Autocomplete, Group, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { projectsQuery } from '../queries';
import type { RulePartProps } from './Arguments';
import { ruleTargets } from './rule';
import { useText } from './text';

/** Lets the reader choose where a rule applies. */
export function RuleTarget({ values, set, errors }: RulePartProps) {
  const text = useText();
  const { data: projects } = useQuery(projectsQuery);
  const words = { everywhere: text.everywhere, project: text.inProject, task_id: text.inTask, session_key: text.inSession };
  const { target } = values;
  return (
    <Group align="flex-start" grow preventGrowOverflow={false}>
      <Select
        label={text.where} allowDeselect={false} value={target} data={ruleTargets.map((each) => ({ value: each, label: words[each] }))}
        onChange={(chosen) => set('target', ruleTargets.find((each) => each === chosen) ?? 'everywhere')}
      />
      {target !== 'everywhere' && (
        <Autocomplete
          label={text[target]} required value={values.targetName} error={errors[target]} data={target === 'project' ? projects?.items.map(({ name }) => name) : undefined}
          onChange={(name) => set('targetName', name)}
        />
      )}
    </Group>
  );
}
