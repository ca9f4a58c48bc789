import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useEffect, useMemo, useState } from 'react';
import { canonicalJSON, hashOf, isJSON, indentJSON } from '@/api/exact';
import type { Question } from '@/api/types';
import { Difference } from '@/preview/Source';
import { escapeHidden } from '@/text/visible';
import classes from './ItemField.module.css';
import { useText } from './text';
import type { AnswerState } from './useAnswer';

/** Lets a person edit what will run. If the edited text means the same bytes, the original action is approved. */
export function ActionEditor({ question, answer }: { question: Question; answer: AnswerState }) {
  const text = useText();
  const asked = useMemo(() => indentJSON(question.action_text ?? ''), [question.action_text]);
  // Invisible characters are shown as escapes. A text field would show them as they are, and some reverse later text.
  const original = useMemo(() => escapeHidden(asked), [asked]);
  const [words, setWords] = useState(answer.action === undefined || answer.action === asked ? original : answer.action);
  const valid = isJSON(words);
  const same = canonicalJSON(words) === canonicalJSON(original);
  const hash = useHash(valid ? canonicalJSON(same ? asked : words) : undefined);
  return (
    <Stack gap="xs">
      <Textarea
        label={text.editTitle} value={words} error={valid ? undefined : text.editBad} autosize minRows={3} maxRows={24} spellCheck={false} styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        onChange={(event) => {
          const next = event.currentTarget.value;
          setWords(next);
          if (isJSON(next)) answer.setAction(canonicalJSON(next) === canonicalJSON(original) ? asked : next);
        }}
      />
      <Text size="sm" fw={600}>{text.editChanges}</Text>
      {same ? <Text size="sm">{text.editNone}</Text> : <Difference before={original} after={words} path="action.json" label={text.editChanges} />}
      {hash && <Text size="xs" c="dimmed" className={classes.text}>{text.editNote} <code>{hash}</code></Text>}
      <Group><Button variant="default" size="compact-sm" onClick={() => answer.setAction(undefined)}>{text.cancelEdit}</Button></Group>
    </Stack>
  );
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
