import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import { hashOf } from '@/api/exact';
import { useText } from '@/question/text';
import { Icon } from '@/ui/Icon';
import { Code } from './Code';
import classes from './Action.module.css';
import { SuspiciousNote } from './Preview';
import { readableOf, textsOf } from './shape';
import { ShapeView } from './ShapeView';

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
          <Icon name="play" />
          <Title order={page ? 2 : 3} size="h5" id="what-will-run">{title}</Title>
        </Group>
        <ActionText action={action} label={title} />
        <div ref={end} />
        <details>
          <summary className={classes.exact}>
            <Text span size="xs">{text.bytes}</Text>
            {hash && hashCheck === 'matches' && <Badge size="sm" tt="none" color="green" variant="light" leftSection={<Icon name="check" size={12} />}>{text.hashRight}</Badge>}
            {hash && hashCheck === 'unchecked' && <Text span size="xs">{text.hashUnchecked}</Text>}
          </summary>
          <Stack gap="xs" mt="xs">
            <Code text={action} strict label={text.bytes} />
            {hash && <Text size="xs" c="dimmed" className={classes.hash}>{text.hash} <code>{hash}</code></Text>}
            {fate === 'runs' && <Text size="xs" c="dimmed">{text.runsNote}</Text>}
          </Stack>
        </details>
        {hashCheck === 'differs' && <Text c="error" fw={700} role="alert">{text.hashWrong}</Text>}
      </Stack>
    </Paper>
  );
}

/** Shows all of an action: what it does, as people read it, and every other field. The fields that the page has shown already are left out. */
export function ActionText({ action, label, shownRest }: { action: string; label: string; shownRest?: string }) {
  const text = useText();
  const { shape, tool, rest } = useMemo(() => readableOf(action), [action]);
  const shown = useMemo(() => [...textsOf(shape), rest], [shape, rest]);
  return (
    <>
      <SuspiciousNote texts={shown} strict />
      <ShapeView shape={shape} tool={tool} label={label} />
      {rest && rest !== shownRest && (
        <div>
          <Text size="xs" fw={600}>{text.with}</Text>
          <Code text={rest} strict label={`${label}: ${text.with}`} />
        </div>
      )}
    </>
  );
}

/** Calls onSeen once the end of the action has been on the screen, above the bar with the choices. */
export function useEndSeen(onSeen?: () => void) {
  const end = useRef<HTMLDivElement>(null);
  const latest = useRef(onSeen);
  useEffect(() => {
    latest.current = onSeen;
  });
  useEffect(() => {
    const element = end.current;
    if (!element || typeof ResizeObserver === 'undefined') return;
    const size = new ResizeObserver(look);
    function stop() {
      size.disconnect();
      document.removeEventListener('scroll', look, true);
    }
    function look() {
      // An element that is not laid out is nowhere.
      if (!element || element.getClientRects().length === 0) return;
      const bar = element.closest('[data-question]')?.querySelector('[data-answer-bar]')?.getBoundingClientRect().top;
      if (element.getBoundingClientRect().top > Math.min(bar ?? Infinity, innerHeight)) return;
      stop();
      latest.current?.();
    }
    // The size of the text changes when its colours or a part of the page are loaded.
    size.observe(element.parentElement ?? element);
    document.addEventListener('scroll', look, { capture: true, passive: true });
    return stop;
  }, []);
  return end;
}
