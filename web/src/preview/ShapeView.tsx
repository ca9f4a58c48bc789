import { Text } from '@mantine/core';
import { Suspense } from 'react';
import { useText } from '@/question/text';
import { Visible } from '@/text/Visible';
import { lazyComponent } from '@/ui/lazyComponent';
import { Code } from './Code';
import classes from './Code.module.css';
import { Rows } from './Preview';
import { longTextsOf, subjectOf, type Shape } from './shape';

const Source = lazyComponent(() => import('./Source').then((module) => module.Source));
const Difference = lazyComponent(() => import('./Source').then((module) => module.Difference));

/** Shows what an action does: a command, the text of a file, its changes, a message, a table, or else the JSON. */
export function ShapeView({ shape, tool, label }: { shape: Shape; tool?: string; label: string }) {
  return (
    <>
      {shape.kind !== 'command' && <div><Does shape={shape} tool={tool} /></div>}
      <Content shape={shape} label={label} />
    </>
  );
}

/** Says with which tool an action does what: "Write: writes src/price.py". It says nothing if the fields do not tell. */
export function Does({ shape, tool }: { shape: Shape; tool?: string }) {
  const text = useText();
  const subject = subjectOf(shape);
  if (subject === undefined) return null;
  const goesOn = shape.kind === 'command' && shape.command.trim() !== subject.trim();
  return (
    <Text span size="sm">
      {tool !== undefined && shape.kind !== 'call' && <><code className={classes.subject}><Visible text={tool} strict /></code>{': '}</>}
      {text[`does_${shape.kind}`]}{subject && <>{' '}<code className={classes.subject}><Visible text={goesOn ? `${subject} …` : subject} strict /></code></>}
    </Text>
  );
}

function Content({ shape, label }: { shape: Shape; label: string }) {
  const text = useText();
  switch (shape.kind) {
    case 'command':
      return <Code text={shape.command} strict shell label={label} />;
    case 'write':
      return <Suspense fallback={<Code text={shape.content} strict label={label} />}><Source text={shape.content} path={shape.path} label={label} /></Suspense>;
    case 'edit':
      return shape.changes.map(({ before, after, everywhere }, at) => (
        <div key={at}>
          {everywhere && <Text size="sm" fw={600}>{text.everywhere}</Text>}
          <Suspense fallback={<Code text={wholeChange(before, after)} diff strict label={label} />}>
            <Difference before={before} after={after} path={shape.path} label={label} />
          </Suspense>
        </div>
      ));
    case 'patch':
      return <Code text={shape.patch} diff strict label={label} />;
    case 'message':
      return (
        <div className={classes.message} role="group" aria-label={label} tabIndex={0}>
          {shape.subject !== undefined && <Text fw={600} mb={4}><Visible text={shape.subject} strict /></Text>}
          <Visible text={shape.body} strict />
        </div>
      );
    case 'table':
      return <Rows rows={shape.rows} label={label} strict />;
    case 'call':
      return (
        <>
          <Code text={shape.json} strict label={label} />
          {longTextsOf(shape.json).map(({ path, text: long }) => (
            <div key={path}>
              <Text size="xs" fw={600} ff="monospace"><Visible text={path} strict /></Text>
              <Code text={long} strict label={`${label}: ${path}`} />
            </div>
          ))}
        </>
      );
  }
}

/** Shows a change as its text before and its text after. */
const wholeChange = (before: string, after: string) => [...signedLines('-', before), ...signedLines('+', after)].join('\n');
const signedLines = (sign: string, text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n').map((line) => `${sign} ${line}`));
