import { ActionIcon, Button, Fieldset, Group, Stack, Text, TextInput } from '@mantine/core';
import { Icon } from '@/ui/Icon';
import type { Errors } from '../parts/useForm';
import { maxArgs, type RuleValues } from './rule';
import { useText } from './text';

export interface RulePartProps {
  values: RuleValues;
  set: <K extends keyof RuleValues>(key: K, value: RuleValues[K]) => void;
  errors: Errors;
}

/** Lets the reader write patterns for single arguments. */
export function Arguments({ values, set, errors }: RulePartProps) {
  const text = useText();
  const change = (at: number, part: Partial<RuleValues['args'][number]>) => set('args', values.args.map((arg, each) => (each === at ? { ...arg, ...part } : arg)));
  const plain = { autoCapitalize: 'off', spellCheck: false } as const;
  return (
    <Fieldset legend={text.args}>
      <Stack gap="xs">
        <Text size="sm" c="dimmed">{text.argsAbout}</Text>
        {values.args.map((arg, at) => (
          <Group key={at} align="flex-end" gap="xs">
            <TextInput {...plain} flex="1 1 120px" label={text.path} placeholder="command" value={arg.path} error={errors[`args[${at}].path`]} onChange={(event) => change(at, { path: event.currentTarget.value })} />
            <TextInput {...plain} flex="2 1 180px" label={text.pattern} placeholder="git status*" value={arg.pattern} error={errors[`args[${at}].pattern`]} onChange={(event) => change(at, { pattern: event.currentTarget.value })} />
            <ActionIcon variant="default" size={36} aria-label={`${text.removeArg}: ${arg.path}`} onClick={() => set('args', values.args.filter((_, each) => each !== at))}><Icon name="cross" /></ActionIcon>
          </Group>
        ))}
        {values.args.length < maxArgs ? (
          <Button variant="default" size="compact-sm" w="fit-content" onClick={() => set('args', [...values.args, { path: values.args.length === 0 ? 'command' : '', pattern: '' }])}>{text.addArg}</Button>
        ) : <Text size="sm">{text.tooManyArgs(maxArgs)}</Text>}
      </Stack>
    </Fieldset>
  );
}
