import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useEffect, useMemo, useState } from 'react';
import { canonical, hashOf, setOut } from '@/api/exact';
import type { Question } from '@/api/types';
import { Code } from '@/preview/Code';
import { useCommands } from '@/keys/useCommands';
import { useText } from './text';
import type { AnswerState } from './useAnswer';

/** Lets a person change what will run; exactly the changed bytes are granted. */
export function EditAction({ question, answer }: { question: Question; answer: AnswerState }) {
  const text = useText();
  const original = useMemo(() => setOut(question.action_text ?? ''), [question.action_text]);
  const open = answer.action !== undefined;
  const [words, setWords] = useState(answer.action ?? original);
  const valid = isJSON(words);
  const hash = useHash(valid && open ? canonical(words) : undefined);
  const start = () => {
    setWords(original);
    answer.setAction(original);
  };
  useCommands([{ id: 'edit', title: text.editApprove, group: text.group, keys: ['e'], run: start }], !open);
  if (!open) return <Group><Button variant="subtle" size="compact-sm" onClick={start}>{text.editApprove}</Button></Group>;
  return (
    <Stack gap="xs">
      <Textarea
        label={text.editTitle} value={words} error={valid ? undefined : text.editBad} autosize minRows={3} maxRows={24} spellCheck={false} styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        onChange={(event) => {
          const next = event.currentTarget.value;
          setWords(next);
          if (isJSON(next)) answer.setAction(next);
        }}
      />
      <Text size="sm" fw={600}>{text.editChanges}</Text>
      {canonical(words) === canonical(original) ? <Text size="sm">{text.editNone}</Text> : <Code text={changes(original, words)} diff strict label={text.editChanges} />}
      {hash && <Text size="xs" c="dimmed">{text.editNote} <code>{hash}</code></Text>}
      <Group><Button variant="default" size="compact-sm" onClick={() => answer.setAction(undefined)}>{text.cancelEdit}</Button></Group>
    </Stack>
  );
}

function isJSON(words: string): boolean {
  try {
    JSON.parse(words);
    return true;
  } catch {
    return false;
  }
}

function useHash(bytes: string | undefined): string | undefined {
  const [found, setFound] = useState<{ of: string; hash?: string }>();
  useEffect(() => {
    let current = true;
    if (bytes !== undefined) void hashOf(bytes).then((hash) => current && setFound({ of: bytes, hash }));
    return () => {
      current = false;
    };
  }, [bytes]);
  return found && found.of === bytes ? found.hash : undefined;
}

/** The lines that differ: what both texts begin and end with is left out. */
export function changes(before: string, after: string): string {
  const [was, is] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < was.length && head < is.length && was[head] === is[head]) head++;
  let tail = 0;
  while (tail < was.length - head && tail < is.length - head && was[was.length - 1 - tail] === is[is.length - 1 - tail]) tail++;
  const around = was.slice(Math.max(0, head - 2), head).map((line) => `  ${line}`);
  return [...around, ...was.slice(head, was.length - tail).map((line) => `- ${line}`), ...is.slice(head, is.length - tail).map((line) => `+ ${line}`)].join('\n');
}
