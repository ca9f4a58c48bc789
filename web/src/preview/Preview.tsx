import { Button, Group, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { Question } from '@/api/types';
import { useText } from '@/question/text';
import { Visible } from '@/text/Visible';
import { countSuspicious } from '@/text/visible';
import { Code } from './Code';
import classes from './Code.module.css';
import { isJSON, indentJSON } from '@/api/exact';
import { tableOf } from './table';

type Preview = NonNullable<NonNullable<Question['context']>['preview']>;

/** Shows in full the preview that the asker attached. */
export function PreviewView({ preview }: { preview: Preview }) {
  const text = useText();
  const [asText, setAsText] = useState(false);
  const rows = useMemo(() => (preview.kind === 'table' ? tableOf(preview.text) : undefined), [preview]);
  const texts = useMemo(() => [preview.text], [preview]);
  const label = text[`preview_${preview.kind}`];
  return (
    <section aria-label={label}>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={600}>{label}</Text>
        <Group gap="xs">
          <Text size="xs" c="dimmed">{preview.kind === 'diff' ? <DiffSummary diff={preview.text} /> : text.lines(preview.text.split('\n').length)}</Text>
          {rows && <Button size="compact-xs" variant="default" onClick={() => setAsText(!asText)}>{asText ? text.asTable : text.asText}</Button>}
        </Group>
      </Group>
      <SuspiciousNote texts={texts} />
      {rows && !asText ? <Rows rows={rows} label={label} /> : <Code text={readableText(preview)} diff={preview.kind === 'diff'} label={label} strict={preview.kind === 'command'} />}
    </section>
  );
}

const readableText = ({ kind, text }: Preview): string => (kind === 'json' && isJSON(text) ? indentJSON(text) : text);

function DiffSummary({ diff }: { diff: string }) {
  const text = useText();
  const count = (sign: RegExp) => diff.split('\n').filter((line) => sign.test(line)).length;
  return <>{`+${count(/^\+(?!\+\+)/)} ${text.added}, −${count(/^-(?!--)/)} ${text.removed}`}</>;
}

/** Warns of characters in texts that are not what they look like. */
export function SuspiciousNote({ texts, strict }: { texts: readonly string[]; strict?: boolean }) {
  const text = useText();
  const count = useMemo(() => texts.reduce((sum, each) => sum + countSuspicious(each, strict), 0), [texts, strict]);
  if (count === 0) return null;
  return <Text size="sm" c="error" fw={600} mb={4} role="note">⚠ {text.marked(count)}</Text>;
}

/** Shows rows as a table. The first one is its head. */
export function Rows({ rows, label, strict }: { rows: string[][]; label: string; strict?: boolean }) {
  const [head = [], ...body] = rows;
  return (
    <div className={classes.scroll} tabIndex={0} role="group" aria-label={label}>
      <table className={classes.table}>
        <thead>
          <tr>{head.map((cell, at) => <th key={at} scope="col"><Visible text={cell} strict={strict} /></th>)}</tr>
        </thead>
        <tbody>
          {body.map((row, at) => <tr key={at}>{row.map((cell, n) => <td key={n}><Visible text={cell} strict={strict} /></td>)}</tr>)}
        </tbody>
      </table>
    </div>
  );
}
