import { ActionIcon, Autocomplete, Button, Fieldset, Group, Radio, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Icon } from '@/ui/Icon';
import { isRole, roles } from '../parts/roles';
import { useText as usePartsText } from '../parts/text';
import type { Errors } from '../parts/useForm';
import { groupsQuery, projectsQuery } from '../queries';
import type { PersonValues } from './person';
import { useText } from './text';

interface Props {
  values: PersonValues;
  set: <K extends keyof PersonValues>(key: K, value: PersonValues[K]) => void;
  errors: Errors;
  /** Whether the person exists already. A handle never changes. */
  known?: boolean;
  emailAbout: string;
}

/** The fields that describe a person. */
export function PersonFields({ values, set, errors, known, emailAbout }: Props) {
  const text = useText();
  const parts = usePartsText();
  const { data: groups } = useQuery(groupsQuery);
  return (
    <>
      <TextInput label={text.email} description={emailAbout} type="email" autoComplete="off" data-autofocus={known ? undefined : true} value={values.email} error={errors.email} onChange={(event) => set('email', event.currentTarget.value)} />
      {!known && (
        <TextInput label={text.handle} description={text.handleAbout} autoComplete="off" autoCapitalize="off" spellCheck={false} value={values.handle} error={errors.handle} onChange={(event) => set('handle', event.currentTarget.value.trim())} />
      )}
      <TextInput label={text.name} autoComplete="off" data-autofocus={known ? true : undefined} value={values.name} error={errors.name} onChange={(event) => set('name', event.currentTarget.value)} />
      <Radio.Group label={parts.role} value={values.role} error={errors.role} onChange={(role) => set('role', isRole(role) ? role : 'viewer')}>
        <Stack gap="xs" mt={4}>
          {roles.map((role) => <Radio key={role} value={role} label={parts[role]} description={parts[`${role}May`]} />)}
        </Stack>
      </Radio.Group>
      {values.role !== 'admin' && <Projects values={values} set={set} errors={errors} />}
      <TagsInput
        label={text.groups} description={text.groupsAbout} splitChars={[',']} acceptValueOnBlur data={groups?.items.map((group) => group.name) ?? []}
        value={values.groups} error={errors.groups} onChange={(chosen) => set('groups', chosen)}
      />
    </>
  );
}

function Projects({ values, set, errors }: Pick<Props, 'values' | 'set' | 'errors'>) {
  const text = useText();
  const parts = usePartsText();
  const { data } = useQuery(projectsQuery);
  const { projects } = values;
  const change = (at: number, part: Partial<PersonValues['projects'][number]>) => set('projects', projects.map((each, index) => (index === at ? { ...each, ...part } : each)));
  return (
    <Fieldset legend={text.projects}>
      <Stack gap="xs">
        <Text size="sm" c="dimmed">{text.projectsAbout}</Text>
        {projects.map(({ project, role }, at) => (
          <Group key={at} align="flex-end" gap="xs">
            <Autocomplete flex="2 1 140px" label={text.project} data={data?.items.map(({ name }) => name) ?? []} value={project} error={errors[`projects[${at}]`]} onChange={(name) => change(at, { project: name.trim() })} />
            <Select
              flex="1 1 120px" label={parts.role} allowDeselect={false} value={role} data={roles.filter((each) => each !== 'admin').map((each) => ({ value: each, label: parts[each] }))}
              onChange={(chosen) => change(at, { role: isRole(chosen) ? chosen : 'viewer' })}
            />
            <ActionIcon variant="default" size={36} aria-label={`${text.removeProject}: ${project}`} onClick={() => set('projects', projects.filter((_, index) => index !== at))}><Icon name="cross" /></ActionIcon>
          </Group>
        ))}
        <Button variant="default" size="compact-sm" w="fit-content" onClick={() => set('projects', [...projects, { project: '', role: 'viewer' }])}>{text.addProject}</Button>
      </Stack>
    </Fieldset>
  );
}
