import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import { commandOf, hashOf, indentJSON } from '@/api/exact';
import { useText } from '@/question/text';
import { Icon } from '@/ui/Icon';
import { Code } from './Code';
import classes from './Action.module.css';
import { SuspiciousNote } from './Preview';

/** The result of checking a hash against the bytes that are shown. */
export type HashCheck = 'matches' | 'differs' | 'unchecked' | 'checking';

export function useHashCheck(action: string | undefined, hash: string | undefined): HashCheck {
  const [checked, setChecked] = useState<{ of?: string; as: HashCheck }>({ as: 'checking' });
  useEffect(() => {
    let current = true;
    if (action === undefined) return;
    void hashOf(action).then((found) => {
      if (current) setChecked({ of: action, as: found === undefined ? 'unchecked' : found === hash ? 'matches' : 'differs' });
    });
    return () => {
      current = false;
    };
  }, [action, hash]);
  return checked.of === action ? checked.as : 'checking';
}

interface ActionProps {
  action: string;
  hash?: string;
  hashCheck: HashCheck;
  /** What happens to the action. "It will run" is true only while the question is open. */
  fate?: 'runs' | 'ran' | 'notRun';
  page?: boolean;
  onSeen?: () => void;
}

/** Shows what will run, from its bytes and nothing else. */
export function ActionView({ action, hash, hashCheck, fate = 'runs', page, onSeen }: ActionProps) {
  const text = useText();
  const title = text[fate];
  const end = useEndSeen(onSeen);
  return (
    <Paper component="section" aria-labelledby="what-will-run" className={classes.runs} p="sm">
      <Stack gap="xs">
        <Group gap="xs">
          <Icon name="warning" />
          <Title order={page ? 2 : 3} size="h5" id="what-will-run">{title}</Title>
        </Group>
        <ActionText action={action} label={title} />
        <div ref={end} />
        <details>
          <summary><Text span size="xs">{text.bytes}</Text></summary>
          <Code text={action} strict label={text.bytes} />
        </details>
        {hash && (
          <Group gap="xs">
            <Text size="xs" c="dimmed" className={classes.hash}>{text.hash} <code>{hash}</code></Text>
            {hashCheck === 'matches' && <Badge size="sm" tt="none" color="green" variant="light" leftSection={<Icon name="check" size={12} />}>{text.hashRight}</Badge>}
            {hashCheck === 'unchecked' && <Text size="xs">{text.hashUnchecked}</Text>}
          </Group>
        )}
        {hashCheck === 'differs' && <Text c="error" fw={700} role="alert">{text.hashWrong}</Text>}
        {fate === 'runs' && <Text size="xs" c="dimmed">{text.runsNote}</Text>}
      </Stack>
    </Paper>
  );
}

/** Shows all of an action: its command as it was typed and every other field, or its JSON. */
export function ActionText({ action, label }: { action: string; label: string }) {
  const text = useText();
  const shown = useMemo(() => readableParts(action), [action]);
  return (
    <>
      <SuspiciousNote text={shown.map((part) => part.text).join('\n')} strict />
      {shown.map((part) => {
        const head = part.label === 'rest' ? text.with : part.label;
        return (
          <div key={part.label}>
            {head && <Text size="xs" fw={600} ff={part.label === 'rest' ? undefined : 'monospace'}>{head}</Text>}
            <Code text={part.text} strict label={head ? `${label}: ${head}` : label} />
          </div>
        );
      })}
    </>
  );
}

/**
 * Splits an action into the parts to show. An action with a command gives the
 * command as it was typed, then the rest. Any other action gives its indented
 * JSON. Its texts with a line break, a quote or a backslash follow, each
 * without the escapes of JSON.
 */
export function readableParts(action: string): { label: string; text: string }[] {
  const found = commandOf(action);
  if (found) return [{ label: '', text: found.command }, ...(found.rest ? [{ label: 'rest', text: found.rest }] : [])];
  const whole = { label: '', text: indentJSON(action) };
  const long: { label: string; text: string }[] = [];
  const visit = (value: unknown, path: string) => {
    if (typeof value === 'string' && /[\n"\\]/.test(value)) long.push({ label: path ? `$.${path}` : '$', text: value });
    else if (Array.isArray(value)) value.forEach((each, at) => visit(each, `${path}[${at}]`));
    else if (typeof value === 'object' && value !== null) for (const [name, each] of Object.entries(value)) visit(each, path ? `${path}.${name}` : name);
  };
  try {
    visit(JSON.parse(action), '');
  } catch {
    // The action is not JSON, so its bytes are shown alone.
  }
  return [whole, ...long];
}

/** Calls onSeen when the end of the action has been on the screen. */
function useEndSeen(onSeen?: () => void) {
  const end = useRef<HTMLDivElement>(null);
  const latest = useRef(onSeen);
  useEffect(() => {
    latest.current = onSeen;
  });
  useEffect(() => {
    const element = end.current;
    if (!element || typeof IntersectionObserver === 'undefined') return;
    // The bar with the choices may cover the lower end of the page.
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) latest.current?.();
    }, { rootMargin: '0px 0px -180px 0px' });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return end;
}
